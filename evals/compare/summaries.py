"""One metric over questions that all have a value of it."""

from collections.abc import Sequence
from math import inf

from evals.metrics.base import BaseMetric
from evals.schemas import MetricCounts, MetricSummary
from evals.scoring.digest.columns import Results
from evals.scoring.intervals import metric_interval, too_small
from evals.scoring.scorecard import summarise
from evals.scoring.settings import ScoreSettings
from evals.scoring.strata import Sample, value_of


def summarise_values(
    metric: BaseMetric, results: Results, settings: ScoreSettings, clusters: Sequence[str]
) -> MetricSummary:
    """What `summarise` says of results that all have a value, without the rules and labels behind them.

    Args:
        metric: The metric.
        results: One a question, each with a value.
        settings: Confidence, and by what questions are clustered.
        clusters: The label of each question's cluster, in the same order.
    """
    if type(metric).one_sided is not BaseMetric.one_sided:
        return summarise(metric, results, settings, clusters)
    sample = Sample(list(results.values), list(clusters))
    value, late = value_of(metric, sample), too_small(metric, results)
    ci, interval = metric_interval(metric, sample, settings, late)
    return MetricSummary(
        name=metric.name,
        value=value,
        group=metric.group,
        sample_size=len(results),
        counts=MetricCounts(scored=len(results)),
        ci=ci,
        interval=interval,
        at_least=value is not None and min(late, default=inf) <= value,
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
    )
