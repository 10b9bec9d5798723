"""Intervals of statistics that are no means, by leaving out the units one group after the other.

The delete-a-group jackknife (Efron & Tibshirani 1993, chapter 11; Kott 2001): with G groups of whole units, the
standard error is sqrt((G - 1) / G times the sum of squares of the statistics without one group about their mean).
"""

from collections.abc import Callable, Sequence
from math import atanh, fsum, isclose, sqrt, tanh
from random import Random

from evals.stats.clusters import FEWEST, units_of
from evals.stats.distributions import t_quantile
from evals.stats.intervals import Interval

MOST_GROUPS = 100
"""Units beyond these are left out several at a time: the time that it takes does not grow with their square."""
_SEED = 20260115
_EDGE = 1 - 1e-9

Statistic = Callable[[Sequence[int]], float | None]
"""Of the items with these places; None where it is undefined."""


def jackknife_interval(
    statistic: Statistic,
    n: int,
    clusters: Sequence[str] | None = None,
    *,
    confidence: float = 0.95,
    correlation: bool = False,
    groups: int = MOST_GROUPS,
) -> Interval | None:
    """The interval of a statistic between -1 and 1.

    Args:
        statistic: Of the items with the places given.
        n: The number of items.
        clusters: What each belongs to; None where all are independent.
        confidence: In (0.5, 1).
        correlation: Whether it is one, whose interval is made on Fisher's scale, atanh.
        groups: The most that are left out one after the other.

    Returns:
        None where the statistic is undefined, too few units are there, or leaving them out changes nothing: then
        nothing is known of its spread.
    """
    whole = statistic(range(n))
    left_out = _groups(units_of(clusters, n), groups)
    if whole is None or len(left_out) < FEWEST:
        return None
    forth, back = (_to_fisher, tanh) if correlation else (_same, _same)
    found = [forth(value) for group in left_out if (value := statistic(_without(group, n))) is not None]
    if len(found) < FEWEST:
        return None
    mean, count = fsum(found) / len(found), len(found)
    error = sqrt((count - 1) / count * fsum((value - mean) ** 2 for value in found))
    if isclose(error, 0.0, abs_tol=1e-12):
        return None
    half = t_quantile(0.5 + confidence / 2, count - 1) * error
    centre = forth(whole)
    return max(-1.0, back(centre - half)), min(1.0, back(centre + half))


def _groups(units: Sequence[int], most: int) -> list[list[int]]:
    """The places of the items in each group: units, or several of them drawn together where there are many."""
    labels = sorted(set(units))
    Random(_SEED).shuffle(labels)  # noqa: S311 - a draw, no secret
    group_of = {label: place % most for place, label in enumerate(labels)}
    groups: dict[int, list[int]] = {}
    for place, unit in enumerate(units):
        groups.setdefault(group_of[unit], []).append(place)
    return list(groups.values())


def _without(group: Sequence[int], n: int) -> list[int]:
    left_out = set(group)
    return [place for place in range(n) if place not in left_out]


def _to_fisher(value: float) -> float:
    return atanh(max(-_EDGE, min(_EDGE, value)))


def _same(value: float) -> float:
    return value
