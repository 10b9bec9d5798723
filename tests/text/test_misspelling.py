"""Which words are one that is misspelt, and which only look like it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.text.spelling import CONFUSED, is_misspelt


@pytest.mark.parametrize(
    ("word", "misspelt"),
    [
        ("receive", "recieve"),
        ("address", "adress"),
        ("occurred", "occured"),
        ("barack", "barak"),
        ("organise", "organize"),
        ("government", "goverment"),
        ("definitely", "definately"),
        ("separate", "seperate"),
        ("environment", "enviroment"),
        ("travelling", "traveling"),
        ("centre", "center"),
    ],
)
def test_common_misspellings_are_one_word(word: str, misspelt: str) -> None:
    """Swapped neighbours, doubled letters, and letters inside long words."""
    assert is_misspelt(word, misspelt)
    assert is_misspelt(misspelt, word)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("public", "pubic"),
        ("contract", "contact"),
        ("moral", "mural"),
        ("shipping", "shopping"),
        ("infection", "injection"),
        ("resolution", "revolution"),
        ("counties", "countries"),
        ("difficult", "difficulty"),
        ("australia", "australian"),
        ("united", "untied"),
        ("causal", "casual"),
        ("desert", "dessert"),
        ("mediation", "medication"),
        ("billion", "million"),
        ("sixty", "sixth"),
        ("employer", "employee"),
        ("legal", "illegal"),
        ("from", "form"),
        ("2nd12", "2nd13"),
    ],
)
def test_words_that_differ_by_a_letter_are_two(one: str, other: str) -> None:
    """Short ones mostly are words of their own; long ones are where they are known to be."""
    assert not is_misspelt(one, other)
    assert not is_misspelt(other, one)


def test_only_pairs_that_would_pass_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair that the rules tell apart needs no line."""
    pairs = sorted(map(sorted, CONFUSED))
    assert all(len(pair) == 2 for pair in pairs)
    monkeypatch.setattr("evals.text.spelling.CONFUSED", frozenset())
    assert [pair for pair in pairs if not is_misspelt(*pair)] == []


@settings(derandomize=True, deadline=None, max_examples=200)
@given(one=st.text(alphabet="abcdeinst", max_size=10), other=st.text(alphabet="abcdeinst", max_size=10))
def test_which_word_is_expected_does_not_matter(one: str, other: str) -> None:
    """The rule has two sides that are alike."""
    assert is_misspelt(one, other) == is_misspelt(other, one)
