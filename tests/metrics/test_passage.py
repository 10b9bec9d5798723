"""The passage suite: exact match, span F1, recall and nDCG over texts alone."""

from collections.abc import Callable
from math import log2

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics import parse_metric, select
from evals.schemas import EvalQuestion, EvalResponse, GoldPassage, MetricResult, RetrievedChunk

NAMES = ["passage_exact_match", "span_f1", "passage_recall_at_10", "passage_ndcg_at_10"]
IDEAL_2 = 1 + 1 / log2(3)
"""The DCG of two relevant passages at the top."""


@pytest.fixture
def value(measure: Callable[..., MetricResult]) -> Callable[..., float | None]:
    """The value of a metric for texts retrieved and texts of golds."""

    def of(name: str, passages: list[str | None], golds: list[str]) -> float | None:
        chunks = [RetrievedChunk(chunk_id=f"c{place}", text=text) for place, text in enumerate(passages)]
        return measure(parse_metric(name), [GoldPassage(text=gold) for gold in golds], chunks=chunks).value

    return of


def test_the_suite_holds_its_four_metrics() -> None:
    """They are in the suite passage and in no other."""
    assert [metric.name for metric in select(["passage"], [])] == NAMES
    assert not {metric.name for metric in select(["core"], [])} & set(NAMES)


@pytest.mark.parametrize(
    ("passages", "golds", "expected"),
    [
        (["The Deed. "], ["x", " the deed."], 1),
        (["the deed"], ["the deed."], 0),
        (["other", "the deed"], ["the deed"], 0),
        (["  "], [" "], 0),
        ([], ["the deed"], 0),
    ],
)
def test_exact_match_is_of_the_first_passage_with_any_gold(
    value: Callable[..., float | None], passages: list[str], golds: list[str], expected: float
) -> None:
    """Case and white space at the ends do not count; a later passage does not either."""
    assert value("passage_exact_match", passages, golds) == expected


@pytest.mark.parametrize(
    ("passages", "golds", "expected"),
    [
        (["a b c d"], ["a b"], 2 * 2 / 6),
        (["A a a, b!"], ["b a"], 1),
        (["a b"], ["c", "a", "a b c d"], 2 * 1 / 3),
        (["x", "a b"], ["a b"], 0),
        (["..."], ["..."], 0),
        ([], ["a"], 0),
    ],
)
def test_span_f1_compares_sets_of_tokens_and_takes_the_best_gold(
    value: Callable[..., float | None], passages: list[str], golds: list[str], expected: float
) -> None:
    """A repeated word counts once, only the first passage counts."""
    assert value("span_f1", passages, golds) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("passages", "golds", "recall", "ndcg"),
    [
        (["The gold one stands here"], ["gold one"], 1, 1),
        (["gold"], ["A GOLD passage"], 1, 1),
        (["", " ", "gold"], ["gold"], 1, 1 / log2(4)),
        (["miss", "gold"], ["gold", "other"], 0.5, (1 / log2(3)) / IDEAL_2),
        (["gold", "gold", "the gold"], ["gold"], 1, 1),
        (["one two"], ["one", "two"], 1, 1 / IDEAL_2),
        (["one two", "three"], ["one", "two", "three"], 1, IDEAL_2 / (IDEAL_2 + 1 / 2)),
        (["one two"], ["one", "two", "three"], 2 / 3, 1 / (IDEAL_2 + 1 / 2)),
        (["gold"], ["gold", "gold"], 1, 1 / IDEAL_2),
        (["one", "one c", "two"], ["one", "two"], 1, (1 + 1 / 2) / IDEAL_2),
        (["one"], [*["one"], *map(str, range(20))], 1 / 21, 1 / sum(1 / log2(rank + 1) for rank in range(1, 11))),
        (["miss"] * 10 + ["gold"], ["gold"], 0, 0),
        (["gold"], [" "], 0, 0),
        ([], ["gold"], 0, 0),
    ],
)
def test_recall_and_ndcg_follow_the_either_way_substring_rule(
    value: Callable[..., float | None], passages: list[str], golds: list[str], recall: float, ndcg: float
) -> None:
    """Either text may hold the other; empty ones match nothing; repeating a gold gains nothing.

    The ideal of nDCG has one rank for each gold, K at most, also where one passage holds several.
    """
    assert value("passage_recall_at_10", passages, golds) == pytest.approx(recall)
    assert value("passage_ndcg_at_10", passages, golds) == pytest.approx(ndcg)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.permutations(range(20)), st.integers(1, 20), st.sets(st.integers(0, 30), min_size=1, max_size=12))
def test_one_to_one_the_numbers_are_those_of_trec_eval(order: list[int], length: int, relevant: set[int]) -> None:
    """Where each passage is one gold or none, recall and nDCG are trec_eval's."""
    ranked = order[:length]
    run = {"q": {f"d{doc}": float(100 - rank) for rank, doc in enumerate(ranked)}}
    grades = {"q": {f"d{doc}": 1 for doc in relevant}}
    reference = pytrec_eval.RelevanceEvaluator(grades, {"recall.5,10", "ndcg_cut.5,10"}).evaluate(run)["q"]
    question = EvalQuestion(question="q", gold_passages=[GoldPassage(text=f"<{doc}>") for doc in sorted(relevant)])
    response = EvalResponse(answer="a", chunks=[RetrievedChunk(text=f"text <{doc}> end") for doc in ranked])
    for k in (5, 10):
        for ours, theirs in ((f"passage_recall_at_{k}", f"recall_{k}"), (f"passage_ndcg_at_{k}", f"ndcg_cut_{k}")):
            result = parse_metric(ours).compute(question, response)
            assert result.value == pytest.approx(reference[theirs], abs=1e-9), ours


@pytest.mark.parametrize("name", NAMES)
def test_chunks_without_texts_give_no_value(value: Callable[..., float | None], name: str) -> None:
    """What the server did not send is not what it got wrong; one text among the chunks is enough to compare."""
    assert value(name, [None, None], ["gold"]) is None
    assert value(name, [None, "gold"], ["gold"]) is not None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("golds", [[{"document_id": "hr"}], [{"document_id": "hr"}, {"text": "a"}]], ids=str)
def test_a_gold_without_text_says_so(
    measure: Callable[..., MetricResult], name: str, golds: list[dict[str, str]]
) -> None:
    """Texts cannot be compared with a name; the other golds alone would be a recall of something else."""
    chunks = [RetrievedChunk(text="a", document_id="hr")]
    result = measure(parse_metric(name), [GoldPassage(**gold) for gold in golds], chunks=chunks)
    assert (result.value, result.reason) == (None, "a gold passage carries no text")
