"""What is derived of texts is remembered within a bound of characters."""

from hypothesis import given, settings
from hypothesis import strategies as st

from evals.text.folding import BoundedCache, bag, padded, remembered, tokens
from evals.text.matching.words import words_of


def counting(characters: int) -> tuple[BoundedCache[str], list[str]]:
    """A function that remembers, and the texts that it was really called with."""
    called: list[str] = []

    @remembered(characters)
    def upper(text: str) -> str:
        called.append(text)
        return text.upper()

    return upper, called


def test_a_text_is_derived_once_while_there_is_room() -> None:
    """And then known."""
    upper, called = counting(10_000)
    assert [upper("one"), upper("two"), upper("one")] == ["ONE", "TWO", "ONE"]
    assert called == ["one", "two"]


@given(texts=st.lists(st.text(max_size=400), max_size=60), characters=st.integers(0, 2000))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_no_more_is_remembered_than_the_bound(texts: list[str], characters: int) -> None:
    """However long and many the texts are; results are right all the same."""
    upper, _ = counting(characters)
    for text in texts:
        assert upper(text) == text.upper()
        assert upper.characters <= max(characters, len(text) + 64)


def test_everything_can_be_forgotten() -> None:
    """As tests and benchmarks want."""
    upper, called = counting(1000)
    upper("one")
    upper.clear()
    assert upper.characters == 0
    upper("one")
    assert called == ["one", "one"]


def test_the_caches_of_texts_are_bounded_by_their_size() -> None:
    """Eight thousand passages, which each of them held before, are too many."""
    for kept in (tokens, padded, bag, words_of):
        kept.clear()
        for number in range(3000):
            kept(f"passage {number} " + "word " * 200)
        assert kept.characters <= 1_000_000
        kept.clear()
