"""Paired differences between two runs: a p-value, and an interval that agrees with it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import atanh, copysign, erfc, fsum, inf, isclose, nextafter, sqrt, tanh
from random import Random
from statistics import fmean
from sys import float_info
from typing import TYPE_CHECKING, Any

from evals.scoring.stats.intervals import (
    FEWEST,
    Difference,
    Grouped,
    Interval,
    IntervalEstimate,
    distinct,
    farthest,
    group,
    mcnemar_p,
    normal_quantile,
    percentile_interval,
    t_quantile,
    two_sided_p,
    units_of,
)
from evals.scoring.stats.means import bounded_error, bounded_t, unbounded, within

# Resampling, for statistics that have no simple formula.


if TYPE_CHECKING:
    import numpy as np

    DrawnCounts = np.ndarray[Any, np.dtype[np.uint8]]
    Sizes = np.ndarray[Any, np.dtype[np.float64]]
    Steps = np.ndarray[Any, np.dtype[np.int64]]

RESAMPLES = 2000

_SEED = 20260115
"""Of all draws: the same values give the same result."""


_AT_ONCE = 500_000
"""Values drawn in one step: large runs need no more memory than small ones."""


def _resampled_counts(n: int, clusters: Sequence[str] | None) -> Iterator["DrawnCounts"]:
    """How often each of n values is in each resample, some resamples at a time: a row a resample, a column a value.

    Units are drawn with replacement, as many as there are: values, or whole clusters where there are enough of them.
    """
    import numpy as np  # noqa: PLC0415 - only who resamples pays for the import

    unit = np.array(units_of(clusters, n))
    units = int(unit.max()) + 1
    rng = np.random.default_rng(_SEED)
    batch = max(1, _AT_ONCE // n)
    for start in range(0, RESAMPLES, batch):
        drawn = rng.integers(0, units, (min(batch, RESAMPLES - start), units))
        # A unit is drawn once on average; that it is drawn more than 255 times happens to nobody.
        yield np.array([np.minimum(np.bincount(row, minlength=units), 255) for row in drawn], np.uint8)[:, unit]


def paired_percentile_difference(
    first: Sequence[float],
    second: Sequence[float],
    q: float,
    confidence: float = 0.95,
    clusters: Sequence[str] | None = None,
) -> tuple[Interval, float] | None:
    """Interval and two-sided p of the difference between two percentiles of paired values, second minus first.

    Pairs, or whole clusters of them, are drawn with replacement, 2000 times with a fixed seed, and the percentile
    (nearest rank) of either side is taken anew: the interval is that of the ordered differences, and p is twice the
    smaller share of differences on one side of 0, counting one more than was seen (Efron & Tibshirani 1993, sections
    13.3 and 15.4).

    Args:
        first: A value a pair.
        second: As many values, in the same order.
        q: In (0, 100].
        confidence: Of the interval.
        clusters: What each pair belongs to; None where all are independent.

    Returns:
        None where the percentile itself has no interval: there are too few pairs, or q is 100.
    """
    questions = len(set(distinct(clusters, len(first))))
    if percentile_interval(list(map(float, range(questions))), q, confidence) is None:
        return None
    import numpy as np  # noqa: PLC0415

    sides = [(np.argsort(side), np.sort(side)) for side in (np.array(first, float), np.array(second, float))]
    parts = []
    for counts in _resampled_counts(len(first), clusters):
        before, after = (ordered[_places(counts[:, order], q)] for order, ordered in sides)
        parts.append(after - before)
    differences = np.sort(np.concatenate(parts))
    tail = int((1 - confidence) / 2 * RESAMPLES)
    below, above = int((differences <= 0).sum()), int((differences >= 0).sum())
    p = min(1.0, 2 * (1 + min(below, above)) / (RESAMPLES + 1))
    return (float(differences[tail]), float(differences[RESAMPLES - 1 - tail])), p


def _places(counts: "DrawnCounts", q: float) -> Any:
    """The place of the percentile in each resample, of values in ascending order: that of its ceil(q/100·n)-th."""
    import numpy as np  # noqa: PLC0415

    running = counts.cumsum(axis=1, dtype=np.uint32)
    rank = np.maximum(1, np.ceil(q * running[:, -1] / 100))
    return (running >= rank[:, None]).argmax(axis=1)


# Intervals of statistics that are no means, by leaving out the units one group after the other.


MOST_GROUPS = 100
"""Units beyond these are left out several at a time: the time that it takes does not grow with their square."""

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
    whole, group_of = statistic(range(n)), _drawn_groups(units_of(clusters, n), groups)
    if whole is None or len(set(group_of)) < FEWEST:
        return None
    forth, back = (_to_fisher, tanh) if correlation else (float, float)
    values = (statistic(places) for places in _left_out(group_of))
    found = [forth(value) for value in values if value is not None]
    if len(found) < FEWEST:
        return None
    mean, count = fsum(found) / len(found), len(found)
    error = sqrt((count - 1) / count * fsum((value - mean) ** 2 for value in found))
    if isclose(error, 0.0, abs_tol=1e-12):
        return None
    half = t_quantile(0.5 + confidence / 2, count - 1) * error
    centre = forth(whole)
    return max(-1.0, back(centre - half)), min(1.0, back(centre + half))


def _drawn_groups(units: Sequence[int], most: int) -> list[int]:
    """The group of each item: its unit, or several units drawn together where there are many."""
    labels = sorted(set(units))
    Random(_SEED).shuffle(labels)  # noqa: S311 - a draw, no secret
    group_of = {label: place % most for place, label in enumerate(labels)}
    return [group_of[unit] for unit in units]


def _left_out(group_of: Sequence[int]) -> Iterator[list[int]]:
    """The places of the items that are left, without one group after the other."""
    for one in dict.fromkeys(group_of):
        yield [at for at, own in enumerate(group_of) if own != one]


def _to_fisher(value: float) -> float:
    return atanh(max(-_EDGE, min(_EDGE, value)))


# The sign-flip test of paired differences (Fisher 1935): were the two runs swapped in some pairs, what would be
# seen? Where two servers are equal, the difference of each unit is as likely with the one sign as with the other.


_ENUMERATED = 16
"""With this many units that differ, all assignments of signs are looked at one by one."""


_GRID = 1 << 15
"""This many steps the sum of all changes has at most."""


_MANY = 1 << 11
"""Of more units such steps are too coarse for values on no grid, and the normal limit is near enough."""


_WHOLE = 1e-6
"""So near to a whole number of steps is one."""


_NOTHING = 1e-12
"""Relative to the greatest: a difference that is smaller comes from rounding."""

DRAWS = 10_000


_SIGNS_AT_ONCE = 4 * _AT_ONCE


def sign_flip_p(sums: Sequence[float]) -> float:
    """Two-sided p of the sign-flip test of these differences.

    Formula: p = min(1, 2·P(X <= m)), where X is the sum of those |d| that a fair coin picks and m the smaller of what
    rose and what fell in sum: |T*| >= |T| for the sum T of all d, as T* = sum|d| - 2X. Where all |d| that are not 0 are
    alike it is McNemar's exact test. Up to 16 of them, all sums X are enumerated. Of more, X is counted in steps:
    exactly where all |d| are multiples of a step of which the sum of |d| has no more than 32768; else |d| is rounded to
    such steps, which leaves a test that is exact where the two are equal, of nearly the same statistic. Beyond 2048
    that are multiples of none, p is that of the normal limit, T / sqrt(sum of d²).

    Args:
        sums: The difference of each unit: of a question, or the sum over a cluster.

    Returns:
        In (0, 1]; 1 where nothing differs.
    """
    import numpy as np  # noqa: PLC0415 - only who compares pays for the import

    found = np.array(sums, dtype=float)
    found = found[np.abs(found) > _NOTHING * np.abs(found).max(initial=0.0)]
    if not len(found):
        return 1.0
    sizes = np.sort(np.abs(found))
    if sizes[-1] - sizes[0] <= _NOTHING * sizes[-1]:
        return max(mcnemar_p(int((found < 0).sum()), int((found > 0).sum())), float_info.min)
    flipped, share = _flips(found, sizes)
    smaller = min(flipped[flipped > 0].sum(), -flipped[flipped < 0].sum())
    return min(1.0, max(2 * float(share(np.array([smaller]))[0]), float_info.min))


def drawn_p(columns: Sequence[Mapping[str, float]], draws: int = DRAWS, *, seed: int = _SEED) -> "Sizes":
    """The sign-flip p of several metrics under the same draws of signs: a row a draw, a column a metric.

    Each unit has one sign for all metrics, as the two runs are swapped in all that was measured of it. A unit of which
    a metric has no value adds nothing to the sum of that metric.

    Args:
        columns: The difference of each unit, of which some are not 0, by the name of the unit.
        draws: How many.
        seed: The same seed gives the same draws.
    """
    import numpy as np  # noqa: PLC0415

    rows = {unit: row for row, unit in enumerate(dict.fromkeys(unit for column in columns for unit in column))}
    table = np.zeros((len(rows), len(columns)))
    shares = []
    for place, column in enumerate(columns):
        found = np.array(list(column.values()), dtype=float)
        found[np.abs(found) <= _NOTHING * np.abs(found).max()] = 0.0
        own = [rows[unit] for unit, there in zip(column, found != 0, strict=True) if there]
        table[own, place], share = _flips(found[found != 0], np.sort(np.abs(found[found != 0])))
        shares.append(share)
    rng, batch, totals = np.random.default_rng(seed), max(1, _SIGNS_AT_ONCE // max(1, len(rows))), []
    for start in range(0, draws, batch):
        signs = 2.0 * rng.integers(0, 2, (min(batch, draws - start), len(rows)), dtype=np.int8) - 1
        totals.append(signs @ table)
    smaller = (np.abs(table).sum(axis=0) - np.abs(np.concatenate(totals))) / 2
    return np.minimum(1.0, 2 * np.column_stack([share(smaller[:, place]) for place, share in enumerate(shares)]))


def _flips(found: "Sizes", sizes: "Sizes") -> "tuple[Sizes, Callable[[Sizes], Sizes]]":
    """The differences as they are added up, and what gives P(X <= m) of several m, by the way their number allows."""
    import numpy as np  # noqa: PLC0415

    if len(found) <= _ENUMERATED:
        return found, partial(_enumerated, sizes)
    step = _step(sizes)
    if step is None and len(found) > _MANY:
        return found, partial(_normal, sizes)
    steps = np.rint(found / (step or sizes.sum() / _GRID))
    return steps, partial(_counted, np.sort(np.abs(steps)).astype(np.int64))


def _normal(sizes: "Sizes", most: "Sizes") -> "Sizes":
    """The limit of these shares for many sizes."""
    import numpy as np  # noqa: PLC0415

    reach = (sizes.sum() - 2 * most) / sqrt(2 * (sizes * sizes).sum())
    return np.array([erfc(each) / 2 for each in reach])


def _enumerated(sizes: "Sizes", most: "Sizes") -> "Sizes":
    """For each of these, the share of all subsets whose sum is at most that."""
    import numpy as np  # noqa: PLC0415

    subsets = np.zeros(1)
    for size in sizes:
        subsets = np.concatenate([subsets, subsets + size])
    found: Sizes = np.searchsorted(np.sort(subsets), most + 1e-9 * sizes.sum(), side="right") / len(subsets)
    return found


def _step(sizes: "Sizes") -> float | None:
    """The greatest step of which all sizes are multiples; None where their sum would have more than 32768 of them."""
    import numpy as np  # noqa: PLC0415

    least = sizes[0]
    parts = np.arange(1, int(_GRID * least / sizes.sum()) + 1)
    for size in np.unique(sizes):
        counts = size / least * parts
        parts = parts[np.abs(counts - np.rint(counts)) <= _WHOLE]
    return float(least / parts[0]) if len(parts) else None


def _counted(steps: "Steps", sums: "Sizes") -> "Sizes":
    """For each of these, the share of all subsets whose sum is at most that, of whole numbers in ascending order."""
    import numpy as np  # noqa: PLC0415

    wanted = np.rint(sums).astype(np.int64)
    most = int(wanted.max())
    shares = np.zeros(most + 1)
    shares[0] = 1.0
    reached = 0
    for step in map(int, steps[steps > 0]):
        end = min(most, reached + step) + 1
        shares[:end] *= 0.5
        if step <= most:
            shares[step:end] += shares[: end - step].copy()
        reached = min(most, reached + step)
    found: Sizes = shares.cumsum()[wanted]
    return found


TOGETHER_IN_PAIRS = 0.25
"""As in the intervals of means; less is assumed, as most questions do not change."""


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
    grouped, mean, level = group(differences, clusters), fmean(differences), 1 - confidence
    p, test, values = sign_flip_p(grouped.sums), "sign-flip", [*first, *last]
    if low is None or high is None or not within(values, low, high):
        found = unbounded(differences, grouped, None, confidence)
    elif grouped.plain and {low, high}.issuperset(values):
        found, test = _binary(differences, grouped, high - low, confidence), "exact McNemar"
    else:
        found = bounded_difference(mean, grouped, high - low, confidence)[0]
    agreed = found.interval and agree(found.interval, mean, p, level)
    return Difference(mean, replace(found, interval=agreed), p, test, found.interval if p < level else agreed)


def _binary(differences: Sequence[float], grouped: Grouped, span: float, confidence: float) -> IntervalEstimate:
    """Tango's interval, times the range."""
    fallen, risen = sum(d < 0 for d in differences), sum(d > 0 for d in differences)
    low, high = tango(fallen, risen, grouped.n, confidence)
    return IntervalEstimate((span * low, span * high), "Tango", grouped.n, grouped.clusters)


def bounded_difference(
    mean: float, grouped: Grouped, span: float, confidence: float, method: str = "t with two pseudo-values"
) -> tuple[IntervalEstimate, float]:
    """Student's t over differences, with one of the greatest loss and one of the greatest gain, and the p of it.

    Args:
        mean: Of the differences.
        grouped: They by units.
        span: From the metric's least to its greatest value.
        confidence: Of the interval.
        method: What the interval says of itself.
    """
    error = bounded_error(grouped, -span, span, 1.0, TOGETHER_IN_PAIRS)
    centre, spread, df = error
    return bounded_t(mean, error, (-span, span), grouped, confidence, method), two_sided_p(centre / spread, df)


def agree(interval: Interval, difference: float, p: float, level: float) -> Interval:
    """An interval of a difference that leaves out 0 exactly where p is below the level.

    Where p is not, it is stretched to 0. Where p is, but the interval reaches to 0 or beyond, it ends before 0: at the
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

    return farthest(holds, observed, -1.0), farthest(holds, observed, 1.0)


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
