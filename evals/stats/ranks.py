"""Whether the values of one sample tend to be greater than those of another."""

from collections import Counter
from collections.abc import Sequence
from math import erfc, sqrt


def mann_whitney_p(first: Sequence[float], second: Sequence[float]) -> float:
    """Two-sided p of the test that neither sample tends to be greater (Mann & Whitney 1947).

    Formula: z = (|U - m·n/2| - 1/2) / sd by the normal approximation with the continuity correction, sd² =
    m·n/12 · (N + 1 - Σ(t³ - t)/(N(N - 1))) over the sizes t of ties, N = m + n. U counts the pairs in which the first
    is greater, ties by half.

    Args:
        first: m values, in any order.
        second: n values.

    Returns:
        1 where a sample is empty or all values are the same.
    """
    m, n = len(first), len(second)
    counts = Counter([*first, *second])
    whole, ties = m + n, sum(size**3 - size for size in counts.values())
    if not m or not n or len(counts) == 1:
        return 1.0
    spread = sqrt(m * n / 12 * (whole + 1 - ties / (whole * (whole - 1))))
    excess = abs(_wins(first, second) - m * n / 2) - 0.5
    return min(1.0, erfc(max(0.0, excess) / spread / sqrt(2)))


def _wins(first: Sequence[float], second: Sequence[float]) -> float:
    """In how many pairs the first is greater, ties by half."""
    theirs, below, wins = Counter(second), 0, 0.0
    own = Counter(first)
    for value in sorted({*own, *theirs}):
        wins += own[value] * (below + theirs[value] / 2)
        below += theirs[value]
    return wins
