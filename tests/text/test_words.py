"""Word tokens are those of NLTK."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer

from evals.text.sentences import sentences, word_set

MARKS = [*"aB1.,:;'\"’“”«-—()[]{}<>?!*#@$%&… \n\t\u00a0", "``", "...", "--", " "]
WORDS = ["n't", "'s", "cannot", "gonna", "wanna", "'tis", "more'n"]


ENDS = ["", ",", ";", ",,", ".", "?", "!", "..", "'s", "-", ")"]


def _reference(text: str) -> set[str]:
    tokenize = NLTKWordTokenizer().tokenize
    return {token.lower() for sentence in sentences(text) for token in tokenize(sentence) if token.isalnum()}


@settings(derandomize=True, deadline=None, max_examples=500)
@given(st.lists(st.sampled_from(MARKS + WORDS), max_size=16).map("".join))
def test_the_tokens_are_those_of_nltk_for_each_sentence(text: str) -> None:
    """Tokenizing word by word gives what tokenizing whole sentences gives."""
    assert word_set(text) == _reference(text)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["word", "Cannot", "GONNA", "gotta", "lemme", "wanna", "gimme", "x1", "12", "ärger"]),
            st.sampled_from(ENDS),
        ),
        max_size=8,
    ).map(lambda words: " ".join(map("".join, words)))
)
def test_words_that_need_no_rules_give_what_the_rules_give(text: str) -> None:
    """Letters and digits with a comma behind them are taken as they are, but for what NLTK takes apart."""
    assert word_set(text) == _reference(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", set()),
        ("... !?", set()),
        ("The Party shall pay. The party PAYS.", {"the", "party", "shall", "pay", "pays"}),
        ("You cannot, don't.", {"you", "can", "not", "do"}),
        ("3.5 is 12 % of non-profit", {"is", "12", "of"}),
        ("Größe der Wohnung.", {"größe", "der", "wohnung"}),
    ],
)
def test_only_alphanumeric_tokens_are_kept_and_lower_cased(text: str, expected: set[str]) -> None:
    """A token with a point, a hyphen or an apostrophe is none."""
    assert word_set(text) == expected
