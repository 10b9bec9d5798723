"""RAGBench's own scores, recomputed from its keys."""

import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from evals.datasets.base import LoadOptions
from evals.datasets.ragbench import RAGBenchLoader, trace_scores

DATA = os.environ.get("EVALS_REAL_DATA")
real_rows = pytest.mark.skipif(DATA is None, reason="EVALS_REAL_DATA names no folder of real rows")
HOME = Path(DATA or "") / "hf"
SUBSETS = ["covidqa", "delucionqa", "hotpotqa", "msmarco"]
DRAWN = [
    "covidqa:191",
    "hotpotqa:5a7fb1765542992e7d278d20",
    "delucionqa:415",
    "msmarco:129",
    "covidqa:145",
    "hotpotqa:5ab73de755429928e1fe383b",
    "delucionqa:542",
    "msmarco:395",
    "covidqa:1301",
    "hotpotqa:5ac259585542992f1f2b3868",
    "delucionqa:1",
    "msmarco:4745",
]


def row(relevant: list[str], utilized: list[str], unsupported: list[str]) -> dict[str, Any]:
    """A row with these keys, over four sentences in two documents."""
    return {
        "documents_sentences": [[["0a", "One."], ["0b", "Two."], ["0c", "Three."]], [["1a", "Four."]]],
        "all_relevant_sentence_keys": relevant,
        "all_utilized_sentence_keys": utilized,
        "unsupported_response_sentence_keys": unsupported,
    }


@pytest.mark.parametrize(
    ("relevant", "utilized", "unsupported", "scores"),
    [
        (["0a", "0b"], ["0a"], [], (0.5, 0.25, 0.5, True)),
        ([], [], [], (0.0, 0.0, 1.0, True)),
        ([], ["0a"], ["a"], (0.0, 0.25, 1.0, False)),
        (["0a"], ["1a"], [], (0.25, 0.25, 0.0, True)),
        (["0a", "0a"], ["0a", "0a"], [], (0.5, 0.5, 0.5, True)),
        (["9z"], ["9z"], ["zz"], (0.25, 0.25, 1.0, False)),
    ],
    ids=["usual", "nothing", "nothing relevant", "other sentence used", "repeated keys", "unknown keys"],
)
def test_the_scores_follow_from_the_keys(
    relevant: list[str], utilized: list[str], unsupported: list[str], scores: tuple[float, float, float, bool]
) -> None:
    """Sizes count keys as they stand, repeated and unknown ones too; completeness is 1 where nothing is relevant."""
    assert tuple(trace_scores(row(relevant, utilized, unsupported)).values()) == scores


@pytest.mark.real_rows
@real_rows
@pytest.mark.parametrize("subset", SUBSETS)
def test_the_stored_scores_are_recomputed_on_every_real_row(subset: str) -> None:
    """All four stored scores of all rows come out, to nine digits."""
    (path,) = (HOME / "ragbench" / subset).glob("test-*.parquet")
    rows = pq.read_table(path).to_pylist()
    assert len(rows) == 100
    for stored in rows:
        assert trace_scores(stored) == {
            name: pytest.approx(stored[name], abs=1e-9, rel=0) if isinstance(stored[name], float) else stored[name]
            for name in ("relevance_score", "utilization_score", "completeness_score", "adherence_score")
        }


@pytest.mark.real_rows
@real_rows
def test_every_real_gold_is_cut_out_of_its_document_and_holds_key_sentences() -> None:
    """Of all real rows: golds are exact, each question once, and few relevant keys are lost."""
    dataset = RAGBenchLoader().load(LoadOptions(samples=None, data_dir=HOME))
    documents = {document.id: document.text for document in dataset.documents}
    assert len(dataset.questions) == len({question.id for question in dataset.questions}) == 392
    assert dataset.fingerprint.dropped == {"relevant key of no sentence": 5}
    for question in dataset.questions:
        golds = {gold.document_id: gold for gold in question.gold_passages}
        assert {key.document_id for key in question.key_sentences} == set(golds)
        for gold in golds.values():
            assert gold.span is not None
            assert documents[gold.document_id or ""][slice(*gold.span)] == gold.text


@pytest.mark.real_rows
@real_rows
def test_the_same_real_questions_are_drawn_on_every_machine() -> None:
    """The first twelve questions of seed 42 are these, whatever library reads the rows."""
    dataset = RAGBenchLoader().load(LoadOptions(samples=12, seed=42, data_dir=HOME))
    assert [question.id.removeprefix("ragbench:") for question in dataset.questions] == DRAWN
