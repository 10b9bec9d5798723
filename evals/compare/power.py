"""How small a difference a comparison could have shown, and how many questions a smaller one takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, fsum, sqrt
from statistics import NormalDist, fmean, stdev

from evals.stats.clusters import group

POWER = 0.8
"""The chance with which a difference shall be found."""
SOUGHT = 0.05
"""The difference that users ask about, as a share of a metric's range."""
_QUANTILE = NormalDist().inv_cdf
_Z = _QUANTILE(POWER)


@dataclass(frozen=True, slots=True)
class Reach:
    """What a comparison of n questions can show.

    Attributes:
        smallest: The smallest difference found in four of five comparisons like this one.
        square: The square of the standard errors that it takes.
        noise: The squares of a question's changes that are no common one.
        size: Of a unit that changes.
    """

    smallest: float
    square: float
    noise: float
    size: float

    def needed(self, difference: float) -> int:
        """How many questions it takes to find a difference as often."""
        return ceil(self.square * (self.noise + self.size * difference) / difference**2)


def reach(
    differences: Sequence[float], clusters: Sequence[str] | None, span: float | None, level: float
) -> Reach | None:
    """What a sign-flip test of the differences at a level can show with a power of 0.8.

    Formula: with n questions and S the sums of the units that differ, r = sqrt(mean S²), or the range where none
    differs, and what is no common change, N = max(0, sum S² - r·|sum S|): a change of x = n·d more adds x/r units of
    size r, and is found where x = z·sqrt(N + r·x) with z = z_{1-level/2} + z_0.8 (Miller 2024, section 5, with the
    error of the test). N grows with n: a difference d takes n = z²·(N/n + r·d)/d² questions.

    Args:
        differences: A difference a question.
        clusters: What each question belongs to; None where all are independent.
        span: From the metric's least to its greatest value; None where there is none.
        level: Of the two-sided test.

    Returns:
        None for fewer than two differences, and for such without a range that are all 0.
    """
    if len(differences) < 2:
        return None
    n, sums = len(differences), [each for each in group(differences, clusters).sums if each]
    if not sums and span is None:
        return None
    squares = fsum(each * each for each in sums)
    size = sqrt(squares / len(sums)) if sums else span or 0.0
    noise, square = max(0.0, squares - size * abs(fsum(sums))), (_Z - _QUANTILE(level / 2)) ** 2
    half = square * size / 2
    smallest = (half + sqrt(half * half + square * noise)) / n
    return Reach(smallest if span is None else min(span, smallest), square, noise / n, size)


def effect_size(differences: Sequence[float]) -> float | None:
    """The standardised mean difference of pairs, mean/s (Cohen's d_z); None where they do not vary."""
    if len(differences) < 2:
        return None
    spread = stdev(differences)
    return fmean(differences) / spread if spread > 1e-12 * max(map(abs, differences)) else None
