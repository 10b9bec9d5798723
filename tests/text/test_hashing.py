"""Sets of which only hashes are held."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.text import folding
from evals.text.folding import Hashes, hash64, holds


@settings(derandomize=True, deadline=None)
@given(st.lists(st.text(max_size=3)), st.lists(st.text(max_size=3)))
def test_what_two_sets_share_is_what_the_sets_of_their_texts_share(left: list[str], right: list[str]) -> None:
    """In whatever order and however often they came."""
    one, other = Hashes(), Hashes()
    one.update(map(hash64, left))
    other.update(map(hash64, right))
    packed = one.in_both(other)
    assert {text for text in [*left, *right] if holds(packed, hash64(text))} == set(left) & set(right)
    assert len(packed) == 8 * len(set(left) & set(right))
    assert bool(one) == bool(left)


def test_what_comes_again_and_again_is_held_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus of few documents takes no more room after a million answers."""
    monkeypatch.setattr(folding, "_MOST_DOUBLE", 16)
    some = Hashes()
    for _ in range(1000):
        some.update([3, 1, 2])
    assert len(some._all) <= 16 + 3
    assert len(some.in_both(some)) == 24


def test_the_greatest_hashes_are_found() -> None:
    """They need all 64 bits."""
    some = Hashes()
    some.update([2**64 - 1, 0, 1 << 63])
    packed = some.in_both(some)
    assert all(holds(packed, one) for one in (2**64 - 1, 0, 1 << 63))
    assert not any(holds(packed, one) for one in (1, 2**64 - 2))
    assert not holds(b"", 0)
