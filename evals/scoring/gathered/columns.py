"""The results of a run as statistics need them: a number and a small code a question and metric, and no records.

A record of usual size takes tens of kilobytes as objects, its results in columns some hundred bytes. What is said of a
value (why it is missing, on which verdicts it hangs) is the same for many questions, and held once.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import isnan, nan
from typing import NamedTuple, cast

from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.performance import RAN_OUT
from evals.schemas import EvalRecord, MetricResult
from evals.scoring.clusters import cluster_of
from evals.scoring.config import BY_DOCUMENT
from evals.scoring.digest.columns import SlimResult
from evals.stats.clusters import asked_again, parts_of
from evals.text.hashing import hash64

_LONGEST = 60
"""Characters of a detail that is held: longer ones are texts."""
_MOST_SHORT = 1 << 8
"""So many codes fit a byte, as those of most metrics do."""


class ResultState(NamedTuple):
    """What is said of a result beside its value."""

    missing: str | None
    reason: str | None
    judged_by: tuple[str, ...]


_PLAIN = ResultState(None, None, ())
"""Of a value that hangs on no verdict, as most do."""


def _state_of(result: MetricResult) -> ResultState:
    if result.missing is None and result.reason is None and not result.judged_by:
        return _PLAIN
    return ResultState(result.missing, result.reason, tuple(result.judged_by))


class ResultColumn:
    """The results of one metric, one a question, in the order of the questions.

    Args:
        metric: Whose results they are.
    """

    def __init__(self, metric: BaseMetric) -> None:
        self.count = 0
        """How many results there are."""
        self._values = array("d")
        self._codes = array("B")
        self._kinds: dict[ResultState, int] = {}
        self._latest: tuple[MetricResult | None, int] = None, 0
        """The latest result and its code: many questions share one that has no value."""
        self._late = array("d") if metric.aggregation is Aggregation.PERCENTILE else None
        keeps = type(metric).one_sided is not BaseMetric.one_sided
        self._details: _Details | None = _Details() if keeps else None
        self._rules: Counter[str] = Counter()
        self._labels: Counter[str] = Counter()

    @classmethod
    def of(cls, metric: BaseMetric, results: Iterable[MetricResult]) -> "ResultColumn":
        """The column of these results."""
        column = cls(metric)
        for result in results:
            column.add(result)
        return column

    def add(self, result: MetricResult) -> None:
        """Add the result of the next question."""
        self.count += 1
        self._values.append(nan if result.value is None else result.value)
        code = self._code(result)  # which may make the codes longer
        self._codes.append(code)
        if result.details:
            self._count(result)
        if self._details is not None:
            self._details.add(result)
        if self._late is not None and result.value is not None and result.details.get(RAN_OUT) is True:
            self._late.append(result.value)

    def extend(self, later: "ResultColumn") -> None:
        """Add the results of the questions that follow."""
        codes = [self._code_of(kind) for kind in later._kinds]
        self.count += later.count
        self._values.extend(later._values)
        self._codes.extend(array(self._codes.typecode, map(codes.__getitem__, later._codes)))
        self._rules.update(later._rules)
        self._labels.update(later._labels)
        if self._late is not None:
            self._late.extend(later._late or ())
        if self._details is not None and later._details is not None:
            self._details.extend(later._details)

    def _code(self, result: MetricResult) -> int:
        """The code of what is said of a result."""
        if result is not self._latest[0]:
            self._latest = result, self._code_of(_state_of(result))
        return self._latest[1]

    def _code_of(self, kind: ResultState) -> int:
        code = self._kinds.setdefault(kind, len(self._kinds))
        if code == _MOST_SHORT and self._codes.typecode == "B":
            self._codes = array("I", self._codes)
        return code

    def _count(self, result: MetricResult) -> None:
        """Count what its details say of how it came about."""
        rules, label = result.details.get("rules"), result.details.get("label")
        if isinstance(rules, dict):  # a plug-in may have another use for the word
            for rule, count in rules.items():
                self._rules[rule] += count
        if isinstance(label, str):
            self._labels[label] += 1

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[tuple[float | None, ResultState]]:
        """The value of each question, and what is said of it."""
        kinds = list(self._kinds)
        for value, code in zip(self._values, self._codes, strict=True):
            yield None if isnan(value) else value, kinds[code]

    @property
    def values(self) -> list[float]:
        """Those that there are."""
        return [value for value in self._values if not isnan(value)]

    def kinds(self) -> Iterator[tuple[ResultState, int]]:
        """What is said of results, in the order in which it was first said, and how often."""
        counts = Counter(self._codes)
        return ((kind, counts[code]) for kind, code in self._kinds.items())

    def missing(self) -> Counter[str | None]:
        """How many results are missing, by why; None counts the values."""
        found: Counter[str | None] = Counter()
        for kind, count in self.kinds():
            found[kind.missing] += count
        return found

    @property
    def late(self) -> Sequence[float]:
        """The values of requests that ran out of time: of a percentile, they would have been greater."""
        return self._late or ()

    @property
    def rules(self) -> dict[str, int]:
        """How often each rule recognised a gold."""
        return dict(self._rules)

    @property
    def labels(self) -> dict[str, int]:
        """How many answers got which label."""
        return dict(sorted(self._labels.items()))

    def results(self) -> Sequence[MetricResult]:
        """The results with their short details; nothing for a metric that does not ask whether they are one-sided."""
        return self._details or ()


class _Details(Sequence[MetricResult]):
    """Results with their short details, of which those that are alike are held once."""

    def __init__(self) -> None:
        self._codes = array("I")
        self._places: dict[str, int] = {}
        self._distinct: list[SlimResult] = []

    def add(self, result: MetricResult) -> None:
        short = {name: value for name, value in result.details.items() if _is_short(value)}
        slim = SlimResult(result.name, result.value, result.missing, result.reason, result.judged_by, short)
        self._codes.append(self._place(repr(slim), slim))

    def extend(self, later: "_Details") -> None:
        places = [self._place(key, slim) for key, slim in zip(later._places, later._distinct, strict=True)]
        self._codes.extend(map(places.__getitem__, later._codes))

    def _place(self, key: str, slim: SlimResult) -> int:
        if key not in self._places:
            self._places[key] = len(self._distinct)
            self._distinct.append(slim)
        return self._places[key]

    def __len__(self) -> int:
        return len(self._codes)

    def __getitem__(self, place: int) -> MetricResult:  # type: ignore[override]  # no slices
        return cast("MetricResult", self._distinct[self._codes[place]])


def _is_short(value: object) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= _LONGEST)


class ScoreTable:
    """The results of a run by metric, with the cluster of each question.

    Args:
        metrics: Of the run; results of others are left out.
        cluster: What questions belong together by.
    """

    def __init__(self, metrics: Iterable[BaseMetric], cluster: str = BY_DOCUMENT) -> None:
        self._cluster = cluster
        self._columns = {metric.name: ResultColumn(metric) for metric in metrics}
        self._rows: dict[str, array[int]] = {}
        """Of a metric that some questions lack: the rows of those that have it."""
        self._clusters = array("Q")
        self._questions = array("Q")
        self.ids: list[str] = []
        """Of the questions with results, in their order."""

    @classmethod
    def of(cls, metrics: Iterable[BaseMetric], records: Iterable[EvalRecord], cluster: str) -> "ScoreTable":
        """The table of these records."""
        table = cls(metrics, cluster)
        for record in records:
            table.add(record)
        return table

    def add(self, record: EvalRecord) -> None:
        """Add the next question with its results."""
        columns = self._columns
        found = [(columns[result.name], result) for result in record.scores if result.name in columns]
        if not found:
            return
        row = len(self.ids)
        self.ids.append(record.question.id)
        cluster, question = parts_of(cluster_of(record.question, self._cluster))
        self._clusters.append(hash64(cluster))
        self._questions.append(hash64(question) if question else 0)
        for column, result in found:
            if column.count != row or result.name in self._rows:
                self._say_row(result.name, column.count, row)
            column.add(result)

    def extend(self, later: "ScoreTable") -> None:
        """Add the questions that follow, with their results."""
        before = len(self.ids)
        self.ids += later.ids
        self._clusters.extend(later._clusters)
        self._questions.extend(later._questions)
        for name, column in self._columns.items():
            other = later.column(name)
            if column.count != before or other.count != len(later.ids) or name in self._rows or name in later._rows:
                rows = self._rows.setdefault(name, array("I", range(column.count)))
                rows.extend(before + row for row in later.rows(name))
            column.extend(other)

    def _say_row(self, name: str, count: int, row: int) -> None:
        """Say which row the next result is of, of a metric that some questions lack; it has so many results."""
        self._rows.setdefault(name, array("I", range(count))).append(row)

    def column(self, name: str) -> ResultColumn:
        """The results of a metric."""
        return self._columns[name]

    def rows(self, name: str) -> Sequence[int]:
        """The rows of the questions that have a result of a metric."""
        return self._rows.get(name) or range(len(self._columns[name]))

    def clusters(self, rows: Iterable[int]) -> list[str]:
        """What the questions of these rows belong to, each called by hashes of its label."""
        return [self._label(self._clusters[row], self._questions[row]) for row in rows]

    @staticmethod
    def _label(cluster: int, question: int) -> str:
        """The label of an answer, by hashes; of a question that was asked once, the second is 0."""
        return asked_again(str(cluster), str(question)) if question else str(cluster)
