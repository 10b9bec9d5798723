"""Differences between two runs over the same questions: an interval that never has zero width, and a p that fits it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import copysign, inf, nextafter, sqrt
from statistics import fmean

from evals.stats.clusters import Grouped, group, standard_error
from evals.stats.distributions import normal_quantile, t_quantile
from evals.stats.estimates import Difference, IntervalEstimate, Mark
from evals.stats.intervals import Interval
from evals.stats.means import few_clusters, with_pseudo_values, within
from evals.stats.sign_flip import sign_flip_p

TOGETHER_IN_PAIRS = 0.25
"""As in the intervals of means; less is assumed, as most questions do not change."""
_STEPS = 60
"""Halvings of an interval: more than a double tells apart."""


def paired_difference(
    first: Sequence[float],
    last: Sequence[float],
    clusters: Sequence[str] | None = None,
    *,
    low: float | None = None,
    high: float | None = None,
    confidence: float = 0.95,
) -> Difference | None:
    """The difference of two means of paired values, last minus first.

    p is that of the sign-flip test over the units: questions, or clusters of them. The interval is Tango's where all
    values lie at the ends of the range and are independent; else Student's t over the differences, with two
    pseudo-values where values have a range, cluster-robust where they come in clusters. `agree` then moves its end near
    0, so that it leaves out 0 exactly where p is below 1 - confidence.

    Args:
        first: A value a question.
        last: As many, of the same questions in the same order.
        clusters: What each question belongs to; None where all are independent.
        low: The least value that there can be; None where there is none.
        high: The greatest.
        confidence: Of the interval.

    Returns:
        None for fewer than two pairs.
    """
    if len(first) < 2:
        return None
    differences = [after - before for before, after in zip(first, last, strict=True)]
    grouped = group(differences, clusters)
    found = _apart([*first, *last], differences, grouped, (low, high), confidence)
    mean, p, level = fmean(differences), sign_flip_p(grouped.sums), 1 - confidence
    agreed = found.interval and agree(found.interval, mean, p, level)
    test = "exact McNemar" if found.method == "Tango" else "sign-flip"
    return Difference(mean, replace(found, interval=agreed), p, test, found.interval if p < level else agreed)


def _apart(
    values: Sequence[float],
    differences: Sequence[float],
    grouped: Grouped,
    ends: tuple[float | None, float | None],
    confidence: float,
) -> IntervalEstimate:
    """The interval, made without the test, by the method that the values allow."""
    low, high = ends
    if low is None or high is None or not within(values, low, high):
        return _unbounded(differences, grouped, confidence)
    make = _binary if grouped.plain and {low, high}.issuperset(values) else _bounded
    return make(differences, grouped, high - low, confidence)


def agree(interval: Interval, difference: float, p: float, level: float) -> Interval:
    """An interval of a difference that leaves out 0 exactly where p is below the level.

    Where p is not, it is stretched to 0. Where p is, but the interval reaches to 0 or beyond, it ends beside 0: at the
    least number above or below it. What the test knows is the side on which the difference lies, not how far from 0.

    Args:
        interval: As it was made without the test.
        difference: As seen.
        p: Two-sided, that there is none.
        level: In (0, 1).
    """
    low, high = interval
    if p >= level:
        return min(0.0, low), max(0.0, high)
    beside = nextafter(0.0, difference)
    return (max(beside, low), high) if difference > 0 else (low, min(beside, high))


def tango(only_first: int, only_last: int, n: int, confidence: float = 0.95) -> Interval:
    """Tango's score interval of the difference between two paired rates, last minus first.

    The differences d at which |c - b - n·d| / sqrt(n·(2q + d(1 - d))) <= z, where q is the most likely probability of a
    loss at that difference (Tango 1998). It has a width even where no pair differs: ±z²/(n + z²).

    Args:
        only_first: Pairs that are yes in the first sample alone, b.
        only_last: Pairs that are yes in the last sample alone, c.
        n: All pairs, at least one.
        confidence: In (0, 1).
    """
    z, observed = normal_quantile(confidence), (only_last - only_first) / n

    def holds(d: float) -> bool:
        return abs(_score(only_first, only_last, n, d)) <= z

    return _farthest(holds, observed, -1.0), _farthest(holds, observed, 1.0)


def _score(only_first: int, only_last: int, n: int, d: float) -> float:
    """Tango's statistic: by how many standard errors the difference seen exceeds d."""
    excess = only_last - only_first - n * d
    if excess == 0:
        return 0.0
    linear = (2 * n - only_last + only_first) * d - only_first - only_last
    constant = only_first * d * (1 - d)
    root = sqrt(max(0.0, linear * linear + 8 * n * constant))
    loss = 2 * constant / (root + linear) if linear > 0 else (root - linear) / (4 * n)
    variance = n * (2 * loss + d * (1 - d))
    return excess / sqrt(variance) if variance > 0 else copysign(inf, excess)


def _farthest(holds: Callable[[float], bool], start: float, end: float) -> float:
    """The farthest point from start towards end at which something holds that holds at the start."""
    if holds(end):
        return end
    for _ in range(_STEPS):
        middle = (start + end) / 2
        start, end = (middle, end) if holds(middle) else (start, middle)
    return start


def _binary(differences: Sequence[float], grouped: Grouped, span: float, confidence: float) -> IntervalEstimate:
    """Tango's interval, times the range."""
    fallen, risen = sum(d < 0 for d in differences), sum(d > 0 for d in differences)
    low, high = tango(fallen, risen, grouped.n, confidence)
    return _estimate((span * low, span * high), "Tango", grouped)


def _bounded(differences: Sequence[float], grouped: Grouped, span: float, confidence: float) -> IntervalEstimate:
    """Student's t over the differences, with one of the greatest loss and one of the greatest gain."""
    centre, error, df = bounded_error(differences, grouped, span)
    half, mean = t_quantile(0.5 + confidence / 2, df) * error, fmean(differences)
    interval = max(-span, min(mean, centre - half)), min(span, max(mean, centre + half))
    return _estimate(interval, "t with two pseudo-values", grouped)


def bounded_error(differences: Sequence[float], grouped: Grouped, span: float) -> tuple[float, float, float]:
    """Mean of the differences, its standard error and the degrees of freedom, with the two pseudo-values.

    Args:
        differences: A difference a question.
        grouped: The same by units.
        span: From the metric's least to its greatest value.
    """
    return standard_error(*with_pseudo_values(differences, grouped, -span, span, 1.0, TOGETHER_IN_PAIRS))


def _unbounded(differences: Sequence[float], grouped: Grouped, confidence: float) -> IntervalEstimate:
    """Student's t over the differences; none where all are the same, which leaves no spread."""
    found = _estimate(None, "t", grouped)
    if len(grouped.sums) < 2:
        return replace(found, marks=(*found.marks, Mark.TOO_FEW))
    mean, error, df = standard_error(grouped.sums, grouped.sizes)
    if error <= 1e-12 * max(map(abs, differences)):
        return replace(found, marks=(*found.marks, Mark.ALIKE))
    half = t_quantile(0.5 + confidence / 2, df) * error
    return _estimate((mean - half, mean + half), "t", grouped)


def _estimate(interval: Interval | None, method: str, grouped: Grouped) -> IntervalEstimate:
    return IntervalEstimate(interval, method, grouped.n, grouped.clusters, few_clusters(grouped))
