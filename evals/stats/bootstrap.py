"""Resampling, for statistics that have no simple formula.

By numpy alone: scipy, whose `bootstrap` it would be, takes more than 100 MB.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from evals.stats.clusters import distinct, units_of
from evals.stats.intervals import Interval, percentile_interval

if TYPE_CHECKING:
    import numpy as np

    DrawnCounts = np.ndarray[Any, np.dtype[np.uint8]]
    DrawnMeans = np.ndarray[Any, np.dtype[np.float64]]

RESAMPLES = 2000
_SEED = 20260115
_AT_ONCE = 500_000
"""Values drawn in one step: large runs need no more memory than small ones."""


def resampled_counts(
    n: int, clusters: Sequence[str] | None = None, resamples: int = RESAMPLES, *, seed: int = _SEED
) -> Iterator["DrawnCounts"]:
    """How often each of n values is in each resample, some resamples at a time: a row a resample, a column a value.

    Units are drawn with replacement, as many as there are: values, or whole clusters where there are enough of them.
    The same seed gives the same draws.

    Args:
        n: The number of values, at least one.
        clusters: What each value belongs to; None where all are independent.
        resamples: How many.
        seed: Of the draws.
    """
    import numpy as np  # noqa: PLC0415 - only who resamples pays for the import

    unit = np.array(units_of(clusters, n))
    units = int(unit[-1]) + 1 if clusters is None else int(unit.max()) + 1
    rng = np.random.default_rng(seed)
    batch = max(1, _AT_ONCE // max(n, units))
    for start in range(0, resamples, batch):
        drawn = rng.integers(0, units, (min(batch, resamples - start), units))
        counts = np.empty(drawn.shape, np.uint8)
        for row, units_drawn in enumerate(drawn):
            # A unit is drawn once on average; that it is drawn more than 255 times happens to nobody.
            counts[row] = np.minimum(np.bincount(units_drawn, minlength=units), 255)
        yield counts[:, unit]


def resampled_means(
    columns: Sequence[Sequence[float | None]],
    clusters: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    *,
    seed: int = _SEED,
) -> "DrawnMeans":
    """The means of several metrics over the same resamples of their questions: a row a resample, a column a metric.

    Args:
        columns: The values of each metric by question, in one order; None where a question has none.
        clusters: What each question belongs to; None where all are independent.
        resamples: How many.
        seed: Of the draws.

    Returns:
        NaN where a resample holds no question with a value of the metric.
    """
    import numpy as np  # noqa: PLC0415

    table = np.array(columns, dtype=float).T
    there = ~np.isnan(table)
    values, weights = np.where(there, table, 0.0), there.astype(float)
    means = []
    for counts in resampled_counts(len(table), clusters, resamples, seed=seed):
        drawn = counts.astype(float)
        with np.errstate(invalid="ignore"):
            means.append(drawn @ values / (drawn @ weights))
    return np.concatenate(means)


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
    for counts in resampled_counts(len(first), clusters):
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
