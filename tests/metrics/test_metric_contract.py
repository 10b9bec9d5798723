"""What holds of every metric: failures give no value, and every value has its place."""

from collections.abc import Callable
from typing import Any, get_args

import pytest

from evals.metrics import Aggregation, BaseMetric, Case, Need, select
from evals.schemas import Citation, EvalQuestion, GoldPassage, MetricResult, ResponseError, RetrievedChunk, TokenUsage
from evals.schemas.response import ErrorKind

ALL = select(["all"], [])
GOLD = GoldPassage(text="burst pipes are covered", chunk_id="c1", document_id="guide", section="Water")
FULL: dict[str, Any] = {
    "chunks": [RetrievedChunk(chunk_id="c1", document_id="guide", section="Water", text=GOLD.text)],
    "citations": [Citation(index=1)],
    "usage": TokenUsage(prompt_tokens=10, completion_tokens=5),
    "model": "m1",
    "latency_ms": 20.0,
}
every_metric = pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)


@every_metric
@pytest.mark.parametrize("kind", get_args(ErrorKind))
@pytest.mark.parametrize("is_unanswerable", [True, False])
def test_a_failure_of_transport_is_never_a_value(
    make_case: Callable[..., Case], metric: BaseMetric, kind: str, is_unanswerable: bool
) -> None:
    """Whatever else the response holds, an error leaves the question out, but for timeouts in the latency."""
    error = ResponseError(kind=kind, message="failed")
    case = make_case([GOLD], is_unanswerable=is_unanswerable, error=error, **FULL)
    result = metric.score(case)
    if metric.name.startswith("latency") and kind == "timeout":
        assert result.value == FULL["latency_ms"]
    else:
        assert result.value is None
        applicable = metric.not_applicable_to(case.question) is None
        assert result.missing == ("transport" if applicable else "not_applicable")


@every_metric
def test_a_value_lies_in_the_range_and_has_name_and_group(make_case: Callable[..., Case], metric: BaseMetric) -> None:
    """A full record gives a value in the metric's range, or a reason why not."""
    result = metric.score(make_case([GOLD], is_unanswerable=False, **FULL))
    assert (result.name, result.group) == (metric.name, metric.group)
    if result.value is None:
        assert result.reason
    else:
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
def test_a_response_without_what_a_metric_needs_gives_no_value(
    measure: Callable[..., MetricResult], metric: BaseMetric, need: Need, lacking: str
) -> None:
    """What the server did not say is a reason for None in the metrics that need it, and for no other."""
    full = measure(metric, [GOLD], is_unanswerable=False, **FULL)
    result = measure(metric, [GOLD], is_unanswerable=False, **(FULL | {lacking: None}))
    if need in metric.needs:
        assert (result.value, result.missing) == (None, "not_applicable")
    else:
        assert result == full


@pytest.mark.parametrize("name", ["faithfulness", "answer_correctness", "answer_relevancy"])
def test_a_judged_metric_without_a_judge_has_no_value(measure: Callable[..., MetricResult], name: str) -> None:
    """Without a judge nobody can tell: None with the reason."""
    (metric,) = select([], [name])
    result = measure(metric, [GOLD], **FULL)
    assert (result.value, result.reason) == (None, "no judge was used (--no-judge)")


@every_metric
def test_a_batch_is_measured_question_by_question_in_order(make_case: Callable[..., Case], metric: BaseMetric) -> None:
    """A batch gives what its questions give one by one."""
    cases = [make_case([GOLD], is_unanswerable=False, **FULL), make_case([], answer="I don't know.")]
    pairs = [(case.question, case.response) for case in cases]
    assert metric.compute_batch(pairs) == [metric.compute(*pair) for pair in pairs]
