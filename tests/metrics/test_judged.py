"""What judged metrics share: staged inquiries, given replies, failures, repeats, and asking a judge on one's own."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest

from evals.metrics.base import Aggregation
from evals.metrics.judge_tasks import JudgeTask, ReplyData, chain
from evals.metrics.judged import JudgedMetric, judge_calls
from evals.metrics.sample import Sample
from evals.schemas import EvalQuestion, EvalResponse, JudgeVerdict, MetricGroup, MetricResult, ResponseError
from evals.schemas.verdicts import VerdictRequest

MakeCase = Callable[..., Sample]
QUESTION = EvalQuestion(id="q", question="How long?", expected_answer="It lasts 96 hours.")
RESPONSE = EvalResponse(answer="96 hours.", chunks=[], citations=[])

FIRST = JudgeTask(
    "first", "p1", lambda case: {"answer": case.response.answer}, given=lambda case: short(case, "x", 0.5)
)
SECOND = JudgeTask(
    "second",
    "p2",
    lambda case: {"first": FIRST.reply(case)["value"]},
    after=(FIRST,),
    given=lambda case: {"value": 0.0} if FIRST.reply(case)["value"] == 0 else None,
)
THIRD = JudgeTask("third", "p3", lambda case: {"second": SECOND.reply(case)["value"]}, after=(SECOND, FIRST))
ALONE = JudgeTask("alone", "p4", lambda _case: {})


def short(case: Sample, answer: str, value: float) -> ReplyData | None:
    """What follows without a judge from this very answer."""
    return {"value": value} if case.response.answer == answer else None


class Sum(JudgedMetric):
    """The sum of what its inquiries say; a reply without a value means that the judge could not tell."""

    name = "sum"
    group = MetricGroup.GENERATION
    high = None
    inquiries = (SECOND,)

    def grade(self, case: Sample, replies: Mapping[str, ReplyData]) -> MetricResult:
        values = [reply["value"] for reply in replies.values()]
        if None in values:
            return self.undefined("the judge could not tell", missing="judge")
        return self.result(sum(values), values=values)


class Staged(Sum):
    name = "staged"
    inquiries = (THIRD, SECOND)


class Single(Sum):
    name = "single"
    inquiries = (ALONE,)


class Rate(Single):
    name = "rate"
    aggregation = Aggregation.RATE


class Count(Single):
    name = "count"
    aggregation = Aggregation.SUM


class Pair(Single):
    name = "pair"
    inquiries = (ALONE, JudgeTask("other", "p5", lambda _case: {}))


class Settled(Single):
    name = "settled"

    def settled(self, case: Sample) -> MetricResult | None:
        return self.result(0.25)


class Choosing(Single):
    name = "choosing"

    def wanted(self, case: Sample) -> tuple[JudgeTask, ...]:
        return (FIRST,) if case.response.chunks else (ALONE,)


class OfChunks(Single):
    name = "of_chunks"
    of_answer: ClassVar[bool] = False


class Judge:
    """Says what it was told to say, by the name of the request; remembers what it was asked."""

    def __init__(self, **said: Any) -> None:
        self.said = said
        self.asked: list[VerdictRequest] = []

    @property
    def names(self) -> list[str]:
        return [request.name for request in self.asked]

    async def aclose(self) -> None:
        """There is no connection to close."""

    async def decide(self, request: VerdictRequest) -> list[JudgeVerdict]:
        self.asked.append(request)
        await asyncio.sleep(0)
        said = self.said.get(request.name, 1.0)
        repeats = said if isinstance(said, list) else [said]
        return [self._verdict(request.name, one, n) for n, one in enumerate(repeats)]

    def _verdict(self, name: str, said: Any, repeat: int) -> JudgeVerdict:
        if isinstance(said, str):
            return JudgeVerdict.model_validate({"request": name, "repeat": repeat, "failure": said, "message": "why"})
        return JudgeVerdict(request=name, repeat=repeat, reply=said if isinstance(said, dict) else {"value": said})


def values(*said: Any) -> list[Any]:
    """Replies, one a repeat; a text is a failure."""
    return [one if isinstance(one, str) else {"value": one} for one in said]


def asked_for(metric: JudgedMetric, case: Sample) -> list[str]:
    return [request.name for request in metric.requests(case)]


def test_nothing_is_asked_on_claims_before_the_claims_are_known(judged_case: MakeCase) -> None:
    """Each inquiry waits for the replies that it builds on, then carries them."""
    assert asked_for(Staged(), judged_case()) == ["first"]
    assert asked_for(Staged(), judged_case({"first": {"value": 1.0}})) == ["first", "second"]
    known = judged_case({"first": {"value": 1.0}, "second": {"value": 2.0}})
    assert [(one.name, one.data) for one in Staged().requests(known)] == [
        ("first", {"answer": "96 hours."}),
        ("second", {"first": 1.0}),
        ("third", {"second": 2.0}),
    ]


def test_a_judge_of_ones_own_is_asked_in_as_many_rounds_as_needed() -> None:
    """Three inquiries that build on one another are three rounds, each asked once, each with the reply before."""
    judge = Judge(first=1.0, second=2.0, third=4.0)
    assert Staged(judge=judge).compute(QUESTION, RESPONSE).value == 7.0
    assert [(one.name, one.data) for one in judge.asked] == [
        ("first", {"answer": "96 hours."}),
        ("second", {"first": 1.0}),
        ("third", {"second": 2.0}),
    ]


def test_a_judge_can_be_asked_where_a_loop_is_running() -> None:
    """As in a notebook."""

    async def notebook() -> MetricResult:
        return Staged(judge=Judge()).compute(QUESTION, RESPONSE)

    assert asyncio.run(notebook()).value == 3.0


def test_a_given_reply_needs_no_call() -> None:
    """Neither one that follows from the answer, nor one that follows from an earlier reply."""
    judge = Judge(second=1.0)
    assert Sum(judge=judge).compute(QUESTION, RESPONSE.model_copy(update={"answer": "x"})).value == 1.5
    assert judge.names == ["second"]
    judge = Judge(first=0.0)
    assert Sum(judge=judge).compute(QUESTION, RESPONSE).value == 0.0
    assert judge.names == ["first"]


def test_a_given_reply_counts_for_every_repeat(judged_case: MakeCase) -> None:
    """It is the same whatever the judge would say."""
    case = judged_case({"second": values(1.0, 2.0, 9.0)}, answer="x")
    assert Sum().score(case).value == 2.5


@pytest.mark.parametrize("failure", ["refused", "truncated", "unparsable", "transport"])
def test_a_failed_first_stage_is_the_reason_for_all_that_builds_on_it(failure: str) -> None:
    """Nothing further is asked; the question is missing for the judge's sake, and the reason is the first stage's."""
    judge = Judge(first=failure)
    result = Staged(judge=judge).compute(QUESTION, RESPONSE)
    assert (result.value, result.missing, result.reason) == (None, "judge", f"judge {failure}: why")
    assert judge.names == ["first"]


@pytest.mark.parametrize(
    ("metric", "said", "value"),
    [
        (Single, [0.2, 0.9, 0.4], 0.4),
        (Single, [0.2, 0.4], 0.3),
        (Single, [0.7], 0.7),
        (Single, [0.2, "refused", 0.4], 0.3),
        (Single, [None, 0.8], 0.8),
        (Rate, [0.0, 1.0], 0.0),
        (Rate, [1.0, 0.0], 0.0),
        (Rate, [1.0, 0.0, 1.0], 1.0),
        (Rate, [1.0, 0.0, 1.0, 0.0], 0.0),
        (Rate, [1.0, 1.0, 1.0, 0.0], 1.0),
        (Rate, [1.0, "refused", 0.0], 0.0),
        (Count, [1.0, 0.0], 0.0),
    ],
)
def test_repeats_give_the_median(
    judged_case: MakeCase, metric: type[JudgedMetric], said: list[Any], value: float
) -> None:
    """Of an even number the mean of the middle two, but for rates and counts the lower: half a yes is no."""
    assert metric().score(judged_case({"alone": values(*said)})).value == pytest.approx(value)


def test_the_details_are_those_of_the_repeat_that_the_median_is_of(judged_case: MakeCase) -> None:
    """With the values of all of them."""
    found = Single().score(judged_case({"alone": values(0.2, 0.9, 0.4)}))
    assert (found.details["values"], found.details["repeats"]) == ([0.4], [0.2, 0.9, 0.4])


def test_each_repeat_builds_on_its_own_replies(judged_case: MakeCase) -> None:
    """A request for each, with what that repeat found; where one failed, nothing is asked that builds on it."""
    found = JudgeTask("found", "p1", lambda _case: {})
    checked = JudgeTask(
        "checked", "p2", lambda case: dict(found.reply(case)), after=(found,), given=_nothing_found(found)
    )
    case = judged_case({"found": [{"n": 1}, "refused", {"n": 0}, {"n": 3}]})
    asked = checked.requests(case)
    assert [(one.place, one.data) for one in asked] == [(("checked", 0), {"n": 1}), (("checked", 3), {"n": 3})]
    assert checked.replies(case) == {2: {"n": "none"}}
    assert [one.place for one in found.requests(case)] == [("found", None)]


def _nothing_found(found: JudgeTask) -> Any:
    return lambda case: {"n": "none"} if not found.reply(case)["n"] else None


def test_only_repeats_that_are_whole_count(judged_case: MakeCase) -> None:
    """Replies of different repeats are not put together."""
    case = judged_case({"alone": values(0.1, "refused", 0.5), "other": values("refused", 0.0, 0.5)})
    assert Pair().score(case).value == 1.0
    torn = Pair().score(judged_case({"alone": values(0.1, "refused"), "other": values("refused", 0.1)}))
    assert (torn.value, torn.missing, torn.reason) == (None, "judge", "no repeat of the judge's verdicts is whole")


@pytest.mark.parametrize("stage", ["first", "second"])
@pytest.mark.parametrize("value", [1.0, None])
def test_an_injection_suspected_at_any_stage_is_in_the_details(
    judged_case: MakeCase, stage: str, value: float | None
) -> None:
    """With a value or without one; what is said of other inquiries does not matter."""
    case = judged_case({"first": {"value": 1.0}, "second": {"value": value}, "alone": {"value": 1.0}})
    flagged = [v.model_copy(update={"injection_suspected": v.request == stage}) for v in case.verdicts]
    case.verdicts = flagged
    assert Sum().score(case).details["injection_suspected"] is True
    assert "injection_suspected" not in Single().score(case).details


def test_what_is_settled_is_not_asked() -> None:
    """A metric that knows its value needs no verdict."""
    judge = Judge()
    assert Settled(judge=judge).compute(QUESTION, RESPONSE).value == 0.25
    assert judge.asked == []


def test_a_metric_may_choose_its_inquiries_by_the_record() -> None:
    """Only those of the record are asked and needed."""
    judge = Judge(alone=0.5)
    assert Choosing(judge=judge).compute(QUESTION, RESPONSE).value == 0.5
    assert judge.names == ["alone"]


def test_given_verdicts_are_not_asked_for_again() -> None:
    """Not even where the list of them is empty: then the judge was not asked."""
    judge = Judge()
    verdict = JudgeVerdict(request="alone", reply={"value": 0.75})
    assert Single(judge=judge).compute(QUESTION, RESPONSE, [verdict]).value == 0.75
    result = Single(judge=judge).compute(QUESTION, RESPONSE, [])
    assert (result.value, result.missing, result.reason) == (None, "judge", "the judge was not asked")
    assert judge.asked == []


def test_without_answer_there_is_nothing_to_judge() -> None:
    """A failed exchange is a failure of transport; a server that sends no answer can be judged by its chunks."""
    judge = Judge()
    failed = EvalResponse(error=ResponseError(kind="timeout", message="too late"))
    assert Single(judge=judge).compute(QUESTION, failed).missing == "transport"
    silent = Single(judge=judge).compute(QUESTION, EvalResponse())
    assert (silent.missing, silent.reason) == ("not_applicable", "the server sent no answer")
    retriever = Single(judge=judge).compute(QUESTION, EvalResponse(chunks=[]))
    assert (retriever.missing, retriever.reason) == ("not_applicable", "this server only retrieves")
    assert judge.asked == []
    assert OfChunks(judge=judge).compute(QUESTION, EvalResponse(chunks=[])).value == 1.0


def test_a_chain_holds_each_inquiry_once_what_is_needed_first() -> None:
    """However many want it, and in whichever order they stand."""
    assert [one.name for one in chain([THIRD, SECOND, ALONE, FIRST])] == ["first", "second", "third", "alone"]
    assert (Staged.judge_calls, Sum.judge_calls, Single.judge_calls) == (3, 2, 1)
    assert judge_calls([Staged, Sum, Single, Rate]) == 4
