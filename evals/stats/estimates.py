"""What an interval says of itself: how it was made, of how many values, and what there is to mind."""

from dataclasses import dataclass
from enum import StrEnum

from evals.stats.intervals import Interval


class Mark(StrEnum):
    """What a reader of an interval must mind."""

    FEW_CLUSTERS = "few clusters"
    """It holds for the clusters asked about, and says nothing of others like them."""
    SKEWED = "rough (skewed)"
    """A few great values decide it: it holds the true mean less often than it says."""
    FEW_VALUES = "rough (few values)"
    """There are too few values to see whether a few great ones are missing."""
    ALIKE = "all values are the same"
    """Their spread is not known, and no range bounds it: there is no interval."""
    OUT_OF_RANGE = "values outside the metric's range"
    """The range that the metric declares was not used."""
    WEIGHTED = "values that stand for different numbers of lost ones"
    """There is no interval of a percentile of them."""
    TOO_FEW = "too few values"
    """There is no interval."""


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """An interval with what it is made of.

    Attributes:
        interval: Its ends; None where there is none, and a mark says why.
        method: How it was made.
        n: The number of values.
        clusters: The number of their labels; n where each stands for itself.
        marks: What to mind.
    """

    interval: Interval | None
    method: str
    n: int
    clusters: int
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two means of paired values.

    Attributes:
        difference: Last minus first.
        estimate: Its interval.
        p: Two-sided, that there is no difference; below 1 - confidence exactly where the interval leaves 0 out.
        test: What p comes from.
        bounds: The interval, not cut at 0 where p says on which side the difference lies. A test of no difference at
            all says little of how great a loss may have gone unseen: whoever asks that asks these. None where there is
            none.
    """

    difference: float
    estimate: IntervalEstimate
    p: float
    test: str
    bounds: Interval | None
