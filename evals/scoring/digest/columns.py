"""The values of a run as columns: what comparisons and slices need of its records, in some 0.4 KB a question."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any, cast, overload

from evals.metrics.base import BaseMetric
from evals.metrics.performance import RAN_OUT
from evals.metrics.registry import known_metric
from evals.schemas import MetricResult
from evals.schemas.results import Missing

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
