"""Seed 003, to the letter: retrieval at K, citations, abstention, latency and cost over a small run."""

from math import log2

import pytest

from evals.metrics import parse_metric
from evals.metrics.performance import CostPerQuery, Price
from evals.metrics.registry import metrics_of
from evals.schemas import Citation, EvalQuestion, EvalResponse, GoldPassage, RetrievedChunk, TokenUsage

GOLDS = [GoldPassage(chunk_id=name, document_id="guide", section="3. Fees") for name in "abc"]
CHUNKS = [
    RetrievedChunk(chunk_id=name, document_id="guide.md", section="§ 3 Fees" if name in "abc" else "4. Other")
    for name in "xaybz"
]
QUESTION = EvalQuestion(id="q", question="What?", expected_answer="It.", gold_passages=GOLDS, is_unanswerable=False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("recall_at_1", 0),
        ("recall_at_3", 1 / 3),
        ("recall_at_5", 2 / 3),
        ("recall_at_10", 2 / 3),
        ("precision_at_1", 0),
        ("precision_at_3", 1 / 3),
        ("precision_at_5", 2 / 5),
        ("mrr", 1 / 2),
        ("ndcg_at_10", (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3) + 1 / log2(4))),
        ("citation_precision", 1 / 2),
        ("citation_recall", 1 / 3),
        ("section_accuracy", 1 / 2),
    ],
)
def test_retrieval_and_citation(name: str, value: float) -> None:
    """Golds a, b and c; retrieved x a y b z; cited a and x."""
    response = EvalResponse(answer="It.", chunks=CHUNKS, citations=[Citation(chunk_id="a"), Citation(chunk_id="x")])
    assert parse_metric(name).compute(QUESTION, response).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("answer", "unanswerable", "values"),
    [
        ("I don't have enough information.", True, (1, None, 0)),
        ("I don't have enough information.", False, (0, 1, None)),
        ("It lasts 96 hours.", True, (0, None, 1)),
        ("It lasts 96 hours.", False, (1, 0, None)),
    ],
)
def test_abstention(answer: str, unanswerable: bool, values: tuple[float | None, ...]) -> None:
    """Accuracy over all, false positives over the answerable, false negatives over the unanswerable questions."""
    question = QUESTION.model_copy(update={"is_unanswerable": unanswerable, "expected_answer": None})
    names = ("unanswerable_accuracy", "abstention_false_positive_rate", "abstention_false_negative_rate")
    assert tuple(parse_metric(name).compute(question, EvalResponse(answer=answer)).value for name in names) == values


def test_cost_is_tokens_times_price() -> None:
    """2,000 tokens at 3 dollars and 500 at 15 for a million."""
    metric = CostPerQuery({"m": Price(3, 15, "yours")})
    usage = TokenUsage(prompt_tokens=2000, completion_tokens=500)
    assert metric.compute(QUESTION, EvalResponse(answer="It.", usage=usage, model="m")).value == pytest.approx(0.0135)


def test_compute_batch_gives_a_result_a_pair() -> None:
    """As `compute` does."""
    pairs = [(QUESTION, EvalResponse(answer="It.", chunks=CHUNKS)), (QUESTION, EvalResponse(answer="It.", chunks=[]))]
    assert [result.value for result in parse_metric("mrr").compute_batch(pairs)] == [0.5, 0]


def test_the_suite_core_holds_the_groups_and_default_ks() -> None:
    """Recall at 1, 3, 5, 10 and precision at 1, 3, 5 among them."""
    names = [metric.name for cls in metrics_of(["core"]) for metric in cls.defaults()]
    assert names == [
        *("recall_at_1", "recall_at_3", "recall_at_5", "recall_at_10"),
        *("precision_at_1", "precision_at_3", "precision_at_5", "mrr", "ndcg_at_10"),
        *("faithfulness", "answer_correctness", "answer_relevancy"),
        *("citation_precision", "citation_recall", "section_accuracy"),
        *("unanswerable_accuracy", "abstention_false_positive_rate", "abstention_false_negative_rate"),
        *("latency_p50", "latency_p95", "cost_per_query"),
    ]
