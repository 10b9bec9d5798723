"""Sentences end where NLTK's Punkt ends them."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize import punkt as nltk_punkt

from evals.text import sentences as own
from evals.text.folding import STARTERS

PIECES = [
    *("Dr.", "e.g.", "no.", "No.", "U.S.", "etc.", "p.m.", "J.", "x.", "Inc.", "3.", "2019.", "-1.5", "word", "Word"),
    *("The", "the", "It", "in", "well-etc.", "ß", "É", "é.", "Ä.", "½", "½.", "٣.", "中", "_.", "\u00ad", ".a"),
    *(
        "...",
        "..",
        ". . .",
        "?!",
        "!",
        "?",
        ".",
        ",",
        ";",
        "--",
        "-",
        ")",
        "(",
        "]",
        "[1]",
        "}",
        "{",
        "@",
        "#",
        "*",
        "&",
    ),
    *('"', "'", "”", "’", "“", "«", "»", " ", "  ", "\n", "\t", "\u00a0", "\u2003", "\x0b", "\r\n"),
]


@pytest.fixture(scope="module")
def theirs() -> nltk_punkt.PunktSentenceTokenizer:
    """NLTK's tokenizer that knows the same."""

    class Marks(nltk_punkt.PunktLanguageVars):  # type: ignore[misc]
        re_boundary_realignment = own._REALIGNED

    known = nltk_punkt.PunktParameters()
    known.abbrev_types = set(own._PUNKT._abbreviations)
    known.collocations = set(own._PUNKT._collocations)
    known.ortho_context = Counter(dict.fromkeys(STARTERS, nltk_punkt._ORTHO_MID_LC))
    return nltk_punkt.PunktSentenceTokenizer(known, lang_vars=Marks())


@settings(derandomize=True, deadline=None, max_examples=1500)
@given(st.lists(st.sampled_from(PIECES), max_size=14), st.sampled_from(["", " "]))
def test_the_spans_are_those_of_nltk(
    theirs: nltk_punkt.PunktSentenceTokenizer, pieces: list[str], between: str
) -> None:
    """Abbreviations, initials, numbers, dots, quotes and white space, in any order."""
    text = between.join(pieces)
    assert list(own._PUNKT.spans(text)) == list(theirs.span_tokenize(text))


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.text(max_size=60))
def test_the_spans_are_those_of_nltk_whatever_the_signs(theirs: nltk_punkt.PunktSentenceTokenizer, text: str) -> None:
    """Of any signs that there are."""
    assert list(own._PUNKT.spans(text)) == list(theirs.span_tokenize(text))
