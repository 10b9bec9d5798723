"""How far one order of items follows another. Ties are counted as the definitions say, in floats of the same value."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from math import fsum, sqrt

Numbers = Sequence[float]


def auroc(positives: Numbers, negatives: Numbers) -> float | None:
    """The chance that a positive scores above a negative, ties counted half; None without one of either.

    Formula: Mann & Whitney's U / (positives x negatives), the area under the ROC curve (Hanley & McNeil 1982).
    """
    if not positives or not negatives:
        return None
    return fsum(placements(positives, negatives)) / len(positives)


def placements(values: Numbers, others: Numbers) -> list[float]:
    """For each value the share of the others, of which there is at least one, that it is above; ties count half."""
    ordered = sorted(others)
    twice = 2 * len(ordered)
    return [(bisect_left(ordered, value) + bisect_right(ordered, value)) / twice for value in values]


def pearson(first: Numbers, second: Numbers) -> float | None:
    """Pearson's correlation, -1 to 1; None where one of both does not vary."""
    n = len(first)
    if n < 2 or min(map(_spread, (first, second))) == 0:
        return None
    mean, other_mean = fsum(first) / n, fsum(second) / n
    one = [value - mean for value in first]
    other = [value - other_mean for value in second]
    scale = sqrt(fsum(value * value for value in one)) * sqrt(fsum(value * value for value in other))
    if scale == 0:
        return None
    return max(-1.0, min(1.0, fsum(a * b for a, b in zip(one, other, strict=True)) / scale))


def spearman(first: Numbers, second: Numbers) -> float | None:
    """Spearman's rank correlation: Pearson's of the ranks, tied values sharing the mean of theirs."""
    return pearson(ranks(first), ranks(second))


def ranks(values: Numbers) -> list[float]:
    """The ranks from 1 on; tied values share the mean of theirs."""
    ordered = sorted(values)
    return [(bisect_left(ordered, value) + bisect_right(ordered, value) + 1) / 2 for value in values]


def kendall(first: Numbers, second: Numbers) -> float | None:
    """Kendall's tau-b, -1 to 1: pairs in the same order less pairs in the other, with regard to ties.

    Formula: (P - Q) / sqrt((n0 - ties of first) (n0 - ties of second)), n0 all pairs (Kendall 1945). Pairs in the
    other order are counted by inserting into a sorted list. None where one of both does not vary.
    """
    pairs = sorted(zip(first, second, strict=True))
    every, tied, other_tied = _pairs(len(pairs)), _tied(first), _tied(second)
    if every in (tied, other_tied):
        return None
    discordant, seen = 0, list[float]()
    for place, (_, value) in enumerate(pairs):
        at = bisect_right(seen, value)
        discordant += place - at
        seen.insert(at, value)
    concordant = every - tied - other_tied + _tied(pairs) - discordant
    return (concordant - discordant) / sqrt((every - tied) * (every - other_tied))


def _pairs(n: int) -> int:
    return n * (n - 1) // 2


def _tied(values: Sequence[object]) -> int:
    return sum(map(_pairs, Counter(values).values()))


def _spread(values: Numbers) -> float:
    return max(values) - min(values)
