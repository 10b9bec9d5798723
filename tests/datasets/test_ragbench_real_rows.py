"""RAGBench on real rows: golds, keys and the draw."""

import os
from pathlib import Path

import pytest

from evals.datasets.base import LoadOptions
from evals.datasets.ragbench import RAGBenchLoader

DATA = os.environ.get("EVALS_REAL_DATA")
real_rows = pytest.mark.skipif(DATA is None, reason="EVALS_REAL_DATA names no folder of real rows")
HOME = Path(DATA or "") / "hf"
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


@pytest.mark.real_rows
@real_rows
def test_every_real_gold_is_cut_out_of_its_document_and_holds_key_sentences() -> None:
    """Of all real rows: golds are exact, each question once, and few relevant keys are lost."""
    dataset = RAGBenchLoader().load(LoadOptions(samples=None, data_dir=HOME))
    documents = {document.id: document.text for document in dataset.documents}
    assert len(dataset.questions) == len({question.id for question in dataset.questions}) == 392
    assert dataset.fingerprint.dropped == {
        "relevant key of no sentence": 5,
        "expected answer that declines to answer": 4,
    }
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
