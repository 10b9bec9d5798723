"""The questions that changed most between two runs."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import fmean
from typing import NamedTuple

from evals.compare.models import ANSWERABLE_ABSTENTION_RATE, QuestionChange
from evals.compare.pairing import Pairing, Side
from evals.metrics.base import BaseMetric
from evals.schemas import MetricGroup

_SAME = 1e-9
_SET = set(QuestionChange.model_fields)
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
    places, found = _changed(pairing, metrics)
    texts = zip(places, pairing.sides[-1].texts(places), found, strict=True)
    changes = [_build(pairing.ids[place], text, change) for place, text, change in texts]
    changes.sort(key=lambda change: (change.change, change.question_id))
    return changes


def _changed(pairing: Pairing, metrics: Sequence[BaseMetric]) -> "tuple[array[int], list[_Change]]":
    """The places of the questions that fared differently, and how."""
    first, last = (_walk(side, metrics) for side in (pairing.sides[0], pairing.sides[-1]))
    found: list[_Change] = []
    places, known = array("I"), _Known()
    for place, (before, after) in enumerate(zip(first, last, strict=True)):
        change = _change(metrics, before, after)
        if change is not None:
            found.append(known.one_of(change))
            places.append(place)
    return places, found


def _tells_quality(metric: BaseMetric) -> bool:
    bounded = metric.low is not None and metric.high is not None
    return bounded and metric.higher_is_better is not None and metric.group is not MetricGroup.PERFORMANCE


@dataclass(frozen=True, slots=True)
class _Seen:
    """One question in one run."""

    values: dict[str, float]
    error: str
    """Why there is no answer; empty where there is one."""
    silent: bool
    """Whether the answer declines, to a question that is known to be answerable."""


class _Change(NamedTuple):
    """How one question fared."""

    change: float
    moved: dict[str, tuple[float, float]]
    note: str | None


class _Known:
    """Holds once what is alike: many questions fare in the same way, and few pairs of values are different."""

    def __init__(self) -> None:
        self._pairs: dict[tuple[float, float], tuple[float, float]] = {}
        self._changes: dict[tuple[object, ...], _Change] = {}

    def one_of(self, change: _Change) -> _Change:
        """The first change that is equal to this one."""
        key = (change.change, change.note, *change.moved.items())
        found = self._changes.get(key)
        if found is None:
            moved = {name: self._pairs.setdefault(both, both) for name, both in change.moved.items()}
            found = self._changes[key] = change._replace(moved=moved)
        return found


def _walk(side: Side, metrics: Sequence[BaseMetric]) -> Iterator[_Seen]:
    """What each of the common questions has in one run."""
    columns = {metric.name: column.values for metric in metrics if (column := side.column(metric.name)) is not None}
    said = zip(side.errors(), side.declined(), side.answerable(), strict=True)
    for place, (error, declined, answerable) in enumerate(said):
        values = {name: value for name, own in columns.items() if not isnan(value := own[place])}
        if declined is not None and answerable:
            values[ANSWERABLE_ABSTENTION_RATE] = float(declined)
        yield _Seen(values, error, answerable and declined is True)


def _change(metrics: Sequence[BaseMetric], first: _Seen, last: _Seen) -> _Change | None:
    if first.error or last.error:
        return _answered_or_not(first, last)
    steps, change = _steps(metrics, first.values, last.values)
    if abs(change) < _SAME:
        return None
    # What moved the way the question did comes first: that is why it stands in the list.
    way = 1 if change > 0 else -1
    moved = sorted((name for name in steps if abs(steps[name]) > _SAME), key=lambda name: -way * steps[name])
    both = {name: (first.values[name], last.values[name]) for name in moved}
    return _Change(change, both, _NOTES.get((first.silent, last.silent)))


def _answered_or_not(first: _Seen, last: _Seen) -> _Change | None:
    """What became of a question that one of the runs has no answer to."""
    if not last.error:
        return _Change(1.0, {}, "answered now")
    return None if first.error else _Change(-1.0, {}, f"no answer any more: {last.error}")


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


def _build(key: str, text: str, found: _Change) -> QuestionChange:
    # Of parts that are valid already, and without a set of names a question: a comparison may hold very many.
    return QuestionChange.model_construct(
        _SET, question_id=key, question=text, change=found.change, moved=found.moved, note=found.note
    )
