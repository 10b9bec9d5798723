"""The values of a metric over a run, where verdicts of the judge are lost."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum
from statistics import fmean

from evals.metrics.base import Aggregation, BaseMetric
from evals.schemas.results import WITHOUT_VERDICT, JudgedStrata, MetricResult
from evals.scoring.run_columns import ScoreColumn
from evals.scoring.stats.intervals import percentile
from evals.scoring.stats.missing import Observation, Weighted, weigh
from evals.text.numbers import agree, counted


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
    rows = [
        (worst if kind.missing == "transport" else value, kind, label)
        for (value, kind), label in zip(column, told, strict=True)
        if kind.missing != "transport" or worst is not None
    ]
    values = [value for value, _, _ in rows if value is not None]
    plain = StratifiedSample(values, [label for value, _, label in rows if value is not None])
    lost = [kind for kind, _ in column.kinds() if kind.missing in WITHOUT_VERDICT]
    if not lost or not all(kind.judged_by for kind in lost):  # those of runs of before do not say which they needed
        return plain
    observed = [Observation(kind.judged_by, value, kind.missing in WITHOUT_VERDICT) for value, kind, _ in rows]
    weighted = weigh(observed)
    if weighted is None:
        return StratifiedSample([], [], reason=_why_none(observed, column) if values else None)
    if not values:
        return plain
    strata = _strata(observed, weighted)
    if weighted.uniform:
        return replace(plain, strata=strata)
    return replace(plain, weighted=weighted, all_clusters=tuple(label for _, _, label in rows), strata=strata)


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
        return f"more than a tenth of the answers hang on verdicts of which the judge gave none: {most}"
    need = agree(len(judged), "needs", "need")
    return f"{counted(len(judged), 'answer')} {need} a verdict of the judge, and none is there: {most}"


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
