"""Intervals and percentiles, against tables, against scipy and numpy, and at their edges."""

from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evals.scoring.stats import mean_interval
from evals.scoring.stats.intervals import percentile, percentile_interval, t_quantile, wilson

finite = st.floats(-1e6, 1e6, allow_nan=False)
deterministic = settings(derandomize=True, deadline=None, max_examples=200)
CONFIDENCES = (0.8, 0.9, 0.95, 0.99)


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("n", [1, 2, 3, 10, 57, 400, 10_000])
def test_wilson_equals_scipy(n: int, confidence: float) -> None:
    """The interval is scipy's at every rate."""
    for successes in {0, 1, n // 3, n // 2, n - 1, n}:
        expected = scipy_stats.binomtest(successes, n).proportion_ci(confidence, method="wilson")
        assert wilson(successes, n, confidence) == pytest.approx(tuple(expected), abs=1e-9)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 5, 7, 10, 19, 29, 30, 99, 100, 999, 10_000])
def test_the_t_quantile_equals_scipy(df: int) -> None:
    """The quantile is scipy's over the grid of those that intervals use."""
    for p in (0.5, 0.55, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.9995):
        assert t_quantile(p, df) == pytest.approx(scipy_stats.t.ppf(p, df), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("n", [2, 3, 10, 100, 1000])
def test_the_t_interval_equals_scipy(n: int, confidence: float) -> None:
    """The interval of a mean is scipy's."""
    values = np.random.default_rng(n).normal(0.6, 0.3, n).tolist()
    expected = scipy_stats.t.interval(confidence, n - 1, loc=fmean(values), scale=scipy_stats.sem(values))
    found = mean_interval(values, confidence=confidence)
    assert found.interval == pytest.approx(expected, rel=1e-9, abs=1e-9)


@deterministic
@given(n=st.integers(1, 5000), share=st.floats(0, 1), confidence=st.floats(0.5, 0.999))
def test_wilson_holds_the_rate_and_stays_within_0_and_1(n: int, share: float, confidence: float) -> None:
    """The rate lies in its interval, the interval in [0, 1], and it is never without width."""
    successes = round(share * n)
    interval = wilson(successes, n, confidence)
    low, high = interval
    assert 0 <= low <= successes / n <= high <= 1
    assert low < high


@deterministic
@given(values=st.lists(finite, min_size=2, max_size=50))
def test_the_t_interval_holds_the_mean_and_grows_with_the_confidence(values: list[float]) -> None:
    """More confidence is never a narrower interval."""
    found = [mean_interval(values, confidence=confidence) for confidence in (0.8, 0.99)]
    narrow, wide = (each.interval for each in found if each is not None)
    assert (narrow is None) == (wide is None)
    if narrow is None or wide is None:  # all are the same, to within rounding
        return
    assert wide[0] <= narrow[0] <= fmean(values) <= narrow[1] <= wide[1]


@pytest.mark.parametrize("q", [5, 25, 50, 75, 90, 95, 99, 100])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 19, 20, 21, 99, 100, 101, 1000])
def test_a_percentile_equals_numpy(n: int, q: float) -> None:
    """It is numpy's inverted_cdf."""
    values = np.random.default_rng(n).exponential(100, n).round(1).tolist()
    assert percentile(values, q) == np.percentile(values, q, method="inverted_cdf")


@deterministic
@given(values=st.lists(finite, min_size=1, max_size=60), q=st.floats(0.1, 100))
def test_a_percentile_did_occur_and_leaves_its_share_below(values: list[float], q: float) -> None:
    """At least q percent of the values are not above it, and less than q percent are below."""
    found = percentile(values, q)
    assert found in values
    assert sum(value <= found for value in values) >= q / 100 * len(values) - 1e-9
    assert sum(value < found for value in values) < q / 100 * len(values) + 1e-9


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("q", [50, 90, 95])
@pytest.mark.parametrize("n", [1, 2, 5, 6, 10, 58, 59, 72, 73, 100, 500, 2000])
def test_the_interval_of_a_percentile_covers_it_and_is_the_closest_that_does(
    n: int, q: float, confidence: float
) -> None:
    """Each tail of the binomial is within its half, and the next rank inwards would not be."""
    binom = scipy_stats.binom(n, q / 100)
    tail = (1 - confidence) / 2
    interval = percentile_interval(list(range(1, n + 1)), q, confidence)
    if interval is None:
        assert binom.cdf(0) > tail or binom.cdf(n - 1) < 1 - tail
        return
    low, high = interval
    assert binom.cdf(low - 1) <= tail < binom.cdf(low)
    assert binom.cdf(high - 1) >= 1 - tail
    assert high == 1 or binom.cdf(high - 2) < 1 - tail
    assert binom.cdf(high - 1) - binom.cdf(low - 1) >= confidence


@pytest.mark.parametrize(
    ("n", "q", "expected"),
    [
        (0, 50, None),
        (1, 50, None),
        (2, 50, None),
        (5, 50, None),
        (6, 50, (1, 6)),
        (10, 50, (2, 9)),
        (71, 95, None),
        (72, 95, (64, 72)),
    ],
)
def test_the_interval_of_a_percentile_needs_enough_values(
    n: int, q: float, expected: tuple[float, float] | None
) -> None:
    """The median needs 6 values at 95 %, and has the textbook's ranks from there."""
    assert percentile_interval(list(range(1, n + 1)), q) == expected


@deterministic
@given(values=st.lists(finite, min_size=6, max_size=200))
def test_the_interval_of_the_median_holds_the_median(values: list[float]) -> None:
    """The bounds did occur, and the median lies between them."""
    interval = percentile_interval(values, 50)
    assert interval[0] in values
    assert interval[1] in values
    assert interval[0] <= percentile(values, 50) <= interval[1]


@pytest.mark.parametrize("n", [1, 10, 1000])
def test_the_greatest_possible_value_has_no_interval(n: int) -> None:
    """However many values there are, the next may be greater than all: a percentile of 100 is only what was seen."""
    values = list(range(n))
    assert percentile(values, 100) == n - 1
    assert percentile_interval(values, 100) is None


def test_a_percentile_below_the_greatest_has_an_interval_from_enough_values() -> None:
    """As many as leave one of them beyond it: 0.999^n is at most 0.025 from n = 3688 on."""
    assert percentile_interval(range(3687), 99.9) is None
    interval = percentile_interval(range(3688), 99.9)
    assert interval[1] == 3687
