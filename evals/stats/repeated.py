"""Several values of each question: how much of their variance lies within questions, and how often all of them pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, fsum
from statistics import fmean

_ROUNDING = 1e-24
"""Relative to the values squared, and to all variance: one that is smaller comes from rounding."""


@dataclass(frozen=True, slots=True)
class Components:
    """The variance of values by where it comes from.

    Attributes:
        within: Between the values of one question.
        between: Between the means that questions would have after endless repeats; an estimate below 0 counts as 0.
            None of one question alone.
    """

    within: float
    between: float | None

    @property
    def reliability(self) -> float | None:
        """The intraclass correlation of a single value, ICC(1); None where nothing varies, or of one question."""
        if self.between is None:
            return None
        total = self.within + self.between
        return self.between / total if total > 0 else None


def components(groups: Sequence[Sequence[float]]) -> Components | None:
    """The components of variance of a one-way layout with random effects.

    Formula, with Q questions of m_q values, N in all: within is MSW = sum of (x - mean_q)² / (N - Q); between is
    (MSB - MSW) / m0, where MSB = sum of m_q·(mean_q - mean)² / (Q - 1) and m0 = (N - sum of m_q² / N) / (Q - 1)
    (Searle, Casella & McCulloch 1992; Shrout & Fleiss 1979).

    Args:
        groups: The values of each question.

    Returns:
        None where no question has two values.
    """
    count, n = len(groups), sum(map(len, groups))
    if n == count:
        return None
    means = [fmean(values) for values in groups]
    grand = fsum(map(fsum, groups)) / n
    within = fsum((x - mean) ** 2 for values, mean in zip(groups, means, strict=True) for x in values) / (n - count)
    spread = fsum(len(values) * (mean - grand) ** 2 for values, mean in zip(groups, means, strict=True))
    size = fsum(fsum(x * x for x in values) for values in groups)
    spread = _unless_rounding(spread, size)
    within = _unless_rounding(within, max(size, within + spread))
    if count == 1:
        return Components(within, None)
    typical = (n - sum(len(values) ** 2 for values in groups) / n) / (count - 1)
    return Components(within, max(0.0, (spread / (count - 1) - within) / typical))


def _unless_rounding(variance: float, size: float) -> float:
    return variance if variance > _ROUNDING * size else 0.0


def pass_all(passed: int, tried: int, k: int) -> float:
    """The chance that k answers of a question all pass, pass^k; unbiased.

    Formula: C(c, k) / C(n, k), for c that pass of n: the share of all draws of k among them (Yao et al. 2024).

    Args:
        passed: How many answers passed, c.
        tried: How many there are, n.
        k: At most as many.

    Raises:
        ValueError: k is not from 1 to `tried`, or more passed than were tried.
    """
    if not 1 <= k <= tried or not 0 <= passed <= tried:
        raise ValueError(f"nothing can be drawn: n = {tried}, c = {passed}, k = {k}")
    return comb(passed, k) / comb(tried, k)
