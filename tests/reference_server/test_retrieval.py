"""Tokens, the index and the extractive answers."""

import pytest

from evals.reference_server.chunking import split_units, stem, tokenize
from evals.reference_server.index import ABSTENTION, Chunk, ChunkIndex, answer, make_chunks


def _ask(question: str, *chunks: Chunk) -> str:
    index = ChunkIndex(chunks)
    return answer(question, index.search(tokenize(question), 10), index, lambda _: 1).text


def test_numbers_stay_whole() -> None:
    """A decimal number is one token and thousands lose their commas."""
    assert tokenize("drift 0.305, cost 1,234.5 at 12%") == ["drift", "0.305", "cost", "1234.5", "12"]


@pytest.mark.parametrize(
    "forms",
    [("policy", "policies"), ("store", "stores", "stored", "storing"), ("box", "boxes"), ("plan", "planned")],
)
def test_close_forms_of_a_word_are_one_token(forms: tuple[str, ...]) -> None:
    """Plural, -ing and -ed forms meet in one stem."""
    assert len({stem(form) for form in forms}) == 1


def test_nothing_is_found_without_a_known_word() -> None:
    """Unknown words, no words and an empty index all give no hits."""
    index = ChunkIndex(make_chunks("alpha beta", "a.txt", 180))
    assert index.search(["omega"], 10) == []
    assert index.search([], 10) == []
    assert ChunkIndex([]).search(["alpha"], 10) == []


def test_ties_are_ordered_by_chunk_id() -> None:
    """Equal scores come in the order of the chunk ids, also where top_k cuts them off."""
    chunks = [c for i in range(30) for c in make_chunks("the same words", f"the-{i % 10}{i // 10}.txt", 180)]
    expected = sorted(c.chunk_id for c in chunks if len(c.tokens) == len(chunks[0].tokens))[:5]
    assert [hit.chunk.chunk_id for hit in ChunkIndex(chunks[::-1]).search(tokenize("same"), 5)] == expected


def test_title_and_section_are_searchable_but_not_returned() -> None:
    """A word of the headings finds a chunk whose text does not have it."""
    chunks = make_chunks("# Zephyr\n\n## Limits\n\nTen per hour.\n", "z.md", 180)
    hits = ChunkIndex(chunks).search(tokenize("zephyr limits"), 10)
    assert [hit.chunk.text for hit in hits] == ["Ten per hour."]


def test_units_are_sentences_items_and_rows() -> None:
    """Prose is cut into sentences, lists into items, tables into rows with their header."""
    text = "One. Two\nlines.\n\n- a\n  more\n- b\n\n| H | I |\n|---|---|\n| 1 | 2 |\n\n```\ncode x\n```"
    units = split_units(text)
    assert [u.text for u in units] == ["One.", "Two lines.", "- a more", "- b", "| 1 | 2 |", "code x"]
    assert units[4].header == "| H | I |"


def test_a_row_answers_a_question_about_its_columns() -> None:
    """The words of a table's header help to find the row."""
    chunks = make_chunks("| Plan | Maximum size |\n|--|--|\n| Free | 5 GB |\n| Pro | 500 GB |\n", "t.md", 180)
    assert _ask("What is the maximum size of the pro plan?", *chunks) == "| Pro | 500 GB | [1]"


def test_a_question_for_a_list_gets_all_its_items() -> None:
    """The items beside the best one are part of the answer, in their order."""
    chunks = make_chunks("Colours of the flag:\n\n- red\n- green\n- flag blue\n\nEnd of it.", "f.txt", 180)
    assert _ask("Which colours does the flag have?", *chunks) == (
        "Colours of the flag:\n- red\n- green\n- flag blue [1]"
    )


def test_too_little_overlap_abstains() -> None:
    """When most of the question is not in the best chunk, there is no answer."""
    chunks = make_chunks("The cat sleeps on the mat.", "c.txt", 180)
    assert _ask("Does the cat negotiate maritime insurance contracts?", *chunks) == ABSTENTION
    assert _ask("Where does the cat sleep?", *chunks) == "The cat sleeps on the mat. [1]"
