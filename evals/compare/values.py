"""Each metric of several runs, on the questions for which all runs that have it have a value."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from typing import ClassVar, NamedTuple

from evals.compare.models import (
    ABSTENTION_RATE,
    ANSWER_RATE,
    ANSWERABLE_ABSTENTION_RATE,
    CHUNKS_RATE,
    CITATIONS_RATE,
    MetricRow,
    VanishedMetric,
)
from evals.compare.pairing import Pairing, Side
from evals.compare.statistics import LostPairs, PairedMetric, RunResults, measure
from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.registry import known_metric
from evals.metrics.sample import Sample
from evals.schemas.results import WITHOUT_VERDICT, EvalRun, MetricGroup, MetricResult, MetricSummary
from evals.scoring.run_columns import CHUNKS, CITATIONS, ResultKind, ScoreColumn
from evals.scoring.scorecard import summarise, too_small
from evals.scoring.settings import ScoreSettings, score_settings
from evals.scoring.weighted import Column, column_of

# How many questions bring an answer at all, which the metrics of quality do not say.


class AnswerRate(BaseMetric):
    """Share of the questions that the server answers, well or badly.

    Formula: 1 - |failures of transport| / |questions asked|. A server that fails on hard questions has no bad answers
    to them: without this, it would look no worse than one that answers. Like the rates below, it is made of the columns
    of saved runs (`rate_column`), and asks no sample.
    """

    name = ANSWER_RATE
    group = MetricGroup.PERFORMANCE
    suites = frozenset()
    aggregation = Aggregation.RATE

    def measure(self, case: Sample) -> MetricResult:
        """None: it is made of columns."""
        return self.undefined("it is of saved runs")


class ChunksRate(AnswerRate):
    """Share of the answers that come with a list of chunks, which may be empty.

    Formula: |answers whose chunks are not null| / |answers|. Where there is no list, retrieval has no value: a server
    that sends none with its bad answers would look no worse.
    """

    name = CHUNKS_RATE


class CitationsRate(AnswerRate):
    """Share of the answers that come with a list of citations, which may be empty.

    Formula: |answers whose citations are not null| / |answers|, those left out that decline: they have nothing to cite,
    and a server that cites by markers has none in them. Without a list, citations have no value.
    """

    name = CITATIONS_RATE


class AbstentionRate(AnswerRate):
    """Share of the answers that decline to answer, whether they should or not.

    Formula: |abstentions| / |answers|, by the detector of this version in all runs. Neither direction is better: where
    questions cannot be answered, abstaining is right.
    """

    name = ABSTENTION_RATE
    group = MetricGroup.ABSTENTION
    higher_is_better: ClassVar[bool | None] = None


class AnswerableAbstentionRate(AbstentionRate):
    """Share of the answers that decline, of those to questions that are known to be answerable.

    Formula: |abstentions| / |answers| over `known_answerable`. Lower is better. A server that falls silent keeps its
    retrieval, and without a judge nothing else says that its answers are gone.
    """

    name = ANSWERABLE_ABSTENTION_RATE
    higher_is_better = False


# Yes or no of each question, or None where it is not asked of it.


YesOrNo = Callable[[Side], Iterable[bool | None]]


def _of_answerable(side: Side) -> Iterator[bool | None]:
    both = zip(side.declined(), side.answerable(), strict=True)
    return (declined if answerable else None for declined, answerable in both)


def _has_chunks(side: Side) -> Iterator[bool | None]:
    return (None if error else sent for error, sent in zip(side.errors(), side.flagged(CHUNKS), strict=True))


def _has_citations(side: Side) -> Iterator[bool | None]:
    """One that declines has nothing to cite."""
    answers = zip(side.errors(), side.declined(), side.flagged(CITATIONS), strict=True)
    return (None if error or declines else sent for error, declines, sent in answers)


class _Rate(NamedTuple):
    """A rate with what it is of, and what some run must have of `seen` for it to be told."""

    metric: BaseMetric
    said: YesOrNo
    seen: YesOrNo
    has: frozenset[bool]


_BOTH = frozenset({False, True})

_RATES = {
    rate.metric.name: rate
    for rate in (
        _Rate(AnswerRate(), Side.answered, Side.answered, frozenset({False})),
        _Rate(AbstentionRate(), Side.declined, Side.declined, frozenset({True})),
        _Rate(AnswerableAbstentionRate(), _of_answerable, Side.declined, frozenset({True})),
        _Rate(ChunksRate(), _has_chunks, _has_chunks, _BOTH),
        _Rate(CitationsRate(), _has_citations, _has_citations, _BOTH),
    )
}


def telling_rates(sides: Iterable[Side]) -> list[BaseMetric]:
    """The rates that say something of these runs: where some answers fail, decline or lack a list."""
    sides = list(sides)
    return [rate.metric for rate in _RATES.values() if any(rate.has <= set(rate.seen(side)) for side in sides)]


def rate_column(name: str, side: Side) -> ScoreColumn | None:
    """The rate of this name as a column of yes and no; None where it is none of these."""
    rate = _RATES.get(name)
    if rate is None:
        return None
    said = list(rate.said(side))
    values = array("d", (nan if one is None else float(one) for one in said))
    return ScoreColumn(name, values, array("B", (one is not None for one in said)), [ResultKind(), ResultKind()])


# Each metric, over the questions that count.


@dataclass(frozen=True, slots=True)
class Aligned:
    """One metric of several runs.

    Attributes:
        metric: The metric.
        ids: The questions for which all runs that have the metric have a value.
        results: The results for these questions, a list a run; None for a run that does not have the metric.
        clusters: The label of each question's cluster, as the first run says what questions are clustered by.
        reason: Why it is not compared over all runs; None where it is.
        lost: Where verdicts are lost, all questions that may have a value; None where a plain mean is right.
        columns: All results of each run, where some are lost.
    """

    metric: BaseMetric
    ids: list[str]
    results: list[ScoreColumn | None]
    clusters: list[str]
    reason: str | None = None
    lost: LostPairs | None = None
    columns: tuple[RunResults, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether all runs have it, on at least one common question."""
        return bool(self.ids) and None not in self.results

    def values(self, run: int) -> Sequence[float]:
        """The values of a run, in the order of the ids."""
        found = self.results[run]
        return found.values if found is not None else ()

    def paired(self) -> PairedMetric:
        """The last of the runs against the first, with its test; without questions where one lacks the metric."""
        if not self.complete:
            return PairedMetric(self.metric, (), (), (), ())
        return measure(self.metric, self.values(0), self.values(-1), self.clusters, self.lost, self.ids)

    def column(self, run: int, settings: ScoreSettings) -> Column | None:
        """The values of a run that has the metric, by question; where verdicts are lost, with what stands for those."""
        if self.lost is None:
            return Column.plain(dict(zip(self.ids, self.values(run), strict=True)))
        results = self.lost.results(self.metric, self.columns[run])
        return column_of(self.metric, ScoreColumn.of(self.metric, results), settings, self.lost.ids)

    def summaries(self, settings: ScoreSettings) -> list[MetricSummary | None]:
        """The metric over these questions, a summary a run, with intervals as the settings say."""
        results: Sequence[ScoreColumn | Sequence[MetricResult] | None] = self.results
        labels = self.clusters
        if self.lost is not None:
            lost, labels = self.lost, self.lost.clusters
            results = [lost.results(self.metric, column) if column else None for column in self.columns]
        return [summarise(self.metric, each, settings, labels) if each else None for each in results]

    def row(self, settings: ScoreSettings) -> MetricRow:
        """The same as a row of a table."""
        summaries = self.summaries(settings)
        return MetricRow(
            name=self.metric.name,
            group=self.metric.group.value,
            unit=self.metric.unit,
            higher_is_better=self.metric.higher_is_better,
            n=len(self.ids),
            values=[summary.value if summary else None for summary in summaries],
            intervals=[summary.ci if summary else None for summary in summaries],
            reason=self.reason,
            at_least=[summary is not None and summary.at_least for summary in summaries],
        )

    def is_at_least(self, run: int, value: float) -> bool:
        """Whether the value of a run is a lower bound: requests ran out of time."""
        results = self.results[run]
        return results is not None and min(too_small(self.metric, results), default=inf) <= value


def align_all(pairing: Pairing) -> list[Aligned]:
    """Every metric that some run has a value of, in the order of the first run's scorecard, then the rates.

    A question without an answer counts as the worst value where all runs were told so (`on_error: worst`).
    """
    known = (metric for name in _names(pairing) if (metric := known_metric(name)) is not None)
    found = [align(metric, pairing, over_runs=True) for metric in known]
    found += [align(metric, pairing) for metric in telling_rates(pairing.sides)]
    return [aligned for aligned in found if any(results is not None for results in aligned.results)]


def align(metric: BaseMetric, pairing: Pairing, *, over_runs: bool = False) -> Aligned:
    """One metric of several runs.

    Args:
        metric: Of the runs, or a rate of answers.
        pairing: The runs.
        over_runs: Whether a run has it only where it has a value over the run: values of single questions may not
            stand for it.
    """
    worst = all(score_settings(run).worst_on_error for run in pairing.runs)
    there = [_column(metric, side, worst=worst, over_runs=over_runs) for side in pairing.sides]
    having = list(filter(None, there))
    lost = _lost(metric, having, pairing)
    subset = pairing.subset(_mask(having, lost, len(pairing.ids)))
    results = [column and column.taken(subset.places) for column in there]
    aligned = Aligned(metric, subset.ids, results, subset.clusters, _why_not_all(there, subset.ids, pairing))
    if lost is None or not subset.ids or metric.aggregation is Aggregation.SUM:
        return aligned  # what was counted stands for nothing that is lost
    full = (_by_question(metric, column, pairing) if column else {} for column in there)
    return replace(aligned, lost=lost, columns=tuple(full))


def _mask(having: Sequence[ScoreColumn], lost: LostPairs | None, count: int) -> bytes:
    """1 for each question of which all these have a value; of none where nothing is known."""
    if not having or (lost is not None and lost.unknown):
        return bytes(count)
    return bytes(map(min, zip(*(column.found for column in having), strict=True)))


def find_unknown(pairing: Pairing) -> list[str]:
    """The metrics that do not exist here: of a plug-in that is not installed, or of a newer version."""
    return [name for name in _names(pairing) if known_metric(name) is None]


def _names(pairing: Pairing) -> list[str]:
    return list(dict.fromkeys(summary.name for run in pairing.runs for summary in run.scorecard.metrics))


def _has_value(run: EvalRun, name: str) -> bool:
    summary = run.scorecard.find(name)
    return summary is not None and summary.value is not None


def _column(metric: BaseMetric, side: Side, *, worst: bool, over_runs: bool) -> ScoreColumn | None:
    """All results of one run, those without a value included; None where there is no value at all."""
    if over_runs and not _has_value(side.saved.run, metric.name):
        return None
    column = rate_column(metric.name, side) or side.column(metric.name)
    if column is not None and worst and metric.worst is not None:
        column = column.instead("transport", metric.worst)
    return None if column is None or column.is_empty else column


def _why_not_all(there: Sequence[ScoreColumn | None], ids: Sequence[str], pairing: Pairing) -> str | None:
    lacking = [run.id for run, column in zip(pairing.runs, there, strict=True) if column is None]
    if lacking:
        return f"no value in {', '.join(lacking)}"
    return None if ids else "no question for which all runs have a value"


def _lost(metric: BaseMetric, having: Sequence[ScoreColumn], pairing: Pairing) -> LostPairs | None:
    """What is lost of the runs that have a value."""
    if not any(column.lacks(kind) for column in having for kind in WITHOUT_VERDICT):
        return None
    results = [_by_question(metric, column, pairing) for column in having]
    return LostPairs.of(pairing.ids, pairing.clusters(), results)


def _by_question(metric: BaseMetric, column: ScoreColumn, pairing: Pairing) -> dict[str, MetricResult]:
    """All results of a column, whole ones: where verdicts are lost, copies are made of them."""
    slim = ((key, column.at(place)) for place, key in enumerate(pairing.ids))
    return {
        key: MetricResult.model_construct(
            name=metric.name,
            group=metric.group,
            value=one.value,
            reason=one.reason,
            missing=one.missing,
            judged_by=list(one.judged_by),
            details=dict(one.details),
        )
        for key, one in slim
        if one is not None
    }


# Metrics that had values and have none any more.


def find_vanished(pairing: Pairing, metrics: Sequence[Aligned]) -> list[VanishedMetric]:
    """The metrics that have values in the first of two runs and none in the second, over their common questions.

    A server that sends no citations any more has no bad ones: what cannot be compared must not pass for unchanged. Of a
    run that was never finished no metric is lost: none is measured yet.
    """
    if pairing.runs[1].is_unscored:
        return []
    return [
        VanishedMetric(
            name=each.metric.name,
            group=each.metric.group.value,
            n=len(each.results[0]),
            reason=_why(pairing, each.metric),
        )
        for each in metrics
        if each.results[0] and each.results[1] is None
    ]


def _why(pairing: Pairing, metric: BaseMetric) -> str:
    column = pairing.sides[1].column(metric.name)
    if column is not None and not column.is_empty:
        summary = pairing.runs[1].scorecard.find(metric.name)
        return (summary and summary.reason) or "its values do not stand for the run"
    reasons = column.reasons() if column is not None else None
    return reasons.most_common(1)[0][0] if reasons else "it was not measured"
