"""The values of a metric over a run, where verdicts of the judge are lost.

What is known without a judge stays whatever becomes of the judge, so that a plain mean of what is left would lean
towards it. So the values that hung on verdicts stand for those that hung on the same ones and lost them
(`evals.stats.lost`). Where nothing is lost, values are what they are.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean

from evals.metrics.base import Aggregation, BaseMetric
from evals.schemas import MetricResult
from evals.schemas.results import WITHOUT_VERDICT, JudgedStrata
from evals.scoring.gathered.columns import ResultColumn, ResultState
from evals.stats import Observation, Weighted, percentile, weigh
from evals.text.counts import agree, counted


@dataclass(frozen=True, slots=True)
class Sample:
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
    results: Sequence[MetricResult] | ResultColumn,
    clusters: Sequence[str] | None,
    *,
    worst_on_error: bool,
) -> Sample:
    """The values that count: where it is so told, no answer counts as the worst value.

    Args:
        metric: The metric.
        results: Its results, one a question.
        clusters: The label of each question's cluster, in the same order; None where all are independent.
        worst_on_error: Whether a question without an answer counts as the worst value.
    """
    column = results if isinstance(results, ResultColumn) else ResultColumn.of(metric, results)
    labels = list(map(str, range(len(column)))) if clusters is None else clusters
    worst = metric.worst if worst_on_error else None
    plain = _plain(column, labels, worst)
    return _weighted(column, labels, worst, plain) if _is_marked(column) else plain


def _plain(column: ResultColumn, labels: Sequence[str], worst: float | None) -> Sample:
    """Each value for itself."""
    there = list[float](), list[str]()
    for (value, kind), label in zip(column, labels, strict=True):
        counted_as = worst if kind.missing == "transport" else value
        if counted_as is not None:
            there[0].append(counted_as)
            there[1].append(label)
    return Sample(*there)


def _is_marked(column: ResultColumn) -> bool:
    """Whether verdicts are lost, and the results say which: those of runs of before do not."""
    lost = [kind for kind, _ in column.kinds() if kind.missing in WITHOUT_VERDICT]
    return bool(lost) and all(kind.judged_by for kind in lost)


def _weighted(column: ResultColumn, labels: Sequence[str], worst: float | None, plain: Sample) -> Sample:
    there = zip(column, labels, strict=True)
    pairs = [
        (_observed(value, kind, worst), label)
        for (value, kind), label in there
        if worst is not None or kind.missing != "transport"
    ]
    observed = [each for each, _ in pairs]
    weighted = weigh(observed)
    if weighted is None:
        return Sample([], [], reason=_why_none(observed, column) if plain.values else None)
    if not plain.values:
        return plain
    strata = _strata(observed, weighted)
    if weighted.uniform:
        return Sample(plain.values, plain.clusters, strata=strata)
    return Sample(plain.values, plain.clusters, weighted, tuple(label for _, label in pairs), strata)


def _observed(value: float | None, kind: ResultState, worst: float | None) -> Observation:
    return Observation(kind.judged_by, worst if kind.missing == "transport" else value, kind.missing in WITHOUT_VERDICT)


def _strata(observed: Sequence[Observation], weighted: Weighted) -> JudgedStrata:
    return JudgedStrata(
        settled=sum(each.value is not None and not each.path for each in observed),
        judged=sum(bool(each.path) for each in observed),
        obtained=sum(bool(each.path) and not each.lost for each in observed),
        size=weighted.size,
        heaviest=weighted.heaviest,
    )


def _why_none(observed: Sequence[Observation], column: ResultColumn) -> str:
    judged = [each for each in observed if each.path]
    reasons: Counter[str | None] = Counter()
    for kind, count in column.kinds():
        reasons.update({kind.reason: count} if kind.missing in WITHOUT_VERDICT else {})
    most = next(reason for reason, _ in reasons.most_common(1))
    if not all(each.lost for each in judged):
        return f"more than a tenth of the answers hang on verdicts of which the judge gave none: {most}"
    need = agree(len(judged), "needs", "need")
    return f"{counted(len(judged), 'answer')} {need} a verdict of the judge, and none is there: {most}"


def value_of(metric: BaseMetric, sample: Sample) -> float | None:
    """The one value of the run: a mean stands for lost values too, a count is what was counted; None without values."""
    if not sample.values:
        return None
    if sample.weighted is not None and metric.aggregation is not Aggregation.SUM:
        return weighted_value(metric, sample.weighted)
    return value_over(metric, sample.values)


def estimate_of(metric: BaseMetric, sample: Sample) -> float | None:
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
