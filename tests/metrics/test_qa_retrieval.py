"""The retrieval metrics of question answering: their formulas to the letter, and many-to-many matches."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics import parse_metric
from evals.schemas import GoldPassage, MetricResult, RetrievedChunk

Measure = Callable[..., MetricResult]
ADAPTED, PRECISION = parse_metric("adapted_ndcg"), parse_metric("modified_precision")
example_count = settings(derandomize=True, deadline=None, max_examples=150)


def _chunks(ids: str) -> list[RetrievedChunk]:
    return [RetrievedChunk(chunk_id=chunk_id) for chunk_id in ids]


def _golds(ids: str) -> list[GoldPassage]:
    return [GoldPassage(text=f"the passage {chunk_id}", chunk_id=chunk_id) for chunk_id in ids]


def _as_it_is_written(returned: str, relevant: str) -> float:
    n, m = len(returned), len(relevant)

    def f(d: str) -> int:
        return 1 if d in relevant else 0

    dcg = sum(f(returned[i]) / (i + 1) for i in range(n))
    idcg = sum(1 / (i + 1) for i in range(m))
    return dcg / idcg


@pytest.mark.parametrize(
    ("returned", "relevant", "ndcg", "precision"),
    [
        ("abc", "abc", 1.0, 1.0),
        ("cba", "abc", 1.0, 1.0),  # all are equally important
        ("axx", "a", 1.0, 1.0),
        ("xa", "a", 1 / 2, 1.0),
        ("xxa", "a", 1 / 3, 1.0),
        ("axb", "ab", (1 + 1 / 3) / (1 + 1 / 2), 1.0),
        ("xab", "ab", (1 / 2 + 1 / 3) / (1 + 1 / 2), 1.0),
        ("a", "abc", 1 / (1 + 1 / 2 + 1 / 3), 1 / 3),  # the ideal has all that is relevant, whatever is returned
        ("ab", "abcd", (1 + 1 / 2) / (1 + 1 / 2 + 1 / 3 + 1 / 4), 1 / 2),
        ("xyz", "a", 0.0, 0.0),
        ("", "a", 0.0, 0.0),
    ],
)
def test_worked_examples(measure: Measure, returned: str, relevant: str, ndcg: float, precision: float) -> None:
    """Each letter is a document: the values are those of the formulas by hand."""
    record = {"golds": _golds(relevant), "chunks": _chunks(returned)}
    assert measure(ADAPTED, **record).value == pytest.approx(ndcg, abs=1e-12)
    assert measure(PRECISION, **record).value == pytest.approx(precision, abs=1e-12)


@example_count
@given(returned=st.permutations("abcdefgh"), n=st.integers(0, 8), relevant=st.sets(st.sampled_from("abcdefghij")))
def test_one_to_one_matches_give_the_formula_to_the_letter(
    measure: Measure, returned: list[str], n: int, relevant: set[str]
) -> None:
    """Where each chunk is at most one gold, the values are those of the formula as it is written."""
    relevant |= {"a"}
    shown, wanted = "".join(returned[:n]), "".join(sorted(relevant))
    record = {"golds": _golds(wanted), "chunks": _chunks(shown)}
    assert measure(ADAPTED, **record).value == pytest.approx(_as_it_is_written(shown, wanted), abs=1e-12)
    assert measure(PRECISION, **record).value == pytest.approx(len(set(shown) & relevant) / len(relevant), abs=1e-12)


def test_golds_in_one_chunk_form_one_ideal_unit(measure: Measure) -> None:
    """One chunk with all golds at the first place is a perfect ranking, not half of one."""
    golds = [
        GoldPassage(text="burst pipes are covered up to ten thousand euros", relevance=3),
        GoldPassage(text="the excess is two hundred euros for every single claim", relevance=1),
    ]
    chunks = [RetrievedChunk(text=" and ".join(gold.text for gold in golds))]
    assert measure(ADAPTED, golds, chunks=chunks).value == 1
    result = measure(ADAPTED, [*golds, *_golds("b")], chunks=[*chunks, *_chunks("xb")])
    assert result.value == pytest.approx((1 + 1 / 3) / (1 + 1 / 2))
    assert (result.details["returned"], result.details["relevant"]) == (3, 2)
