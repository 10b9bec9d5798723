"""Ways to write a word or a name that do not change it."""

import pytest

from evals.text.folding import given_name_first, unaccented, undotted, with_name_turned
from evals.text.sentences import read_clauses


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Washington, D.C.", "Washington, DC."),
        ("in the U.S. in 1990", "in the US in 1990"),
        ("In the U.S. It is so.", "In the US. It is so."),
        ("the U.S. Army", "the US Army"),
        ("J. K. Rowling", "JK Rowling"),
        ("a Ph.D. thesis, i.e. a book", "a PhD thesis, i.e. a book"),
        ("Version 1.a.b of www.i.e.de", "Version 1.a.b of www.i.e.de"),
        ("It is so. A. Smith wrote it.", "It is so. A. Smith wrote it."),
        ("End of it.", "End of it."),
    ],
)
def test_abbreviations_lose_their_dots_and_sentences_keep_theirs(text: str, plain: str) -> None:
    """A full stop stays where a sentence may end: at the end, and before a word that begins sentences."""
    assert undotted(text) == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("zürich", "zurich"),
        ("łódź", "lodz"),
        ("cœur", "coeur"),
        ("दिल्ली", "दिल्ली"),
        ("が", "が"),
        ("й", "й"),
        ("한", "한"),
    ],
)
def test_latin_letters_lose_their_accents(text: str, plain: str) -> None:
    """In other scripts a mark makes another letter."""
    assert unaccented(text) == plain


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Curie, Marie", "Marie Curie"),
        ("van Gogh, Vincent", "Vincent van Gogh"),
        ("Bush, George W.", "George W. Bush"),
        ("Washington, D.C.", None),
        ("Marie Curie", None),
        ("yes, Marie", None),
    ],
)
def test_a_family_name_before_a_comma_comes_first(text: str, name: str | None) -> None:
    """The text is the name and nothing else."""
    assert given_name_first(text) == name


def test_a_name_is_turned_in_a_text_where_it_is_that_name() -> None:
    """Other names stay as they are."""
    text = "Curie, Marie; Curie, Pierre; Marie"
    assert with_name_turned(text, "Marie Curie") == "Marie Curie; Curie, Pierre; Marie"
    assert with_name_turned(text, "in Paris, Texas") == text


def test_words_know_their_clause_and_the_mark_before_it() -> None:
    """What follows a word comes clause by clause, the rest of its own first."""
    read = read_clauses("Is it Paris now? No, but Lyon – really.")
    assert read.behind(2, 9) == [("", ["now"]), ("?", ["no"]), ("", ["but", "lyon"]), ("–", ["really"])]
    assert read.behind(2, 2) == [("", ["now"]), ("?", ["no"])]
    assert read.of_clause(read.following(0)) == ["no"]
