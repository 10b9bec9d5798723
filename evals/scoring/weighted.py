"""The weighted score: the weighted mean of objectives, or None if too little was measured."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import fsum, sqrt
from statistics import fmean

from evals.errors import ConfigError
from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.registry import known_metric, parse_metric
from evals.schemas.results import EvalRecord, EvalRun, MetricSummary, Scorecard, WeightedScore
from evals.scoring.config import (
    FEW,
    LEAST_COVERAGE,
    NOT_ANSWERED,
    SCORE,
    TIMES,
    ScoringConfig,
    is_earlier,
    scoring_config,
    too_little,
)
from evals.scoring.gates import Gate
from evals.scoring.run_columns import ScoreColumn, ScoreTable
from evals.scoring.scorecard import make_scorecard, sample_of, tell
from evals.scoring.settings import ScoreSettings, known_metrics, score_settings
from evals.scoring.stats.intervals import IntervalEstimate, normal_quantile, percentile, percentile_interval
from evals.scoring.stats.means import mean_interval
from evals.text.numbers import counted

# From metrics to objectives: which metrics feed one, and what their values are on a scale from 0 to 1.


def feeding(scorecard: Scorecard, names: Sequence[str]) -> tuple[list[MetricSummary], dict[str, str]]:
    """The metrics of these names that feed an objective, and why others that have a value do not.

    Args:
        scorecard: Of the run.
        names: As they are configured.
    """
    found = [summary for summary in map(scorecard.find, names) if summary is not None and summary.value is not None]
    most = max(found, key=lambda summary: summary.sample_size, default=None)
    left_out = {}
    for summary in found:
        n = summary.sample_size
        if most and n < FEW and most.sample_size >= TIMES * n:
            left_out[summary.name] = f"{counted(n, 'question')}, where {most.name} has {most.sample_size}"
    return [summary for summary in found if summary.name not in left_out], left_out


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
        value /= summary.strata.size if summary.strata is not None else summary.sample_size  # lost ones included
    share = _linear(summary, metric, value, thresholds)
    return min(1.0, max(0.0, share)) if summary.unit in thresholds else share


def _linear(
    of: MetricSummary | BaseMetric, metric: BaseMetric | None, value: float, thresholds: Mapping[str, float]
) -> float:
    """The same, not cut to 0 … 1, so that the mean over questions is that of the objective."""
    if of.unit in thresholds:
        return 1 - value / thresholds[of.unit]
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


# What each question contributes to the weighted score, and the interval that follows from it.


@dataclass(frozen=True, slots=True)
class Column:
    """The values of a metric by question, as they count in a score.

    Attributes:
        values: By question; where verdicts are lost, the mean and by how much a question moves it, lost ones too.
        mean: Of the metric.
        size: Of how many values the mean is, lost ones included.
        heaviest: For how many questions a value stands at most.
    """

    values: Mapping[str, float]
    mean: float
    size: float
    heaviest: float = 1.0

    @classmethod
    def plain(cls, values: Mapping[str, float]) -> "Column | None":
        """The column of values of which each stands for itself; None without any."""
        return cls(values, fmean(values.values()), len(values)) if values else None


@dataclass(frozen=True, slots=True)
class Influence:
    """What questions contribute to a score.

    Attributes:
        values: By question; their mean is the score.
        low: What a question would contribute that has the worst value of every metric.
        high: The same of the best values.
    """

    values: dict[str, float]
    low: float
    high: float

    def with_part(self, share: float, part: Column, low: float, high: float) -> "Influence":
        """The same with one metric more.

        Args:
            share: Of the score.
            part: Its values on the scale of the score.
            low: The least that there can be.
            high: The greatest.
        """
        scale, values = share * len(self.values) / part.size, dict(self.values)
        for key, value in part.values.items():
            values[key] += scale * (value - part.mean)
        low, high = self.low + scale * (low - part.mean), self.high + scale * (high - part.mean)
        # Rounding must not put a value outside what there can be.
        return Influence({key: min(high, max(low, value)) for key, value in values.items()}, low, high)


def column_of(metric: BaseMetric, column: ScoreColumn, settings: ScoreSettings, ids: Sequence[str]) -> Column | None:
    """The values of a metric: where it is so told, no answer is the worst value.

    Args:
        metric: The metric.
        column: Its results, a row a question.
        settings: How records were scored.
        ids: Of the questions.

    Returns:
        None without values, and for a percentile of values that stand for lost ones.
    """
    sample = sample_of(metric, column, ids, worst_on_error=settings.worst_on_error)
    weighted = sample.weighted
    if weighted is None:
        return Column.plain(dict(zip(sample.clusters, sample.values, strict=True)))
    if metric.aggregation is Aggregation.PERCENTILE:
        return None
    mean, moved = weighted.mean, zip(sample.all_clusters, weighted.residuals(), strict=True)
    return Column({key: mean + by for key, by in moved}, mean, weighted.size, weighted.heaviest)


def influence(
    weighted: WeightedScore,
    metrics: Iterable[BaseMetric],
    column: Callable[[str], Column | None],
    thresholds: Mapping[str, float],
    confidence: float,
) -> Influence | None:
    """What each question contributes to a score; None where there is no score, or nothing in it varies.

    Args:
        weighted: The score with what feeds it.
        metrics: Those that feed it.
        column: Gives the values of a metric by its name.
        thresholds: Of the score, by unit.
        confidence: Of the interval by which the slope of a percentile is estimated.
    """
    if weighted.score is None:
        return None
    by_name, whole = {metric.name: metric for metric in metrics}, fsum(weighted.weights.values())
    ids: dict[str, None] = {}
    parts = []
    for objective, names in weighted.fed_by.items():
        share = weighted.weights[objective] / whole / len(names)
        for name in names:
            values = column(name)
            part = None if values is None else _part(by_name[name], values, thresholds, confidence)
            if part is not None:
                ids.update(dict.fromkeys(part[0].values))
                parts.append((share, *part))
    found = Influence(dict.fromkeys(ids, weighted.score), weighted.score, weighted.score)
    for each in parts:
        found = found.with_part(*each)
    return found if found.high > found.low else None


def _part(
    metric: BaseMetric, column: Column, thresholds: Mapping[str, float], confidence: float
) -> tuple[Column, float, float] | None:
    """A metric on the scale of the score, with the least and the greatest there can be.

    Where values stand for lost ones, these two stand for as many as the heaviest.
    """
    if metric.aggregation is Aggregation.PERCENTILE:
        return _percentile_part(metric, column, thresholds, confidence)
    values = {key: _linear(metric, metric, value, thresholds) for key, value in column.values.items()}
    mean = _linear(metric, metric, column.mean, thresholds)
    low, high = mean - column.heaviest * mean, mean + column.heaviest * (1 - mean)
    return replace(column, values=values, mean=mean), min(low, *values.values()), max(high, *values.values())


def _percentile_part(
    metric: BaseMetric, column: Column, thresholds: Mapping[str, float], confidence: float
) -> tuple[Column, float, float] | None:
    """A percentile by the share of questions at or below it, at the slope that its own interval shows (Woodruff 1952).

    None where it has no interval: it is held as it is then.
    """
    q, values = metric.percentile or 50.0, list(column.values.values())
    ends = percentile_interval(values, q, confidence)
    if ends is None:
        return None
    best, worst = (min(1.0, max(0.0, _linear(metric, metric, end, thresholds))) for end in ends)
    slope = (best - worst) / (2 * normal_quantile(confidence) * sqrt(q / 100 * (1 - q / 100) / len(values)))
    middle = percentile(values, q)
    below = {key: slope * (value <= middle) for key, value in column.values.items()}
    return Column(below, fmean(below.values()), len(below)), min(0.0, slope), max(0.0, slope)


def score_interval(found: Influence, clusters: Sequence[str] | None, confidence: float) -> IntervalEstimate | None:
    """The interval of the score, which lies from 0 to 1.

    Args:
        found: What the questions contribute.
        clusters: What each of them belongs to, in the same order; None where all are independent.
        confidence: Of the interval.
    """
    estimate = mean_interval(
        list(found.values.values()), clusters, low=found.low, high=found.high, confidence=confidence
    )
    if estimate is None or estimate.interval is None:
        return estimate
    low, high = estimate.interval
    return replace(estimate, interval=(max(0.0, low), min(1.0, high)))


def with_interval(
    weighted: WeightedScore,
    metrics: Sequence[BaseMetric],
    table: ScoreTable,
    settings: ScoreSettings,
    config: ScoringConfig,
) -> WeightedScore:
    """The score of a run with its interval, where it has one.

    Args:
        weighted: The score with what feeds it.
        metrics: Of the run.
        table: Their results.
        settings: How records were scored.
        config: Of the score.
    """
    fed = {metric.name: metric for metric in metrics if metric.name in set().union(*weighted.fed_by.values())}

    def column(name: str) -> Column | None:
        """It is made when it is asked for, and not held: those of all metrics would take a kilobyte a question."""
        return column_of(fed[name], table.column(name), settings, table.ids)

    found = influence(weighted, fed.values(), column, config.thresholds, settings.confidence)
    if found is None:
        return weighted
    rows = {key: row for row, key in enumerate(table.ids)}
    clusters = table.labels(rows[key] for key in found.values)
    estimate = score_interval(found, clusters, settings.confidence)
    if estimate is None:
        return weighted
    return weighted.model_copy(update={"ci": estimate.interval, "interval": tell(estimate, settings)})


# The intervals of a saved run by the rules of this version, where an earlier one saved it.


def with_intervals(run: EvalRun, records: Sequence[EvalRecord], gates: Sequence[Gate]) -> EvalRun:
    """The run with the intervals that these gates are on, by today's rule; its values stay.

    Args:
        run: As it was saved.
        records: Of the run, with what was measured of each question.
        gates: Those that are not on the end of an interval need nothing.
    """
    wanted = {gate.metric for gate in gates if gate.at_low}
    if SCORE in wanted and run.weighted_score.interval is None:
        metrics, settings = known_metrics(run), score_settings(run)
        table = ScoreTable(settings.cluster, metrics).add_all(records)
        score = with_interval(run.weighted_score, metrics, table, settings, scoring_config(run))
        run = run.model_copy(update={"weighted_score": score})
    earlier = {summary.name for summary in run.scorecard.metrics if summary.name in wanted and is_earlier(summary)}
    return _with_those(run, records, earlier) if earlier else run


def _with_those(run: EvalRun, records: Sequence[EvalRecord], names: set[str]) -> EvalRun:
    metrics = [metric for metric in known_metrics(run) if metric.name in names]
    made = make_scorecard(metrics, records, score_settings(run))
    intervals = {summary.name: {"ci": summary.ci, "interval": summary.interval} for summary in made.metrics}
    summaries = [summary.model_copy(update=intervals.get(summary.name)) for summary in run.scorecard.metrics]
    return run.model_copy(update={"scorecard": run.scorecard.model_copy(update={"metrics": summaries})})


__all__ = ["LEAST_COVERAGE", "check_feeds", "make_weighted_score", "no_score"]


def make_weighted_score(scorecard: Scorecard, config: ScoringConfig, *, answered: int = 1) -> WeightedScore:
    """Weigh the objectives that something feeds; the others are left out and named.

    score = sum of weight × objective / sum of the weights present, where these are at least half of all weights. An
    objective is the mean of the metrics that feed it; one of few questions is left out if others have many.

    Args:
        scorecard: All metrics of the run. Each counts on the scale from 0 to 1 of its own range.
        config: Weights, feeds and thresholds.
        answered: How many questions were answered. A run without a single answer has no score.
    """
    if not answered:
        return no_score(config, NOT_ANSWERED)
    fed, few = _fed(scorecard, config)
    weights = {name: config.weights[name] for name in fed}
    coverage = fsum(weights.values()) / fsum(config.weights.values())
    reason = too_little(coverage, weights) if fed else "nothing feeds it"
    objectives = _objectives(fed, config, _value)
    return WeightedScore(
        score=_mean(objectives, weights) if reason is None else None,
        reason=reason,
        coverage=min(1.0, coverage),
        bounds=_bounds(fed, config, weights) if reason is None else None,
        objectives=objectives,
        weights=weights,
        fed_by={name: [summary.name for summary in summaries] for name, summaries in fed.items()},
        left_out={name: _why_left_out(name, config) for name in config.weights if name not in fed},
        left_out_metrics=few,
    )


def _fed(
    scorecard: Scorecard, config: ScoringConfig
) -> tuple[dict[str, list[MetricSummary]], dict[str, dict[str, str]]]:
    """The metrics that feed each objective, and why others that have a value do not."""
    found = {name: feeding(scorecard, config.feeds[name]) for name, weight in config.weights.items() if weight}
    fed = {name: summaries for name, (summaries, _) in found.items() if summaries}
    return fed, {name: few for name, (_, few) in found.items() if few}


def _why_left_out(name: str, config: ScoringConfig) -> str:
    return "no value of " + ", ".join(config.feeds[name]) if config.weights[name] else "its weight is 0"


def no_score(config: ScoringConfig, reason: str) -> WeightedScore:
    """The score of a run that measured nothing of what its weights are for, with the reason."""
    return WeightedScore(score=None, reason=reason, coverage=0.0, left_out=dict.fromkeys(config.weights, reason))


def _objectives(
    fed: Mapping[str, list[MetricSummary]], config: ScoringConfig, value: Callable[[MetricSummary], float]
) -> dict[str, float]:
    return {
        name: fmean(on_scale(summary, value(summary), config.thresholds) for summary in summaries)
        for name, summaries in fed.items()
    }


def _mean(objectives: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return fsum(weights[name] * value for name, value in objectives.items()) / fsum(weights.values())


def _bounds(
    fed: Mapping[str, list[MetricSummary]], config: ScoringConfig, weights: Mapping[str, float]
) -> tuple[float, float] | None:
    """The score with every metric at its worst and at its best bound; None where no metric has lost a question.

    Cost and latency, which have no worst value, stay as they are.
    """
    if not any(summary.bounds for summaries in fed.values() for summary in summaries):
        return None
    worst, best = (_mean(_objectives(fed, config, partial(_bound, end=end)), weights) for end in (0, 1))
    return worst, best


def _value(summary: MetricSummary) -> float:
    return (summary.value if summary.estimate is None else summary.estimate) or 0.0


def _bound(summary: MetricSummary, *, end: int) -> float:
    return summary.bounds[end] if summary.bounds else _value(summary)
