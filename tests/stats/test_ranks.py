"""The test of Mann and Whitney, against scipy."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from evals.scoring.stats.agreement import mann_whitney_p

sizes = st.lists(st.integers(0, 6), min_size=2, max_size=30)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(first=sizes, second=sizes)
def test_p_is_scipys(first: list[int], second: list[int]) -> None:
    """With ties, and whichever sample is the longer."""
    if len({*first, *second}) > 1:
        theirs = mannwhitneyu(first, second, method="asymptotic").pvalue
        assert mann_whitney_p(first, second) == pytest.approx(theirs, abs=1e-12)


def test_nothing_is_told_of_values_that_are_the_same_or_not_there() -> None:
    """No spread, no difference."""
    assert mann_whitney_p([1, 1, 1], [1, 1]) == 1.0
    assert mann_whitney_p([], [1, 2]) == 1.0
