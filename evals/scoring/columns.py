"""The results of a run as statistics need them: a number and a small code a question and metric, and no records.

A record of usual size takes tens of kilobytes as objects, its results in columns some hundred bytes. What is said of a
value (why it is missing, on which verdicts it hangs) is the same for many questions, and held once.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum, isnan, nan
from statistics import fmean
from typing import NamedTuple, cast

from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.performance import RAN_OUT
from evals.schemas.results import WITHOUT_VERDICT, EvalRecord, JudgedStrata, MetricResult
from evals.scoring.config import BY_DOCUMENT
from evals.scoring.run_columns import SlimResult, cluster_of
from evals.scoring.stats.intervals import asked_again, parts_of, percentile
from evals.scoring.stats.missing import Observation, Weighted, weigh
from evals.text.folding import hash64
from evals.text.numbers import agree, counted

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


# The values of a metric over a run, where verdicts of the judge are lost.


@dataclass(frozen=True, slots=True)
class StratifiedSample:
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
) -> StratifiedSample:
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


def _plain(column: ResultColumn, labels: Sequence[str], worst: float | None) -> StratifiedSample:
    """Each value for itself."""
    there = list[float](), list[str]()
    for (value, kind), label in zip(column, labels, strict=True):
        counted_as = worst if kind.missing == "transport" else value
        if counted_as is not None:
            there[0].append(counted_as)
            there[1].append(label)
    return StratifiedSample(*there)


def _is_marked(column: ResultColumn) -> bool:
    """Whether verdicts are lost, and the results say which: those of runs of before do not."""
    lost = [kind for kind, _ in column.kinds() if kind.missing in WITHOUT_VERDICT]
    return bool(lost) and all(kind.judged_by for kind in lost)


def _weighted(
    column: ResultColumn, labels: Sequence[str], worst: float | None, plain: StratifiedSample
) -> StratifiedSample:
    there = zip(column, labels, strict=True)
    pairs = [
        (_observed(value, kind, worst), label)
        for (value, kind), label in there
        if worst is not None or kind.missing != "transport"
    ]
    observed = [each for each, _ in pairs]
    weighted = weigh(observed)
    if weighted is None:
        return StratifiedSample([], [], reason=_why_none(observed, column) if plain.values else None)
    if not plain.values:
        return plain
    strata = _strata(observed, weighted)
    if weighted.uniform:
        return StratifiedSample(plain.values, plain.clusters, strata=strata)
    return StratifiedSample(plain.values, plain.clusters, weighted, tuple(label for _, label in pairs), strata)


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


def value_of(metric: BaseMetric, sample: StratifiedSample) -> float | None:
    """The one value of the run: a mean stands for lost values too, a count is what was counted; None without values."""
    if not sample.values:
        return None
    if sample.weighted is not None and metric.aggregation is not Aggregation.SUM:
        return weighted_value(metric, sample.weighted)
    return value_over(metric, sample.values)


def estimate_of(metric: BaseMetric, sample: StratifiedSample) -> float | None:
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
