"""Words, the index and the extractive answers."""

import pytest

from evals.reference_server.documents import Chunk, read_document, sentences
from evals.reference_server.search import ABSTENTION, Index, answer, stem, tokenize


def _chunks(text: str, file_name: str = "a.md") -> tuple[Chunk, ...]:
    return read_document(text.encode(), file_name, 180).chunks


def _ask(question: str, text: str) -> str:
    index = Index(_chunks(text))
    return answer(question, index.search(question, 10), index, lambda _: 1).text


def test_numbers_stay_whole() -> None:
    """A decimal number is one word, and thousands lose their commas."""
    assert tokenize(["drift 0.305, cost 1,234.5 at 12%"]) == [["drift", "0.305", "cost", "1234.5", "12"]]


@pytest.mark.parametrize(
    "forms",
    [("policy", "policies"), ("store", "stores", "stored", "storing"), ("box", "boxes"), ("rate", "rated")],
)
def test_close_forms_of_a_word_meet(forms: tuple[str, ...]) -> None:
    """Plural, -ing and -ed forms have one stem."""
    assert len(set(stem(forms))) == 1


@pytest.mark.parametrize("question", ["omega", "", "what is it?"])
def test_nothing_is_found_without_a_known_word(question: str) -> None:
    """Unknown words, no words and stopwords alone give no hits; nor does an empty index."""
    assert Index(_chunks("alpha beta")).search(question, 10) == []
    assert Index([]).search("alpha", 10) == []


def test_equal_scores_keep_the_order_of_the_documents() -> None:
    """Also where top_k cuts them off."""
    chunks = [chunk for i in range(30) for chunk in _chunks("the same words", f"the-{i}.txt")]
    hits = Index(chunks).search("same", 5)
    assert [hit.chunk for hit in hits] == chunks[:5]


def test_title_and_section_are_searchable_but_not_returned() -> None:
    """A word of the headings finds a chunk whose text does not have it."""
    hits = Index(_chunks("# Zephyr\n\n## Limits\n\nTen per hour.\n")).search("zephyr limits", 10)
    assert [hit.chunk.text for hit in hits] == ["Ten per hour."]


def test_an_answer_can_quote_sentences_items_and_rows() -> None:
    """Lines of a paragraph are joined; the head of a table is left out."""
    text = "One. Two\nlines.\n\n- a\n  more\n- b\n\n| H | I |\n|---|---|\n| 1 | 2 |"
    assert sentences(text) == ["One.", "Two lines.", "- a more", "- b", "| 1 | 2 |"]


def test_a_row_answers_a_question_about_its_columns() -> None:
    """The row with the rarest words of the question."""
    text = "| Plan | Maximum size |\n|--|--|\n| Free | 5 GB |\n| Pro | 500 GB |\n"
    assert "| Pro | 500 GB |" in _ask("What is the maximum size of the pro plan?", text)


def test_a_sentence_that_introduces_a_list_brings_its_items() -> None:
    """In their order, and nothing behind them."""
    text = "Colours of the flag:\n\n- red\n- green\n- blue\n\nEnd of it."
    assert _ask("Which colours does the flag have?", text) == "Colours of the flag:\n- red\n- green\n- blue [1]"


def test_too_little_overlap_declines() -> None:
    """When most of the question is not in the best chunk, there is no answer."""
    text = "The cat sleeps on the mat."
    assert _ask("Does the cat negotiate maritime insurance contracts?", text) == ABSTENTION
    assert _ask("Where does the cat sleep?", text) == "The cat sleeps on the mat. [1]"
