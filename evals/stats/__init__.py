"""Statistics: intervals, tests of paired differences, resampling.

    estimate = mean_interval(values, clusters, low=0, high=1)            # of one run
    change = paired_difference(first, last, clusters, low=0, high=1)     # between two runs over the same questions

Clusters are labels, one a value; docs/statistics.md says how they are chosen, and what was found about the methods.
"""

from evals.stats.differences import agree, paired_difference, tango
from evals.stats.distributions import t_quantile
from evals.stats.estimates import Difference, IntervalEstimate, Mark
from evals.stats.intervals import (
    Interval,
    mcnemar_p,
    percentile,
    percentile_interval,
    wilson,
)
from evals.stats.lost import Observation, Weighted, weigh, weighted_difference, weighted_interval
from evals.stats.means import mean_interval
from evals.stats.percentiles import percentile_estimate
from evals.stats.sign_flip import DRAWS, drawn_p, sign_flip_p

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
