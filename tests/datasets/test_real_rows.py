"""The loaders on real rows of the hub."""

import os
from functools import cache
from pathlib import Path

import pytest

from evals.datasets.base import LoadOptions
from evals.datasets.registry import get_loader
from evals.schemas import EvalDataset

DATA = os.environ.get("EVALS_REAL_DATA")
pytestmark = [
    pytest.mark.real_rows,
    pytest.mark.skipif(DATA is None, reason="EVALS_REAL_DATA names no folder of real rows"),
]


@cache
def load(name: str, samples: int | None = None) -> EvalDataset:
    """All real rows of a dataset, or so many."""
    return get_loader(name).load(LoadOptions(samples=samples, data_dir=Path(DATA or "") / "hf"))


@pytest.mark.parametrize(("name", "rows"), [("squad_v2", 200), ("hotpotqa", 100), ("ragbench", 392)])
def test_every_row_is_a_question_of_its_own_whose_golds_are_cut_out_of_their_documents(name: str, rows: int) -> None:
    """All rows are loaded, with ids that are unique and documents that are too, and no gold is off by a letter."""
    dataset = load(name)
    assert len(dataset.questions) == len({question.id for question in dataset.questions}) == rows
    documents = {document.id: document.text for document in dataset.documents}
    assert len(documents) == len(dataset.documents)
    golds = [gold for question in dataset.questions for gold in question.gold_passages]
    assert len(golds) >= 90
    for gold in golds:
        assert gold.span is not None
        assert documents[gold.document_id or ""][slice(*gold.span)] == gold.text


def test_the_real_answers_stand_in_their_gold() -> None:
    """SQuAD's answers are literally in the paragraph; half of its questions have none."""
    questions = load("squad_v2").questions
    assert sum(bool(question.is_unanswerable) for question in questions) == 104
    for question in questions:
        assert all(answer in question.gold_passages[0].text for answer in question.answers)


def test_the_real_supporting_facts_are_all_found() -> None:
    """HotpotQA's real rows point to sentences that are there, in two paragraphs each."""
    dataset = load("hotpotqa")
    assert dataset.fingerprint.dropped == {}
    assert all(len(question.gold_passages) == 2 and question.key_sentences for question in dataset.questions)


DRAWN = {
    "covidqa": ["191", "145", "1301"],
    "hotpotqa": ["5a7fb1765542992e7d278d20", "5ab73de755429928e1fe383b", "5ac259585542992f1f2b3868"],
    "delucionqa": ["415", "542", "1"],
    "msmarco": ["129", "395", "4745"],
}
"""The subsets in turn: of each the first, then of each the second."""


def test_every_real_gold_holds_key_sentences() -> None:
    """Few relevant keys of RAGBench are lost."""
    dataset = load("ragbench")
    lost = {"relevant key of no sentence": 5, "expected answer that declines to answer": 4}
    assert dataset.fingerprint.dropped == lost
    for question in dataset.questions:
        documents = {gold.document_id for gold in question.gold_passages}
        assert {key.document_id for key in question.key_sentences} == documents


def test_the_same_real_questions_are_drawn_on_every_machine() -> None:
    """The first twelve questions of seed 42 are these, whatever library reads the rows."""
    dataset = load("ragbench", 12)
    drawn = [f"ragbench:{name}:{ids[place]}" for place in range(3) for name, ids in DRAWN.items()]
    assert [question.id for question in dataset.questions] == drawn
