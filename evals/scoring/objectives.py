"""From metrics to objectives: which metrics feed one, and what their values are on a scale from 0 to 1."""

from collections.abc import Mapping, Sequence

from evals.errors import ConfigError
from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.registry import known_metric, parse_metric
from evals.schemas import MetricSummary, Scorecard
from evals.scoring.config import ScoringConfig

FEW, TIMES = 10, 3
"""A metric of fewer questions than the first does not feed an objective where another metric of that objective has so
many times as many: one answer of four would move it as far as twenty of eighty."""


def feeding(scorecard: Scorecard, names: Sequence[str]) -> tuple[list[MetricSummary], dict[str, str]]:
    """The metrics of these names that feed an objective, and why others that have a value do not.

    Args:
        scorecard: Of the run.
        names: As they are configured.
    """
    found = [summary for summary in map(scorecard.find, names) if summary is not None and summary.value is not None]
    most = max(found, key=lambda summary: summary.sample_size, default=None)
    left_out = {summary.name: _why_not(summary, most) for summary in found if most and _is_outnumbered(summary, most)}
    return [summary for summary in found if summary.name not in left_out], left_out


def _is_outnumbered(summary: MetricSummary, most: MetricSummary) -> bool:
    return summary.sample_size < FEW and most.sample_size >= TIMES * summary.sample_size


def _why_not(summary: MetricSummary, most: MetricSummary) -> str:
    few = f"{summary.sample_size} question{'' if summary.sample_size == 1 else 's'}"
    return f"{few}, where {most.name} has {most.sample_size}"


def on_scale(summary: MetricSummary, value: float, thresholds: Mapping[str, float]) -> float:
    """What a value of a metric contributes to an objective, from 0 to 1, where 1 is good.

    Dollars and milliseconds are 1 - value / threshold, cut to 0 … 1; the rest is where in its range the value lies. A
    sum is that of as many questions as it was made of.

    Args:
        summary: The metric.
        value: Its value, or one end of its bounds or of its interval.
        thresholds: By unit.
    """
    metric = known_metric(summary.name)
    if metric is not None and metric.aggregation is Aggregation.SUM:
        value /= _summed(summary)
    return _scaled(summary, metric, value, thresholds)


def _summed(summary: MetricSummary) -> float:
    """Of how many values a sum is: lost ones included, for which the others stand."""
    return summary.strata.size if summary.strata is not None else summary.sample_size


def scaled(metric: BaseMetric, value: float, thresholds: Mapping[str, float]) -> float:
    """What the value of one question contributes to an objective, on the same scale."""
    return _scaled(metric, metric, value, thresholds)


def _scaled(
    of: MetricSummary | BaseMetric, metric: BaseMetric | None, value: float, thresholds: Mapping[str, float]
) -> float:
    if of.unit in thresholds:
        return min(1.0, max(0.0, 1 - value / thresholds[of.unit]))
    if metric is None or metric.low is None or metric.high is None:  # a plug-in's that is not here, or has no range
        share = value
    else:
        share = (value - metric.low) / (metric.high - metric.low)
    return share if of.higher_is_better is not False else 1 - share


def check_feeds(config: ScoringConfig) -> None:
    """Check that every metric that feeds an objective exists and can be brought to the scale from 0 to 1.

    Raises:
        UnknownNameError: A metric does not exist.
        ConfigError: One has no least or no greatest value, and there is no threshold for its unit.
    """
    for objective, names in config.feeds.items():
        for name in names:
            metric = parse_metric(name)
            if metric.unit not in config.thresholds and (metric.low is None or metric.high is None):
                raise ConfigError(
                    f"{name} cannot feed {objective!r}: it has no bounds, and its unit ({metric.unit}) no threshold",
                    "feed the objective with metrics between two bounds, or such as are in dollars or milliseconds",
                )
