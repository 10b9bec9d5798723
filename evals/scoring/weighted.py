"""From the scorecard to one number: the weighted mean of objectives."""

from collections.abc import Iterable, Mapping
from statistics import fmean

from evals.errors import ConfigError
from evals.metrics.base import Aggregation
from evals.metrics.registry import known_metric, parse_metric
from evals.schemas import (
    MetricSummary,
    Scorecard,
    WeightedScore,
)
from evals.scoring.config import ScoringConfig


def make_weighted_score(scorecard: Scorecard, config: ScoringConfig, *, answered: int = 1) -> WeightedScore:
    """Weigh the objectives that something feeds; the others are left out and named.

    score = sum of weight × objective / sum of the weights present. A run without a single answer has no score.

    Args:
        scorecard: All metrics of the run. Each counts on the scale from 0 to 1 of its own range.
        config: Weights, feeds and thresholds.
        answered: How many questions were answered.
    """
    if not answered:
        return WeightedScore(score=None, left_out=dict.fromkeys(config.weights, "no question was answered"))
    objectives: dict[str, float] = {}
    fed_by: dict[str, list[str]] = {}
    left_out: dict[str, str] = {}
    for name, weight in config.weights.items():
        parts = _parts(scorecard, config.feeds[name], config.thresholds) if weight else {}
        if not weight:
            left_out[name] = "its weight is 0"
        elif parts:
            objectives[name] = fmean(parts.values())
            fed_by[name] = list(parts)
        else:
            left_out[name] = "no value of " + ", ".join(config.feeds[name])
    weights = {name: config.weights[name] for name in objectives}
    total = sum(weights.values())
    score = sum(weights[name] * objectives[name] for name in objectives) / total if total else None
    return WeightedScore(score=score, objectives=objectives, weights=weights, fed_by=fed_by, left_out=left_out)


def _parts(scorecard: Scorecard, names: Iterable[str], thresholds: Mapping[str, float]) -> dict[str, float]:
    """What each metric contributes to an objective, on a scale of 0 to 1 where 1 is good."""
    parts = {}
    for name in names:
        summary = scorecard.find(name)
        if summary is None or summary.value is None:
            continue
        if summary.unit in thresholds:
            parts[name] = min(1.0, max(0.0, 1 - summary.value / thresholds[summary.unit]))
        else:
            share = _share(summary)
            parts[name] = share if summary.higher_is_better is not False else 1 - share
    return parts


def _share(summary: MetricSummary) -> float:
    """Where in the metric's range the value lies, from 0 to 1; a sum is that of as many questions as it was made of."""
    metric = known_metric(summary.name)
    value = summary.value or 0.0
    if metric is None or metric.low is None or metric.high is None:
        return value
    if metric.aggregation is Aggregation.SUM:
        value /= summary.sample_size
    return (value - metric.low) / (metric.high - metric.low)


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
