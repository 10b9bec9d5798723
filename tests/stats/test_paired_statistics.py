"""Tests of paired differences: against scipy, against published cases, and at their edges."""

from time import process_time

import numpy as np
import pytest
from scipy import stats as scipy_stats

from evals.scoring.stats.differences import paired_percentile_difference, sign_flip_p
from evals.scoring.stats.intervals import mcnemar_p, percentile


@pytest.mark.parametrize(
    ("b", "c"),
    [(0, 1), (5, 5), (1, 8), (12, 13), (40, 80), (300, 400), (500, 501), (499, 501), (40_000, 41_000), (5, 200_000)],
)
def test_mcnemar_equals_the_binomial_test_of_scipy(b: int, c: int) -> None:
    """The two-sided one of the pairs that differ, beyond what is computed in whole numbers too, and at once."""
    start = process_time()
    found = mcnemar_p(b, c)
    assert process_time() - start < 0.5
    rounding = 1e-9 if b + c < 10_000 else 1e-7
    assert found == pytest.approx(scipy_stats.binomtest(b, b + c, 0.5).pvalue, rel=rounding, abs=1e-300)
    assert mcnemar_p(0, 0) == 1


@pytest.mark.parametrize("q", [50.0, 95.0])
def test_the_bootstrap_finds_a_shift_and_no_shift(q: float) -> None:
    """A percentile that moved by 5 has an interval around 5; one that did not has an interval around 0."""
    rng = np.random.default_rng(1)
    first = rng.lognormal(3, 0.3, 200)
    found = paired_percentile_difference(first.tolist(), (first + 5).tolist(), q)
    same = paired_percentile_difference(first.tolist(), (first + rng.normal(0, 0.5, 200)).tolist(), q)
    assert found[0] == pytest.approx((5, 5))
    assert found[1] < 0.01
    assert same[0][0] <= 0 <= same[0][1]
    assert same[1] > 0.05


def test_the_bootstrap_equals_that_of_scipy() -> None:
    """The interval is scipy's percentile bootstrap of the same statistic, up to the draw."""
    rng = np.random.default_rng(2)
    first, second = rng.lognormal(3, 0.4, 300), rng.lognormal(3.1, 0.4, 300)

    def difference(a: np.ndarray, b: np.ndarray) -> float:
        return percentile(b.tolist(), 50) - percentile(a.tolist(), 50)

    theirs = scipy_stats.bootstrap(
        (first, second), difference, paired=True, vectorized=False, method="percentile", n_resamples=2000, rng=rng
    ).confidence_interval
    ours = paired_percentile_difference(first.tolist(), second.tolist(), 50)
    assert ours[0] == pytest.approx((theirs.low, theirs.high), abs=0.4)


@pytest.mark.parametrize(
    ("n", "q", "enough"), [(5, 50.0, False), (6, 50.0, True), (71, 95.0, False), (73, 95.0, True), (99, 100.0, False)]
)
def test_too_few_pairs_have_no_interval_of_a_percentile(n: int, q: float, enough: bool) -> None:
    """Where a percentile has no interval, a difference between two has none either."""
    values = [float(number) for number in range(n)]
    assert (paired_percentile_difference(values, values, q) is not None) == enough


def test_false_alarms_stay_below_their_rate() -> None:
    """Without a difference, the paired tests say there is one in about 5 % of the cases or less."""
    rng = np.random.default_rng(3)
    mean_alarms, percentile_alarms, rounds = 0, 0, 200
    for _ in range(rounds):
        base = rng.normal(0.7, 0.2, 60)
        first, second = (base + rng.normal(0, 0.1, 60)).tolist(), (base + rng.normal(0, 0.1, 60)).tolist()
        mean_alarms += sign_flip_p([b - a for a, b in zip(first, second, strict=True)]) < 0.05
        found = paired_percentile_difference(first, second, 50)
        percentile_alarms += found is not None and found[1] < 0.05
    assert mean_alarms / rounds < 0.1
    assert percentile_alarms / rounds < 0.1
