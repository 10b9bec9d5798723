"""How small a difference a comparison could have shown, and how many questions a smaller one takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from statistics import NormalDist, fmean, stdev

from evals.stats.clusters import group, standard_error
from evals.stats.differences import bounded_error
from evals.stats.distributions import t_quantile

POWER = 0.8
"""The chance with which a difference shall be found."""
SOUGHT = 0.05
"""The difference that users ask about, as a share of a metric's range."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What a comparison of n questions can show.

    Attributes:
        smallest: The smallest difference found in four of five comparisons like this one.
        needed: How many questions it takes to find one of 0.05 of the metric's range as often; None without a range.
    """

    smallest: float
    needed: int | None


def reach(
    differences: Sequence[float], clusters: Sequence[str] | None, span: float | None, level: float
) -> Reach | None:
    """What a test of the differences at a level can show with a power of 0.8.

    Formula: (t_{1-level/2} + z_0.8)·SE (Miller 2024, section 5), with the standard error of the test, so that of
    differences which are all 0 too; n grows with the square of what that exceeds the difference sought by.

    Args:
        differences: A difference a question.
        clusters: What each question belongs to; None where all are independent.
        span: From the metric's least to its greatest value; None where there is none.
        level: Of the two-sided test.

    Returns:
        None for fewer than two differences, and for such without a range that are all the same.
    """
    if len(differences) < 2:
        return None
    grouped = group(differences, clusters)
    if span is None:
        _, error, df = standard_error(grouped.sums, grouped.sizes)
    else:
        _, error, df = bounded_error(differences, grouped, span)
    if error <= 0:
        return None
    smallest = (t_quantile(1 - level / 2, df) + NormalDist().inv_cdf(POWER)) * error
    needed = None if span is None else ceil(len(differences) * (smallest / (SOUGHT * span)) ** 2)
    return Reach(smallest if span is None else min(span, smallest), needed)


def effect_size(differences: Sequence[float]) -> float | None:
    """The standardised mean difference of pairs, mean/s (Cohen's d_z); None where they do not vary."""
    if len(differences) < 2:
        return None
    spread = stdev(differences)
    return fmean(differences) / spread if spread > 1e-12 * max(map(abs, differences)) else None
