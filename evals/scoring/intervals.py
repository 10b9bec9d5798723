"""The interval of a metric over a run, and what there is to know of it."""

from collections.abc import Iterable, Sequence

from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.performance import RAN_OUT
from evals.schemas import MetricInterval, MetricResult
from evals.scoring.config import BY_DOCUMENT
from evals.scoring.settings import ScoreSettings
from evals.scoring.strata import Sample
from evals.stats import Interval, IntervalEstimate, Mark, mean_interval, percentile_estimate, weighted_interval
from evals.stats.clusters import units


def metric_interval(
    metric: BaseMetric,
    sample: Sample,
    settings: ScoreSettings,
    lower_bounds: Sequence[float] = (),
) -> tuple[Interval | None, MetricInterval | None]:
    """The ends of the interval, and how it was made; nothing for no values.

    Args:
        metric: With its range and how its values become one.
        sample: The values of the questions.
        settings: Confidence, and by what questions are clustered.
        lower_bounds: Those of the values that are too small: the request ran out of time.
    """
    found = _estimate(metric, sample, settings.confidence)
    if found is None:
        return None, None
    ends = found.interval
    if ends is not None and metric.aggregation is Aggregation.SUM:
        times = len(sample.values)
        ends = (ends[0] * times, ends[1] * times)
    told = tell(found, settings)
    open_above = ends is not None and any(value <= ends[1] for value in lower_bounds)
    return ends, told.model_copy(update={"open_above": open_above})


def tell(found: IntervalEstimate, settings: ScoreSettings) -> MetricInterval:
    """What there is to know of an interval, as it is recorded."""
    return MetricInterval(
        method=found.method,
        n=found.n,
        clusters=found.clusters,
        marks=[mark.value for mark in found.marks],
        note=_note(found, settings.cluster),
    )


def _estimate(metric: BaseMetric, sample: Sample, confidence: float) -> IntervalEstimate | None:
    values, clusters, weighted = sample.values, sample.clusters, sample.weighted
    if metric.aggregation is Aggregation.PERCENTILE:
        return _of_percentile(metric, sample, confidence)
    if weighted is not None and metric.aggregation is not Aggregation.SUM:
        return weighted_interval(weighted, sample.all_clusters, low=metric.low, high=metric.high, confidence=confidence)
    return mean_interval(values, clusters, low=metric.low, high=metric.high, confidence=confidence)


def _of_percentile(metric: BaseMetric, sample: Sample, confidence: float) -> IntervalEstimate | None:
    """Order statistics; none where values stand for different numbers of lost ones, which have no such ranks."""
    if sample.weighted is not None:
        n = len(sample.values)
        return IntervalEstimate(None, "order statistics", n, units(sample.clusters, n)[1], (Mark.WEIGHTED,))
    return percentile_estimate(sample.values, metric.percentile or 50.0, sample.clusters, confidence)


def too_small(metric: BaseMetric, results: Iterable[MetricResult]) -> list[float]:
    """The values of requests that ran out of time: they would have been greater."""
    if metric.aggregation is not Aggregation.PERCENTILE:
        return []
    return [result.value for result in results if result.value is not None and result.details.get(RAN_OUT) is True]


def _note(found: IntervalEstimate, key: str) -> str | None:
    """The marks in words; None where there are none."""
    said = [_few(found.clusters, key) if mark is Mark.FEW_CLUSTERS else mark.value for mark in found.marks]
    return ", ".join(said) or None


def _few(clusters: int, key: str) -> str:
    things = "document" if key == BY_DOCUMENT else f"value of {key}"
    if clusters == 1:
        return f"for this {things}"
    return f"for these {clusters} {things.replace('document', 'documents').replace('value of', 'values of', 1)}"
