"""Resampling, for statistics that have no simple formula.

By numpy alone: scipy, whose `bootstrap` it would be, takes more than 100 MB.
"""

from collections.abc import Sequence
from math import ceil

from evals.stats.intervals import Interval, percentile_interval

RESAMPLES = 2000
_SEED = 20260115
_AT_ONCE = 200_000
"""Values drawn in one step: large runs need no more memory than small ones."""


def paired_percentile_difference(
    first: Sequence[float], second: Sequence[float], q: float, confidence: float = 0.95
) -> tuple[Interval, float] | None:
    """Interval and two-sided p of the difference between two percentiles of paired values, second minus first.

    Pairs are drawn with replacement, 2000 times with a fixed seed, and the percentile (nearest rank) of either side is
    taken anew: the interval is that of the ordered differences, and p is twice the smaller share of differences on
    one side of 0, counting one more than was seen (Efron & Tibshirani 1993, sections 13.3 and 15.4).

    Args:
        first: A value a pair.
        second: As many values, in the same order.
        q: In (0, 100].
        confidence: Of the interval.

    Returns:
        None where the percentile itself has no interval: there are too few pairs, or q is 100.
    """
    if percentile_interval(first, q, confidence) is None:
        return None
    import numpy as np  # noqa: PLC0415 - only who compares percentiles pays for the import

    n = len(first)
    place = max(1, ceil(q * n / 100)) - 1
    pairs = np.array([first, second], dtype=float)
    rng = np.random.default_rng(_SEED)
    batch = max(1, _AT_ONCE // n)
    differences: list[float] = []
    while len(differences) < RESAMPLES:
        drawn = rng.integers(0, n, (min(batch, RESAMPLES - len(differences)), n))
        before, after = np.partition(pairs[:, drawn], place, axis=2)[:, :, place]
        differences.extend((after - before).tolist())
    differences.sort()
    tail = int((1 - confidence) / 2 * RESAMPLES)
    below, above = sum(d <= 0 for d in differences), sum(d >= 0 for d in differences)
    p = min(1.0, 2 * (1 + min(below, above)) / (RESAMPLES + 1))
    return (differences[tail], differences[RESAMPLES - 1 - tail]), p
