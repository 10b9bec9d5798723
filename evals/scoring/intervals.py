"""The interval of a metric over a run, and what there is to know of it."""

from collections.abc import Sequence

from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.performance import RAN_OUT
from evals.schemas import MetricInterval, MetricResult
from evals.scoring.config import BY_DOCUMENT
from evals.scoring.settings import ScoreSettings
from evals.stats import Interval, IntervalEstimate, Mark, mean_interval, percentile_estimate


def metric_interval(
    metric: BaseMetric,
    values: Sequence[float],
    clusters: Sequence[str] | None,
    settings: ScoreSettings,
    lower_bounds: Sequence[float] = (),
) -> tuple[Interval | None, MetricInterval | None]:
    """The ends of the interval, and how it was made; nothing for no values.

    Args:
        metric: With its range and how its values become one.
        values: Of the questions.
        clusters: Their labels, in the same order; None where all are independent.
        settings: Confidence, and by what questions are clustered.
        lower_bounds: Those of the values that are too small: the request ran out of time.
    """
    found = _estimate(metric, values, clusters, settings.confidence)
    if found is None:
        return None, None
    ends = found.interval
    if ends is not None and metric.aggregation is Aggregation.SUM:
        ends = (ends[0] * found.n, ends[1] * found.n)
    return ends, MetricInterval(
        method=found.method,
        n=found.n,
        clusters=found.clusters,
        marks=[mark.value for mark in found.marks],
        note=_note(found, settings.cluster),
        open_above=ends is not None and any(value <= ends[1] for value in lower_bounds),
    )


def _estimate(
    metric: BaseMetric, values: Sequence[float], clusters: Sequence[str] | None, confidence: float
) -> IntervalEstimate | None:
    if metric.aggregation is Aggregation.PERCENTILE:
        return percentile_estimate(values, metric.percentile or 50.0, clusters, confidence)
    return mean_interval(values, clusters, low=metric.low, high=metric.high, confidence=confidence)


def too_small(metric: BaseMetric, results: Sequence[MetricResult]) -> list[float]:
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
