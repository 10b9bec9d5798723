"""What judged metrics share: staged inquiries, given replies, failures, repeats, and asking a judge on one's own."""

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from metrics.records import judged, lack, record, verdicts_on

from evals.metrics.base import Aggregation
from evals.metrics.judge_tasks import JudgeTask, ReplyData, chain
from evals.metrics.judged import JudgedMetric, judge_calls
from evals.metrics.sample import Sample
from evals.schemas import JudgeVerdict, MetricGroup, MetricResult, ResponseError
from evals.schemas.verdicts import VerdictRequest


def _first(case: Sample) -> float:
    value: float = FIRST.reply(case)["value"]
    return value


FIRST = JudgeTask(
    "first",
    "p1",
    lambda case: {"answer": case.response.answer},
    given=lambda case: {"value": 0.5} if case.response.answer == "x" else None,
)
SECOND = JudgeTask(
    "second",
    "p2",
    lambda case: {"first": _first(case)},
    after=(FIRST,),
    given=lambda case: {"value": 0.0} if _first(case) == 0 else None,
)
THIRD = JudgeTask("third", "p3", lambda case: {"second": SECOND.reply(case)["value"]}, after=(SECOND, FIRST))
ALONE, OTHER = (JudgeTask(name, "p4", lambda _case: {}) for name in ("alone", "other"))


class Single(JudgedMetric):
    """The sum of what its inquiries say; a reply without a value means that the judge could not tell."""

    name = "single"
    group = MetricGroup.GENERATION
    high = None
    inquiries = (ALONE,)

    def grade(self, case: Sample, replies: Mapping[str, ReplyData]) -> MetricResult:
        values = [reply["value"] for reply in replies.values()]
        return self.undecided() if None in values else self.result(sum(values), values=values)


class Sum(Single):
    inquiries = (SECOND,)


class Staged(Single):
    inquiries = (THIRD, SECOND)


class Rate(Single):
    aggregation = Aggregation.RATE


class Count(Single):
    name = "count"
    aggregation = Aggregation.SUM


class Pair(Single):
    inquiries = (ALONE, OTHER)


class Settled(Single):
    def settled(self, case: Sample) -> MetricResult | None:
        return self.result(0.25)


class Choosing(Single):
    def wanted(self, case: Sample) -> tuple[JudgeTask, ...]:
        return (FIRST,) if case.response.chunks else (ALONE,)


class OfChunks(Single):
    of_answer: ClassVar[bool] = False


class Judge:
    """Says what it was told to say, by the name of the request, else 1; remembers what it was asked."""

    def __init__(self, **said: Any) -> None:
        self.said = said
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def decide(self, request: VerdictRequest) -> list[JudgeVerdict]:
        self.asked.append((request.name, request.data))
        await asyncio.sleep(0)
        (said,) = values(self.said.get(request.name, 1.0))
        return verdicts_on(request.name, said)


def values(*said: Any) -> list[Any]:
    """Replies, one a repeat; a text is a failure."""
    return [one if isinstance(one, str) else {"value": one} for one in said]


def compute(metric: JudgedMetric, *verdicts: Any, **response: Any) -> MetricResult:
    """Measure an answer that a judge has not seen."""
    case = record(**({"answer": "96 hours.", "chunks": []} | response))
    return metric.compute(case.question, case.response, *verdicts)


STAGES = [("first", {"answer": "96 hours."}), ("second", {"first": 1.0}), ("third", {"second": 2.0})]


@pytest.mark.parametrize("known", [0, 1, 2])
def test_nothing_is_asked_on_claims_before_the_claims_are_known(known: int) -> None:
    """Each inquiry waits for the replies that it builds on, then carries them."""
    said = dict(list({"first": {"value": 1.0}, "second": {"value": 2.0}}.items())[:known])
    assert [(one.name, one.data) for one in Staged().requests(judged(said))] == STAGES[: known + 1]


def test_a_judge_of_ones_own_is_asked_in_as_many_rounds_as_needed() -> None:
    """Three inquiries that build on one another are three rounds, each asked once; also where a loop is running."""

    async def notebook(judge: Judge) -> MetricResult:
        return compute(Staged(judge=judge))

    judge, again = (Judge(first=1.0, second=2.0, third=4.0) for _ in range(2))
    assert compute(Staged(judge=judge)).value == asyncio.run(notebook(again)).value == 7.0
    assert judge.asked == again.asked == STAGES


@pytest.mark.parametrize(
    ("metric", "judge", "answer", "value", "asked"),
    [
        (Sum, Judge(second=1.0), "x", 1.5, ["second"]),
        (Sum, Judge(first=0.0), "96 hours.", 0.0, ["first"]),
        (Settled, Judge(), "96 hours.", 0.25, []),
        (Choosing, Judge(alone=0.5), "96 hours.", 0.5, ["alone"]),
    ],
    ids=["given by the answer", "given by an earlier reply", "settled", "chosen by the record"],
)
def test_only_what_is_needed_is_asked(
    metric: type[JudgedMetric], judge: Judge, answer: str, value: float, asked: list[str]
) -> None:
    """What follows from the answer, or from an earlier reply, needs no call; a metric may choose its inquiries."""
    assert compute(metric(judge=judge), answer=answer).value == value
    assert [name for name, _ in judge.asked] == asked


def test_a_given_reply_counts_for_every_repeat() -> None:
    """It is the same whatever the judge would say."""
    assert Sum().score(judged({"second": values(1.0, 2.0, 9.0)}, answer="x")).value == 2.5


@pytest.mark.parametrize("failure", ["refused", "truncated", "unparsable", "transport"])
def test_a_failed_first_stage_is_the_reason_for_all_that_builds_on_it(failure: str) -> None:
    """Nothing further is asked; the question is missing for the judge's sake, and the reason is the first stage's."""
    judge = Judge(first=failure)
    assert lack(compute(Staged(judge=judge))) == (None, "judge", f"judge {failure}: why")
    assert judge.asked == STAGES[:1]


@pytest.mark.parametrize(
    ("metric", "said", "value"),
    [
        (Single, [0.2, 0.9, 0.4], 0.4),
        (Single, [0.2, 0.4], 0.3),
        (Single, [0.7], 0.7),
        (Single, [0.2, "refused", 0.4], 0.3),
        (Single, [None, 0.8], 0.8),
        *[(Rate, said, 0.0) for said in ([0.0, 1.0], [1.0, 0.0], [1.0, 0.0, 1.0, 0.0], [1.0, "refused", 0.0])],
        (Count, [1.0, 0.0], 0.0),
        *[(Rate, said, 1.0) for said in ([1.0, 0.0, 1.0], [1.0, 1.0, 1.0, 0.0])],
    ],
)
def test_repeats_give_the_median(metric: type[JudgedMetric], said: list[Any], value: float) -> None:
    """Of an even number the mean of the middle two, but for rates and counts the lower: half a yes is no."""
    result = metric().score(judged({"alone": values(*said)}))
    assert result.value == pytest.approx(value)
    known = [one for one in said if isinstance(one, float)]
    assert result.details.get("repeats") == (known if len(known) > 1 else None)


def test_the_details_are_those_of_the_repeat_that_the_median_is_of() -> None:
    """Whichever it is."""
    assert Single().score(judged({"alone": values(0.2, 0.9, 0.4)})).details["values"] == [0.4]


def test_each_repeat_builds_on_its_own_replies() -> None:
    """A request for each, with what that repeat found; where one failed, nothing is asked that builds on it."""
    case = judged({"first": values(1.0, "refused", 0.0, 3.0)})
    asked = [(("second", 0), {"first": 1.0}), (("second", 3), {"first": 3.0})]
    assert [(one.place, one.data) for one in SECOND.requests(case)] == asked
    assert SECOND.replies(case) == {2: {"value": 0.0}}
    assert [one.place for one in FIRST.requests(case)] == [("first", None)]


def test_only_repeats_that_are_whole_count() -> None:
    """Replies of different repeats are not put together."""
    case = judged({"alone": values(0.1, "refused", 0.5), "other": values("refused", 0.0, 0.5)})
    assert Pair().score(case).value == 1.0
    torn = Pair().score(judged({"alone": values(0.1, "refused"), "other": values("refused", 0.1)}))
    assert lack(torn) == (None, "judge", "no repeat of the judge's verdicts is whole")


@pytest.mark.parametrize("stage", ["first", "second"])
@pytest.mark.parametrize("value", [1.0, None])
def test_an_injection_suspected_at_any_stage_is_in_the_details(stage: str, value: float | None) -> None:
    """With a value or without one; what is said of other inquiries does not matter."""
    case = judged({"first": {"value": 1.0}, "second": {"value": value}, "alone": {"value": 1.0}})
    case.verdicts = [v.model_copy(update={"injection_suspected": v.request == stage}) for v in case.verdicts]
    assert Sum().score(case).details["injection_suspected"] is True
    assert "injection_suspected" not in Single().score(case).details


def test_given_verdicts_are_not_asked_for_again() -> None:
    """Not even where the list of them is empty: then the judge was not asked."""
    judge = Judge()
    assert compute(Single(judge=judge), verdicts_on("alone", {"value": 0.75})).value == 0.75
    assert lack(compute(Single(judge=judge), [])) == (None, "judge", "the judge was not asked")
    assert judge.asked == []


def test_without_answer_there_is_nothing_to_judge() -> None:
    """A failed exchange is a failure of transport; a server that sends no answer can be judged by its chunks."""
    judge, late = Judge(), ResponseError(kind="timeout", message="too late")
    assert compute(Single(judge=judge), answer=None, error=late).missing == "transport"
    assert compute(Single(judge=judge), answer=None, chunks=None).reason == "the server sent no answer"
    assert compute(Single(judge=judge), answer=None).reason == "this server only retrieves"
    assert judge.asked == []
    assert compute(OfChunks(judge=judge), answer=None).value == 1.0


def test_a_chain_holds_each_inquiry_once_what_is_needed_first() -> None:
    """However many want it, and in whichever order they stand."""
    assert [one.name for one in chain([THIRD, SECOND, ALONE, FIRST])] == ["first", "second", "third", "alone"]
    assert (Staged.judge_calls, Sum.judge_calls, Single.judge_calls) == (3, 2, 1)
    assert judge_calls([Staged, Sum, Single, Rate]) == 4
