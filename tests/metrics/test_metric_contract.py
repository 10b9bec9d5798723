"""What holds of every metric: failures give no value, and every value has its place."""

from collections.abc import Callable, Sequence
from typing import Any, get_args

import pytest

from evals.judges.llm_judge import repeats_of
from evals.judges.prompts import load_prompt, typical_reply
from evals.metrics import Aggregation, BaseMetric, Need, Sample, select
from evals.metrics.embedders import Semantics
from evals.metrics.judged import rounds
from evals.schemas import (
    Citation,
    EvalQuestion,
    EvalResponse,
    GoldPassage,
    JudgeVerdict,
    KeySentence,
    MetricResult,
    ResponseError,
    RetrievedChunk,
    TokenUsage,
)
from evals.schemas.dataset import CalculationCheck, Fact, FactsCheck, ListCheck, ListItem
from evals.schemas.response import ErrorKind

ALL = select(["all"], [])
GOLD = GoldPassage(text="burst pipes are covered", chunk_id="c1", document_id="guide", section="Water")
FULL: dict[str, Any] = {
    "chunks": [RetrievedChunk(chunk_id="c1", document_id="guide", section="Water", text=GOLD.text)],
    "citations": [Citation(index=1)],
    "usage": TokenUsage(prompt_tokens=10, completion_tokens=5),
    "model": "m1",
    "latency_ms": 20.0,
    "total_ms": 20.0,
    "retrieval_latency_ms": 5.0,
    "time_to_first_token_ms": 8.0,
    "time_to_last_token_ms": 18.0,
}
QUESTION = EvalQuestion(
    question="What is covered?",
    expected_answer="Burst pipes are covered up to 10,000 euros.",
    gold_passages=[GOLD],
    key_sentences=[KeySentence(text="Burst pipes are covered.", source="gold")],
    is_unanswerable=False,
    rubric=["names what is covered"],
    checks=[
        ListCheck(kind="list", name="causes", items=[ListItem(name="pipes", any=["burst pipes"])]),
        FactsCheck(kind="facts", facts=[Fact(name="pipes", any=["pipes"]), Fact(name="limit", numbers=["10,000"])]),
        CalculationCheck(kind="calculation", facts=[Fact(name="limit", numbers=["10,000"])], answer="limit"),
    ],
)
WITHOUT_VALUE = {"abstention_false_negative_rate", "cost_per_query"}
"""Of an answerable question, of a model that nobody has a price for."""
MADE_OF_OTHERS = {"ragas_score"}
"""A mean over those of its parts that have a value."""
every_metric = pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)


class _Alike:
    """Compares texts without a model: all have much the same direction and meaning."""

    name = "alike"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, len(text) / 100] for text in texts]

    def f1(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [0.9] * len(pairs)


def _judged(verdicts: Sequence[JudgeVerdict], **response: Any) -> Sample:
    answered = {"answer": '"Burst pipes are covered" [1]. The limit is 9,000 euros.', **FULL, **response}
    return Sample(QUESTION, EvalResponse(**answered), verdicts, judged=True, semantics=Semantics(_Alike(), _Alike()))


def _stand_ins() -> list[JudgeVerdict]:
    """A verdict of the right form for all that the metrics ask about the full record."""
    case = _judged(())
    for requests in rounds(ALL, case):
        replies = [(request, typical_reply(load_prompt(request.prompt), request.data)) for request in requests]
        said = (
            JudgeVerdict(request=one.name, repeat=n, reply=reply) for one, reply in replies for n in repeats_of(one, 1)
        )
        case.verdicts = [*case.verdicts, *said]
    return list(case.verdicts)


VERDICTS = _stand_ins()


def _with_all(**response: Any) -> Sample:
    """A record that lacks nothing but what is said: question, response, judge's verdicts, and what compares texts."""
    return _judged(VERDICTS, **response)


@every_metric
@pytest.mark.parametrize("kind", get_args(ErrorKind))
@pytest.mark.parametrize("is_unanswerable", [True, False])
def test_a_failure_of_transport_is_never_a_value(
    make_case: Callable[..., Sample], metric: BaseMetric, kind: str, is_unanswerable: bool
) -> None:
    """Whatever else the response holds, an error leaves the question out, but for timeouts in the latency.

    The first token that came before the time was up keeps its time. What the run has no judge or model for is not lost
    to the failure.
    """
    error = ResponseError(kind=kind, message="failed")
    case = make_case([GOLD], is_unanswerable=is_unanswerable, error=error, **FULL)
    result = metric.score(case)
    if metric.name.startswith("latency") and kind == "timeout":
        assert result.value == FULL["latency_ms"]
    elif metric.name.startswith("time_to_first_token") and kind == "timeout":
        assert result.value == FULL["time_to_first_token_ms"]
    else:
        assert result.value is None
        lacks_tool = bool(metric.needs & {Need.JUDGE, Need.EMBEDDER, Need.TEXT_SCORER})
        lacks = lacks_tool or metric.not_applicable_to(case.question) is not None
        assert result.missing == ("not_applicable" if lacks else "transport")


@every_metric
def test_a_value_lies_in_the_range_and_has_name_and_group(metric: BaseMetric) -> None:
    """A record that lacks nothing gives all metrics but two a value, which lies in the metric's range."""
    result = metric.score(_with_all())
    assert (result.name, result.group) == (metric.name, metric.group)
    assert (result.value is None) == (metric.name in WITHOUT_VALUE), result.reason
    if result.value is not None:
        assert metric.low is None or result.value >= metric.low
        assert metric.high is None or result.value <= metric.high


@every_metric
def test_a_metric_says_what_it_is(metric: BaseMetric) -> None:
    """Every metric is documented with formula, range and reference, and only percentiles have a percentile."""
    page = " ".join((type(metric).__doc__ or "").split())
    assert all(part in page for part in ("Formula: ", "Range ", "Reference: "))
    assert (metric.aggregation is Aggregation.PERCENTILE) == (metric.percentile is not None)
    assert bool(metric.judge_calls) == (Need.JUDGE in metric.needs)


@pytest.mark.parametrize(
    ("need", "question", "applies"),
    [
        (Need.GOLD, EvalQuestion(question="q"), False),
        (Need.GOLD, EvalQuestion(question="q", gold_passages=[GOLD]), True),
        (Need.ANSWERABILITY, EvalQuestion(question="q"), False),
    ],
)
def test_a_question_without_what_a_metric_needs_is_known_before_it_is_asked(
    need: Need, question: EvalQuestion, applies: bool
) -> None:
    """Whether a metric applies follows from the question alone."""
    concerned = [metric for metric in ALL if need in metric.needs]
    assert concerned
    assert all((metric.not_applicable_to(question) is None) is applies for metric in concerned)


@every_metric
@pytest.mark.parametrize(
    ("need", "lacking"), [(Need.CHUNKS, "chunks"), (Need.CITATIONS, "citations"), (Need.USAGE, "usage")]
)
def test_a_response_without_what_a_metric_needs_gives_no_value(metric: BaseMetric, need: Need, lacking: str) -> None:
    """What the server did not say is a reason for None in the metrics that need it, and for no other."""
    full, result = metric.score(_with_all()), metric.score(_with_all(**{lacking: None}))
    if need in metric.needs:
        assert (result.value, result.missing) == (None, "not_applicable")
    elif metric.name not in MADE_OF_OTHERS:
        assert result.value == full.value
        assert (result.value is None) == (metric.name in WITHOUT_VALUE)


@pytest.mark.parametrize("name", ["faithfulness", "answer_correctness", "answer_relevancy"])
def test_a_judged_metric_without_a_judge_has_no_value(measure: Callable[..., MetricResult], name: str) -> None:
    """Without a judge nobody can tell: None with the reason."""
    (metric,) = select([], [name])
    result = measure(metric, [GOLD], **FULL)
    assert (result.value, result.reason) == (None, "no judge was used")


@every_metric
def test_a_batch_is_measured_question_by_question_in_order(
    make_case: Callable[..., Sample], metric: BaseMetric
) -> None:
    """A batch gives what its questions give alone to a metric that has measured nothing else, in any order."""
    cases = [make_case([GOLD], is_unanswerable=False, **FULL), make_case([], answer="I don't know.")]
    pairs = [(case.question, case.response) for case in cases]
    (fresh,) = select([], [metric.name])
    alone = [fresh.score(case) for case in cases]
    assert metric.compute_batch(pairs) == alone
    assert metric.compute_batch(pairs[::-1]) == alone[::-1]


class _Watched(Sample):
    """Remembers whether anybody asked if its answer declines."""

    read = False

    @property
    def abstained(self) -> bool:
        self.read = True
        return super().abstained


@every_metric
@pytest.mark.parametrize("is_unanswerable", [False, True])
def test_a_metric_that_looks_whether_an_answer_declines_says_so(metric: BaseMetric, is_unanswerable: bool) -> None:
    """Where that is doubtful and the judge has not said it, it has no value; no other metric is lost to that."""
    question = QUESTION.model_copy(update={"is_unanswerable": is_unanswerable})
    response = EvalResponse(answer="The insurer decides on that case by case [1].", **FULL)
    semantics = Semantics(_Alike(), _Alike())
    case = _Watched(question, response, VERDICTS, semantics=semantics)
    if metric.applies(case) is not None:
        return
    metric.score(case)
    assert case.read == metric.hangs_on_abstention(case)
    judged = Sample(question, response, VERDICTS, judged=True, semantics=semantics)
    result = metric.score(judged)
    assert (result.missing == "judge") == case.read, result.reason
    asked = [request.name for request in metric.requests(judged)]
    assert ("abstention" in asked) == case.read
