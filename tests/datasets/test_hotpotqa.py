"""HotpotQA on small rows."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from evals.schemas import EvalDataset

DATASET = "hotpotqa"
Load = Callable[..., EvalDataset]
MAGAZINE, WOMEN = "Arthur's Magazine", "First for Women"
ABSENT, LOST = "supporting fact of a paragraph that is not there", "supporting fact without its sentence"
SENTENCES = [["It began in 1844.", " It ended in 1846."], ["It began in 1989. ", " It goes on."]]


def row(row_id: str, facts: Sequence[tuple[str, int]], sentences: Any = SENTENCES) -> dict[str, Any]:
    """A row with two paragraphs, of which the sentences keep a leading blank as on the hub."""
    return {
        "id": row_id,
        "question": "Which came first? ",
        "answer": MAGAZINE,
        "type": "comparison",
        "level": "hard",
        "supporting_facts": {"title": [title for title, _ in facts], "sent_id": [number for _, number in facts]},
        "context": {"title": [MAGAZINE, WOMEN], "sentences": sentences},
    }


def test_every_paragraph_with_a_supporting_fact_is_gold(load: Load) -> None:
    """Each gold is a whole paragraph, once."""
    (question,) = load(row("a", [(MAGAZINE, 0), (WOMEN, 0), (MAGAZINE, 1)])).questions
    golds = [gold.text for gold in question.gold_passages]
    assert golds == ["It began in 1844. It ended in 1846.", "It began in 1989.  It goes on."]


def test_the_supporting_facts_are_the_key_sentences(load: Load) -> None:
    """A key sentence is the fact without the blanks around it, with its document."""
    dataset = load(row("a", [(MAGAZINE, 1), (WOMEN, 0)]))
    (question,) = dataset.questions
    assert [key.text for key in question.key_sentences] == ["It ended in 1846.", "It began in 1989."]
    assert {key.source for key in question.key_sentences} == {"supporting_facts"}
    assert [key.document_id for key in question.key_sentences] == [g.document_id for g in question.gold_passages]
    assert dataset.fingerprint.dropped == {}


@pytest.mark.parametrize(
    ("facts", "golds", "keys", "dropped"),
    [
        ([(MAGAZINE, 2)], 1, 0, {LOST: 1}),
        ([(MAGAZINE, -2)], 1, 0, {LOST: 1}),
        ([("Nobody", 0)], 0, 0, {ABSENT: 1, LOST: 1}),
        ([(MAGAZINE, 0), (WOMEN, 900), ("Nobody", 0)], 2, 1, {ABSENT: 1, LOST: 2}),
    ],
    ids=["beyond the end", "negative", "absent title", "all together"],
)
def test_a_supporting_fact_that_points_nowhere_is_dropped_and_counted(
    load: Load, facts: list[tuple[str, int]], golds: int, keys: int, dropped: dict[str, int]
) -> None:
    """Dirt in the rows costs the fact, not the load, and the fingerprint tells."""
    dataset = load(row("a", facts))
    (question,) = dataset.questions
    assert (len(question.gold_passages), len(question.key_sentences)) == (golds, keys)
    assert dataset.fingerprint.dropped == dropped


@pytest.mark.parametrize("sentences", [[], [""], [" ", ""]])
def test_an_empty_paragraph_is_no_document_and_no_gold(load: Load, sentences: list[str]) -> None:
    """A title without text is left out, and a fact in it is counted as dropped."""
    dataset = load(row("a", [(MAGAZINE, 0), (WOMEN, 0)], [sentences, ["It goes on."]]))
    assert [document.name for document in dataset.documents] == [WOMEN]
    assert [gold.text for gold in dataset.questions[0].gold_passages] == ["It goes on."]
    assert dataset.fingerprint.dropped == {ABSENT: 1, LOST: 1}


def test_a_paragraph_of_several_questions_is_one_document(load: Load) -> None:
    """The corpus holds equal paragraphs once, and paragraphs of the same title with other text apart."""
    dataset = load(row("a", []), row("b", []), row("c", [(MAGAZINE, 0)], [["Another text."], SENTENCES[1]]))
    assert sorted(document.name for document in dataset.documents) == [MAGAZINE, MAGAZINE, WOMEN]
