"""Questions, answers and results of a run as columns without texts, for statistics and comparisons."""

import json
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any, NamedTuple, Self, TypeVar

from evals.errors import ConfigError
from evals.metrics.base import BaseMetric, known_answerable
from evals.metrics.embedders import hash64
from evals.metrics.performance import RAN_OUT
from evals.metrics.registry import known_metric
from evals.schemas.dataset import CONVERSATION, EvalQuestion
from evals.schemas.results import EvalRecord, MetricResult, Missing
from evals.scoring.config import BY_DOCUMENT, BY_QUESTION
from evals.scoring.stats.intervals import asked_again, parts_of
from evals.store.record_index import little_endian

# Which questions belong together, so that their values are not independent of each other.


REPEAT_OF = "repeat_of"
"""The key of the metadata that holds the id of the question that is asked again: they are one cluster, or of one."""


def cluster_of(question: EvalQuestion, key: str) -> str:
    """The label of the cluster that a question belongs to; one of its own where it belongs to none.

    Args:
        question: With its gold and metadata.
        key: "document", the document of its first gold passage; "question", itself; else a key of its metadata. Turns
            of one conversation are a cluster whatever it is. The label of a question that was asked several times
            names it too.
    """
    belongs = None
    if question.turns and (conversation := spelled(question.metadata.get(CONVERSATION))):
        key, belongs = CONVERSATION, conversation  # its turns share what was said before
    elif key == BY_DOCUMENT:
        belongs = question.gold_passages[0].document_id if question.gold_passages else None
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
    """Check that some question has the configured key of clusters.

    Raises:
        ConfigError: It is a key of metadata, and no question has a value of it.
    """
    if key in (BY_DOCUMENT, BY_QUESTION):
        return
    told: set[str] = set()
    for question in questions:
        told |= {name for name, value in question.metadata.items() if spelled(value) is not None}
        if key in told:
            return
    there = f", or one of the keys that have values: {', '.join(sorted(told))}" if told else ""
    raise ConfigError(
        f"cluster is {key!r}, and no question has a value of that key in its metadata",
        f"write document, question{there}",
    )


# The results of a metric, a number and a small code a question: a record as objects takes tens of kilobytes.


_ABSENT = 0
"""The code of a question without a result."""

_MOST_SHORT = 1 << 8
"""This many codes fit a byte, as those of most metrics do."""

_LONGEST = 60
"""Characters of a detail that is held: longer ones are texts."""


class ResultKind(NamedTuple):
    """What results of a metric have in common apart from their value; many questions share one.

    Attributes:
        missing: Of which kind a missing value is.
        reason: Why there is none.
        judged_by: The verdicts that it hangs on.
        details: As JSON would have them, those alone that summaries read.
    """

    missing: Missing | None = None
    reason: str | None = None
    judged_by: tuple[str, ...] = ()
    details: Mapping[str, Any] = {}


@dataclass(slots=True)
class ScoreColumn:
    """The results of one metric, a row a question.

    Attributes:
        name: Of the metric.
        values: NaN where there is none.
        codes: The place of each result's kind in `table`; 0 where the question has no result.
        table: All kinds; the first is that of no result.
        reads_details: Whether the metric itself reads the details of results, so that the short ones are held.
    """

    name: str
    values: "array[float]" = field(default_factory=lambda: array("d"))
    codes: "array[int]" = field(default_factory=lambda: array("B"))
    table: list[ResultKind] = field(default_factory=lambda: [ResultKind()])
    reads_details: bool = False
    _places: dict[Hashable, int] = field(default_factory=dict, repr=False, compare=False)
    _latest: tuple[MetricResult | None, int] = field(default=(None, 0), repr=False, compare=False)
    """The latest result and its code: many questions share one that has no value."""

    @classmethod
    def of(cls, metric: BaseMetric, results: Iterable[MetricResult]) -> "ScoreColumn":
        """The column of these results, a row each."""
        column = cls(metric.name, reads_details=reads_details(metric))
        for row, result in enumerate(results):
            column.add(row, result)
        return column

    def add(self, row: int, result: MetricResult) -> None:
        """Add the result of a question that comes behind all that have one; the first of a question counts."""
        if row < len(self.values):
            return
        self.pad(row)
        if result is not self._latest[0]:
            details = self._kept(result.details) if result.details else {}
            kind = ResultKind(result.missing, result.reason, tuple(result.judged_by), details)
            self._latest = result, self._code_of(kind)
        self.values.append(nan if result.value is None else result.value)
        self.codes.append(self._latest[1])

    def pad(self, rows: int) -> None:
        """Make it this many rows long, the new ones without a result."""
        lacking = rows - len(self.values)
        if lacking > 0:
            self.values.extend([nan] * lacking)
            self.codes.extend([_ABSENT] * lacking)

    def extend(self, later: "ScoreColumn") -> None:
        """Add the results of the questions that follow."""
        codes = [_ABSENT, *map(self._code_of, later.table[1:])]
        self.values.extend(later.values)
        self.codes.extend(array(self.codes.typecode, map(codes.__getitem__, later.codes)))

    def _kept(self, details: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: value
            for name, value in details.items()
            if name in _READ_OF_ALL
            or (self.reads_details and isinstance(value, int | float | str) and len(str(value)) <= _LONGEST)
        }

    def _code_of(self, kind: ResultKind) -> int:
        key = (*kind[:3], repr(kind.details) if kind.details else "")
        code = self._places.setdefault(key, len(self.table))
        if code == len(self.table):
            self.table.append(kind)
            if code == _MOST_SHORT:
                self.codes = array("I", self.codes)
        return code

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[tuple[float | None, ResultKind]]:
        """The value of each question that has a result, and what is said of it."""
        for value, code in zip(self.values, self.codes, strict=True):
            if code != _ABSENT:
                yield None if isnan(value) else value, self.table[code]

    def taken(self, rows: Sequence[int]) -> "ScoreColumn":
        """The same in these rows alone."""
        if rows == range(len(self.values)):
            return self
        values = array("d", (self.values[row] for row in rows))
        return ScoreColumn(self.name, values, array(self.codes.typecode, (self.codes[row] for row in rows)), self.table)

    def instead(self, missing: Missing, value: float) -> "ScoreColumn":
        """The same with a value in the place of those that are missing for one reason."""
        wanted = {place for place, kind in enumerate(self.table) if kind.missing == missing}
        if wanted.isdisjoint(self.codes):
            return self
        table = [*self.table, ResultKind()]
        both = zip(self.values, self.codes, strict=True)
        values = array("d", (value if code in wanted else old for old, code in both))
        codes = array("I", (len(table) - 1 if code in wanted else code for code in self.codes))
        return ScoreColumn(self.name, values, codes, table)

    @property
    def is_empty(self) -> bool:
        """Whether no question has a value."""
        return all(map(isnan, self.values))

    @property
    def found(self) -> bytes:
        """1 for each question with a value, else 0."""
        return bytes(not isnan(value) for value in self.values)

    @property
    def scored(self) -> list[float]:
        """The values that there are."""
        return [value for value in self.values if not isnan(value)]

    @property
    def late(self) -> list[float]:
        """The values of requests that ran out of time: of a percentile, they would have been greater."""
        if not any(RAN_OUT in kind.details for kind in self.table):
            return []
        return [value for value, kind in self if value is not None and kind.details.get(RAN_OUT) is True]

    def kinds(self) -> Iterator[tuple[ResultKind, int]]:
        """What is said of results, in the order in which it is first said, and how often."""
        return ((self.table[code], count) for code, count in Counter(self.codes).items() if code != _ABSENT)

    def lacks(self, missing: Missing) -> bool:
        """Whether some value is missing for this reason."""
        return any(kind.missing == missing for kind, _ in self.kinds())

    def missing(self) -> Counter[str | None]:
        """How many results are missing, by why; None counts the values."""
        return _counted((kind.missing, count) for kind, count in self.kinds())

    def reasons(self) -> Counter[str]:
        """Why values are missing, and how many for each reason."""
        return _counted((kind.reason, count) for kind, count in self.kinds() if kind.reason)

    def rules(self) -> dict[str, int]:
        """How often each rule recognised a gold."""
        found: Counter[str] = Counter()
        for kind, count in self.kinds():
            rules = kind.details.get("rules")
            if isinstance(rules, dict):  # a plug-in may have another use for the word
                found.update({rule: times * count for rule, times in rules.items()})
        return dict(found)

    def labels(self) -> dict[str, int]:
        """How many answers got which label."""
        said = ((kind.details.get("label"), count) for kind, count in self.kinds())
        return dict(sorted(_counted((label, count) for label, count in said if isinstance(label, str)).items()))

    def at(self, row: int) -> MetricResult | None:
        """The result of a question; None where it has none."""
        value, code = self.values[row], self.codes[row]
        if code == _ABSENT:
            return None
        # It has what summaries read, and nothing validates it again.
        told = self.table[code]._asdict()
        return MetricResult.model_construct(name=self.name, value=None if isnan(value) else value, **told)

    def results(self) -> list[MetricResult]:
        """All results."""
        return [found for row in range(len(self)) if (found := self.at(row)) is not None]


_Key = TypeVar("_Key")

_READ_OF_ALL = frozenset({"rules", "label", RAN_OUT})
"""The details that summaries of any metric read."""


def _counted(pairs: Iterable[tuple[_Key, int]]) -> Counter[_Key]:
    found: Counter[_Key] = Counter()
    for key, count in pairs:
        found[key] += count
    return found


def reads_details(metric: BaseMetric | None) -> bool:
    """Whether a metric itself reads the details of results."""
    return metric is not None and type(metric).one_sided is not BaseMetric.one_sided


class ScoreTable:
    """The results of a run by metric, with the id and the cluster of each question that has some.

    Args:
        cluster: What questions belong together by.
        metrics: Whose results are held; None for all.
    """

    def __init__(self, cluster: str = BY_DOCUMENT, metrics: Iterable[BaseMetric] | None = None) -> None:
        self.ids: list[str] = []
        """Of the questions, in their order."""
        self.scores: dict[str, ScoreColumn] = {}
        """By the name of the metric."""
        self.clusters = array("Q")
        """A hash of what each question belongs to."""
        self.repeats = array("Q")
        """A hash of the question that an answer is of, where it was asked several times; else 0."""
        self._cluster = cluster
        self._is_open = metrics is None
        for metric in metrics or ():
            self.scores[metric.name] = ScoreColumn(metric.name, reads_details=reads_details(metric))

    def add(self, record: EvalRecord) -> None:
        """Add the next question with its results; one without any is passed over."""
        if not record.scores and record.response is None:
            return
        row = len(self.ids)
        self.ids.append(record.question.id)
        cluster, question = parts_of(cluster_of(record.question, self._cluster))
        self.clusters.append(hash64(cluster))
        self.repeats.append(hash64(question) if question else 0)
        for result in record.scores:
            column = self.scores.get(result.name)
            if column is None and self._is_open:
                column = ScoreColumn(result.name, reads_details=reads_details(known_metric(result.name)))
                self.scores[result.name] = column
            if column is not None:
                column.add(row, result)

    def add_all(self, records: Iterable[EvalRecord]) -> Self:
        """Add these questions; returns itself."""
        for record in records:
            self.add(record)
        return self

    def extend(self, later: "ScoreTable") -> None:
        """Add the questions that follow, with their results."""
        before = len(self.ids)
        self.ids += later.ids
        self.clusters.extend(later.clusters)
        self.repeats.extend(later.repeats)
        for name, column in self.scores.items():
            column.pad(before)
            column.extend(later.column(name))

    def column(self, name: str) -> ScoreColumn:
        """The results of a metric, a row a question."""
        column = self.scores.get(name) or ScoreColumn(name)
        column.pad(len(self.ids))
        return column

    def labels(self, rows: Iterable[int] | None = None) -> list[str]:
        """What questions belong to, each called by hashes of its label: those of these rows, or all."""
        wanted = range(len(self.ids)) if rows is None else rows
        return [_label(self.clusters[row], self.repeats[row]) for row in wanted]


def _label(cluster: int, question: int) -> str:
    return asked_again(str(cluster), str(question)) if question else str(cluster)


# The questions and answers of a run as columns: what comparisons and slices need of its records, in 0.4 KB a question.


GOLD: dict[str, Callable[[EvalQuestion], object]] = {
    "gold passages": lambda question: question.gold_passages,
    "expected answers": lambda question: (question.expected_answer, question.answers),
    "answerability": lambda question: question.is_unanswerable,
    "key sentences": lambda question: question.key_sentences,
    "checks": lambda question: question.checks,
    "rubrics": lambda question: question.rubric,
}
"""What is known of a question's answer, by name."""


CHUNKS, CITATIONS, ANSWERABLE = 1, 2, 4
"""Flags of a question: its answer has a list of chunks, of citations; it is known to be answerable."""


class RunColumns(ScoreTable):
    """The questions that a run asked, a row each, in their order.

    Attributes:
        numbers: The number of each among all records of the run.
        texts: A hash of each question's text.
        gold: By name, a hash of what is known of each question's answer.
        flags: Of each question.
        models: The model that answered; "" where it is not said.
        errors: Why there is no answer; "" where there is one.
    """

    def __init__(self, cluster: str = BY_DOCUMENT) -> None:
        super().__init__(cluster)
        self.numbers = array("I")
        self.texts = array("Q")
        self.gold = {name: array("Q") for name in GOLD}
        self.flags = array("B")
        self.models: list[str] = []
        self.errors: list[str] = []

    def add_numbered(self, number: int, record: EvalRecord) -> None:
        """Add a record; one that was not asked is passed over."""
        question, response = record.question, record.response
        if response is None:
            return
        self.add(record)
        self.numbers.append(number)
        self.texts.append(hash64(question.question))
        for name, part in GOLD.items():
            self.gold[name].append(hash64(repr(part(question))))
        answered = response.error is None
        self.flags.append(
            CHUNKS * (answered and response.chunks is not None)
            + CITATIONS * (answered and response.citations is not None)
            + ANSWERABLE * known_answerable(question)
        )
        self.models.append(sys.intern(response.model or ""))
        self.errors.append(response.error.kind if response.error else "")

    def rows(self) -> dict[str, int]:
        """The row of each question, by its id."""
        return {key: row for row, key in enumerate(self.ids)}


def columns_of(records: Iterable[EvalRecord], cluster: str) -> RunColumns:
    """Go over the records of a run once.

    Args:
        records: All of the run.
        cluster: What its questions are clustered by.
    """
    columns = RunColumns(cluster)
    for number, record in enumerate(records):
        columns.add_numbered(number, record)
    for name in columns.scores:
        columns.column(name)
    return columns


# Columns as bytes: a line of JSON with names and tables, then the arrays, little-endian, in a row.

_ARRAYS = ("numbers", "texts", "flags", "clusters", "repeats")

_TEXTS = ("models", "errors")


def pack(columns: RunColumns) -> bytes:
    """The columns as bytes."""
    scores = columns.scores.values()
    arrays = [getattr(columns, name) for name in _ARRAYS]
    arrays += [columns.gold[name] for name in GOLD]
    arrays += [part for score in scores for part in (score.values, score.codes)]
    head = {
        "ids": columns.ids,
        "texts": {name: pack_texts(getattr(columns, name)) for name in _TEXTS},
        "scores": [[score.name, score.table] for score in scores],
        "arrays": [part.typecode for part in arrays],
    }
    return b"".join([json.dumps(head).encode(), b"\n", *(little_endian(part).tobytes() for part in arrays)])


def unpack(data: bytes, ids: Sequence[str] = ()) -> RunColumns:
    """The columns that `pack` made these bytes of; the ids of all records, where they are given, are not held twice."""
    line = data.index(b"\n") + 1
    head = json.loads(data[:line])
    arrays = _arrays(memoryview(data)[line:], head)
    columns = RunColumns()
    for name in _ARRAYS:
        setattr(columns, name, next(arrays))
    columns.gold = {name: next(arrays) for name in GOLD}
    columns.ids = [ids[number] for number in columns.numbers] if ids else head["ids"]
    for name in _TEXTS:
        setattr(columns, name, unpack_texts(head["texts"][name]))
    for name, table in head["scores"]:
        kinds = [ResultKind(missing, reason, tuple(by), details) for missing, reason, by, details in table]
        columns.scores[name] = ScoreColumn(name, next(arrays), next(arrays), kinds)
    return columns


def pack_texts(texts: Sequence[str | None]) -> list[Any]:
    """A table of texts of which many are the same, and the place of each in it."""
    table = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return [list(table), [table[text] for text in texts]]


def unpack_texts(packed: list[Any]) -> list[Any]:
    """The texts of which `pack_texts` made a table; each is held once."""
    table, places = packed
    return [table[place] for place in places]


def _arrays(data: memoryview, head: Mapping[str, Any]) -> "Iterator[array[Any]]":
    start, count = 0, len(head["ids"])
    for code in head["arrays"]:
        part = array(code)
        end = start + count * part.itemsize
        part.frombytes(data[start:end])
        yield little_endian(part)
        start = end
