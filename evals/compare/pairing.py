"""Which questions of several runs are the same."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from evals.errors import ConfigError
from evals.schemas import EvalRecord, EvalRun
from evals.scoring.diagnosis import Link
from evals.scoring.digest.columns import ScoreColumn
from evals.scoring.digest.kept import kept_columns
from evals.scoring.digest.run_columns import ANSWERABLE, GOLD, RunColumns, taken
from evals.scoring.measured import measured
from evals.store.record_file import RecordFile
from evals.text.counts import counted

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
        return Endings(dict(digest.found.links()), digest.declines)


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
        """Whether each answer declines; None where there is none, or nobody knows."""
        said, numbers = self.saved.endings.declines, self.columns.numbers
        return (_DECLINED[said[numbers[row]]] for row in self.rows)

    def errors(self) -> Iterator[str]:
        """Why there is no answer, for each question; "" where there is one."""
        return (self.columns.errors[row] for row in self.rows)

    def answerable(self) -> Iterator[bool]:
        """Whether each question is known to be answerable."""
        return (bool(self.columns.flags[row] & ANSWERABLE) for row in self.rows)

    def clusters(self) -> list[str]:
        """What each question belongs to, by the configuration of this run."""
        return taken(self.columns.clusters, self.rows)

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
        raise ConfigError("a comparison needs at least two runs", "`evals runs` lists what there is")
    common = _common([each.asked for each in saved])
    if not common.ids and not may_be_empty:
        raise _nothing_in_common(saved, common.shared)
    return Pairing(
        runs=[each.run for each in saved],
        ids=common.ids,
        sides=[Side(each, rows) for each, rows in zip(saved, common.rows, strict=True)],
        reworded=sorted(common.reworded),
        regraded=_regraded([each.asked for each in saved], common),
    )


class _Common(NamedTuple):
    """The questions of several runs that are the same, with their rows in each; how many ids all have, and others."""

    ids: list[str]
    rows: list[Sequence[int]]
    shared: int
    reworded: list[str]


def _common(asked: Sequence[RunColumns]) -> _Common:
    places = [columns.rows() for columns in asked]
    ids, reworded = list[str](), list[str]()
    rows = [array("I") for _ in asked]
    for key in places[0]:
        found = [own[key] for own in places if key in own]
        if len(found) < len(asked):
            continue
        first = asked[0].texts[found[0]]
        if any(columns.texts[row] != first for columns, row in zip(asked, found, strict=True)):
            reworded.append(key)
            continue
        ids.append(key)
        for own, row in zip(rows, found, strict=True):
            own.append(row)
    return _Common(ids, [_short(own, len(columns.ids)) for own, columns in zip(rows, asked, strict=True)],
                   len(ids) + len(reworded), reworded)  # fmt: skip


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
