"""The retrieval metrics: nothing to find, nothing found, more than one way to find it, and the formulas of `qa`."""

from collections.abc import Callable
from math import log2
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics import MRR, NDCG, BaseMetric, PrecisionAtK, RecallAtK, parse_metric
from evals.metrics.retrieval import MRRAtK
from evals.schemas import GoldPassage, MetricResult, RetrievedChunk

Measure = Callable[..., MetricResult]
ADAPTED, PRECISION = parse_metric("adapted_ndcg"), parse_metric("modified_precision")
METRICS: list[BaseMetric] = [RecallAtK(5), PrecisionAtK(5), MRR(), NDCG(10)]
TOGETHER = [
    GoldPassage(text="burst pipes are covered up to ten thousand euros", relevance=3),
    GoldPassage(text="the excess is two hundred euros for every single claim", relevance=1),
]
"""Golds that one chunk may hold both of."""
every_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)


def _chunks(*ids: str) -> list[RetrievedChunk]:
    return [RetrievedChunk(chunk_id=chunk_id) for chunk_id in ids]


def _golds(*ids: str) -> list[GoldPassage]:
    return [GoldPassage(text=f"the passage {chunk_id}", chunk_id=chunk_id) for chunk_id in ids]


@every_metric
def test_an_empty_list_of_chunks_is_0(measure: Measure, metric: BaseMetric) -> None:
    """A server that says it found nothing has found nothing: 0."""
    assert measure(metric, _golds("a"), chunks=[]).value == 0


@every_metric
def test_the_order_is_that_of_the_server_whatever_the_scores_say(measure: Measure, metric: BaseMetric) -> None:
    """Scores may be distances: they never change a rank."""
    ids = ("x", "a", "y", "b")
    plain = measure(metric, _golds("a", "b"), chunks=_chunks(*ids))
    scored = [RetrievedChunk(chunk_id=chunk_id, score=score) for chunk_id, score in zip(ids, (1, 9, 2, 8), strict=True)]
    assert measure(metric, _golds("a", "b"), chunks=scored) == plain


def test_precision_divides_by_k_however_few_chunks_there_are(measure: Measure) -> None:
    """One relevant chunk alone is a precision of 1/5 at 5."""
    assert measure(PrecisionAtK(5), _golds("a"), chunks=_chunks("a")).value == pytest.approx(0.2)


def test_a_gold_in_two_chunks_counts_once_in_recall_and_both_count_in_precision(measure: Measure) -> None:
    """Recall counts golds, precision counts distinct chunks that hold any."""
    gold = [GoldPassage(text="burst pipes are covered up to ten thousand euros a year"), *_golds("b")]
    chunks = [RetrievedChunk(text=f"{lead} {gold[0].text}.") for lead in ("First,", "Again,")]
    assert measure(RecallAtK(2), gold, chunks=chunks).value == pytest.approx(0.5)
    assert measure(PrecisionAtK(2), gold, chunks=chunks).value == 1


def test_one_chunk_with_all_golds_is_a_perfect_ranking(measure: Measure) -> None:
    """Golds that one chunk covers form one ideal unit: nDCG is 1, and so is recall."""
    golds = TOGETHER
    chunks = [RetrievedChunk(text=" and ".join(gold.text for gold in golds))]
    assert measure(NDCG(10), golds, chunks=chunks).value == 1
    assert measure(RecallAtK(1), golds, chunks=chunks).value == 1


def test_a_chunk_gains_the_highest_grade_of_the_golds_that_it_covers(measure: Measure) -> None:
    """Golds of grades 3 and 1 in one chunk are worth 3, not 4."""
    golds = [*TOGETHER, GoldPassage(text="alone", chunk_id="alone", relevance=1)]
    chunks = [*_chunks("alone"), RetrievedChunk(text=" and ".join(gold.text for gold in golds[:2]))]
    expected = (1 + 3 / log2(3)) / (3 + 1 / log2(3))
    assert measure(NDCG(10), golds, chunks=chunks).value == pytest.approx(expected, abs=1e-12)


def test_the_details_name_the_ranks_and_the_rules(measure: Measure) -> None:
    """A reader can see which ranks were hits and by which rule."""
    golds = [*_golds("b"), GoldPassage(text="burst pipes are covered up to ten thousand euros")]
    chunks = [*_chunks("x", "b"), RetrievedChunk(text=golds[1].text)]
    details = measure(MRR(), golds, chunks=chunks).details
    assert details == {"hit_ranks": [2, 3], "rules": {"chunk_id": 1, "text": 1}}


@pytest.mark.parametrize("family", [RecallAtK, PrecisionAtK, NDCG])
def test_a_cut_off_below_1_is_refused(family: type[RecallAtK]) -> None:
    """There is no rank 0."""
    with pytest.raises(ValueError, match="at least 1"):
        family(0)


@pytest.mark.parametrize(("k", "value"), [(1, 0.0), (2, 0.0), (3, 1 / 3), (10, 1 / 3)])
def test_mrr_at_k_sees_the_top_k_only(measure: Measure, k: int, value: float) -> None:
    """MS MARCO's measure is 0 where the first relevant chunk stands below the cut."""
    assert measure(MRRAtK(k), _golds("a"), chunks=_chunks("x", "y", "a")).value == pytest.approx(value)
    assert parse_metric(f"mrr_at_{k}").name == f"mrr_at_{k}"


@every_metric
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
    measure: Measure, metric: BaseMetric, chunk: dict[str, str], gold: dict[str, str], meets: bool
) -> None:
    """Bare ids that no gold names say nothing: a wrong mapping is no recall of 0."""
    result = measure(metric, [GoldPassage(text="the passage", **gold)], chunks=[RetrievedChunk(**chunk)])
    assert result.value == (0 if meets else None)
    assert meets or result.reason == "the chunks carry neither text nor a name (is the mapping right?)"


@every_metric
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
    measure: Measure, metric: BaseMetric, rule: Any, chunk: dict[str, str], value: float | None, reason: str | None
) -> None:
    """What cannot be recognised in any way has a reason and no value: it is no recall of 0."""
    chunks = [RetrievedChunk(text="Notice is four weeks.", **chunk)]
    result = measure(metric, [GoldPassage(document_id="hr")], chunks=chunks, rule=rule)
    assert (result.value and 1) == value
    assert reason is None or (result.reason or "").startswith(reason)


# The formulas of question answering over a fixed number of documents.


def _as_it_is_written(returned: str, relevant: str) -> float:
    n, m = len(returned), len(relevant)

    def f(d: str) -> int:
        return 1 if d in relevant else 0

    dcg = sum(f(returned[i]) / (i + 1) for i in range(n))
    idcg = sum(1 / (i + 1) for i in range(m))
    return dcg / idcg


@settings(derandomize=True, max_examples=150)
@given(returned=st.permutations("abcdefgh"), n=st.integers(0, 8), relevant=st.sets(st.sampled_from("abcdefghij")))
def test_one_to_one_matches_give_the_formula_to_the_letter(
    measure: Measure, returned: list[str], n: int, relevant: set[str]
) -> None:
    """Where each chunk is at most one gold, the values are those of the formula as it is written."""
    relevant |= {"a"}
    shown, wanted = "".join(returned[:n]), "".join(sorted(relevant))
    record = {"golds": _golds(*wanted), "chunks": _chunks(*shown)}
    assert measure(ADAPTED, **record).value == pytest.approx(_as_it_is_written(shown, wanted), abs=1e-12)
    assert measure(PRECISION, **record).value == pytest.approx(len(set(shown) & relevant) / len(relevant), abs=1e-12)


def test_golds_in_one_chunk_form_one_ideal_unit(measure: Measure) -> None:
    """One chunk with all golds at the first place is a perfect ranking, not half of one."""
    golds = TOGETHER
    chunks = [RetrievedChunk(text=" and ".join(gold.text for gold in golds))]
    assert measure(ADAPTED, golds, chunks=chunks).value == 1
    result = measure(ADAPTED, [*golds, *_golds("b")], chunks=[*chunks, *_chunks("x", "b")])
    assert result.value == pytest.approx((1 + 1 / 3) / (1 + 1 / 2))
    assert (result.details["returned"], result.details["relevant"]) == (3, 2)
