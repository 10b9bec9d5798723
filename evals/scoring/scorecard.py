"""The scorecard of a run: for each metric its value, interval, bounds and counts, from the columns of `Results`.

Every question that was asked is counted once: scored, not applicable, or lost to transport, the judge, an injection or
a fault. A mean is over what was scored; `bounds` say where it would lie if all that is lost had scored worst, and best.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from evals.metrics.base import UNSENT, Aggregation, BaseMetric
from evals.schemas.results import MetricCounts, MetricGroup, MetricInterval, MetricSummary, Scorecard
from evals.scoring.results import Column, Results
from evals.scoring.settings import ScoreSettings
from evals.scoring.stats import Estimate, Groups, Interval, Vector, mean_interval, percentile, percentile_interval
from evals.scoring.strata import Strata

Rows = np.ndarray[Any, Any]


def make_scorecard(
    metrics: Sequence[BaseMetric],
    results: Results,
    settings: ScoreSettings,
    rows: Rows | None = None,
    sample: Strata | None = None,
) -> Scorecard:
    """Summarise each metric, in the order of the groups.

    Args:
        metrics: In any order.
        results: Of the run.
        settings: Confidence, and what a question without an answer counts as.
        rows: Summarise these questions alone; None for all.
        sample: How the questions were drawn of a whole, if intervals are to be others than those of the whole.
    """
    groups = results.group_numbers()
    sample = sample or results.sample
    summaries = [
        summarise(metric, results.columns.get(metric.name) or Column(metric.name), settings, groups, rows, sample)
        for metric in metrics
    ]
    return in_groups(summaries)


def in_groups(summaries: Iterable[MetricSummary]) -> Scorecard:
    """The scorecard of these summaries, in the order of the groups."""
    order = list(MetricGroup)
    ordered = sorted(summaries, key=lambda summary: order.index(summary.group))
    by_group: dict[str, list[str]] = {}
    for summary in ordered:
        by_group.setdefault(summary.group.value, []).append(summary.name)
    return Scorecard(metrics=ordered, by_group=by_group)


def sufficiency_by_decision(results: Results) -> dict[str, float]:
    """Questions by whether the retrieved texts suffice and the answer declines; of a sample, those of the whole.

    Empty where one of the two was not measured.
    """
    columns = [results.columns.get(name) for name in ("context_sufficiency", "declined_rate")]
    if columns[0] is None or columns[1] is None:
        return {}
    sufficient, declined = columns[0].numbers, columns[1].numbers
    known = np.flatnonzero(~np.isnan(sufficient) & ~np.isnan(declined))
    weights = np.ones(len(sufficient)) if results.sample is None else results.sample.weights
    counts = {
        f"{ground} {decision}": float(weights[known][(sufficient[known] == a) & (declined[known] == b)].sum())
        for ground, a in (("sufficient", 1), ("insufficient", 0))
        for decision, b in (("answered", 0), ("declined", 1))
    }
    return counts if len(known) else {}


def scored_values(
    metric: BaseMetric, column: Column, *, worst_on_error: bool, rows: Rows | None = None
) -> tuple[Vector, Rows]:
    """The values that count, and the places of their questions among `rows`.

    With `worst_on_error` a question without an answer counts as the metric's worst value, unless the server never sends
    what the metric measures: who cites nothing has not cited wrongly where an answer failed.
    """
    values = column.numbers
    never_sent = any((reason.text or "").startswith(UNSENT) for reason in column.reasons) and np.isnan(values).all()
    if worst_on_error and metric.worst is not None and not never_sent:
        values = np.where(column.mask("transport"), metric.worst, values)
    if rows is not None and len(values):
        values = values[rows]
    keep = np.flatnonzero(~np.isnan(values))
    return values[keep], keep


def value_over(metric: BaseMetric, values: Vector) -> float | None:
    """The values of questions as the one value of the run; None without values."""
    if not len(values):
        return None
    if metric.aggregation is Aggregation.SUM:
        return float(values.sum())
    if metric.aggregation is Aggregation.PERCENTILE:
        return percentile(values, metric.percentile or 50.0)
    return float(values.mean())


def interval_over(metric: BaseMetric, values: Vector, confidence: float, groups: Groups | None) -> Estimate | None:
    """The interval of that value; of a sum, that of the mean times the number of values."""
    if metric.aggregation is Aggregation.PERCENTILE:
        return percentile_interval(values, metric.percentile or 50.0, confidence)
    return mean_interval(values, metric.low, metric.high, confidence, groups)


def weighted_over(
    metric: BaseMetric, values: Vector, places: Rows, sample: Strata, confidence: float
) -> tuple[float | None, Estimate | None]:
    """The value of a whole, and its interval, from the values of a sample; of a sum, both of the mean."""
    if not len(values):
        return None, None
    if metric.aggregation is Aggregation.PERCENTILE:
        q = metric.percentile or 50.0
        return sample.percentile(values, places, q), sample.percentile_interval(values, places, q, confidence)
    value = sample.mean(values, places)
    return value, sample.mean_interval(values, places, metric.low, metric.high, confidence)


def summarise(
    metric: BaseMetric,
    column: Column,
    settings: ScoreSettings,
    groups: Groups | None,
    rows: Rows | None = None,
    sample: Strata | None = None,
) -> MetricSummary:
    """Summarise one metric.

    Args:
        metric: With its range and how its values become one.
        column: Its results.
        settings: Confidence, and what a question without an answer counts as.
        groups: The group of each question of the run; None where questions are independent.
        rows: Summarise these questions alone; None for all.
        sample: How the questions of the run were drawn of a whole, which the values are of then.
    """
    values, places = scored_values(metric, column, worst_on_error=settings.worst_on_error, rows=rows)
    own_groups = None
    if groups is not None:
        own_groups = (groups if rows is None else groups[rows])[places]
    reasons = column.counts(rows)
    missing: Counter[str | None] = Counter()
    for reason, count in reasons.items():
        missing[reason.missing] += count
    missing.pop("not_asked", None)
    counts = MetricCounts(scored=missing.pop(None, 0), **{str(kind): count for kind, count in missing.items()})
    represented, run_rows = float(len(values)), places if rows is None else np.asarray(rows)[places]
    if sample is None:
        value, estimate = value_over(metric, values), interval_over(metric, values, settings.confidence, own_groups)
    else:
        value, estimate = weighted_over(metric, values, run_rows, sample, settings.confidence)
        represented = float(sample.of(run_rows).sum())
        value = value * represented if value is not None and metric.aggregation is Aggregation.SUM else value
    ci = estimate.interval if estimate else None
    if ci is not None and metric.aggregation is Aggregation.SUM:
        ci = ci[0] * represented, ci[1] * represented
    late = values[column.late()[run_rows]] if metric.aggregation is Aggregation.PERCENTILE else np.empty(0)
    labels = Counter[str]()
    for reason, count in reasons.items():
        if reason.label and reason.missing is None:
            labels[reason.label] += count
    return MetricSummary(
        name=metric.name,
        value=value,
        group=metric.group,
        sample_size=len(values),
        whole=None if sample is None else round(represented, 6),
        counts=counts,
        ci=ci,
        interval=described(estimate, open_above=ci is not None and bool((late <= ci[1]).any())),
        at_least=value is not None and bool(len(late)) and float(late.min()) <= value,
        bounds=_bounds(metric, column, sample, rows),
        reason=_why_missing(column, rows) if value is None else None,
        rules=dict(column.rules) if rows is None else {},
        labels=dict(labels),
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
    )


def described(estimate: Estimate | None, *, open_above: bool = False) -> MetricInterval | None:
    """How an interval was computed, as it is saved."""
    if estimate is None:
        return None
    return MetricInterval(
        method=estimate.method, n=estimate.n, clusters=estimate.groups, note=estimate.note, open_above=open_above
    )


def _bounds(metric: BaseMetric, column: Column, sample: Strata | None, rows: Rows | None) -> Interval | None:
    """The value if every lost question had scored worst, and best; None where none is lost, or without a range.

    Of a sample, a lost question stands for as many as any other of its stratum.
    """
    ends = (metric.low, metric.high) if metric.higher_is_better is None else (metric.worst, metric.best)
    lost = column.mask("transport", "judge", "injection", "fault")
    if None in ends or not lost.any() or (sample is not None and metric.aggregation is Aggregation.PERCENTILE):
        return None
    kept = np.flatnonzero(lost | ~np.isnan(column.numbers))
    kept = kept if rows is None else np.intersect1d(kept, rows)
    if not lost[kept].any():
        return None
    values = [np.where(lost, float(end or 0.0), column.numbers)[kept] for end in ends]
    if sample is None:
        low, high = (value_over(metric, filled) for filled in values)
    else:
        times = float(sample.of(kept).sum()) if metric.aggregation is Aggregation.SUM else 1.0
        low, high = (times * sample.mean(filled, kept) for filled in values)
    return None if low is None or high is None else (low, high)


def _why_missing(column: Column, rows: Rows | None) -> str:
    reasons: Counter[str] = Counter()
    for reason, count in column.counts(rows).items():
        if reason.text and reason.missing != "not_asked":
            reasons[reason.text] += count
    named = reasons.most_common(3)
    if len(named) == 1:
        return named[0][0]
    return "; ".join(f"{text} ({count})" for text, count in named) or "no question was asked"
