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
from evals.schemas.base import unchecked
from evals.scoring.gathered.columns import ResultColumn, ScoreTable
from evals.scoring.guarded import score_of
from evals.scoring.intervals import metric_interval
from evals.scoring.settings import Cases, ScoreSettings
from evals.scoring.strata import Sample, estimate_of, sample_of, value_of, value_over
from evals.stats import Interval


def score_records(metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], cases: Cases) -> list[EvalRecord]:
    """Measure every record that has a response; the others stay as they are."""
    return [score_record(metrics, record, cases) for record in records]


def score_record(metrics: Sequence[BaseMetric], record: EvalRecord, cases: Cases) -> EvalRecord:
    """Measure one record."""
    if record.response is None:
        return record
    case = cases.of(record)
    scores = [score_of(metric, case) for metric in metrics]
    fields = {"question": record.question, "response": record.response, "scores": scores, "verdicts": record.verdicts}
    return unchecked(EvalRecord, fields)


def make_scorecard(metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], settings: ScoreSettings) -> Scorecard:
    """Summarise each metric over the scored records, in the order of the groups."""
    return scorecard_of(metrics, ScoreTable.of(metrics, records, settings.cluster), settings)


def scorecard_of(metrics: Sequence[BaseMetric], table: ScoreTable, settings: ScoreSettings) -> Scorecard:
    """Summarise each metric over the results of a run, in the order of the groups."""
    return in_groups(
        summarise(metric, table.column(metric.name), settings, table.clusters(table.rows(metric.name)))
        for metric in metrics
    )


def in_groups(found: Iterable[MetricSummary]) -> Scorecard:
    """The scorecard of these summaries, in the order of the groups."""
    order = list(MetricGroup)
    summaries = sorted(found, key=lambda summary: order.index(summary.group))
    by_group: dict[str, list[str]] = {}
    for summary in summaries:
        by_group.setdefault(summary.group.value, []).append(summary.name)
    return Scorecard(metrics=summaries, by_group=by_group)


def summarise(
    metric: BaseMetric,
    results: Sequence[MetricResult] | ResultColumn,
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
    column = results if isinstance(results, ResultColumn) else ResultColumn.of(metric, results)
    sample = sample_of(metric, column, clusters, worst_on_error=settings.worst_on_error)
    counts = _counts(column)
    one_sided = metric.one_sided(column.results()) if sample.values else None
    sample = Sample([], []) if one_sided else sample
    value = value_of(metric, sample)
    ci, interval = metric_interval(metric, sample, settings, column.late)
    return MetricSummary(
        name=metric.name,
        value=value,
        estimate=estimate_of(metric, sample),
        group=metric.group,
        sample_size=len(sample.values),
        counts=counts,
        ci=ci,
        interval=interval,
        at_least=value is not None and min(column.late, default=inf) <= value,
        bounds=None if one_sided else _bounds(metric, column, counts.lost),
        strata=sample.strata,
        reason=(one_sided or sample.reason or _why_missing(column)) if value is None else None,
        rules=column.rules,
        labels=column.labels,
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
    )


def _counts(column: ResultColumn) -> MetricCounts:
    missing = column.missing()
    return MetricCounts(
        scored=missing[None],
        not_applicable=missing["not_applicable"],
        transport=missing["transport"],
        judge=missing["judge"],
        injection=missing["injection"],
        fault=missing["fault"],
    )


def _bounds(metric: BaseMetric, column: ResultColumn, lost: int) -> Interval | None:
    """The value if every question that is lost had scored worst, and best; None where none is.

    Of a metric of which neither way is better, the least and the greatest value.
    """
    worst, best = (metric.low, metric.high) if metric.higher_is_better is None else (metric.worst, metric.best)
    if not lost or worst is None or best is None:
        return None
    values = column.values
    return value_over(metric, [*values, *[worst] * lost]), value_over(metric, [*values, *[best] * lost])


def _why_missing(column: ResultColumn) -> str:
    reasons: Counter[str] = Counter()
    for kind, count in column.kinds():
        reasons.update({kind.reason: count} if kind.reason else {})
    if not reasons:
        return "no question was asked"
    if len(reasons) == 1:
        return next(iter(reasons))
    return "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(3))
