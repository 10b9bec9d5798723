"""The statistics of runs and of their differences.

The unit is the question: intervals and tests take questions as independent, and results are about these documents.
Where `scoring.cluster` names groups (documents, conversations, repeats of a question), groups are independent instead.

| question | method |
|---|---|
| interval of a mean or rate in a range | Student's t over values, the least and the greatest possible one added |
| interval of a mean without a greatest value | Student's t of the logarithm of the mean (costs), else plain t |
| interval of a percentile | two order statistics |
| difference of two runs | exact McNemar test for yes/no metrics, else paired t with two added differences |
| several metrics | Holm's procedure |

Coverage and power are simulated by `benchmarks/intervals.py`; docs/statistics.md has the table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, comb, exp, lgamma, log, log1p, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

Vector = np.ndarray[Any, np.dtype[np.float64]]
Groups = np.ndarray[Any, np.dtype[np.int64]]
"""The number of the group that each value belongs to."""
Interval = tuple[float, float]

ALPHA = 0.05
"""The level of a verdict."""

FEWEST = 6
"""At least this many questions must differ for a verdict: five that all differ the same way have p = 0.0625."""

FEW_GROUPS = 12
"""An interval over fewer groups is marked."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An interval, with its method and sample size.

    Attributes:
        interval: None where it cannot be computed; `note` says why.
        method: Name of the method.
        n: Number of values.
        groups: Number of independent groups; n without `scoring.cluster`.
        note: A remark on the interval.
    """

    interval: Interval | None
    method: str
    n: int
    groups: int
    note: str | None = None


def group_sums(values: Vector, groups: Groups | None) -> tuple[Vector, Vector]:
    """The sum and the number of the values of each group."""
    if groups is None:
        return values, np.ones(len(values), dtype=np.float64)
    _, places = np.unique(groups, return_inverse=True)
    sums: Vector = np.bincount(places, values).astype(np.float64)
    return sums, np.bincount(places).astype(np.float64)


def mean_and_error(sums: Vector, sizes: Vector) -> tuple[float, float]:
    """The mean of all values, and its group-robust standard error; s/√n where each group is one value.

    Formula: SE² = Σ e_g² / (1 - n_g/N) / N² with e_g = sum_g - n_g·mean (CR2 of a mean; Bell & McCaffrey 2002).
    """
    total = sizes.sum()
    mean = sums.sum() / total
    residuals = sums - sizes * mean
    return float(mean), float(sqrt((residuals**2 / (1 - sizes / total)).sum()) / total)


def pseudo_weight(confidence: float) -> float:
    """How many values the least and the greatest possible one stand for: 1.01 each at 95 %.

    With it the interval of a rate of 0 among n reaches as far as the exact one-sided bound, -ln(alpha)/n.
    """
    return -log(1 - confidence) / (1 + NormalDist().inv_cdf(0.5 + confidence / 2))


def mean_interval(
    values: Vector, low: float | None, high: float | None, confidence: float = 0.95, groups: Groups | None = None
) -> Estimate | None:
    """The interval of a mean.

    Args:
        values: Of the questions.
        low: The least possible value; None without one.
        high: The greatest.
        confidence: In (0.5, 1).
        groups: The group of each value; None where all are independent.

    Returns:
        None without values.
    """
    if not len(values):
        return None
    sums, sizes = group_sums(values, groups)
    count, n = len(sums), len(values)
    note = "few groups" if groups is not None and count < FEW_GROUPS else None
    outside = (low is not None and values.min() < low - 1e-9) or (high is not None and values.max() > high + 1e-9)
    if outside or low is None or high is None:
        bottom = None if outside else low
        method = "t" if bottom is None else "t of the logarithm"
        interval = _open_interval(sums, sizes, bottom, confidence)
        return Estimate(interval, method, n, count, note if interval else "too few different values")
    weight = pseudo_weight(confidence) * (1.0 if groups is None else n / count)
    centre, error = mean_and_error(np.append(sums, [weight * low, weight * high]), np.append(sizes, [weight, weight]))
    half, mean = t_quantile(0.5 + confidence / 2, count + 1) * error, float(values.mean())
    interval = max(low, min(mean, centre - half)), min(high, max(mean, centre + half))
    return Estimate(interval, "t with two pseudo-values", n, count, note)


def _open_interval(sums: Vector, sizes: Vector, low: float | None, confidence: float) -> Interval | None:
    """Student's t without a greatest value; of the logarithm of the mean above the least one, where there is one."""
    if len(sums) < 2:
        return None
    mean, error = mean_and_error(sums, sizes)
    if error <= 1e-12 * abs(mean):
        return None
    half = t_quantile(0.5 + confidence / 2, len(sums) - 1) * error
    if low is None:
        return mean - half, mean + half
    above = mean - low
    return None if half > 50 * above else (low + above * exp(-half / above), low + above * exp(half / above))


def percentile(values: Vector, q: float) -> float:
    """The q-th percentile by nearest rank, the ceil(q/100·n)-th smallest value: one that did occur."""
    place = max(1, ceil(q / 100 * len(values) - 1e-9)) - 1
    return float(np.partition(values, place)[place])


def percentile_interval(values: Vector, q: float, confidence: float = 0.95) -> Estimate | None:
    """The interval of a percentile between two order statistics, free of a distribution (Hahn & Meeker 1991, 5.2).

    The ranks are the closest that leave at most (1 - confidence)/2 in each tail of Binomial(n, q/100).
    """
    n = len(values)
    if not n:
        return None
    tail, share = (1 - confidence) / 2, q / 100
    if not 0 < share < 1:
        return Estimate(None, "order statistics", n, n, "no interval of the greatest value")
    cumulative = np.cumsum([exp(_log_choose(n, k) + k * log(share) + (n - k) * log1p(-share)) for k in range(n)])
    low = int(np.searchsorted(cumulative, tail, side="right"))
    high = int(np.searchsorted(cumulative, 1 - tail, side="left")) + 1
    if low < 1 or high > n:
        return Estimate(None, "order statistics", n, n, "too few questions")
    ordered = np.sort(values)
    bottom, top = float(ordered[low - 1]), float(ordered[high - 1])
    if bottom == top:
        return Estimate(None, "order statistics", n, n, "too few different values")
    return Estimate((bottom, top), "order statistics", n, n)


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The difference of two runs in one metric, last minus first.

    Attributes:
        difference: Of the means.
        interval: At the confidence 1 - level; where there is a p, it excludes 0 if and only if p < level (paired t).
        p: Two-sided; None where too few questions differ.
        test: "mcnemar" or "t".
        n: Questions with a value in both runs.
        differing: Questions (or groups) whose values differ.
    """

    difference: float
    interval: Interval | None
    p: float | None
    test: str
    n: int
    differing: int


def paired_test(
    first: Vector, last: Vector, span: float | None, level: float = ALPHA, groups: Groups | None = None
) -> PairedTest:
    """Test whether a metric differs between two runs.

    Args:
        first: Values of the baseline, a question each.
        last: Values of the other run, in the same order.
        span: The width of the metric's range; None without one.
        level: Of the test and its interval.
        groups: The group of each question; None where all are independent.
    """
    differences = last - first
    sums, sizes = group_sums(differences, groups)
    differing = int(np.count_nonzero(sums)) if groups is not None else int(np.count_nonzero(differences))
    mean = float(differences.mean())
    yes_or_no = groups is None and span is not None and bool(np.isin(np.concatenate([first, last]), _ENDS).all())
    interval, p_of_t = _paired_t(sums, sizes, mean, span, level)
    p: float | None = p_of_t
    if yes_or_no:
        p = exact = mcnemar_p(int((differences < 0).sum()), int((differences > 0).sum()))
        if interval is not None and (exact < level) == (interval[0] <= 0 <= interval[1]):
            interval = _to_verdict(interval, mean, rejects=exact < level)
    if differing < FEWEST:
        p = None
    return PairedTest(mean, interval, p, "mcnemar" if yes_or_no else "t", len(differences), differing)


_ENDS = np.array([0.0, 1.0])


def _to_verdict(interval: Interval, mean: float, *, rejects: bool) -> Interval:
    """The interval moved to the side of 0 that the exact test decides, at the end next to 0."""
    low, high = interval
    if rejects:
        return (min(1e-9, mean), high) if mean > 0 else (low, max(-1e-9, mean))
    return (0.0, high) if mean > 0 else (low, 0.0)


def _paired_t(
    sums: Vector, sizes: Vector, mean: float, span: float | None, level: float
) -> tuple[Interval | None, float]:
    """Interval and two-sided p of a mean of differences; with a range, two greatest differences are added.

    Each stands for half a question (or group): with a whole one, a fall of half a point in 10 of 100 questions is
    missed in most families of four metrics; with none, false positives double where few questions move far.
    """
    total, count = sizes.sum(), len(sums)
    if span is not None:
        weight = total / count / 2
        sums, sizes = np.append(sums, [-weight * span, weight * span]), np.append(sizes, [weight, weight])
    if len(sums) < 2:
        return None, 1.0
    centre, error = mean_and_error(sums, sizes)
    if error <= 0:
        return ((mean, mean), 1.0) if not mean else (None, 0.0)
    freedom = len(sums) - 1 if span is None else max(1, count - 1)
    half = t_quantile(1 - level / 2, freedom) * error
    low, high = centre - half, centre + half
    if span is not None:
        low, high = max(-span, low), min(span, high)
    return (min(low, mean), max(high, mean)), two_sided_p(abs(centre / error), freedom)


def mcnemar_p(only_first: int, only_second: int) -> float:
    """Exact two-sided p of McNemar's test: 2·P(X <= min(b, c)) for X ~ Binomial(b + c, 1/2), at most 1."""
    n, fewer = only_first + only_second, min(only_first, only_second)
    if 2 * fewer >= n:
        return 1.0
    if n <= 1000:
        return min(1.0, 2 * sum(comb(n, k) for k in range(fewer + 1)) / (1 << n))
    return min(1.0, 2 * sum(exp(_log_choose(n, k) - n * log(2)) for k in range(fewer + 1)))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Each p adjusted for the others: below alpha exactly where Holm's procedure rejects at alpha (Holm 1979)."""
    adjusted, least = {}, 0.0
    for rank, name in enumerate(sorted(p_values, key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = least
    return adjusted


_MOST_NEEDED = 100_000
"""More questions than these are no advice."""


def questions_needed(
    differences: Vector, effect: float, span: float | None = None, level: float = ALPHA, power: float = 0.8
) -> int | None:
    """The number of questions with which a difference of this size is found with this power.

    None if it is unknown, or more than a hundred thousand.

    Formula: n = (z_(1-level/2) + z_power)² · variance of the differences / effect² (Miller 2024); with the two added
    differences of the paired t, whose share of the sum of squares is span²/2, the root of
    effect²·n² = (z_(1-level/2) + z_power)² · (n · variance + span²/2).

    Args:
        differences: Of the questions, or their pseudo-values.
        effect: The difference to be found.
        span: The width of the range, where the paired t with two added differences is the test; else None.
        level: Of the test.
        power: The probability of finding it.
    """
    if len(differences) < 2 or not effect or not differences.any():
        return None
    reach = NormalDist().inv_cdf(1 - level / 2) + NormalDist().inv_cdf(power)
    linear = reach**2 * float(differences.var(ddof=1))
    added = 0.0 if span is None else 2 * (effect * reach * span) ** 2
    needed = ceil((linear + sqrt(linear**2 + added)) / (2 * effect**2))
    return needed if needed <= _MOST_NEEDED else None


def pseudo_values(estimate: float, without: Vector) -> Vector:
    """What each question (or group) contributes to an estimate, by the jackknife; their mean is the estimate.

    They are centred on the estimate, not on its bias-corrected form: of a percentile the correction grows with n.

    Args:
        estimate: Over all questions.
        without: The estimate without each of them.
    """
    values: Vector = estimate + (len(without) - 1) * (without.mean() - without)
    return values


def jackknife(estimate: float, without: Vector, confidence: float) -> Estimate | None:
    """The interval of an estimate between 0 and 1 from its values without each question (or group) in turn.

    Args:
        estimate: Over all questions.
        without: The estimate without each of them.
        confidence: In (0.5, 1).
    """
    if len(without) < 2:
        return None
    count, pseudo = len(without), pseudo_values(estimate, without)
    found = mean_interval(pseudo, min(0.0, pseudo.min()), max(1.0, pseudo.max()), confidence)
    if found is None or found.interval is None:
        return found
    low, high = found.interval
    return Estimate((max(0.0, min(estimate, low)), min(1.0, max(estimate, high))), "jackknife", count, count)


def wilson(successes: float, n: int, confidence: float = 0.95) -> Interval | None:
    """Wilson's score interval of a share; None for n = 0."""
    if not n:
        return None
    z, share = NormalDist().inv_cdf(0.5 + confidence / 2), successes / n
    centre, width = share + z * z / (2 * n), z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (centre - width) / scale), min(1.0, (centre + width) / scale)


# Student's t from the standard library alone.


@lru_cache(maxsize=4096)
def t_quantile(p: float, freedom: float) -> float:
    """The p-quantile of Student's t, for 0.5 <= p < 1."""
    low, high = 0.0, 1.0
    while two_sided_p(high, freedom) / 2 > 1 - p:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided_p(middle, freedom) / 2 > 1 - p else (low, middle)
    return high


def two_sided_p(t: float, freedom: float) -> float:
    """P(|T| >= t) of Student's t."""
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function by its continued fraction (DLMF 8.17.22) and Lentz's method."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    tiny = 1e-300
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    value = d
    for m in range(1, 300):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    return front * value


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def group_numbers(labels: Sequence[str]) -> Groups:
    """The number of the group of each label."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
