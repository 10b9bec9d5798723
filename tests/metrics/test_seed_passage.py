"""Seed 000, to the letter: exact match, span F1, recall@K and nDCG@K of retrieved passages."""

from math import log2

import pytest

from evals.metrics.retrieval import PassageExactMatch, PassageNDCGAtK, PassageRecallAtK, SpanF1
from evals.schemas import EvalQuestion, EvalResponse, GoldPassage, MetricResult, RetrievedChunk


def measure(metric: object, passages: list[str], golds: list[str]) -> MetricResult:
    question = EvalQuestion(id="q", question="?", gold_passages=[GoldPassage(text=gold) for gold in golds])
    chunks = [RetrievedChunk(text=passage) for passage in passages]
    return metric.compute(question, EvalResponse(answer="It.", chunks=chunks))  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize(
    ("passages", "golds", "value"),
    [
        ([" Any AND all \n"], ["any and all"], 1),
        (["any and all"], ["other", "Any and all"], 1),
        (["other", "any and all"], ["any and all"], 0),
        (["any and all."], ["any and all"], 0),
        ([], ["any and all"], 0),
    ],
)
def test_exact_match_is_of_the_first_passage(passages: list[str], golds: list[str], value: float) -> None:
    """EM = 1 if predicted_text.strip().lower() == gold_text.strip().lower() else 0."""
    assert measure(PassageExactMatch(), passages, golds).value == value


def test_span_f1_is_of_token_sets_and_the_best_gold() -> None:
    """Tokens in lower case, alphanumeric only, stop words kept: {the, party, shall, pay} and {the, party, pays}."""
    assert measure(SpanF1(), ["The Party shall pay."], ["the party pays", "no"]).value == pytest.approx(2 * 2 / 7)
    assert measure(SpanF1(), ["the the the"], ["the"]).value == 1
    assert measure(SpanF1(), ["北京"], ["北京位于北部"]).value == pytest.approx(2 * 2 / 7)


def test_recall_is_the_share_of_golds_by_substring_either_way() -> None:
    """|gold ∩ top K| / |gold|; an empty text matches nothing."""
    passages = ["so ALPHA it is", "bet", "", "gamma"]
    assert measure(PassageRecallAtK(2), passages, ["alpha", "beta", "gamma", "delta"]).value == 0.5
    assert measure(PassageRecallAtK(10), passages, ["alpha", "beta", "gamma", "delta"]).value == 0.75


def test_ndcg_discounts_by_the_logarithm_of_the_rank() -> None:
    """DCG@K = Σ rel_i / log2(i + 1), IDCG over min(num_relevant, K) ranks."""
    found = measure(PassageNDCGAtK(10), ["x", "alpha", "y", "beta"], ["alpha", "beta"]).value
    assert found == pytest.approx((1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3)))


def test_a_gold_that_is_repeated_gains_once() -> None:
    """Where the seed's sum would exceed 1."""
    assert measure(PassageNDCGAtK(10), ["alpha", "alpha too", "alpha again"], ["alpha"]).value == 1
