"""The questions that changed most between two runs."""

from collections.abc import Sequence
from statistics import fmean

from evals.compare.models import QuestionChange
from evals.compare.pairing import Pairing
from evals.metrics.base import BaseMetric
from evals.metrics.registry import parse_metric
from evals.schemas import EvalRecord, MetricGroup

_SAME = 1e-9


def find_changes(pairing: Pairing, names: Sequence[str]) -> list[QuestionChange]:
    """The questions that fared differently in the last run than in the first, the greatest loss first.

    How far a question moved is the mean over the groups of the mean over their metrics, so that nine metrics of
    retrieval do not outweigh one of citation. To lose the answer altogether is -1, to gain one +1.

    Args:
        pairing: The runs.
        names: The metrics that both runs have.
    """
    metrics = [metric for metric in map(parse_metric, names) if _tells_quality(metric)]
    found = []
    for key in pairing.ids:
        change = _change(metrics, pairing.records[0][key], pairing.records[-1][key])
        if change is not None:
            found.append(change)
    return sorted(found, key=lambda change: (change.change, change.question_id))


def _tells_quality(metric: BaseMetric) -> bool:
    bounded = metric.low is not None and metric.high is not None
    return bounded and metric.higher_is_better is not None and metric.group is not MetricGroup.PERFORMANCE


def _change(metrics: Sequence[BaseMetric], first: EvalRecord, last: EvalRecord) -> QuestionChange | None:
    errors = [record.response.error if record.response else None for record in (first, last)]
    if errors[0] or errors[1]:
        if errors[0] and errors[1]:
            return None
        note = f"no answer any more: {errors[1].kind}" if errors[1] else "answered now"
        return _build(last, -1.0 if errors[1] else 1.0, {}, note)
    before, after = _values(first), _values(last)
    steps: dict[str, float] = {}
    groups: dict[MetricGroup, list[float]] = {}
    for metric in metrics:
        if metric.name in before and metric.name in after:
            step = _step(metric, before[metric.name], after[metric.name])
            steps[metric.name] = step
            groups.setdefault(metric.group, []).append(step)
    change = fmean(map(fmean, groups.values())) if groups else 0.0
    if abs(change) < _SAME:
        return None
    # What moved the way the question did comes first: that is why it stands in the list.
    way = 1 if change > 0 else -1
    moved = sorted((name for name in steps if abs(steps[name]) > _SAME), key=lambda name: -way * steps[name])
    return _build(last, change, {name: (before[name], after[name]) for name in moved}, None)


def _values(record: EvalRecord) -> dict[str, float]:
    return {score.name: score.value for score in record.scores if score.value is not None}


def _step(metric: BaseMetric, before: float, after: float) -> float:
    """How far a metric moved, as a share of its range; more is better."""
    span = (metric.high or 0.0) - (metric.low or 0.0)
    return (after - before) / span * (1 if metric.higher_is_better else -1)


def _build(
    record: EvalRecord, change: float, moved: dict[str, tuple[float, float]], note: str | None
) -> QuestionChange:
    return QuestionChange(
        question_id=record.question.id, question=record.question.question, change=change, moved=moved, note=note
    )
