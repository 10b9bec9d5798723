"""Intervals for rates, means and percentiles, and tests of paired differences, from the standard library alone.

Written here because scipy takes more than 100 MB; tests compare the p values with scipy's where it is installed.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate
from math import ceil, comb, exp, floor, fsum, lgamma, log, log1p, sqrt
from statistics import NormalDist

# Which values are independent of each other: questions about one document are not, nor is a question asked again.


FEWEST = 6
"""With fewer clusters than these, their spread cannot be told: the questions themselves are the units then."""


_OF = "\x1f"
"""Between the label of a cluster and that of a question in it."""


def asked_again(cluster: str, question: str) -> str:
    """The label of a value of a question that was asked several times.

    Args:
        cluster: What the question belongs to.
        question: Which it is.
    """
    return f"{cluster}{_OF}{question}"


def parts_of(label: str) -> tuple[str, str]:
    """The cluster of a label, and the question of it that was asked several times; "" where it was asked once."""
    cluster, _, question = label.partition(_OF)
    return cluster, question


def distinct(labels: Sequence[str] | None, n: int) -> Sequence[str]:
    """A label for each question that n values are of: values of one question have the same."""
    if labels is None or not any(_OF in label for label in labels):
        return [str(place) for place in range(n)]
    return [label if _OF in label else str(place) for place, label in enumerate(labels)]


def questions_among(places: Iterable[int], labels: Sequence[str] | None) -> int:
    """How many questions the values at some places are of."""
    chosen = list(places)
    own = labels and [labels[place] for place in chosen]
    return len(set(distinct(own, len(chosen)))) if own and any(_OF in label for label in own) else len(chosen)


def units(labels: Sequence[str] | None, n: int) -> tuple[Sequence[str], int, bool]:
    """What n values are grouped by.

    Returns:
        A label for each value, of its cluster or of its question; how many clusters there are; and whether these are
        too few to serve as units.
    """
    questions = distinct(labels, n)
    if labels is None:
        return questions, n, False
    clusters = [parts_of(label)[0] for label in labels]
    count = len(set(clusters))
    few = count < min(len(set(questions)), FEWEST)
    return questions if few else clusters, count, few


@dataclass(frozen=True, slots=True)
class Grouped:
    """Values by the units that are independent of each other.

    Attributes:
        values: What each question adds to the sum; of a weighted mean also those that are lost.
        weights: How many values each question stands for: 1, or more where it stands for lost ones, or 0.
        sums: The sum of each unit's values.
        sizes: The sum of each unit's weights.
        n: How many values there are.
        clusters: How many labels there are.
        few: Whether there are clusters, but too few to serve as units: questions are the units, and what is found
            holds for these clusters alone.
        questions: How many questions the values are of.
    """

    values: Sequence[float]
    weights: Sequence[float]
    sums: Sequence[float]
    sizes: Sequence[float]
    n: int
    clusters: int
    few: bool
    questions: int

    @property
    def times(self) -> float:
        """How often a question was asked, on average."""
        return self.n / self.questions

    @property
    def plain(self) -> bool:
        """Whether each value is a unit of its own."""
        return len(self.sums) == len(self.values)

    @property
    def typical_size(self) -> float:
        """The mean size of a unit, as a value sees it."""
        return fsum(size * size for size in self.sizes) / fsum(weight * weight for weight in self.weights)


def group(values: Sequence[float], labels: Sequence[str] | None, weights: Sequence[float] | None = None) -> Grouped:
    """Group values by their labels.

    Args:
        values: In any order.
        labels: As many, in the same order; None where each value stands for itself.
        weights: How many values each stands for, as of `Grouped`; 1 where None.
    """
    n = len(values)
    own = weights or [1.0] * n
    there: Sequence[int] = range(n)
    by, clusters, few = units(labels, n)
    if weights is not None:  # the clusters are those of the values that are there
        there = [place for place, weight in enumerate(own) if weight]
        _, clusters, few = units(labels and [labels[place] for place in there], len(there))
        by = distinct(labels, n) if few else by
    sizes = list(Counter(by).values()) if weights is None else _sums(own, by)
    return Grouped(values, own, _sums(values, by), sizes, len(there), clusters, few, questions_among(there, labels))


def _sums(values: Sequence[float], labels: Sequence[str]) -> list[float]:
    """The sum of the values of each label."""
    members: dict[str, list[float]] = {}
    for label, value in zip(labels, values, strict=True):
        members.setdefault(label, []).append(value)
    return [fsum(each) for each in members.values()]


def units_of(labels: Sequence[str] | None, n: int) -> list[int]:
    """The number of the unit that each of n values belongs to, from 0 on."""
    by, _, _ = units(labels, n)
    numbers = {label: number for number, label in enumerate(dict.fromkeys(by))}
    return [numbers[label] for label in by]


def standard_error(sums: Sequence[float], sizes: Sequence[float]) -> tuple[float, float, float]:
    """The mean over all values, its cluster-robust standard error, and the error's degrees of freedom.

    Formula: with N the sum of sizes and e_g = sum_g - size_g·mean,
    SE² = sum over g of e_g² / (1 - size_g/N) / N²; this is CR2 of a model with a mean alone, and equals s/sqrt(n) where
    all sizes are 1 (Bell & McCaffrey 2002; Imbens & Kolesár 2016). The degrees of freedom are Satterthwaite's for
    independent values: one less than the number of units where all have one size, fewer where sizes differ.

    Args:
        sums: The sum of each unit, of which there are at least two.
        sizes: The number of values of each, or a weight.
    """
    total = fsum(sizes)
    mean = fsum(sums) / total
    squares, second, third, fourth = [], [], [], []
    for unit, size in zip(sums, sizes, strict=True):
        residual, scale = unit - size * mean, 1 / (1 - size / total)
        squares.append(residual * residual * scale)
        square = size * size
        second.append(square)
        third.append(square * scale)
        fourth.append(square * scale * square * scale)
    trace = fsum(second) + (fsum(third) ** 2 - fsum(fourth)) / total**2
    return mean, fsum(squares) ** 0.5 / total, total * total / trace


# The distributions that intervals and tests need, from the standard library alone.


_TINY = 1e-300

_HALVINGS = 60
"""More than a double tells apart."""


def normal_quantile(confidence: float) -> float:
    """How many standard errors an interval of this confidence reaches to either side: 1.96 for 0.95."""
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def farthest(holds: Callable[[float], bool], start: float, end: float) -> float:
    """The farthest point from start towards end at which something holds that holds at the start, by halving."""
    if holds(end):
        return end
    for _ in range(_HALVINGS):
        middle = (start + end) / 2
        start, end = (middle, end) if holds(middle) else (start, middle)
    return start


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """The p-quantile of Student's t with df > 0 degrees of freedom, for 0.5 <= p < 1; df need not be whole."""
    high = 1.0
    while t_cdf(high, df) < p:
        high *= 2
    return farthest(lambda t: t_cdf(t, df) < p, 0.0, high)


def t_cdf(t: float, df: float) -> float:
    """P(T <= t) for Student's t with df degrees of freedom and t >= 0."""
    return 1 - 0.5 * _incomplete_beta(df / 2, 0.5, df / (df + t * t))


def two_sided_p(t: float, df: float) -> float:
    """P(|T| >= |t|) for Student's t with df degrees of freedom."""
    return _incomplete_beta(df / 2, 0.5, df / (df + t * t))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    return front * _beta_fraction(a, b, x)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Evaluate the continued fraction from the front by Lentz's method."""
    c, d = 1.0, 1 / _nonzero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 300):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _nonzero(1 + term * d)
            c = _nonzero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


Interval = tuple[float, float]


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
    n, tail, ordered = len(values), (1 - confidence) / 2, sorted(values)
    cumulative = _binomial_cdf(n, q / 100)
    low = bisect_right(cumulative, tail)
    high = bisect_left(cumulative, 1 - tail) + 1
    if low < 1 or high > n:
        return None
    if widening > 1:
        middle = n * q / 100
        low, high = floor(middle - widening * (middle - low)), ceil(middle + widening * (high - middle))
    return (ordered[low - 1], ordered[high - 1]) if low >= 1 and high <= n else None


def _binomial_cdf(n: int, p: float) -> list[float]:
    """P(X <= k) for k = 0 … n - 1 of Binomial(n, p), 0 < p < 1."""
    terms = (exp(_log_choose(n, k) + k * log(p) + (n - k) * log1p(-p)) for k in range(n))
    return [min(1.0, total) for total in accumulate(terms)]


_EXACT = 1000
"""Up to here binomial coefficients are computed in whole numbers, which takes ever longer for greater ones."""


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
    if n <= _EXACT:
        return 2 * sum(comb(n, k) for k in range(few + 1)) / (1 << n)
    return min(1.0, 2 * fsum(exp(_log_choose(n, k) - n * log(2)) for k in range(few + 1)))


# What an interval says of itself: how it was made, of how many values, and what there is to mind.


class Mark(StrEnum):
    """A mark of an interval, such as few clusters."""

    FEW_CLUSTERS = "few clusters"
    """It holds for the clusters asked about, and says nothing of others like them."""
    SKEWED = "rough (skewed)"
    """A few great values decide it: it holds the true mean less often than it says."""
    FEW_VALUES = "rough (few values)"
    """There are too few values to see whether a few great ones are missing."""
    ALIKE = "all values are the same"
    """Their spread is not known, and no range bounds it: there is no interval."""
    OUT_OF_RANGE = "values outside the metric's range"
    """The range that the metric declares was not used."""
    WEIGHTED = "values that stand for different numbers of lost ones"
    """There is no interval of a percentile of them."""
    TOO_FEW = "too few values"
    """There is no interval."""


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """An interval with its method, sample size and marks.

    Attributes:
        interval: Its ends; None where there is none, and a mark says why.
        method: How it was made.
        n: The number of values.
        clusters: The number of their labels; n where each stands for itself.
        marks: What to mind.
    """

    interval: Interval | None
    method: str
    n: int
    clusters: int
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two means of paired values.

    Attributes:
        difference: Last minus first.
        estimate: Its interval.
        p: Two-sided, that there is no difference; below 1 - confidence exactly where the interval leaves 0 out.
        test: What p comes from.
        bounds: The interval, not cut at 0 where p says on which side the difference lies. A test of no difference at
            all says little of how great a loss may have gone unseen: whoever asks that asks these. None where there is
            none.
    """

    difference: float
    estimate: IntervalEstimate
    p: float
    test: str
    bounds: Interval | None


# Whether one group has more than its share of something: Fisher's exact test, one-sided.


def too_many_p(marked: int, size: int, all_marked: int, total: int) -> float:
    """How likely that number of marked ones, or more, fall into a group by chance.

    P(X >= marked) of the hypergeometric distribution (Fisher 1935).

    Args:
        marked: In the group.
        size: Of the group.
        all_marked: In the group and elsewhere.
        total: Of all groups.
    """
    whole, outside = _log_choose(total, size), total - all_marked
    possible = range(max(marked, size - outside), min(size, all_marked) + 1)
    terms = (exp(_log_choose(all_marked, k) + _log_choose(outside, size - k) - whole) for k in possible)
    return min(1.0, fsum(terms))


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
