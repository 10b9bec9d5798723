"""What each question contributes to the weighted score, and the interval that follows from it.

The score is a weighted mean of means over questions. To it belongs a value for each question, whose mean is the score
itself: score + N · sum over metrics of c·(x - mean)/n, where x is the question's value of a metric on the scale from 0
to 1, n the number of questions that have one, N that of all and c the metric's share of the score. An interval of the
mean of these values is one of the score, with all that metrics have in common (Deville 1999). Where verdicts of the
judge are lost, n and x - mean are those of values that stand for the lost ones (`evals.stats.lost`).
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, sqrt
from statistics import fmean

from evals.metrics.base import Aggregation, BaseMetric
from evals.schemas import MetricResult, WeightedScore
from evals.scoring.config import ScoringConfig
from evals.scoring.gathered.columns import ResultColumn, ScoreTable
from evals.scoring.intervals import tell
from evals.scoring.objectives import scaled
from evals.scoring.settings import ScoreSettings
from evals.scoring.strata import sample_of
from evals.stats import IntervalEstimate, mean_interval, percentile, percentile_interval
from evals.stats.distributions import normal_quantile

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
        ids = [table.ids[row] for row in table.rows(name)]
        return _by_id(metric, table.column(name), ids, self._settings)


def column_of(
    metric: BaseMetric, results: Mapping[str, MetricResult], settings: ScoreSettings
) -> Column | WeightedColumn:
    """The values of a metric, of its results by question."""
    return _by_id(metric, ResultColumn.of(metric, results.values()), list(results), settings)


def _by_id(
    metric: BaseMetric, results: ResultColumn, ids: Sequence[str], settings: ScoreSettings
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
    clusters = table.clusters(rows[key] for key in found.values)
    estimate = score_interval(found, clusters, settings.confidence)
    if estimate is None:
        return weighted
    return weighted.model_copy(update={"ci": estimate.interval, "interval": tell(estimate, settings)})
