"""The questions and answers of a run as columns, for comparisons: no text is held."""

import json
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any, cast, overload

from evals.errors import ConfigError
from evals.metrics.base import BaseMetric, known_answerable
from evals.metrics.performance import RAN_OUT
from evals.metrics.registry import known_metric
from evals.schemas.dataset import CONVERSATION, EvalQuestion
from evals.schemas.results import EvalRecord, MetricResult, Missing
from evals.scoring.config import BY_DOCUMENT, BY_QUESTION
from evals.scoring.stats.intervals import asked_again
from evals.text.folding import hash64

# Which questions belong together, so that their values are not independent of each other.


REPEAT_OF = "repeat_of"
"""The key of the metadata that holds the id of the question that is asked again: they are one cluster, or of one."""


def cluster_of(question: EvalQuestion, key: str) -> str:
    """The label of the cluster that a question belongs to; one of its own where it belongs to none.

    Args:
        question: With its gold and metadata.
        key: "document", the document of its first gold passage; "question", itself; else a key of its metadata. Turns
            of one conversation are a cluster whatever it is. The label of a question that was asked several times
            names it beside.
    """
    belongs = None
    if question.turns and (conversation := spelled(question.metadata.get(CONVERSATION))):
        key, belongs = CONVERSATION, conversation  # its turns share what was said before
    elif key == BY_DOCUMENT:
        golds = question.gold_passages
        belongs = golds[0].document_id if golds else None
    elif key != BY_QUESTION:
        belongs = spelled(question.metadata.get(key))
    asked = question.metadata.get(REPEAT_OF)
    own = f"{question.dataset}/{BY_QUESTION}/{question.id if asked is None else asked}"
    cluster = f"{question.dataset}/{key}/{belongs}" if belongs else own
    return cluster if asked is None else asked_again(cluster, own)


def spelled(value: Any) -> str | None:
    """What stands behind a key of metadata, as text; None where nothing does."""
    if value in (None, "", []):
        return None
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def check_cluster(key: str, questions: Iterable[EvalQuestion]) -> None:
    """Check that the configured key of clusters means something for these questions.

    Raises:
        ConfigError: It is a key of metadata, and no question has a value of it.
    """
    if key in (BY_DOCUMENT, BY_QUESTION):
        return
    told: set[str] = set()
    present = False
    for question in questions:
        with_values = {name for name, value in question.metadata.items() if spelled(value) is not None}
        if key in with_values:
            return
        told |= with_values
        present = present or key in question.metadata
    what = "the metadata of every question has it empty" if present else "no question has that key in its metadata"
    there = f", or one of the keys that have values: {', '.join(sorted(told))}" if told else ""
    raise ConfigError(f"cluster is {key!r}, and {what}", f"write document, question{there}")


# The values of a run as columns: what comparisons and slices need of its records, in some 0.4 KB a question.


_ABSENT = 0
"""The kind of a question without a result."""

_MOST_SHORT = 1 << 16


@dataclass(frozen=True, slots=True)
class ResultKind:
    """What results of a metric have in common beside their value; many questions share one.

    Attributes:
        missing: Of which kind a missing value is.
        reason: Why there is none.
        judged_by: The verdicts that it hangs on.
        details: As JSON would have them, those alone that summaries read.
    """

    missing: Missing | None = None
    reason: str | None = None
    judged_by: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class SlimResult:
    """What summaries read of a `MetricResult`, in a tenth of its memory."""

    name: str
    value: float | None
    missing: Missing | None
    reason: str | None
    judged_by: Sequence[str]
    details: Mapping[str, Any]


@dataclass(slots=True)
class ScoreColumn:
    """The results of one metric, a row a question.

    Attributes:
        name: Of the metric.
        values: NaN where there is none.
        kinds: The place of each result's kind in `table`; 0 where the question has no result.
        table: All kinds; the first is that of no result.
    """

    name: str
    values: "array[float]" = field(default_factory=lambda: array("d"))
    kinds: "array[int]" = field(default_factory=lambda: array("H"))
    table: list[ResultKind] = field(default_factory=lambda: [ResultKind()])

    def taken(self, rows: Sequence[int]) -> "ScoreColumn":
        """The same in these rows alone."""
        if rows == range(len(self.values)):
            return self
        values = array("d", (self.values[row] for row in rows))
        return ScoreColumn(self.name, values, array(self.kinds.typecode, (self.kinds[row] for row in rows)), self.table)

    def instead(self, missing: Missing, value: float) -> "ScoreColumn":
        """The same with a value in the place of those that are missing for one reason."""
        wanted = {place for place, kind in enumerate(self.table) if kind.missing == missing}
        if wanted.isdisjoint(self.kinds):
            return self
        table = [*self.table, ResultKind()]
        values = array(
            "d", (value if kind in wanted else old for old, kind in zip(self.values, self.kinds, strict=True))
        )
        kinds = array("I", (len(table) - 1 if kind in wanted else kind for kind in self.kinds))
        return ScoreColumn(self.name, values, kinds, table)

    @property
    def is_empty(self) -> bool:
        """Whether no question has a value."""
        return all(map(isnan, self.values))

    @property
    def found(self) -> bytes:
        """1 for each question with a value, else 0."""
        return bytes(not isnan(value) for value in self.values)

    def lacks(self, missing: Missing) -> bool:
        """Whether some value is missing for this reason."""
        return any(self.table[place].missing == missing for place in set(self.kinds) - {_ABSENT})

    def has(self, row: int) -> bool:
        """Whether a question has a result, with or without a value."""
        return row < len(self.kinds) and self.kinds[row] != _ABSENT

    def at(self, row: int) -> MetricResult | None:
        """The result of a question; None where it has none."""
        place, value = self.kinds[row], self.values[row]
        if place == _ABSENT:
            return None
        kind = self.table[place]
        slim = SlimResult(
            self.name, None if isnan(value) else value, kind.missing, kind.reason, kind.judged_by, kind.details
        )
        return cast("MetricResult", slim)  # it has what summaries read, and nothing validates it again

    def reasons(self) -> Iterator[str | None]:
        """Why each result has no value; None for one that has."""
        return (self.table[place].reason for place in self.kinds if place != _ABSENT)


class Results(Sequence[MetricResult]):
    """Results of a column, each made when it is looked at.

    Args:
        column: Of one metric.
        rows: Each has a result.
    """

    def __init__(self, column: ScoreColumn, rows: Sequence[int]) -> None:
        self.column = column
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[MetricResult]:
        return (found for row in self.rows if (found := self.column.at(row)) is not None)

    @overload
    def __getitem__(self, place: int) -> MetricResult: ...
    @overload
    def __getitem__(self, place: slice) -> "Results": ...
    def __getitem__(self, place: int | slice) -> "MetricResult | Results":
        if isinstance(place, slice):
            return Results(self.column, self.rows[place])
        found = self.column.at(self.rows[place])
        if found is None:
            raise IndexError(place)
        return found

    @property
    def values(self) -> "array[float]":
        """The values, of results that all have one."""
        return self.column.taken(self.rows).values


class ColumnMaker:
    """Makes the column of one metric, result by result.

    Args:
        name: Of the metric.
        before: How many questions came before the first that has it.
    """

    def __init__(self, name: str, before: int) -> None:
        self.column = ScoreColumn(name)
        self._kinds: dict[Any, int] = {}
        self._keep_all = _reads_details(known_metric(name))
        self.skip(before)

    def skip(self, questions: int) -> None:
        """Add questions without a result."""
        self.column.values.extend([nan] * questions)
        self.column.kinds.extend([_ABSENT] * questions)

    def add(self, result: MetricResult) -> None:
        """Add the result of the next question."""
        details = dict(result.details) if self._keep_all else _kept(result.details)
        key = result.missing, result.reason, tuple(result.judged_by), repr(details)
        place = self._kinds.setdefault(key, len(self.column.table))
        if place == len(self.column.table):
            self.column.table.append(ResultKind(*key[:3], details))
        if place == _MOST_SHORT and self.column.kinds.typecode == "H":
            self.column.kinds = array("I", self.column.kinds)
        self.column.kinds.append(place)
        self.column.values.append(nan if result.value is None else result.value)


def _kept(details: Mapping[str, Any]) -> dict[str, Any]:
    """The details that summaries of any metric read."""
    return {name: details[name] for name in ("rules", "label", RAN_OUT) if name in details}


def _reads_details(metric: BaseMetric | None) -> bool:
    """Whether the metric itself reads the details of results, so that all are kept."""
    return metric is not None and type(metric).one_sided is not BaseMetric.one_sided


GOLD: dict[str, Callable[[EvalQuestion], object]] = {
    "gold passages": lambda question: question.gold_passages,
    "expected answers": lambda question: (question.expected_answer, question.answers),
    "answerability": lambda question: question.is_unanswerable,
    "key sentences": lambda question: question.key_sentences,
    "checks": lambda question: question.checks,
}
"""What is known of a question's answer, by name."""


CHUNKS, CITATIONS, ANSWERABLE = 1, 2, 4
"""Flags of a question: its answer has a list of chunks, of citations; it is known to be answerable."""


@dataclass(slots=True)
class Labels:
    """A text a question, of which many share one."""

    places: "array[int]" = field(default_factory=lambda: array("I"))
    table: list[str] = field(default_factory=list)

    def __getitem__(self, row: int) -> str:
        return self.table[self.places[row]]


@dataclass(slots=True)
class RunColumns:
    """The questions that a run asked, a row each, in their order.

    Attributes:
        ids: Of the questions.
        numbers: The number of each among all records of the run.
        texts: A hash of each question's text.
        gold: By name, a hash of what is known of each question's answer.
        flags: Of each question.
        clusters: What each belongs to.
        models: The model that answered; "" where it is not said.
        errors: Why there is no answer; "" where there is one.
        scores: The results of each metric, by its name.
    """

    ids: list[str] = field(default_factory=list)
    numbers: "array[int]" = field(default_factory=lambda: array("I"))
    texts: "array[int]" = field(default_factory=lambda: array("Q"))
    gold: "dict[str, array[int]]" = field(default_factory=lambda: {name: array("Q") for name in GOLD})
    flags: bytearray = field(default_factory=bytearray)
    clusters: Labels = field(default_factory=Labels)
    models: Labels = field(default_factory=Labels)
    errors: Labels = field(default_factory=Labels)
    scores: dict[str, ScoreColumn] = field(default_factory=dict)

    def rows(self) -> dict[str, int]:
        """The row of each question, by its id."""
        return {key: row for row, key in enumerate(self.ids)}


def columns_of(records: Iterable[EvalRecord], cluster: str) -> RunColumns:
    """Go over the records of a run once.

    Args:
        records: All of the run.
        cluster: What its questions are clustered by.
    """
    maker = _Maker(cluster)
    for number, record in enumerate(records):
        maker.add(number, record)
    return maker.made()


class _Maker:
    """Makes the columns of a run, record by record."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._columns = RunColumns()
        self._scores: dict[str, ColumnMaker] = {}
        self._labels: tuple[dict[str, int], ...] = ({}, {}, {})

    def add(self, number: int, record: EvalRecord) -> None:
        """Add a record; one that was not asked is passed over."""
        question, response, to = record.question, record.response, self._columns
        if response is None:
            return
        to.ids.append(question.id)
        to.numbers.append(number)
        to.texts.append(hash64(question.question))
        for name, part in GOLD.items():
            to.gold[name].append(hash64(repr(part(question))))
        answered = response.error is None
        to.flags.append(
            CHUNKS * (answered and response.chunks is not None)
            + CITATIONS * (answered and response.citations is not None)
            + ANSWERABLE * known_answerable(question)
        )
        said = cluster_of(question, self._cluster), response.model or "", response.error.kind if response.error else ""
        for labels, known, text in zip((to.clusters, to.models, to.errors), self._labels, said, strict=True):
            _add_label(labels, known, text)
        self._add_scores(record)

    def made(self) -> RunColumns:
        """The columns of what was added."""
        self._columns.scores = {name: maker.column for name, maker in self._scores.items()}
        return self._columns

    def _add_scores(self, record: EvalRecord) -> None:
        before = len(self._columns.ids) - 1
        seen = set()
        for score in record.scores:
            if score.name not in self._scores:
                self._scores[score.name] = ColumnMaker(score.name, before)
            if score.name not in seen:  # the first of a name counts
                seen.add(score.name)
                self._scores[score.name].add(score)
        for name in self._scores.keys() - seen:
            self._scores[name].skip(1)


def _add_label(labels: Labels, known: dict[str, int], text: str) -> None:
    place = known.setdefault(text, len(labels.table))
    if place == len(labels.table):
        labels.table.append(text)
    labels.places.append(place)


def taken(labels: Labels, rows: Sequence[int]) -> list[str]:
    """The labels of these rows."""
    return [labels[row] for row in rows]


# Columns of a run as bytes: a line of JSON with names and tables, then the arrays, little-endian, in a row.


_LABELS = ("clusters", "models", "errors")


def pack(columns: RunColumns) -> bytes:
    """The columns as bytes."""
    scores = list(columns.scores.values())
    arrays = [
        columns.numbers,
        columns.texts,
        *(columns.gold[name] for name in GOLD),
        array("B", columns.flags),
        *(getattr(columns, name).places for name in _LABELS),
        *(part for score in scores for part in (score.values, score.kinds)),
    ]
    head = {
        "ids": columns.ids,
        "labels": {name: getattr(columns, name).table for name in _LABELS},
        "scores": [{"name": score.name, "kinds": [_plain(kind) for kind in score.table]} for score in scores],
        "arrays": [part.typecode for part in arrays],
    }
    return b"".join([json.dumps(head).encode(), b"\n", *map(_little, arrays)])


def unpack(data: bytes, ids: Sequence[str] = ()) -> RunColumns:
    """The columns of bytes that `pack` made.

    Args:
        data: The bytes.
        ids: Of all records, where they are held anyway: the columns hold the same strings then, not others like them.
    """
    line = data.index(b"\n") + 1
    head = json.loads(data[:line])
    arrays = _arrays(memoryview(data)[line:], head)
    columns = RunColumns(head["ids"], next(arrays), next(arrays), {name: next(arrays) for name in GOLD})
    if ids:
        columns.ids = [ids[number] for number in columns.numbers]
    columns.flags = bytearray(next(arrays).tobytes())
    columns.clusters, columns.models, columns.errors = (Labels(next(arrays), head["labels"][name]) for name in _LABELS)
    for score in head["scores"]:
        values, kinds = next(arrays), next(arrays)
        columns.scores[score["name"]] = ScoreColumn(
            score["name"], values, kinds, [_kind(one) for one in score["kinds"]]
        )
    return columns


def _arrays(data: memoryview, head: Mapping[str, Any]) -> "Iterator[array[Any]]":
    start, count = 0, len(head["ids"])
    for code in head["arrays"]:
        part = array(code)
        end = start + count * part.itemsize
        part.frombytes(data[start:end])
        if sys.byteorder != "little":
            part.byteswap()
        yield part
        start = end


def _little(part: "array[Any]") -> bytes:
    if sys.byteorder == "little":
        return part.tobytes()
    swapped = array(part.typecode, part)
    swapped.byteswap()
    return swapped.tobytes()


def _plain(kind: ResultKind) -> list[Any]:
    return [kind.missing, kind.reason, kind.judged_by, dict(kind.details)]


def _kind(plain: list[Any]) -> ResultKind:
    missing, reason, judged_by, details = plain
    return ResultKind(missing, reason, tuple(judged_by), details)
