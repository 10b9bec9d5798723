"""Pair the questions of several runs by id."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from statistics import fmean
from typing import NamedTuple

from evals.compare.models import ANSWERABLE_ABSTENTION_RATE, LinkMove, QuestionChange
from evals.errors import ConfigError
from evals.metrics.base import BaseMetric
from evals.metrics.retrieval import SetPrecision
from evals.schemas.results import EvalRecord, EvalRun, MetricGroup
from evals.scoring.conclusion import measured
from evals.scoring.diagnosis.stages import Link
from evals.scoring.digest import kept_columns
from evals.scoring.run_columns import ANSWERABLE, GOLD, RunColumns, ScoreColumn
from evals.store.records import RecordFile
from evals.text.numbers import counted

_DECLINED = {"y": True, "n": False, "?": None}


class Endings(NamedTuple):
    """How the questions of a run ended.

    Attributes:
        links: The first link that broke, by the number of the question, of each that has one.
        declines: As a digest has it.
    """

    links: dict[int, Link]
    declines: str


@dataclass(frozen=True)
class SavedRun:
    """A run with its records."""

    run: EvalRun
    records: Sequence[EvalRecord]

    @cached_property
    def asked(self) -> RunColumns:
        """The questions that were asked, with what was measured of them."""
        return kept_columns(self.run, self.records)

    @cached_property
    def endings(self) -> Endings:
        """How its questions ended; the sentences of its digest are not held, which take more than all values."""
        digest = measured(self.run, self.records).digest
        return Endings(digest.links, digest.declines)


@dataclass(frozen=True, slots=True)
class Side:
    """One run of several, with where it has the questions that all of them asked.

    Attributes:
        saved: The run.
        rows: Of its columns, one for each of these questions, in their order.
    """

    saved: SavedRun
    rows: Sequence[int]

    @property
    def columns(self) -> RunColumns:
        """All that the run asked."""
        return self.saved.asked

    def column(self, name: str) -> ScoreColumn | None:
        """The results of a metric; None where the run does not have it."""
        found = self.columns.scores.get(name)
        return None if found is None else found.taken(self.rows)

    def declined(self) -> Iterator[bool | None]:
        """Whether each answer declines; None if there is none or it is unknown."""
        said, numbers = self.saved.endings.declines, self.columns.numbers
        return (_DECLINED[said[numbers[row]]] for row in self.rows)

    def errors(self) -> Iterator[str]:
        """Why there is no answer, for each question; "" where there is one."""
        return (self.columns.errors[row] for row in self.rows)

    def answered(self) -> Iterator[bool]:
        """Whether each question has an answer."""
        return (not error for error in self.errors())

    def flagged(self, flag: int) -> Iterator[bool]:
        """Whether each has a flag, such as that its answer came with a list of chunks."""
        return (bool(self.columns.flags[row] & flag) for row in self.rows)

    def answerable(self) -> Iterator[bool]:
        """Whether each question is known to be answerable."""
        return self.flagged(ANSWERABLE)

    def clusters(self) -> list[str]:
        """What each question belongs to, by the configuration of this run."""
        return self.columns.labels(self.rows)

    def links(self) -> Iterator[Link | None]:
        """The first broken link of each question."""
        numbers, links = self.columns.numbers, self.saved.endings.links
        return (links.get(numbers[row]) for row in self.rows)

    def texts(self, places: Sequence[int]) -> Iterator[str]:
        """What was asked in some of these questions."""
        records, numbers = self.saved.records, (self.columns.numbers[self.rows[place]] for place in places)
        if isinstance(records, RecordFile):
            return records.texts(numbers)
        return (records[number].question.question for number in numbers)


class Subset(NamedTuple):
    """Some of the questions that all runs asked: their ids, their clusters, and their places among these questions."""

    ids: list[str]
    clusters: list[str]
    places: Sequence[int]


@dataclass(frozen=True, slots=True)
class Pairing:
    """Several runs, side by side.

    Attributes:
        runs: The runs.
        ids: The questions that all runs asked, in the order of the first run.
        sides: Each run with where it has these questions.
        reworded: Ids that all runs have, but not with the same question.
        regraded: By what differs ("gold passages"), the common questions for which it is not the same in all runs.
    """

    runs: list[EvalRun]
    ids: list[str]
    sides: list[Side]
    reworded: list[str]
    regraded: dict[str, list[str]]
    _subsets: dict[bytes, Subset] = field(default_factory=dict)

    def of_same_gold(self) -> "Pairing":
        """The same over the questions of which all runs had the same gold; as it is where that is none, or all."""
        others = {key for keys in self.regraded.values() for key in keys}
        places = [place for place, key in enumerate(self.ids) if key not in others]
        if not others or not places:
            return self
        sides = [Side(each.saved, [each.rows[place] for place in places]) for each in self.sides]
        return Pairing(self.runs, [self.ids[place] for place in places], sides, self.reworded, {})

    def clusters(self) -> list[str]:
        """What each common question belongs to, by the configuration of the first run."""
        return self.subset(b"\x01" * len(self.ids)).clusters

    def subset(self, mask: bytes) -> Subset:
        """The questions where the mask has a 1; equal ones are one object, as many metrics have the same."""
        found = self._subsets.get(mask)
        if found is None:
            found = self._subsets[mask] = self._made(mask)
        return found

    def _made(self, mask: bytes) -> Subset:
        if 0 not in mask:
            return Subset(self.ids, self.sides[0].clusters(), range(len(self.ids)))
        whole, places = self.clusters(), array("I", (place for place, there in enumerate(mask) if there))
        return Subset([self.ids[place] for place in places], [whole[place] for place in places], places)


def pair_up(saved: Sequence[SavedRun], *, may_be_empty: bool = False) -> Pairing:
    """Pair the records of runs by question id.

    An id that stands for another question in another run (two files that both number their rows) pairs nothing.

    Args:
        saved: The runs.
        may_be_empty: Whether it is no error where no question was asked by all of them.

    Raises:
        ConfigError: Fewer than two runs, or no question that all of them asked.
    """
    if len(saved) < 2:
        raise ConfigError("a comparison needs at least two runs", "`evals runs` lists the saved runs")
    common = _common([each.asked for each in saved])
    if not common.ids and not may_be_empty:
        raise _nothing_in_common(saved, len(common.reworded))
    return Pairing(
        runs=[each.run for each in saved],
        ids=common.ids,
        sides=[Side(each, rows) for each, rows in zip(saved, common.rows, strict=True)],
        reworded=sorted(common.reworded),
        regraded=_regraded([each.asked for each in saved], common),
    )


class _Common(NamedTuple):
    """The questions of several runs that are the same, with their rows in each; and ids that are of several."""

    ids: list[str]
    rows: list[Sequence[int]]
    reworded: list[str]


def _common(asked: Sequence[RunColumns]) -> _Common:
    places = [columns.rows() for columns in asked]
    ids, reworded = list[str](), list[str]()
    rows = [array("I") for _ in asked]
    shared = set(places[0]).intersection(*places[1:])
    for key in filter(shared.__contains__, places[0]):
        found = [own[key] for own in places]
        if len({columns.texts[row] for columns, row in zip(asked, found, strict=True)}) > 1:
            reworded.append(key)
            continue
        ids.append(key)
        for own, row in zip(rows, found, strict=True):
            own.append(row)
    return _Common(ids, [_short(own, len(columns.ids)) for own, columns in zip(rows, asked, strict=True)], reworded)


def _short(rows: "array[int]", count: int) -> Sequence[int]:
    """The rows; where they are all of the run in its order, a range, so that columns need no copy."""
    whole = len(rows) == count and all(row == place for place, row in enumerate(rows))
    return range(count) if whole else rows


def _nothing_in_common(saved: Sequence[SavedRun], ids: int) -> ConfigError:
    why = f" ({counted(ids, 'id', 'is')} the same, but no question)" if ids else ""
    named = " and ".join(each.run.id for each in saved)
    return ConfigError(
        f"the runs have no question in common{why}: {named}",
        "compare runs over the same dataset, samples and seed: `evals runs` lists the datasets",
    )


def _regraded(asked: Sequence[RunColumns], common: _Common) -> dict[str, list[str]]:
    found = {}
    for name in GOLD:
        hashes = [[columns.gold[name][row] for row in rows] for columns, rows in zip(asked, common.rows, strict=True)]
        others = [key for key, *same in zip(common.ids, *hashes, strict=True) if len(set(same)) > 1]
        if others:
            found[name] = others
    return found


# The questions that changed most between two runs.


_SAME = 1e-9


_NOTES = {(False, True): "declines to answer now", (True, False): "declined to answer, and does not now"}
"""By whether the answer to an answerable question declines in either run."""


def find_changes(pairing: Pairing, metrics: Sequence[BaseMetric]) -> list[QuestionChange]:
    """The questions that fared differently in the second of two runs than in the first, the greatest loss first.

    How far a question moved is the mean over the groups of the mean over their metrics, so that nine metrics of
    retrieval do not outweigh one of citation. To lose the answer altogether is -1, to gain one +1.

    Args:
        pairing: The two runs.
        metrics: Those that both runs have, and measured by the same means; `set_precision` is left out, as it falls
            with any chunk more.
    """
    metrics = [metric for metric in metrics if _tells_quality(metric) and metric.name != SetPrecision.name]
    first, last = (_walk(side, metrics) for side in (pairing.sides[0], pairing.sides[-1]))
    found = {
        place: change
        for place, (before, after) in enumerate(zip(first, last, strict=True))
        if (change := _change(metrics, before, after)) is not None
    }
    texts = zip(found.items(), pairing.sides[-1].texts(list(found)), strict=True)
    # Of parts that are valid already: a comparison may hold very many.
    changes = [
        QuestionChange.model_construct(question_id=pairing.ids[place], question=text, **change._asdict())
        for (place, change), text in texts
    ]
    changes.sort(key=lambda change: (change.change, change.question_id))
    return changes


def _tells_quality(metric: BaseMetric) -> bool:
    bounded = metric.low is not None and metric.high is not None
    return bounded and metric.higher_is_better is not None and metric.group is not MetricGroup.PERFORMANCE


class _Seen(NamedTuple):
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
    """How a question fared; None where nothing changed."""
    if first.error:
        return None if last.error else _Change(1.0, {}, "answered now")
    if last.error:
        return _Change(-1.0, {}, f"no answer any more: {last.error}")
    steps, change = _steps(metrics, first.values, last.values)
    if abs(change) < _SAME:
        return None
    # What moved the way the question did comes first: that is why it stands in the list.
    way = 1 if change > 0 else -1
    moved = sorted((name for name in steps if abs(steps[name]) > _SAME), key=lambda name: -way * steps[name])
    both = {name: (first.values[name], last.values[name]) for name in moved}
    return _Change(change, both, _NOTES.get((first.silent, last.silent)))


def _steps(
    metrics: Sequence[BaseMetric], before: Mapping[str, float], after: Mapping[str, float]
) -> tuple[dict[str, float], float]:
    """How far each metric moved, as a share of its range, and the mean over the groups of the mean of their metrics."""
    steps: dict[str, float] = {}
    groups: dict[MetricGroup, list[float]] = {}
    for metric in metrics:
        if metric.name in before and metric.name in after:
            span = (metric.high or 0.0) - (metric.low or 0.0)
            gain = (after[metric.name] - before[metric.name]) / span * (1 if metric.higher_is_better else -1)
            steps[metric.name] = gain
            groups.setdefault(metric.group, []).append(gain)
    return steps, fmean(map(fmean, groups.values())) if groups else 0.0


# Which questions moved from which broken link to which.


def find_moves(pairing: Pairing) -> list[LinkMove]:
    """The questions whose first broken link is not the same in a run as in the baseline.

    Args:
        pairing: The baseline and the run that is set against it.

    Returns:
        The most frequent moves first, then in the order of the chain.
    """
    baseline, other = pairing.runs
    if (baseline.judge is None) is not (other.judge is None):
        return []  # one is diagnosed by a judge and the other by words: a question may move though nothing changed
    moved: dict[tuple[Link | None, Link | None], list[str]] = {}
    for key, before, after in zip(pairing.ids, *(side.links() for side in pairing.sides), strict=True):
        if before is not after:
            moved.setdefault((before, after), []).append(key)
    moves = [LinkMove(first=before, last=after, questions=ids) for (before, after), ids in moved.items()]
    return sorted(moves, key=lambda move: (-len(move.questions), _place(move.last), _place(move.first)))


def _place(link: Link | None) -> int:
    return len(Link) if link is None else link.place
