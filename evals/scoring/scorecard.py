"""From records to the scorecard. The only place that decides denominators.

Every number is computed from records, never from other averages: each metric walks all the questions that were
asked, and counts each exactly once as scored, not applicable, lost to transport or lost to the judge. A question that
was selected and never asked, because the run ended before, has no results: it is in no metric's counts.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf

from evals.metrics.base import BaseMetric
from evals.schemas import (
    EvalRecord,
    MetricCounts,
    MetricGroup,
    MetricResult,
    MetricSummary,
    Scorecard,
)
from evals.scoring.clusters import cluster_of
from evals.scoring.guarded import score_of
from evals.scoring.intervals import metric_interval, too_small
from evals.scoring.settings import Cases, ScoreSettings
from evals.scoring.strata import Sample, sample_of, value_of, value_over
from evals.stats import Interval


def score_records(metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], cases: Cases) -> list[EvalRecord]:
    """Measure every record that has a response; the others stay as they are."""
    return [score_record(metrics, record, cases) for record in records]


def score_record(metrics: Sequence[BaseMetric], record: EvalRecord, cases: Cases) -> EvalRecord:
    """Measure one record."""
    if record.response is None:
        return record
    case = cases.of(record)
    return record.model_copy(update={"scores": [score_of(metric, case) for metric in metrics]})


def make_scorecard(metrics: Sequence[BaseMetric], records: Sequence[EvalRecord], settings: ScoreSettings) -> Scorecard:
    """Summarise each metric over the scored records, in the order of the groups."""
    order = list(MetricGroup)
    by_name: dict[str, tuple[list[MetricResult], list[str]]] = {metric.name: ([], []) for metric in metrics}
    for record in records:
        cluster = cluster_of(record.question, settings.cluster)
        for result in record.scores:
            if result.name in by_name:
                results, clusters = by_name[result.name]
                results.append(result)
                clusters.append(cluster)
    summaries = [summarise(metric, by_name[metric.name][0], settings, by_name[metric.name][1]) for metric in metrics]
    summaries.sort(key=lambda summary: order.index(summary.group))
    by_group: dict[str, list[str]] = {}
    for summary in summaries:
        by_group.setdefault(summary.group.value, []).append(summary.name)
    return Scorecard(metrics=summaries, by_group=by_group)


def summarise(
    metric: BaseMetric,
    results: Sequence[MetricResult],
    settings: ScoreSettings,
    clusters: Sequence[str] | None = None,
) -> MetricSummary:
    """Summarise one metric over the questions that were asked.

    Args:
        metric: The metric.
        results: Its results, one a question.
        settings: Confidence, and what becomes of questions without an answer.
        clusters: The label of each question's cluster, in the same order; None where all are independent.
    """
    sample = sample_of(metric, results, clusters, worst_on_error=settings.worst_on_error)
    one_sided = metric.one_sided(results) if sample.values else None
    sample = Sample([], []) if one_sided else sample
    value = value_of(metric, sample)
    late = too_small(metric, results)
    ci, interval = metric_interval(metric, sample, settings, late)
    return MetricSummary(
        name=metric.name,
        value=value,
        group=metric.group,
        sample_size=len(sample.values),
        counts=_counts(results),
        ci=ci,
        interval=interval,
        at_least=value is not None and min(late, default=inf) <= value,
        bounds=None if one_sided else _bounds(metric, results),
        strata=sample.strata,
        reason=(one_sided or sample.reason or _why_missing(results)) if value is None else None,
        rules=_rules(results),
        labels=_labels(results),
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
    )


def _counts(results: Sequence[MetricResult]) -> MetricCounts:
    missing = Counter(result.missing for result in results)
    return MetricCounts(
        scored=missing[None],
        not_applicable=missing["not_applicable"],
        transport=missing["transport"],
        judge=missing["judge"],
        fault=missing["fault"],
    )


def _bounds(metric: BaseMetric, results: Sequence[MetricResult]) -> Interval | None:
    """The value if every question that failures took had scored worst, and best; None where they took none.

    Of a metric of which neither way is better, the least and the greatest value.
    """
    worst, best = (metric.low, metric.high) if metric.higher_is_better is None else (metric.worst, metric.best)
    lost = sum(result.missing in {"transport", "judge", "fault"} for result in results)
    if not lost or worst is None or best is None:
        return None
    values = [result.value for result in results if result.value is not None]
    return value_over(metric, [*values, *[worst] * lost]), value_over(metric, [*values, *[best] * lost])


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
