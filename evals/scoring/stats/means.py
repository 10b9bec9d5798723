"""Intervals of means that never have zero width.

Whoever sees twenty answers that are all right has not seen that no answer is ever wrong, though the values have no
spread. What bounds such a mean is its range: one of the least and one of the greatest possible values are counted
too, and Student's t is taken over all of them. Without a range there is no such help.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, fsum, log, sqrt
from statistics import fmean

from evals.scoring.stats.intervals import (
    Grouped,
    Interval,
    IntervalEstimate,
    Mark,
    group,
    normal_quantile,
    percentile,
    percentile_interval,
    standard_error,
    t_quantile,
)

TOGETHER = 2.0
"""This many values at the ends of the range are assumed to lie in one cluster, in addition to what the values show."""


_SKEWED = 0.2
"""Skewness over the root of n beyond which a t interval misses more often than it says."""


_SPREAD = 0.6
"""Coefficient of variation beyond which fewer than a hundred values are too few for it."""

_ROUNDING = 1e-9

_MANY = 100

_SOME = 20


_WIDEST = 20.0
"""In powers of e: an interval up to 500 million times its middle says nothing."""


def mean_interval(
    values: Sequence[float],
    clusters: Sequence[str] | None = None,
    *,
    low: float | None = None,
    high: float | None = None,
    confidence: float = 0.95,
) -> IntervalEstimate | None:
    """The interval of a mean, by the method that its range allows.

    Args:
        values: In any order.
        clusters: What each value belongs to; None where all are independent.
        low: The least value that there can be; None where there is none.
        high: The greatest.
        confidence: In (0.5, 1).

    Returns:
        None for no values. An estimate without an interval where values without a range are fewer than two or all
        the same.
    """
    if not values:
        return None
    return estimate(values, fmean(values), group(values, clusters), (low, high), confidence)


def estimate(
    values: Sequence[float],
    mean: float,
    grouped: Grouped,
    ends: tuple[float | None, float | None],
    confidence: float,
    method: str = "t with two pseudo-values",
) -> IntervalEstimate:
    """The interval of a mean whose values are grouped already.

    Args:
        values: At least one.
        mean: Of them, weighted where they stand for different numbers of questions.
        grouped: The same by units.
        ends: Of the range; None where it is open.
        confidence: In (0.5, 1).
        method: What the estimate says of itself where the range has two ends.
    """
    low, high = ends
    if not within(values, low, high):
        found = unbounded(values, grouped, None, confidence)
        return replace(found, marks=(*found.marks, Mark.OUT_OF_RANGE))
    if low is None or high is None:
        return unbounded(values, grouped, low, confidence)
    error = bounded_error(grouped, low, high, pseudo_weight(confidence), TOGETHER)
    return bounded_t(mean, error, (low, high), grouped, confidence, method)


def within(values: Sequence[float], low: float | None, high: float | None) -> bool:
    """Whether all values, of which there is at least one, lie in a range, whose ends may be open; rounding aside."""
    return (low is None or min(values) >= low - _ROUNDING) and (high is None or max(values) <= high + _ROUNDING)


def pseudo_weight(confidence: float) -> float:
    """How much the least and the greatest possible value count in addition to the values: 1.01 times a value at 95 %.

    It is chosen so that the interval of a rate of which no case was seen reaches as far as the exact one-sided bound
    of many values, -ln(alpha)/n: c + z·c = -ln(alpha).
    """
    return -log(1 - confidence) / (1 + normal_quantile(confidence))


def bounded_error(
    grouped: Grouped, low: float, high: float, weight: float, together: float
) -> tuple[float, float, float]:
    """What `standard_error` says of the units with one more at either end of the range.

    Where values come in clusters, so do the two: as heavy as the design effect says, which is at least 1 and at most
    the size of a cluster. The design effect is that of the values and of `together` more at the end of the range, all
    of them in one cluster: of values that are all the same, it is unknown whether bad ones would come together. Where
    values stand for lost ones, each of the two stands for as many as the heaviest.

    Args:
        grouped: At least one value.
        low: The least possible value.
        high: The greatest.
        weight: Of each added unit where values are independent, and none is lost.
        together: In questions.
    """
    heaviest = max(grouped.weights)
    weight *= heaviest
    if not grouped.plain:
        size, extra = grouped.typical_size, together * grouped.times * ((high - low) * heaviest) ** 2
        mean = fsum(grouped.sums) / fsum(grouped.sizes)
        between = _squares(grouped.sums, grouped.sizes, mean)
        inside = _squares(grouped.values, grouped.weights, mean)
        weight *= min(max(1.0, size), max(1.0, (between + size * extra) / (inside + extra)))
    return standard_error([*grouped.sums, weight * low, weight * high], [*grouped.sizes, weight, weight])


def _squares(sums: Sequence[float], sizes: Sequence[float], mean: float) -> float:
    return fsum((total - size * mean) ** 2 for total, size in zip(sums, sizes, strict=True))


def bounded_t(
    mean: float,
    error: tuple[float, float, float],
    ends: Interval,
    grouped: Grouped,
    confidence: float,
    method: str,
) -> IntervalEstimate:
    """Student's t around a centre, cut at the ends of the range, that holds the mean itself.

    Args:
        mean: Of the values alone.
        error: The centre, its standard error and the degrees of freedom, as `standard_error` gives them.
        ends: Of the range.
        grouped: The values by units.
        confidence: In (0.5, 1).
        method: What the estimate says of itself.
    """
    centre, spread, df = error
    half = t_quantile(0.5 + confidence / 2, df) * spread
    interval = max(ends[0], min(mean, centre - half)), min(ends[1], max(mean, centre + half))
    return IntervalEstimate(interval, method, grouped.n, grouped.clusters, few_clusters(grouped))


def unbounded(values: Sequence[float], grouped: Grouped, low: float | None, confidence: float) -> IntervalEstimate:
    """Student's t, of the logarithm of the mean where values have a least one: costs are never below 0.

    Args:
        values: At least one.
        grouped: The same by units.
        low: The least value that there can be; None where there is none.
        confidence: In (0.5, 1).
    """
    found = IntervalEstimate(None, "t" if low is None else "t of the logarithm", grouped.n, grouped.clusters)
    if min(grouped.n, len(grouped.sums)) < 2:
        return replace(found, marks=(Mark.TOO_FEW,))
    mean, error, df = standard_error(grouped.sums, grouped.sizes)
    if error <= 1e-12 * max(map(abs, values)):
        return replace(found, marks=(Mark.ALIKE,))
    half = t_quantile(0.5 + confidence / 2, df) * error
    if low is None:
        interval = mean - half, mean + half
    elif half > _WIDEST * (mean - low):
        return replace(found, marks=(Mark.TOO_FEW,))
    else:
        above = mean - low
        interval = low + above * exp(-half / above), low + above * exp(half / above)
    return replace(found, interval=interval, marks=(*few_clusters(grouped), *_roughness(values, mean, low, grouped)))


def _roughness(values: Sequence[float], mean: float, low: float | None, grouped: Grouped) -> tuple[Mark, ...]:
    """Whether the interval may miss more often than it says, as far as the values tell."""
    units = len(grouped.sums)
    if units < _SOME:
        return (Mark.FEW_VALUES,)
    variance, third = (fmean((value - mean) ** power for value in values) for power in (2, 3))
    spread = sqrt(variance) / (mean - low) if low is not None else 0.0
    is_skewed = abs(third) / variance**1.5 > _SKEWED * sqrt(units) or (units < _MANY and spread > _SPREAD)
    return (Mark.SKEWED,) if is_skewed else ()


def few_clusters(grouped: Grouped) -> tuple[Mark, ...]:
    """The mark of an interval whose clusters were too few to be its units."""
    return (Mark.FEW_CLUSTERS,) if grouped.few else ()


# Intervals of percentiles, where values come in clusters too.


def percentile_estimate(
    values: Sequence[float], q: float, clusters: Sequence[str] | None = None, confidence: float = 0.95
) -> IntervalEstimate | None:
    """The interval of a percentile from two order statistics.

    Where values come in clusters, the ranks lie farther from that of the percentile, by the root of the design effect
    of being at or below it (Woodruff 1952).

    Args:
        values: In any order.
        q: In (0, 100].
        clusters: What each value belongs to; None where all are independent.
        confidence: In (0.5, 1).

    Returns:
        None for no values. An estimate without an interval where there are too few values, or both ends are one value.
    """
    if not values:
        return None
    middle = percentile(values, q)
    grouped = group([float(value <= middle) for value in values], clusters)
    interval = percentile_interval(values, q, confidence, widening=_design_effect(grouped) ** 0.5)
    found = IntervalEstimate(interval, "order statistics", grouped.n, grouped.clusters, few_clusters(grouped))
    if interval is None:
        return replace(found, marks=(Mark.TOO_FEW,))
    return found if interval[0] < interval[1] else replace(found, interval=None, marks=(Mark.ALIKE,))


def _design_effect(grouped: Grouped) -> float:
    """How many times as far a rate varies as if its cases were independent; at least 1."""
    if grouped.plain:
        return 1.0
    if len(grouped.sums) < 2:
        return grouped.typical_size
    rate, error, _ = standard_error(grouped.sums, grouped.sizes)
    independent = rate * (1 - rate) / (grouped.n - 1)
    return max(1.0, error**2 / independent) if independent > 0 else 1.0
