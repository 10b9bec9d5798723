"""The retrieval metrics: nothing to find, nothing found, more than one way to find it, and the formulas of `qa`."""

from math import log2
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics.records import chunks as _chunks
from metrics.records import golds as _golds
from metrics.records import record, score, values

from evals.metrics import NDCG, MatchSettings, PrecisionAtK, RecallAtK
from evals.metrics.retrieval import MRRAtK
from evals.schemas import GoldPassage, RetrievedChunk

METRICS = ["recall_at_5", "precision_at_5", "mrr", "ndcg_at_10"]
TOGETHER = [
    GoldPassage(text="burst pipes are covered up to ten thousand euros", relevance=3),
    GoldPassage(text="the excess is two hundred euros for every single claim", relevance=1),
]
"""Golds that one chunk may hold both of."""
BOTH = RetrievedChunk(text=" and ".join(gold.text for gold in TOGETHER))


def test_the_order_is_that_of_the_server_whatever_the_scores_say() -> None:
    """Scores may be distances: they never change a rank. Of no chunks at all every metric is 0."""
    scored = [RetrievedChunk(chunk_id=name, score=score) for name, score in zip("xayb", (1, 9, 2, 8), strict=True)]
    plain, by_score, nothing = (
        values(METRICS, record(gold_passages=_golds("a", "b"), chunks=found))
        for found in (_chunks(*"xayb"), scored, [])
    )
    assert plain == by_score == pytest.approx([1, 0.4, 0.5, (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3))])
    assert nothing == [0, 0, 0, 0]


def test_precision_divides_by_k_however_few_chunks_there_are() -> None:
    """One relevant chunk alone is a precision of 1/5 at 5."""
    assert score("precision_at_5", gold_passages=_golds("a"), chunks=_chunks("a")).value == pytest.approx(0.2)


def test_a_gold_in_two_chunks_counts_once_in_recall_and_both_count_in_precision() -> None:
    """Recall counts golds, precision counts distinct chunks that hold any."""
    golds = [*TOGETHER[:1], *_golds("b")]
    chunks = [RetrievedChunk(text=f"{lead} {golds[0].text}.") for lead in ("First,", "Again,")]
    assert values(["recall_at_2", "precision_at_2"], record(gold_passages=golds, chunks=chunks)) == [0.5, 1]


def test_one_chunk_with_all_golds_is_a_perfect_ranking() -> None:
    """Golds that one chunk covers form one ideal unit: both nDCGs are 1, and so is recall."""
    names = ["ndcg_at_10", "recall_at_1", "adapted_ndcg"]
    assert values(names, record(gold_passages=TOGETHER, chunks=[BOTH])) == [1, 1, 1]
    result = score("adapted_ndcg", gold_passages=[*TOGETHER, *_golds("b")], chunks=[BOTH, *_chunks("x", "b")])
    assert result.value == pytest.approx((1 + 1 / 3) / (1 + 1 / 2))
    assert (result.details["returned"], result.details["relevant"]) == (3, 2)


def test_a_chunk_gains_the_highest_grade_of_the_golds_that_it_covers() -> None:
    """Golds of grades 3 and 1 in one chunk are worth 3, not 4; a grade counts as it is, not as 2^grade - 1."""
    result = score("ndcg_at_10", gold_passages=[*TOGETHER, *_golds("alone")], chunks=[*_chunks("alone"), BOTH])
    assert result.value == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)), abs=1e-12)


def test_the_details_name_the_ranks_and_the_rules() -> None:
    """A reader can see which ranks were hits and by which rule."""
    chunks = [*_chunks("x", "b"), RetrievedChunk(text=TOGETHER[0].text)]
    details = score("mrr", gold_passages=[*_golds("b"), TOGETHER[0]], chunks=chunks).details
    assert details == {"hit_ranks": [2, 3], "rules": {"chunk_id": 1, "text": 1}}


@pytest.mark.parametrize("family", [RecallAtK, PrecisionAtK, NDCG])
def test_a_cut_off_below_1_is_refused(family: type[RecallAtK]) -> None:
    """There is no rank 0."""
    with pytest.raises(ValueError, match="at least 1"):
        family(0)


@pytest.mark.parametrize(("k", "value"), [(1, 0.0), (2, 0.0), (3, 1 / 3), (10, 1 / 3)])
def test_mrr_at_k_sees_the_top_k_only(k: int, value: float) -> None:
    """MS MARCO's measure is 0 where the first relevant chunk stands below the cut."""
    result = score(f"mrr_at_{k}", gold_passages=_golds("a"), chunks=_chunks("x", "y", "a"))
    assert (result.name, result.value) == (MRRAtK(k).name, pytest.approx(value))


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    ("chunk", "gold", "meets"),
    [
        ({"chunk_id": "x"}, {}, False),
        ({"chunk_id": "x"}, {"document_id": "guide"}, False),
        ({"document_id": "guide"}, {"chunk_id": "a"}, False),
        ({"chunk_id": "x"}, {"chunk_id": "a"}, True),
        ({"document_name": "manual"}, {"document_id": "guide"}, True),
        ({"chunk_id": "x", "text": "other"}, {}, True),
    ],
)
def test_chunks_that_no_gold_can_be_recognised_in_have_no_value(
    name: str, chunk: dict[str, str], gold: dict[str, str], meets: bool
) -> None:
    """Bare ids that no gold names say nothing: a wrong mapping is no recall of 0."""
    golds = [GoldPassage(text="the passage", **gold)]
    result = score(name, gold_passages=golds, chunks=[RetrievedChunk(**chunk)])
    assert result.value == (0 if meets else None)
    assert meets or result.reason == "the chunks carry neither text nor a name (is the mapping right?)"


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    ("rule", "chunk", "value", "reason"),
    [
        ("auto", {"document_id": "hr.md"}, 1, None),
        ("auto", {"document_id": "it.md"}, 0, None),
        ("auto", {"chunk_id": "7"}, None, "gold is known by an id alone, and the chunks carry no such id"),
        ("auto", {}, None, "gold is known by an id alone, and the chunks carry no such id"),
        ("text", {"document_id": "hr.md"}, None, "the gold passages carry no text, which match.rule text compares"),
    ],
    ids=str,
)
def test_gold_by_document_alone_is_measured_where_chunks_name_documents(
    name: str, rule: Any, chunk: dict[str, str], value: float | None, reason: str | None
) -> None:
    """What cannot be recognised in any way has a reason and no value: it is no recall of 0."""
    found = {"chunks": [RetrievedChunk(text="Notice is four weeks.", **chunk)], "settings": MatchSettings(rule=rule)}
    result = score(name, gold_passages=[GoldPassage(document_id="hr")], **found)
    assert (result.value and 1) == value
    assert reason is None or (result.reason or "").startswith(reason)


# The formulas of question answering over a fixed number of documents.


def _as_it_is_written(returned: str, relevant: str) -> float:
    dcg = sum((returned[i] in relevant) / (i + 1) for i in range(len(returned)))
    return dcg / sum(1 / (i + 1) for i in range(len(relevant)))


@settings(derandomize=True, max_examples=150)
@given(returned=st.permutations("abcdefgh"), n=st.integers(0, 8), relevant=st.sets(st.sampled_from("abcdefghij")))
def test_one_to_one_matches_give_the_formula_to_the_letter(returned: list[str], n: int, relevant: set[str]) -> None:
    """Where each chunk is at most one gold, the values are those of the formula as it is written."""
    relevant |= {"a"}
    shown, wanted = "".join(returned[:n]), "".join(sorted(relevant))
    sample = record(gold_passages=_golds(*wanted), chunks=_chunks(*shown))
    expected = [_as_it_is_written(shown, wanted), len(set(shown) & relevant) / len(relevant)]
    assert values(["adapted_ndcg", "modified_precision"], sample) == pytest.approx(expected, abs=1e-12)
