"""SQuAD v2 on small rows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.datasets.base import LoadOptions
from evals.datasets.registry import get_loader
from evals.schemas import EvalDataset

PARIS = "Paris is in France. It is large."


@pytest.fixture
def load(put: Callable[..., Path]) -> Callable[..., EvalDataset]:
    """Load rows through a data directory."""

    def read(*rows: dict[str, Any], **options: Any) -> EvalDataset:
        return get_loader("squad_v2").load(LoadOptions(data_dir=put("squad_v2", rows), **options))

    return read


def test_the_gold_span_is_exactly_the_gold_text(
    load: Callable[..., EvalDataset], squad_row: Callable[..., dict[str, Any]]
) -> None:
    """The span cuts the gold passage out of its document, letter by letter."""
    context = " Kings rule.\n\nÜber alles – 数. "
    dataset = load(squad_row("a", "Kings", context=context))
    (gold,) = dataset.questions[0].gold_passages
    (document,) = dataset.documents
    assert gold.document_id == document.id
    assert gold.span is not None
    assert document.text[slice(*gold.span)] == gold.text == context
    assert document.text.startswith("New York\n\n")


def test_a_row_without_answers_is_unanswerable_and_has_no_gold(
    load: Callable[..., EvalDataset], squad_row: Callable[..., dict[str, Any]]
) -> None:
    """The dataset says so by an empty list, and its paragraph is in the corpus all the same."""
    dataset = load(squad_row("a"))
    (question,) = dataset.questions
    assert question.is_unanswerable is True
    assert (question.gold_passages, question.answers, question.expected_answer) == ([], [], None)
    assert len(dataset.documents) == 1


def test_answer_variants_are_kept_once_in_their_order(
    load: Callable[..., EvalDataset], squad_row: Callable[..., dict[str, Any]]
) -> None:
    """Of the annotators' answers, equal and empty ones are dropped; the first is the expected one."""
    (question,) = load(squad_row("a", "Kings", " ", "Queens", "Kings")).questions
    assert question.answers == ["Kings", "Queens"]
    assert question.expected_answer == "Kings"
    assert question.is_unanswerable is False


def test_the_corpus_holds_the_other_paragraphs_of_the_same_articles(
    load: Callable[..., EvalDataset], squad_row: Callable[..., dict[str, Any]]
) -> None:
    """Paragraphs of drawn articles are distractors, each once; articles that were not drawn are left out."""
    rows = [squad_row("a", "Kings"), squad_row("b", "Kings"), squad_row("c", context="Other text."),
            squad_row("d", "France", title="Paris", context=PARIS)]  # fmt: skip
    for count in (1, 2, 3, 4):
        dataset = load(*rows, samples=count)
        articles = {question.metadata["article"] for question in dataset.questions}
        expected = 2 * ("New York" in articles) + ("Paris" in articles)
        assert len(dataset.documents) == len({document.id for document in dataset.documents}) == expected
        assert {document.name for document in dataset.documents} == articles


def test_loading_twice_gives_the_same_fingerprint(
    load: Callable[..., EvalDataset], squad_row: Callable[..., dict[str, Any]]
) -> None:
    """The same rows and seed are the same questions; another gold is not."""
    rows = [squad_row("a", "Kings"), squad_row("b")]
    first, again, other = load(*rows), load(*reversed(rows)), load(squad_row("a", "Queens"), rows[1])
    assert first.fingerprint.sha256 == again.fingerprint.sha256 != other.fingerprint.sha256
    assert (first.fingerprint.questions, first.fingerprint.documents) == (2, 1)
    assert (first.fingerprint.config, first.fingerprint.split) == ("squad_v2", "validation")
