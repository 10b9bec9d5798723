"""From records to the scorecard. The only place that decides denominators.

Every number is computed from records, never from other averages: each metric walks all the questions that were
asked, and counts each exactly once as scored, not applicable, lost to transport or lost to the judge. A question that
was selected and never asked, because the run ended before, has no results: it is in no metric's counts.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import fsum
from statistics import fmean

from evals.metrics.base import Aggregation, BaseMetric
from evals.schemas import (
    EvalRecord,
    MetricCounts,
    MetricGroup,
    MetricResult,
    MetricSummary,
    Scorecard,
)
from evals.scoring.settings import Cases, ScoreSettings
from evals.stats.intervals import Interval, percentile, percentile_interval, t_interval, wilson


def score_records(metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], cases: Cases) -> list[EvalRecord]:
    """Measure every record that has a response; the others stay as they are."""
    return [score_record(metrics, record, cases) for record in records]


def score_record(metrics: Sequence[BaseMetric], record: EvalRecord, cases: Cases) -> EvalRecord:
    """Measure one record."""
    if record.response is None:
        return record
    case = cases.of(record)
    return record.model_copy(update={"scores": [metric.score(case) for metric in metrics]})


def make_scorecard(metrics: Sequence[BaseMetric], records: Sequence[EvalRecord], settings: ScoreSettings) -> Scorecard:
    """Summarise each metric over the scored records, in the order of the groups."""
    order = list(MetricGroup)
    by_name: dict[str, list[MetricResult]] = {metric.name: [] for metric in metrics}
    for record in records:
        for result in record.scores:
            if result.name in by_name:
                by_name[result.name].append(result)
    summaries = [summarise(metric, by_name[metric.name], settings) for metric in metrics]
    summaries.sort(key=lambda summary: order.index(summary.group))
    by_group: dict[str, list[str]] = {}
    for summary in summaries:
        by_group.setdefault(summary.group.value, []).append(summary.name)
    return Scorecard(metrics=summaries, by_group=by_group)


def summarise(metric: BaseMetric, results: Sequence[MetricResult], settings: ScoreSettings) -> MetricSummary:
    """Summarise one metric over the questions that were asked."""
    values = [result.value for result in results if result.value is not None]
    missing = Counter(result.missing for result in results if result.missing is not None)
    scored = len(values)
    lost = missing["transport"] + missing["judge"]
    worst, best = metric.worst, metric.best
    bounds = None
    if lost and worst is not None and best is not None:
        bounds = (value_over(metric, [*values, *[worst] * lost]), value_over(metric, [*values, *[best] * lost]))
    if settings.worst_on_error and worst is not None:
        values += [worst] * missing["transport"]
    one_sided = metric.one_sided(results) if values else None
    if one_sided is not None:
        values, bounds = [], None
    value, ci = _aggregate(metric, values, settings.confidence)
    return MetricSummary(
        name=metric.name,
        value=value,
        group=metric.group,
        sample_size=len(values),
        counts=MetricCounts(
            scored=scored,
            not_applicable=missing["not_applicable"],
            transport=missing["transport"],
            judge=missing["judge"],
        ),
        ci=ci,
        bounds=bounds,
        reason=(one_sided or _why_missing(results)) if value is None else None,
        rules=_rules(results),
        labels=_labels(results),
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
    )


def _aggregate(metric: BaseMetric, values: Sequence[float], confidence: float) -> tuple[float | None, Interval | None]:
    if not values:
        return None, None
    return value_over(metric, values), _interval(metric, values, confidence)


def value_over(metric: BaseMetric, values: Sequence[float]) -> float:
    """The values of questions, of which there is at least one, as the one value of the run."""
    if metric.aggregation is Aggregation.SUM:
        return fsum(values)
    if metric.aggregation is Aggregation.PERCENTILE:
        return percentile(values, metric.percentile or 50.0)
    return fmean(values)


def _interval(metric: BaseMetric, values: Sequence[float], confidence: float) -> Interval | None:
    if metric.aggregation is Aggregation.PERCENTILE:
        return percentile_interval(values, metric.percentile or 50.0, confidence)
    # A mean over zeros and ones alone is a rate, and t would give [1, 1] for twenty hits out of twenty.
    whole = metric.high
    as_rate = None
    if whole and all(value in (0.0, whole) for value in values):
        as_rate = wilson(sum(values) / whole, len(values), confidence)
    if metric.aggregation is Aggregation.SUM:
        return as_rate and (as_rate[0] * len(values), as_rate[1] * len(values))
    if as_rate is not None and whole is not None:
        return as_rate[0] * whole, as_rate[1] * whole
    return _within(t_interval(values, confidence), metric)


def _within(interval: Interval | None, metric: BaseMetric) -> Interval | None:
    """Cut the interval where the metric ends."""
    if interval is None:
        return None
    low, high = interval
    return (
        low if metric.low is None else max(metric.low, low),
        high if metric.high is None else min(metric.high, high),
    )


def _why_missing(results: Sequence[MetricResult]) -> str:
    reasons = Counter(result.reason for result in results if result.reason)
    if not reasons:
        return "no question was asked"
    if len(reasons) == 1:
        return next(iter(reasons))
    return "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(3))


def _rules(results: Sequence[MetricResult]) -> dict[str, int]:
    """How often each rule recognised a gold; a plug-in may have another use for the word."""
    total: Counter[str] = Counter()
    for result in results:
        rules = result.details.get("rules")
        total.update(rules if isinstance(rules, dict) else {})
    return dict(total)


def _labels(results: Sequence[MetricResult]) -> dict[str, int]:
    labels = (result.details.get("label") for result in results)
    return dict(sorted(Counter(label for label in labels if isinstance(label, str)).items()))
