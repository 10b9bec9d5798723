"""SQuAD v2 on small rows."""

from collections.abc import Callable
from typing import Any

from evals.schemas import EvalDataset

DATASET = "squad_v2"
Load = Callable[..., EvalDataset]
SquadRow = Callable[..., dict[str, Any]]


def test_the_gold_span_is_exactly_the_gold_text(load: Load, squad_row: SquadRow) -> None:
    """The span cuts the gold passage out of its document, letter by letter."""
    context = " Kings rule.\n\nÜber alles – 数. "
    dataset = load(squad_row("a", "Kings", context=context))
    (gold,) = dataset.questions[0].gold_passages
    (document,) = dataset.documents
    assert gold.text == context
    assert document.text.startswith("New York\n\n")


def test_a_row_without_answers_is_unanswerable_and_has_no_gold(load: Load, squad_row: SquadRow) -> None:
    """The dataset says so by an empty list, and its paragraph is in the corpus all the same."""
    dataset = load(squad_row("a"))
    (question,) = dataset.questions
    assert question.is_unanswerable is True
    assert (question.gold_passages, question.answers, question.expected_answer) == ([], [], None)
    assert len(dataset.documents) == 1


def test_answer_variants_are_kept_once_in_their_order(load: Load, squad_row: SquadRow) -> None:
    """Of the annotators' answers, equal and empty ones are dropped; the first is the expected one."""
    (question,) = load(squad_row("a", "Kings", " ", "Queens", "Kings")).questions
    assert question.answers == ["Kings", "Queens"]
    assert question.expected_answer == "Kings"
    assert question.is_unanswerable is False


def test_of_rows_with_one_id_the_first_counts(load: Load, squad_row: SquadRow) -> None:
    """It is asked once."""
    (question,) = load(squad_row("a", "Kings"), squad_row("a", "Queens")).questions
    assert question.answers == ["Kings"]


def test_the_corpus_holds_the_other_paragraphs_of_the_same_articles(load: Load, squad_row: SquadRow) -> None:
    """Paragraphs of drawn articles are distractors, each once; articles that were not drawn are left out."""
    rows = [squad_row("a", "Kings"), squad_row("b", "Kings"), squad_row("c", context="Other text.")]
    rows.append(squad_row("d", "France", title="Paris", context="Paris is in France."))
    for count in (1, 2, 3, 4):
        dataset = load(*rows, samples=count)
        articles = {question.metadata["article"] for question in dataset.questions}
        expected = 2 * ("New York" in articles) + ("Paris" in articles)
        assert len(dataset.documents) == len({document.id for document in dataset.documents}) == expected
        assert {document.name for document in dataset.documents} == articles


def test_loading_twice_gives_the_same_fingerprint(load: Load, squad_row: SquadRow) -> None:
    """The same rows and seed are the same questions; another gold is not."""
    rows = [squad_row("a", "Kings"), squad_row("b")]
    first, again, other = load(*rows), load(*reversed(rows)), load(squad_row("a", "Queens"), rows[1])
    assert first.fingerprint.sha256 == again.fingerprint.sha256 != other.fingerprint.sha256
    assert load(*rows, samples=1).questions == load(*reversed(rows), samples=1).questions == first.questions[:1]
    assert (first.fingerprint.questions, first.fingerprint.documents) == (2, 1)
    assert (first.fingerprint.config, first.fingerprint.split) == ("squad_v2", "validation")
