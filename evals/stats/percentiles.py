"""Intervals of percentiles, where values come in clusters too."""

from collections.abc import Sequence

from evals.stats.clusters import Grouped, group, standard_error
from evals.stats.estimates import IntervalEstimate, Mark
from evals.stats.intervals import percentile, percentile_interval
from evals.stats.means import few_clusters


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
    marks = few_clusters(grouped)
    if interval is None:
        marks = (Mark.TOO_FEW,)
    elif interval[0] == interval[1]:
        interval, marks = None, (Mark.ALIKE,)
    return IntervalEstimate(interval, "order statistics", grouped.n, grouped.clusters, marks)


def _design_effect(grouped: Grouped) -> float:
    """How many times as far a rate varies as if its cases were independent; at least 1."""
    if grouped.plain:
        return 1.0
    if len(grouped.sums) < 2:
        return grouped.typical_size
    rate, error, _ = standard_error(grouped.sums, grouped.sizes)
    independent = rate * (1 - rate) / (grouped.n - 1)
    return max(1.0, error**2 / independent) if independent > 0 else 1.0
