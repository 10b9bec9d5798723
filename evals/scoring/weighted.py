"""From the scorecard to one number: the weighted mean of objectives, or none where too little was measured."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import fsum, sqrt
from statistics import fmean

from evals.errors import ConfigError
from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.registry import known_metric, parse_metric
from evals.schemas.results import EvalRecord, EvalRun, MetricResult, MetricSummary, Scorecard, WeightedScore
from evals.scoring.config import LEAST_COVERAGE, NOT_ANSWERED, SCORE, ScoringConfig, scoring_config
from evals.scoring.gates import Gate
from evals.scoring.run_columns import ScoreColumn, ScoreTable
from evals.scoring.scorecard import make_scorecard, tell
from evals.scoring.settings import ScoreSettings, known_metrics, score_settings
from evals.scoring.stats.intervals import IntervalEstimate, normal_quantile, percentile, percentile_interval
from evals.scoring.stats.means import mean_interval
from evals.scoring.strata import sample_of
from evals.text.numbers import counted

# From metrics to objectives: which metrics feed one, and what their values are on a scale from 0 to 1.


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
    return _scaled(summary, metric, value, thresholds)


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


# What each question contributes to the weighted score, and the interval that follows from it.


Column = Mapping[str, float]
"""The values of a metric by question."""


@dataclass(frozen=True, slots=True)
class WeightedColumn:
    """A metric of which verdicts are lost.

    Attributes:
        residuals: By how much each question moves the mean, times the size, by question; lost ones too.
        mean: Of the metric.
        size: How many values there would be without losses.
        heaviest: For how many questions a value stands at most.
    """

    residuals: Mapping[str, float]
    mean: float
    size: float
    heaviest: float


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


@dataclass(frozen=True, slots=True)
class _Part:
    """One metric's values on the scale of the score, with the least and the greatest there can be."""

    share: float
    ids: list[str]
    values: "array[float]"
    low: float
    high: float
    mean: float
    size: float
    """Of how many values the mean is."""


def _plain_part(share: float, values: dict[str, float], low: float, high: float) -> _Part:
    return _Part(share, list(values), array("d", values.values()), low, high, fmean(values.values()), len(values))


class TableColumns(Mapping[str, Column | WeightedColumn]):
    """The values of metrics by question, as they count: where it is so told, no answer is the worst value.

    Each is made when it is asked for, and not held: those of all metrics would take a kilobyte a question.

    Args:
        metrics: Of the score.
        table: Their results.
        settings: How records were scored.
    """

    def __init__(self, metrics: Sequence[BaseMetric], table: ScoreTable, settings: ScoreSettings) -> None:
        self._metrics = {metric.name: metric for metric in metrics}
        self._table = table
        self._settings = settings

    def __len__(self) -> int:
        return len(self._metrics)

    def __iter__(self) -> Iterator[str]:
        return iter(self._metrics)

    def __getitem__(self, name: str) -> Column | WeightedColumn:
        metric, table = self._metrics[name], self._table
        return _by_id(metric, table.column(name), table.ids, self._settings)


def column_of(
    metric: BaseMetric, results: Mapping[str, MetricResult], settings: ScoreSettings
) -> Column | WeightedColumn:
    """The values of a metric, of its results by question."""
    return _by_id(metric, ScoreColumn.of(metric, results.values()), list(results), settings)


def _by_id(
    metric: BaseMetric, results: ScoreColumn, ids: Sequence[str], settings: ScoreSettings
) -> Column | WeightedColumn:
    sample = sample_of(metric, results, ids, worst_on_error=settings.worst_on_error)
    weighted = sample.weighted
    if weighted is None:
        return dict(zip(sample.clusters, sample.values, strict=True))
    residuals = dict(zip(sample.all_clusters, weighted.residuals(), strict=True))
    return WeightedColumn(residuals, weighted.mean, weighted.size, weighted.heaviest)


def influence(
    weighted: WeightedScore,
    metrics: Iterable[BaseMetric],
    columns: Mapping[str, Column | WeightedColumn],
    thresholds: Mapping[str, float],
    confidence: float,
) -> Influence | None:
    """What each question contributes to a score; None where there is no score, or nothing in it varies.

    Args:
        weighted: The score with what feeds it.
        metrics: Those that feed it.
        columns: Their values.
        thresholds: Of the score, by unit.
        confidence: Of the interval by which the slope of a percentile is told.
    """
    if weighted.score is None:
        return None
    parts = _parts(weighted, {metric.name: metric for metric in metrics}, columns, thresholds, confidence)
    ids = dict.fromkeys(key for part in parts for key in part.ids)
    found = Influence(dict.fromkeys(ids, weighted.score), weighted.score, weighted.score)
    for part in parts:
        found = _added(found, part)
    return found if found.high > found.low else None


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


def _parts(
    weighted: WeightedScore,
    metrics: Mapping[str, BaseMetric],
    columns: Mapping[str, Column | WeightedColumn],
    thresholds: Mapping[str, float],
    confidence: float,
) -> list[_Part]:
    whole = fsum(weighted.weights.values())
    found = []
    for objective, names in weighted.fed_by.items():
        share = weighted.weights[objective] / whole / len(names)
        parts = (_part(share, metrics[name], columns.get(name, {}), thresholds, confidence) for name in names)
        found += [part for part in parts if part is not None]
    return found


def _part(
    share: float,
    metric: BaseMetric,
    column: Column | WeightedColumn,
    thresholds: Mapping[str, float],
    confidence: float,
) -> _Part | None:
    if isinstance(column, WeightedColumn):
        return _weighted_part(share, metric, column, thresholds)
    if not column:
        return None
    if metric.aggregation is Aggregation.PERCENTILE:
        return _percentile_part(share, metric, column, thresholds, confidence)
    if metric.unit in thresholds:  # not cut to 0 … 1, so that the mean of the questions is that of the objective
        values = {key: 1 - value / thresholds[metric.unit] for key, value in column.items()}
    else:
        values = {key: scaled(metric, value, thresholds) for key, value in column.items()}
    return _plain_part(share, values, min(0.0, *values.values()), max(1.0, *values.values()))


def _weighted_part(
    share: float, metric: BaseMetric, column: WeightedColumn, thresholds: Mapping[str, float]
) -> _Part | None:
    """Values that stand for lost ones: the least and the greatest there can be stand for as many as the heaviest."""
    if metric.aggregation is Aggregation.PERCENTILE:
        return None
    if metric.unit in thresholds:
        slope, mean = -1 / thresholds[metric.unit], 1 - column.mean / thresholds[metric.unit]
    else:
        slope = scaled(metric, 1.0, thresholds) - scaled(metric, 0.0, thresholds)
        mean = scaled(metric, column.mean, thresholds)
    values = {key: mean + slope * residual for key, residual in column.residuals.items()}
    low, high = mean - column.heaviest * mean, mean + column.heaviest * (1 - mean)
    own = array("d", values.values())
    return _Part(share, list(values), own, min(low, *own), max(high, *own), mean, column.size)


def _percentile_part(
    share: float, metric: BaseMetric, column: Column, thresholds: Mapping[str, float], confidence: float
) -> _Part | None:
    """A percentile by the share of questions at or below it, at the slope that its own interval shows (Woodruff 1952).

    None where it has no interval: it is held as it is then.
    """
    q, values = metric.percentile or 50.0, list(column.values())
    ends = percentile_interval(values, q, confidence)
    if ends is None:
        return None
    reach = 2 * normal_quantile(confidence) * sqrt(q / 100 * (1 - q / 100) / len(values))
    slope = (scaled(metric, ends[0], thresholds) - scaled(metric, ends[1], thresholds)) / reach
    middle = percentile(values, q)
    below = {key: slope * (value <= middle) for key, value in column.items()}
    return _plain_part(share, below, min(0.0, slope), max(0.0, slope))


def _added(found: Influence, part: _Part) -> Influence:
    mean, scale = part.mean, part.share * len(found.values) / part.size
    values = dict(found.values)
    for key, value in zip(part.ids, part.values, strict=True):
        values[key] += scale * (value - mean)
    low, high = found.low + scale * (part.low - mean), found.high + scale * (part.high - mean)
    # Rounding must not put a value outside what there can be.
    return Influence({key: min(high, max(low, value)) for key, value in values.items()}, low, high)


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
    fed = {name for names in weighted.fed_by.values() for name in names}
    feeding = [metric for metric in metrics if metric.name in fed]
    columns = TableColumns(feeding, table, settings)
    found = influence(weighted, feeding, columns, config.thresholds, settings.confidence)
    if found is None:
        return weighted
    rows = {key: row for row, key in enumerate(table.ids)}
    clusters = table.labels(rows[key] for key in found.values)
    estimate = score_interval(found, clusters, settings.confidence)
    if estimate is None:
        return weighted
    return weighted.model_copy(update={"ci": estimate.interval, "interval": tell(estimate, settings)})


# The intervals of a saved run by the rules of this version, where an earlier one saved it.


def is_earlier(summary: MetricSummary) -> bool:
    """Whether a metric's interval is by an earlier rule: since then each says how it was made."""
    return summary.ci is not None and summary.interval is None


def has_earlier_intervals(run: EvalRun) -> bool:
    """Whether the intervals of a run's metrics are by an earlier rule."""
    return any(map(is_earlier, run.scorecard.metrics))


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

_ROUNDING = 1e-9


def make_weighted_score(scorecard: Scorecard, config: ScoringConfig, *, answered: int = 1) -> WeightedScore:
    """Weigh the objectives that something feeds; the others are left out and named.

    score = sum of weight × objective / sum of the weights present, where these are at least half of all weights. An
    objective is the mean of the metrics that feed it; one of few questions beside others of many is left out.

    Args:
        scorecard: All metrics of the run. Each counts on the scale from 0 to 1 of its own range.
        config: Weights, feeds and thresholds.
        answered: How many questions were answered. A run without a single answer has no score.
    """
    if not answered:
        return no_score(config, NOT_ANSWERED)
    left_out: dict[str, str] = {}
    few: dict[str, dict[str, str]] = {}
    fed = _fed(scorecard, config, left_out, few)
    weights = {name: config.weights[name] for name in fed}
    coverage = fsum(weights.values()) / fsum(config.weights.values())
    reason = _why_none(coverage, list(fed))
    objectives = _objectives(fed, config, _value)
    return WeightedScore(
        score=_mean(objectives, weights) if reason is None else None,
        reason=reason,
        coverage=min(1.0, coverage),
        bounds=_bounds(fed, config, weights) if reason is None else None,
        objectives=objectives,
        weights=weights,
        fed_by={name: [summary.name for summary in summaries] for name, summaries in fed.items()},
        left_out=left_out,
        left_out_metrics=few,
    )


def _fed(
    scorecard: Scorecard, config: ScoringConfig, left_out: dict[str, str], few: dict[str, dict[str, str]]
) -> dict[str, list[MetricSummary]]:
    """The metrics that feed each objective; what does not is put into the other two, with the reason."""
    fed = {}
    for name, weight in config.weights.items():
        summaries, too_few = feeding(scorecard, config.feeds[name]) if weight else ([], {})
        if summaries:
            fed[name] = summaries
        else:
            left_out[name] = "no value of " + ", ".join(config.feeds[name]) if weight else "its weight is 0"
        if too_few:
            few[name] = too_few
    return fed


def no_score(config: ScoringConfig, reason: str) -> WeightedScore:
    """The score of a run that measured nothing of what its weights are for, with the reason."""
    return WeightedScore(score=None, reason=reason, coverage=0.0, left_out=dict.fromkeys(config.weights, reason))


def _why_none(coverage: float, measured: list[str]) -> str | None:
    if not measured:
        return "nothing feeds it"
    if coverage < LEAST_COVERAGE - _ROUNDING:
        return f"only {100 * coverage:.0f} % of the weight is measured: {', '.join(measured)}"
    return None


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
