"""Statistics: intervals, tests of paired differences, resampling.

    estimate = mean_interval(values, clusters, low=0, high=1)            # of one run
    change = paired_difference(first, last, clusters, low=0, high=1)     # between two runs over the same questions

Clusters are labels, one a value; docs/statistics.md says how they are chosen, and what was found about the methods.
"""

from evals.scoring.stats.differences import paired_difference
from evals.scoring.stats.means import mean_interval

__all__ = ["mean_interval", "paired_difference"]
