"""The weighted score: the weighted mean of the objectives that have a value.

    score = Σ weight · objective / Σ weights present;  objective = mean of its metrics, each on a scale from 0 to 1

An objective without a value is left out and named; with less than half of the weight measured there is no score.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from math import ceil, fsum
from statistics import fmean

import numpy as np

from evals.errors import ConfigError
from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.registry import known_metric, parse_metric
from evals.schemas.results import MetricSummary, Scorecard, WeightedScore
from evals.scoring.config import NOT_ANSWERED, ScoringConfig, too_little
from evals.scoring.results import Results
from evals.scoring.scorecard import Rows, described, scored_values, value_over
from evals.scoring.settings import ScoreSettings
from evals.scoring.stats import Estimate, Groups, Vector, jackknife
from evals.scoring.strata import Strata


def check_feeds(config: ScoringConfig) -> None:
    """Check that every metric of an objective exists and can be brought to the scale from 0 to 1.

    Raises:
        UnknownNameError: A metric does not exist.
        ConfigError: One has no range, and there is no threshold for its unit.
    """
    for objective, names in config.feeds.items():
        for name in names:
            metric = parse_metric(name)
            if metric.unit not in config.thresholds and (metric.low is None or metric.high is None):
                raise ConfigError(
                    f"{name} cannot feed {objective!r}: it has no range, and its unit ({metric.unit}) no threshold",
                    "use metrics with a range, or such as are in dollars or milliseconds",
                )


def on_scale(metric: BaseMetric | MetricSummary, value: float, thresholds: Mapping[str, float]) -> float:
    """A value on the scale from 0 (worst) to 1 (best): by its range, or 1 - value / threshold of its unit.

    Of a summary whose metric is not installed here, the range is taken to be 0 to 1.
    """
    if metric.unit in thresholds:
        share = 1 - value / thresholds[metric.unit]
    else:
        known = metric if isinstance(metric, BaseMetric) else known_metric(metric.name)
        low, high = (known.low or 0.0, 1.0 if known.high is None else known.high) if known else (0.0, 1.0)
        share = (value - low) / (high - low)
        share = 1 - share if metric.higher_is_better is False else share
    return max(0.0, min(1.0, share))


def make_weighted_score(scorecard: Scorecard, config: ScoringConfig, *, answered: int = 1) -> WeightedScore:
    """The score of a scorecard, without its interval.

    Args:
        scorecard: All metrics of the run.
        config: Weights, feeds and thresholds.
        answered: How many questions were answered; a run without an answer has no score.
    """
    if not answered:
        return no_score(config, NOT_ANSWERED)
    fed = {
        name: [
            summary for feed in config.feeds[name] if (summary := scorecard.find(feed)) and summary.value is not None
        ]
        for name, weight in config.weights.items()
        if weight
    }
    fed = {name: summaries for name, summaries in fed.items() if summaries}
    weights = {name: config.weights[name] for name in fed}
    coverage = fsum(weights.values()) / fsum(config.weights.values())
    reason = too_little(coverage, weights) if fed else "none of its metrics has a value"
    values = {name: fmean(_scaled(one, one.value, config) for one in summaries) for name, summaries in fed.items()}
    bounds = None
    if reason is None and any(one.bounds for summaries in fed.values() for one in summaries):
        worst, best = (_mean(_at_bound(fed, config, end), weights) for end in (0, 1))
        bounds = worst, best
    return WeightedScore(
        score=_mean(values, weights) if reason is None else None,
        reason=reason,
        coverage=min(1.0, coverage),
        bounds=bounds,
        objectives=values,
        weights=weights,
        fed_by={name: [one.name for one in summaries] for name, summaries in fed.items()},
        left_out={name: _why_left_out(name, config) for name in config.weights if name not in fed},
        left_out_metrics={
            name: {feed: _why_no_value(scorecard, feed) for feed in config.feeds[name] if feed not in names}
            for name, names in ((name, {one.name for one in summaries}) for name, summaries in fed.items())
            if set(config.feeds[name]) - names
        },
    )


def no_score(config: ScoringConfig, reason: str) -> WeightedScore:
    """The score of a run that measured nothing that has a weight."""
    return WeightedScore(score=None, reason=reason, coverage=0.0, left_out=dict.fromkeys(config.weights, reason))


def _scaled(summary: MetricSummary, value: float | None, config: ScoringConfig) -> float:
    """A value of the run on the scale; of a count, its share of the questions."""
    known, value = known_metric(summary.name), value or 0.0
    if known is not None and known.aggregation is Aggregation.SUM:
        value /= summary.whole or max(1, summary.sample_size)
    return on_scale(summary, value, config.thresholds)


def _mean(objectives: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return fsum(weights[name] * value for name, value in objectives.items()) / fsum(weights.values())


def _at_bound(fed: Mapping[str, Sequence[MetricSummary]], config: ScoringConfig, end: int) -> dict[str, float]:
    return {
        name: fmean(_scaled(one, one.bounds[end] if one.bounds else one.value, config) for one in summaries)
        for name, summaries in fed.items()
    }


def _why_left_out(name: str, config: ScoringConfig) -> str:
    return "no value of " + ", ".join(config.feeds[name]) if config.weights[name] else "its weight is 0"


def _why_no_value(scorecard: Scorecard, name: str) -> str:
    summary = scorecard.find(name)
    return "not measured" if summary is None else summary.reason or "no value"


# The interval of the score: the score without each question in turn.


def with_interval(
    weighted: WeightedScore,
    results: Results,
    settings: ScoreSettings,
    thresholds: Mapping[str, float],
    sample: Strata | None = None,
) -> WeightedScore:
    """The score with its interval (jackknife over questions, or their groups); without a score, the same.

    Args:
        weighted: The score, with the metrics of each objective.
        results: Of the run.
        settings: Confidence, and what a question without an answer counts as.
        thresholds: Of the score, by unit.
        sample: As of `make_scorecard`.
    """
    sample = sample or results.sample
    if weighted.score is None:
        return weighted
    if sample is not None:
        over = _interval_of_sample(weighted, results, settings, thresholds, sample)
        return weighted.model_copy(update={"ci": over.interval, "interval": described(over)})
    numbers = results.group_numbers()
    groups = np.arange(len(results.ids)) if numbers is None else np.unique(numbers, return_inverse=True)[1]
    every = np.arange(len(results.ids))
    scores, touched = scores_without_each(
        weighted, results, settings, thresholds, every, groups, grouped=numbers is not None
    )
    scores = scores[touched]
    found = jackknife(weighted.score, scores, settings.confidence) if len(scores) and np.ptp(scores) > 0 else None
    return weighted.model_copy(update={"ci": found.interval if found else None, "interval": described(found)})


def _interval_of_sample(
    weighted: WeightedScore,
    results: Results,
    settings: ScoreSettings,
    thresholds: Mapping[str, float],
    sample: Strata,
) -> Estimate:
    """The interval of the score of a whole; percentiles are held as they are."""
    scores, whole = np.zeros(len(results.ids)), fsum(weighted.weights.values())
    for objective, names in weighted.fed_by.items():
        for name in names:
            metric = parse_metric(name)
            values, rows = scored_values(metric, results.columns[name], worst_on_error=settings.worst_on_error)
            if metric.aggregation is not Aggregation.PERCENTILE:
                scale = np.vectorize(partial(on_scale, metric, thresholds=thresholds), otypes=[float])
                share = weighted.weights[objective] / whole / len(names)
                scores += share * scale(sample.means_without_each(values, rows))
    return sample.jackknife_interval(weighted.score or 0.0, scores, settings.confidence)


def scores_without_each(
    weighted: WeightedScore,
    results: Results,
    settings: ScoreSettings,
    thresholds: Mapping[str, float],
    rows: Rows,
    groups: Groups,
    *,
    grouped: bool,
) -> tuple[Vector, Rows]:
    """The score without each question, or group of questions, in turn, and which of these have any value.

    Args:
        weighted: Weights and metrics of the objectives.
        results: Of the run.
        settings: What a question without an answer counts as.
        thresholds: Of the score, by unit.
        rows: The questions that are looked at.
        groups: The number of the group of each of them, from 0.
        grouped: Whether a group may be several questions.
    """
    count = int(groups.max()) + 1 if len(groups) else 0
    scores, touched = np.zeros(count), np.zeros(count, dtype=bool)
    whole = fsum(weighted.weights.values())
    for objective, names in weighted.fed_by.items():
        share = weighted.weights[objective] / whole / len(names)
        for name in names:
            metric, column = parse_metric(name), results.columns[name]
            values, places = scored_values(metric, column, worst_on_error=settings.worst_on_error, rows=rows)
            if not len(values):
                continue
            touched[groups[places]] = True
            scale = np.vectorize(partial(on_scale, metric, thresholds=thresholds), otypes=[float])
            scores += share * scale(_values_without_each(metric, values, groups[places], count, grouped=grouped))
    return scores, touched


def score_over(
    weighted: WeightedScore, results: Results, settings: ScoreSettings, thresholds: Mapping[str, float], rows: Rows
) -> float:
    """The score over some questions, by the weights and metrics of another one."""
    total, whole = 0.0, fsum(weighted.weights.values())
    for objective, names in weighted.fed_by.items():
        for name in names:
            metric = parse_metric(name)
            values, _ = scored_values(metric, results.columns[name], worst_on_error=settings.worst_on_error, rows=rows)
            if (value := value_over(metric, values)) is not None:
                value /= len(values) if metric.aggregation is Aggregation.SUM else 1
                share = weighted.weights[objective] / whole / len(names)
                total += share * on_scale(metric, value, thresholds)
    return total


def _values_without_each(metric: BaseMetric, values: Vector, groups: Groups, count: int, *, grouped: bool) -> Vector:
    """The value of a metric without each group; a percentile of grouped questions is held as it is."""
    if metric.aggregation is not Aggregation.PERCENTILE:
        sums, sizes = np.bincount(groups, values, count), np.bincount(groups, minlength=count)
        left = len(values) - sizes
        total = values.sum()
        without: Vector = np.where(left > 0, (total - sums) / np.maximum(left, 1), total / len(values))
        return without
    share, ordered = (metric.percentile or 50.0) / 100, np.sort(values)
    place = max(1, ceil(share * len(values) - 1e-9)) - 1
    found = np.full(count, ordered[place])
    if not grouped and len(values) > 1:
        place = max(1, ceil(share * (len(values) - 1) - 1e-9)) - 1
        found[groups] = np.where(values > ordered[place], ordered[place], ordered[place + 1])
    return found
