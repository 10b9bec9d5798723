"""Texts as tokens."""

import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer

from evals.text.sentences import sentences, word_set
from evals.text.tokens import fold, normalised, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The so-called “Insurer’s” duty (2)", ("the", "so", "called", "insurer", "s", "duty", "2")),
        ("Größe ﬁle １２", ("grösse", "file", "12")),
        ("保険料 abc", ("保", "険", "料", "abc")),
        ("مُحَمَّد", ("محمد",)),
        ("don’t", ("don", "t")),
        ("…", ()),
        ("a_b", ("a", "b")),
    ],
)
def test_tokens(text: str, expected: tuple[str, ...]) -> None:
    """Runs of letters and digits in lower case; each character of an unspaced script."""
    assert tokens(text) == expected


def test_folding_takes_no_quadratic_time() -> None:
    """Marks beyond thirty in a row are left out."""
    assert len(fold("e" + "\u0301" * 200_000)) < 40


def official(text: str) -> str:
    """`normalize_answer` of SQuAD's evaluation script."""
    text = "".join(sign for sign in text.lower() if sign not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


@settings(derandomize=True, max_examples=300)
@given(
    st.text(alphabet=st.characters(max_codepoint=127), max_size=60)
    | st.lists(
        st.sampled_from(["The", "a", "an", "the-", "'a'", "U.S.", "\n", "cat", "$5", "_the_", "\x1f", "A\tb"])
    ).map(" ".join)
)
def test_ascii_is_normalised_as_by_the_official_script(text: str) -> None:
    """Character for character."""
    assert normalised(text) == official(text)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("「東京」。", "en", "東 京"),
        ("Die „große“ Stadt", "de", "grosse stadt"),
        ("Die Stadt", "en", "die stadt"),
        ("¿La casa?", "es", "casa"),
        ("الكتاب", "ar", "كتاب"),
        ("the cat", "de", "the cat"),
    ],
)
def test_other_languages_are_normalised_as_by_the_script_of_mlqa(text: str, language: str, expected: str) -> None:
    """Punctuation of all scripts, articles of the language."""
    assert normalised(text, language) == expected


@settings(derandomize=True, max_examples=200)
@given(st.text(alphabet=st.sampled_from("aB1.,:;'\"-()[]<>?!*#@$%& \n\t"), max_size=40))
def test_word_sets_are_those_of_nltk(text: str) -> None:
    """By sentence, lower-cased, alphanumeric."""
    tokenize = NLTKWordTokenizer().tokenize
    words = {word.lower() for sentence in sentences(text) for word in tokenize(sentence) if word.isalnum()}
    assert word_set(text) == words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You cannot, don't.", {"you", "can", "not", "do"}),
        ("3.5 is 12 % of non-profit", {"is", "12", "of"}),
        ("Größe der Wohnung.", {"größe", "der", "wohnung"}),
        ("北京位于北部。", {"北", "京", "位", "于", "部"}),
    ],
)
def test_word_sets(text: str, expected: set[str]) -> None:
    """A token with a point, a hyphen or an apostrophe is none."""
    assert word_set(text) == expected
