"""Intervals for rates, means and percentiles, and tests of paired differences, from the standard library alone.

Written here because scipy takes more than 100 MB; tests compare the p values with scipy's where it is installed.
"""

from collections.abc import Sequence
from math import ceil, comb, exp, floor, lgamma, log, sqrt

from evals.stats.distributions import binomial_cdf, normal_quantile

Interval = tuple[float, float]

_EXACT = 1000
"""Up to here a binomial coefficient is computed in whole numbers, which takes ever longer for greater ones."""


def wilson(successes: float, n: float, confidence: float = 0.95, *, times: float = 1) -> Interval | None:
    """Wilson's score interval of a rate; None for n = 0.

    Args:
        successes: How many of them.
        n: How many cases.
        confidence: In (0, 1).
        times: How often each case was counted, which is no further evidence.

    Formula: (p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n) (Wilson 1927).
    """
    if n == 0:
        return None
    successes, n = successes / times, n / times
    z = normal_quantile(confidence)
    p = successes / n
    centre = p + z * z / (2 * n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low, high = (centre - half) / scale, (centre + half) / scale
    return (0.0 if successes == 0 else max(0.0, low), 1.0 if successes == n else min(1.0, high))


def percentile(values: Sequence[float], q: float) -> float:
    """The q-th percentile by nearest rank: the ceil(q/100·n)-th smallest value, one that did occur.

    Args:
        values: At least one value, in any order.
        q: In (0, 100].
    """
    return sorted(values)[max(1, ceil(q * len(values) / 100)) - 1]


def percentile_interval(
    values: Sequence[float], q: float, confidence: float = 0.95, *, widening: float = 1.0
) -> Interval | None:
    """Distribution-free interval of a percentile, from two order statistics; None where n is too small for one.

    The ranks are the closest that leave at most (1 - confidence)/2 in each tail of Binomial(n, q/100)
    (Hahn & Meeker 1991, section 5.2). No number of values says how far the greatest possible one is: None for q = 100.

    Args:
        values: In any order.
        q: In (0, 100].
        confidence: Of the interval.
        widening: How many times as far as for independent values the ranks lie from that of the percentile.
    """
    if q >= 100:
        return None
    n = len(values)
    tail = (1 - confidence) / 2
    cumulative = binomial_cdf(n, q / 100)
    low = next((rank for rank in range(n, 0, -1) if cumulative[rank - 1] <= tail), None)
    high = next((rank for rank in range(1, n + 1) if cumulative[rank - 1] >= 1 - tail), None)
    if low is None or high is None:
        return None
    low, high = _widened(low, high, n * q / 100, widening)
    if low < 1 or high > n:
        return None
    ordered = sorted(values)
    return ordered[low - 1], ordered[high - 1]


def _widened(low: int, high: int, middle: float, widening: float) -> tuple[int, int]:
    """Two ranks so many times as far from the middle as they are."""
    if widening <= 1:
        return low, high
    return floor(middle - widening * (middle - low)), ceil(middle + widening * (high - middle))


def mcnemar_p(only_first: int, only_second: int) -> float:
    """Exact two-sided p of McNemar's test: pairs of yes and no, of which only those that differ count.

    Formula: 2 · P(X <= min(b, c)) for X ~ Binomial(b + c, 1/2), at most 1 (McNemar 1947, exact form).

    Args:
        only_first: Pairs that are yes in the first sample alone.
        only_second: Pairs that are yes in the second sample alone.
    """
    n, few = only_first + only_second, min(only_first, only_second)
    if 2 * few == n:
        return 1.0
    # Summed from the greatest term down, each from the one before, until they add nothing.
    share = tail = 1.0
    for k in range(few, 0, -1):
        share *= k / (n - k + 1)
        tail += share
        if share < 1e-17 * tail:
            break
    if n <= _EXACT:
        greatest = comb(n, few) / (1 << n)
    else:
        greatest = exp(lgamma(n + 1) - lgamma(few + 1) - lgamma(n - few + 1) - n * log(2))
    return min(1.0, 2 * tail * greatest)
