"""The questions that changed most between two runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Self

from evals.compare.models import ANSWERABLE_ABSTENTION_RATE, QuestionChange
from evals.compare.pairing import Pairing
from evals.metrics.abstaining import known_answerable
from evals.metrics.base import BaseMetric
from evals.schemas import EvalRecord, MetricGroup, ResponseError

_SAME = 1e-9
_NOTES = {(False, True): "declines to answer now", (True, False): "declined to answer, and does not now"}
"""By whether the answer to an answerable question declines in either run."""


def find_changes(pairing: Pairing, metrics: Sequence[BaseMetric]) -> list[QuestionChange]:
    """The questions that fared differently in the second of two runs than in the first, the greatest loss first.

    How far a question moved is the mean over the groups of the mean over their metrics, so that nine metrics of
    retrieval do not outweigh one of citation. To lose the answer altogether is -1, to gain one +1.

    Args:
        pairing: The two runs.
        metrics: Those that both runs have, and measured by the same means.
    """
    metrics = [metric for metric in metrics if _tells_quality(metric)]
    found = []
    for key in pairing.ids:
        change = _change(metrics, *(_Side.of(pairing, run, key) for run in (0, -1)))
        if change is not None:
            found.append(change)
    return sorted(found, key=lambda change: (change.change, change.question_id))


def _tells_quality(metric: BaseMetric) -> bool:
    bounded = metric.low is not None and metric.high is not None
    return bounded and metric.higher_is_better is not None and metric.group is not MetricGroup.PERFORMANCE


@dataclass(frozen=True, slots=True)
class _Side:
    """One question in one run."""

    record: EvalRecord
    values: dict[str, float]
    error: ResponseError | None
    silent: bool
    """Whether the answer declines, to a question that is known to be answerable."""

    @classmethod
    def of(cls, pairing: Pairing, run: int, key: str) -> Self:
        record, abstained = pairing.records[run][key], pairing.abstained[run].get(key)
        values = {score.name: score.value for score in record.scores if score.value is not None}
        answerable = known_answerable(record.question)
        if abstained is not None and answerable:
            values[ANSWERABLE_ABSTENTION_RATE] = float(abstained)
        error = record.response.error if record.response else None
        return cls(record, values, error, answerable and abstained is True)


def _change(metrics: Sequence[BaseMetric], first: _Side, last: _Side) -> QuestionChange | None:
    if first.error or last.error:
        return _answered_or_not(first, last)
    steps, change = _steps(metrics, first.values, last.values)
    if abs(change) < _SAME:
        return None
    # What moved the way the question did comes first: that is why it stands in the list.
    way = 1 if change > 0 else -1
    moved = sorted((name for name in steps if abs(steps[name]) > _SAME), key=lambda name: -way * steps[name])
    both = {name: (first.values[name], last.values[name]) for name in moved}
    return _build(last.record, change, both, _NOTES.get((first.silent, last.silent)))


def _answered_or_not(first: _Side, last: _Side) -> QuestionChange | None:
    """What became of a question that one of the runs has no answer to."""
    if last.error is None:
        return _build(last.record, 1.0, {}, "answered now")
    return None if first.error else _build(last.record, -1.0, {}, f"no answer any more: {last.error.kind}")


def _steps(
    metrics: Sequence[BaseMetric], before: Mapping[str, float], after: Mapping[str, float]
) -> tuple[dict[str, float], float]:
    """How far each metric moved, and the mean over the groups of the mean over their metrics."""
    steps: dict[str, float] = {}
    groups: dict[MetricGroup, list[float]] = {}
    for metric in metrics:
        if metric.name in before and metric.name in after:
            steps[metric.name] = _step(metric, before[metric.name], after[metric.name])
            groups.setdefault(metric.group, []).append(steps[metric.name])
    return steps, fmean(map(fmean, groups.values())) if groups else 0.0


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
