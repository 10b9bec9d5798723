"""Statistics: intervals, tests of paired differences, resampling.

    estimate = mean_interval(values, clusters, low=0, high=1)            # of one run
    change = paired_difference(first, last, clusters, low=0, high=1)     # between two runs over the same questions

Clusters are labels, one a value; docs/statistics.md says how they are chosen, and what was found about the methods.
"""

from evals.scoring.stats.differences import DRAWS, agree, drawn_p, paired_difference, sign_flip_p, tango
from evals.scoring.stats.intervals import (
    Difference,
    Interval,
    IntervalEstimate,
    Mark,
    mcnemar_p,
    percentile,
    percentile_interval,
    t_quantile,
    wilson,
)
from evals.scoring.stats.means import mean_interval, percentile_estimate
from evals.scoring.stats.missing import Observation, Weighted, weigh, weighted_difference, weighted_interval

__all__ = [
    "DRAWS",
    "Difference",
    "Interval",
    "IntervalEstimate",
    "Mark",
    "Observation",
    "Weighted",
    "agree",
    "drawn_p",
    "mcnemar_p",
    "mean_interval",
    "paired_difference",
    "percentile",
    "percentile_estimate",
    "percentile_interval",
    "sign_flip_p",
    "t_quantile",
    "tango",
    "weigh",
    "weighted_difference",
    "weighted_interval",
    "wilson",
]
