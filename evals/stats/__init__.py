"""Statistics: intervals, tests of paired differences, resampling."""

from evals.stats.intervals import (
    Interval,
    benjamini_hochberg,
    mcnemar_p,
    paired_t_p,
    percentile,
    percentile_interval,
    t_interval,
    t_quantile,
    wilson,
)

__all__ = [
    "Interval",
    "benjamini_hochberg",
    "mcnemar_p",
    "paired_t_p",
    "percentile",
    "percentile_interval",
    "t_interval",
    "t_quantile",
    "wilson",
]
