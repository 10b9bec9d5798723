"""Build the scorecard from records. The only place that decides denominators.

Every number is computed from records, never from other averages: each metric walks all the questions that were
asked, and counts each exactly once as scored, not applicable, lost to transport or lost to the judge. A question that
was selected and never asked, because the run ended before, has no results: it is in no metric's counts.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, inf
from statistics import fmean
from time import perf_counter

from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.sample import Sample
from evals.schemas.base import unchecked
from evals.schemas.dataset import EvalQuestion
from evals.schemas.results import (
    WITHOUT_VERDICT,
    EvalRecord,
    JudgedStrata,
    MetricCounts,
    MetricGroup,
    MetricInterval,
    MetricResult,
    MetricSummary,
    Scorecard,
)
from evals.scoring.config import BY_DOCUMENT
from evals.scoring.run_columns import ResultKind, RunColumns, ScoreColumn, ScoreTable, reads_details, spelled
from evals.scoring.settings import ScoreSettings, ScoringContext, score_of
from evals.scoring.stats.intervals import Interval, IntervalEstimate, Mark, percentile, units
from evals.scoring.stats.means import mean_interval, percentile_estimate
from evals.scoring.stats.missing import Observation, Weighted, weigh, weighted_interval
from evals.text.numbers import agree, counted

# The values of a metric over a run: where verdicts of the judge are lost, those that are there stand for them.


@dataclass(frozen=True, slots=True)
class StratifiedSample:
    """The values of a metric that count.

    Attributes:
        values: In the order of the questions.
        clusters: What each belongs to.
        weighted: The same where they stand for lost ones; None where each stands for itself.
        all_clusters: What each question of `weighted` belongs to, lost ones included.
        strata: Where verdicts were lost: how many questions needed some, and how many got them.
        reason: Why there is no value although there are some of questions that need no judge.
    """

    values: list[float]
    clusters: list[str]
    weighted: Weighted | None = None
    all_clusters: tuple[str, ...] = ()
    strata: JudgedStrata | None = None
    reason: str | None = None


def sample_of(
    metric: BaseMetric,
    results: Sequence[MetricResult] | ScoreColumn,
    clusters: Sequence[str] | None,
    *,
    worst_on_error: bool,
) -> StratifiedSample:
    """The values that count: where it is so told, no answer counts as the worst value.

    Args:
        metric: The metric.
        results: Its results, one a question.
        clusters: The label of each question's cluster, in the same order; None where all are independent.
        worst_on_error: Whether a question without an answer counts as the worst value.
    """
    column = results if isinstance(results, ScoreColumn) else ScoreColumn.of(metric, results)
    labels = list(map(str, range(len(column)))) if clusters is None else clusters
    worst = metric.worst if worst_on_error else None
    told = [label for label, code in zip(labels, column.codes, strict=True) if code]
    plain = StratifiedSample([], [])
    for (value, kind), label in zip(column, told, strict=True):
        counts_as = worst if kind.missing == "transport" else value
        if counts_as is not None:
            plain.values.append(counts_as)
            plain.clusters.append(label)
    return _weighted(plain, column, told, worst) if _says_what_is_lost(column) else plain


def _says_what_is_lost(column: ScoreColumn) -> bool:
    """Whether verdicts are lost, and the results say which they needed: those of earlier runs do not."""
    lost = [kind for kind, _ in column.kinds() if kind.missing in WITHOUT_VERDICT]
    return bool(lost) and all(kind.judged_by for kind in lost)


def _weighted(
    plain: StratifiedSample, column: ScoreColumn, labels: Sequence[str], worst: float | None
) -> StratifiedSample:
    pairs = [
        (_observed(value, kind, worst), label)
        for (value, kind), label in zip(column, labels, strict=True)
        if worst is not None or kind.missing != "transport"
    ]
    observed = [each for each, _ in pairs]
    weighted = weigh(observed)
    if weighted is None:
        return StratifiedSample([], [], reason=_why_none(observed, column) if plain.values else None)
    if not plain.values:
        return plain
    strata = _strata(observed, weighted)
    if weighted.uniform:
        return replace(plain, strata=strata)
    return replace(plain, weighted=weighted, all_clusters=tuple(label for _, label in pairs), strata=strata)


def _observed(value: float | None, kind: ResultKind, worst: float | None) -> Observation:
    return Observation(kind.judged_by, worst if kind.missing == "transport" else value, kind.missing in WITHOUT_VERDICT)


def _strata(observed: Sequence[Observation], weighted: Weighted) -> JudgedStrata:
    return JudgedStrata(
        settled=sum(each.value is not None and not each.path for each in observed),
        judged=sum(bool(each.path) for each in observed),
        obtained=sum(bool(each.path) and not each.lost for each in observed),
        size=weighted.size,
        heaviest=weighted.heaviest,
    )


def _why_none(observed: Sequence[Observation], column: ScoreColumn) -> str:
    judged = [each for each in observed if each.path]
    reasons: Counter[str | None] = Counter()
    for kind, count in column.kinds():
        reasons[kind.reason] += count * (kind.missing in WITHOUT_VERDICT)
    most = reasons.most_common(1)[0][0]
    if not all(each.lost for each in judged):
        return f"more than a tenth of the answers need verdicts of which none was obtained: {most}"
    need = agree(len(judged), "needs", "need")
    return f"{counted(len(judged), 'answer')} {need} a verdict of the judge, and none was obtained: {most}"


def value_of(metric: BaseMetric, sample: StratifiedSample) -> float | None:
    """The one value of the run: a mean stands for lost values too, a count is what was counted; None without values."""
    if not sample.values:
        return None
    if sample.weighted is not None and metric.aggregation is not Aggregation.SUM:
        return weighted_value(metric, sample.weighted)
    return value_over(metric, sample.values)


def estimate_of(metric: BaseMetric, sample: StratifiedSample) -> float | None:
    """What a sum would be with the lost values, as far as can be told; None where none is lost, and of no sum."""
    if metric.aggregation is not Aggregation.SUM or sample.strata is None or not sample.values:
        return None
    return sample.strata.size * (fmean(sample.values) if sample.weighted is None else sample.weighted.mean)


def weighted_value(metric: BaseMetric, weighted: Weighted) -> float:
    """Values that stand for lost ones as the one value of the run; of a sum, their mean."""
    if metric.aggregation is Aggregation.PERCENTILE:
        return weighted.percentile(metric.percentile or 50.0)
    return weighted.mean


def value_over(metric: BaseMetric, values: Sequence[float]) -> float:
    """The values of questions, of which there is at least one, as the one value of the run."""
    if metric.aggregation is Aggregation.SUM:
        return fsum(values)
    if metric.aggregation is Aggregation.PERCENTILE:
        return percentile(values, metric.percentile or 50.0)
    return fmean(values)


# The interval of a metric over a run, and what there is to know of it.


def metric_interval(
    metric: BaseMetric,
    sample: StratifiedSample,
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
    open_above = ends is not None and any(value <= ends[1] for value in lower_bounds)
    return ends, tell(found, settings).model_copy(update={"open_above": open_above})


def tell(found: IntervalEstimate, settings: ScoreSettings) -> MetricInterval:
    """What there is to know of an interval, as it is recorded, with its marks in words."""
    things = agree(found.clusters, "document", "documents")
    if settings.cluster != BY_DOCUMENT:
        things = f"{agree(found.clusters, 'value', 'values')} of {settings.cluster}"
    few = f"for this {things}" if found.clusters == 1 else f"for these {found.clusters} {things}"
    said = [few if mark is Mark.FEW_CLUSTERS else mark.value for mark in found.marks]
    return MetricInterval(
        method=found.method,
        n=found.n,
        clusters=found.clusters,
        marks=[mark.value for mark in found.marks],
        note=", ".join(said) or None,
    )


def _estimate(metric: BaseMetric, sample: StratifiedSample, confidence: float) -> IntervalEstimate | None:
    values, clusters, weighted = sample.values, sample.clusters, sample.weighted
    if metric.aggregation is not Aggregation.PERCENTILE:
        if weighted is None or metric.aggregation is Aggregation.SUM:
            return mean_interval(values, clusters, low=metric.low, high=metric.high, confidence=confidence)
        return weighted_interval(weighted, sample.all_clusters, low=metric.low, high=metric.high, confidence=confidence)
    if weighted is None:
        return percentile_estimate(values, metric.percentile or 50.0, clusters, confidence)
    # Values that stand for different numbers of lost ones have no ranks.
    n = len(values)
    return IntervalEstimate(None, "order statistics", n, units(clusters, n)[1], (Mark.WEIGHTED,))


def too_small(metric: BaseMetric, column: ScoreColumn) -> list[float]:
    """The values of requests that ran out of time: they would have been greater."""
    return column.late if metric.aggregation is Aggregation.PERCENTILE else []


def score_record(
    metrics: Sequence[BaseMetric], record: EvalRecord, cases: ScoringContext, seconds: dict[str, float] | None = None
) -> EvalRecord:
    """Measure one record.

    Args:
        metrics: What to measure.
        record: A question with what happened to it.
        cases: The records as metrics see them.
        seconds: By name of the metrics that are timed, how long they have taken so far.
    """
    if record.response is None:
        return record
    case = cases.of(record)
    if seconds:
        scores = [_timed(metric, case, seconds) for metric in metrics]
    else:
        scores = [score_of(metric, case) for metric in metrics]
    fields = {"question": record.question, "response": record.response, "scores": scores, "verdicts": record.verdicts}
    return unchecked(EvalRecord, fields)


def _timed(metric: BaseMetric, case: Sample, seconds: dict[str, float]) -> MetricResult:
    started = perf_counter()
    result = score_of(metric, case)
    if metric.name in seconds:
        seconds[metric.name] += perf_counter() - started
    return result


def make_scorecard(metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], settings: ScoreSettings) -> Scorecard:
    """Summarise each metric over the scored records, in the order of the groups."""
    return scorecard_of(metrics, ScoreTable(settings.cluster, metrics).add_all(records), settings)


def scorecard_of(metrics: Sequence[BaseMetric], table: ScoreTable, settings: ScoreSettings) -> Scorecard:
    """Summarise each metric over the results of a run, in the order of the groups."""
    labels = table.labels()
    return in_groups(summarise(metric, table.column(metric.name), settings, labels) for metric in metrics)


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
    results: Sequence[MetricResult] | ScoreColumn,
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
    column = results if isinstance(results, ScoreColumn) else ScoreColumn.of(metric, results)
    sample = sample_of(metric, column, clusters, worst_on_error=settings.worst_on_error)
    missing = column.missing()
    counts = MetricCounts(scored=missing.pop(None, 0), **{str(why): count for why, count in missing.items()})
    one_sided = metric.one_sided(column.results()) if sample.values and reads_details(metric) else None
    if one_sided:
        sample = StratifiedSample([], [], reason=one_sided)
    value, late = value_of(metric, sample), too_small(metric, column)
    ci, interval = metric_interval(metric, sample, settings, late)
    return MetricSummary(
        name=metric.name,
        value=value,
        estimate=estimate_of(metric, sample),
        group=metric.group,
        sample_size=len(sample.values),
        counts=counts,
        ci=ci,
        interval=interval,
        at_least=value is not None and min(late, default=inf) <= value,
        bounds=None if one_sided else _bounds(metric, column, counts.lost),
        strata=sample.strata,
        reason=(sample.reason or _why_missing(column)) if value is None else None,
        rules=column.rules(),
        labels=column.labels(),
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
    )


def _bounds(metric: BaseMetric, column: ScoreColumn, lost: int) -> Interval | None:
    """The value if every question that is lost had scored worst, and best; None where none is.

    Of a metric of which neither way is better, the least and the greatest value.
    """
    worst, best = (metric.low, metric.high) if metric.higher_is_better is None else (metric.worst, metric.best)
    if not lost or worst is None or best is None:
        return None
    values = column.scored
    return value_over(metric, [*values, *[worst] * lost]), value_over(metric, [*values, *[best] * lost])


def _why_missing(column: ScoreColumn) -> str:
    reasons = column.reasons().most_common(3)
    if len(reasons) == 1:
        return reasons[0][0]
    return "; ".join(f"{reason} ({count})" for reason, count in reasons) or "no question was asked"


# A run by the values of a key, out of its columns: none of its records is held.


@dataclass(slots=True)
class SliceRows:
    """The questions with one value of a key.

    Attributes:
        questions: How many there are, those included that were not asked.
        rows: Where the columns of the run have those that were.
    """

    questions: int = 0
    rows: "array[int]" = field(default_factory=lambda: array("I"))


def rows_by(values: Sequence[str | None], columns: RunColumns) -> dict[str, SliceRows]:
    """The questions for each value of `dataset` or a key of the metadata; one without the key is in no slice.

    Args:
        values: What each question of the run has for the key.
        columns: Of those that were asked.
    """
    row_of = {number: row for row, number in enumerate(columns.numbers)}
    found: dict[str, SliceRows] = {}
    for number, value in enumerate(values):
        if value is not None:
            own = found.setdefault(value, SliceRows())
            own.questions += 1
            own.rows.extend([row_of[number]] if number in row_of else [])
    return dict(sorted(found.items()))


def slice_scorecard(
    metrics: Sequence[BaseMetric], columns: RunColumns, rows: Sequence[int], settings: ScoreSettings
) -> Scorecard:
    """What `make_scorecard` says of the records that stand in these rows."""
    labels = columns.labels(rows)
    return in_groups(summarise(metric, columns.column(metric.name).taken(rows), settings, labels) for metric in metrics)


# How much the numbers of a run depend on when a chunk counts as gold.


THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Results with one overlap threshold.

    Attributes:
        threshold: Share of the gold's tokens that a chunk must hold; of its pairs, the same share of the setting's.
        summaries: Each metric over the run.
        rules: How many golds each rule recognised.
    """

    threshold: float
    summaries: tuple[MetricSummary, ...]
    rules: dict[str, int]


def by_threshold(
    records: Sequence[EvalRecord],
    metrics: Sequence[BaseMetric],
    settings: ScoreSettings,
    thresholds: Iterable[float] = THRESHOLDS,
) -> list[Sensitivity]:
    """Measure the records again with each overlap threshold; nothing is asked.

    Args:
        records: Of a saved run.
        metrics: What to measure, such as recall_at_5 and precision_at_5.
        settings: The run's own; its pairs threshold moves in proportion.
        thresholds: The overlap thresholds to try.
    """
    results = []
    for threshold in thresholds:
        used = settings.match
        match = used.model_copy(update={"overlap_threshold": threshold})
        moved = replace(settings, match=match)
        rules: Counter[str] = Counter()
        found: list[list[MetricResult]] = [[] for _ in metrics]
        for record in records:
            if record.response is not None:
                case = ScoringContext(moved).of(record)
                rules.update(case.matches.rules)
                for metric, own in zip(metrics, found, strict=True):
                    own.append(score_of(metric, case))
        summaries = tuple(summarise(metric, own, moved) for metric, own in zip(metrics, found, strict=True))
        results.append(Sensitivity(threshold, summaries, dict(rules)))
    return results


def slice_value(question: EvalQuestion, key: str) -> str | None:
    """What a question has for `dataset` or a key of its metadata, as text; None where it has nothing."""
    return spelled(question.dataset if key == "dataset" else question.metadata.get(key))
