"""A server that only retrieves: what is measured, and what has no value."""

import pytest

from evals.metrics import BaseMetric, Sample
from evals.metrics.base import Need
from evals.metrics.registry import METRICS
from evals.schemas import EvalQuestion, EvalResponse, GoldPassage, MetricGroup, RetrievedChunk
from evals.schemas.dataset import KeySentence

ONLY = "this server only retrieves"
GOLD = "Daily snapshots are kept for thirty days."
OF_ANSWERS = {MetricGroup.CITATION, MetricGroup.ABSTENTION}
EACH = [metric for cls in METRICS for metric in cls.defaults()[:1]]


def _case(*, is_unanswerable: bool = False) -> Sample:
    question = EvalQuestion(
        question="How long are snapshots kept?",
        expected_answer="Snapshots are kept for thirty days.",
        gold_passages=[GoldPassage(text=GOLD, chunk_id="a", document_id="guide", section="Retention")],
        key_sentences=[KeySentence(text=GOLD, source="gold")],
        is_unanswerable=is_unanswerable,
    )
    chunks = [RetrievedChunk(text=GOLD, chunk_id="a", document_id="guide", section="Retention")]
    return Sample(question, EvalResponse(chunks=chunks, latency_ms=5.0), judged=True)


@pytest.mark.parametrize("metric", [m for m in EACH if m.group in OF_ANSWERS], ids=lambda metric: metric.name)
@pytest.mark.parametrize("is_unanswerable", [False, True])
def test_citation_and_abstention_have_no_value(metric: BaseMetric, is_unanswerable: bool) -> None:
    """Nothing was said, so nothing was cited, and nobody declined."""
    case = _case(is_unanswerable=is_unanswerable)
    result = metric.score(case)
    assert (result.value, result.missing) == (None, "not_applicable")
    if metric.not_applicable_to(case.question) is None:
        assert result.reason == ONLY


@pytest.mark.parametrize(
    "metric", [m for m in EACH if m.group is MetricGroup.GENERATION and m.of_answer], ids=lambda metric: metric.name
)
def test_metrics_of_the_answer_have_no_value_and_ask_nobody(metric: BaseMetric) -> None:
    """Neither a judge nor a model that compares texts has anything to do."""
    case = _case()
    result = metric.score(case)
    assert (result.value, result.missing) == (None, "not_applicable")
    assert metric.requests(case) == []
    if not metric.needs & {Need.EMBEDDER, Need.TEXT_SCORER} and metric.not_applicable_to(case.question) is None:
        assert result.reason == ONLY


def test_every_metric_of_generation_is_of_the_answer_but_two_that_mix() -> None:
    """A new metric says which it is."""
    others = {metric.name for metric in EACH if metric.group is MetricGroup.GENERATION and not metric.of_answer}
    assert others == {"ragas_score"}


@pytest.mark.parametrize("metric", [m for m in EACH if m.group is MetricGroup.RETRIEVAL], ids=lambda m: m.name)
def test_retrieval_is_measured(metric: BaseMetric) -> None:
    """With the judge where it needs one: it is asked about the chunks."""
    case = _case()
    if Need.JUDGE in metric.needs:
        assert metric.requests(case)
    else:
        assert metric.score(case).value == metric.best or metric.name.startswith("precision_at")
