"""The tail of the hypergeometric distribution, against sums of whole numbers."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.scoring.stats.intervals import too_many_p


def exact(marked: int, size: int, all_marked: int, total: int) -> float:
    """The same without rounding, slowly."""
    outside = total - all_marked
    ways = sum(comb(all_marked, k) * comb(outside, size - k) for k in range(marked, min(size, all_marked) + 1))
    return float(Fraction(ways, comb(total, size)))


@settings(derandomize=True, deadline=None)
@given(st.data())
def test_it_is_the_exact_tail(data: st.DataObject) -> None:
    """Of any group of any size, also where all or none are marked."""
    total = data.draw(st.integers(1, 400))
    size, all_marked = data.draw(st.integers(0, total)), data.draw(st.integers(0, total))
    least = max(0, size - (total - all_marked))
    marked = data.draw(st.integers(least, min(size, all_marked)))
    assert too_many_p(marked, size, all_marked, total) == pytest.approx(
        exact(marked, size, all_marked, total), rel=1e-9
    )


def test_large_groups_keep_their_digits() -> None:
    """Thousands of questions in a group, where the binomials have thousands of digits."""
    assert too_many_p(400, 1_660, 2_200, 10_000) == pytest.approx(exact(400, 1_660, 2_200, 10_000), rel=1e-9)
