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
def load(name: str) -> EvalDataset:
    """All real rows of a dataset."""
    return get_loader(name).load(LoadOptions(samples=None, data_dir=Path(DATA or "") / "hf"))


@pytest.mark.parametrize("name", ["squad_v2", "hotpotqa"])
def test_every_gold_span_cuts_its_gold_out_of_its_document(name: str) -> None:
    """No gold of a real row is off by a letter."""
    dataset = load(name)
    documents = {document.id: document.text for document in dataset.documents}
    golds = [gold for question in dataset.questions for gold in question.gold_passages]
    assert len(golds) >= 90
    for gold in golds:
        assert gold.span is not None
        assert documents[gold.document_id or ""][slice(*gold.span)] == gold.text


@pytest.mark.parametrize(("name", "rows"), [("squad_v2", 200), ("hotpotqa", 100)])
def test_every_row_is_a_question_of_its_own(name: str, rows: int) -> None:
    """All rows are loaded, with ids that are unique and documents that are too."""
    dataset = load(name)
    assert len(dataset.questions) == len({question.id for question in dataset.questions}) == rows
    assert len({document.id for document in dataset.documents}) == len(dataset.documents)


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
