"""Each metric of several runs, on the questions for which all runs that have it have a value."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, nan
from statistics import fmean
from typing import NamedTuple

from evals.compare.conditions import Obstacle, why_withheld
from evals.compare.models import MetricRow, VanishedMetric, summarise_values
from evals.compare.objectives import (
    AbstentionRate,
    AnswerableAbstentionRate,
    AnswerRate,
    ChunksRate,
    CitationsRate,
    Fed,
)
from evals.compare.pairing import Pairing, Side
from evals.compare.statistics import LostPairs, RunResults, value_of_pairs
from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.registry import known_metric
from evals.schemas.results import WITHOUT_VERDICT, EvalRun, MetricResult, MetricSummary, Scorecard, WeightedScore
from evals.scoring.config import differing_objectives, headline, scoring_config, why_failed
from evals.scoring.run_columns import CHUNKS, CITATIONS, ResultKind, ScoreColumn
from evals.scoring.scorecard import summarise, too_small
from evals.scoring.settings import ScoreSettings, score_settings
from evals.scoring.stats.differences import paired_difference
from evals.scoring.stats.intervals import Interval
from evals.scoring.weighted import Column, Influence, column_of, influence, make_weighted_score


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

    def column(self, run: int, settings: ScoreSettings) -> Column | None:
        """The values of a run that has the metric, by question; where verdicts are lost, with what stands for those."""
        if self.lost is None:
            return Column.plain(dict(zip(self.ids, self.values(run), strict=True)))
        results = self.lost.results(self.metric, self.columns[run])
        return column_of(self.metric, ScoreColumn.of(self.metric, results), settings, self.lost.ids)

    def value(self, values: Sequence[float]) -> float:
        """The values of a run, in the order of the ids, as its value over these questions."""
        return value_of_pairs(self.metric, values, self.lost)

    def summaries(self, settings: ScoreSettings) -> list[MetricSummary | None]:
        """The metric over these questions, a summary a run, with intervals as the settings say."""
        lost = self.lost
        if lost is not None:
            return [
                summarise(self.metric, lost.results(self.metric, column), settings, lost.clusters) if column else None
                for column in self.columns
            ]
        return [
            summarise_values(self.metric, results, settings, self.clusters) if results else None
            for results in self.results
        ]

    def row(self, settings: ScoreSettings) -> MetricRow:
        """The same for people."""
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
    """Every metric that some run has a value of, in the order of the first run's scorecard.

    A question without an answer counts as the worst value where all runs were told so (`on_error: worst`).
    """
    worst = _worst_on_error(pairing)
    found = []
    for name in _names(pairing):
        metric = known_metric(name)
        if metric is not None:
            columns = [
                _results(metric, side, worst=worst) if _has_value(side.saved.run, name) else None
                for side in pairing.sides
            ]
            found.append(_align(metric, columns, pairing))
    found += _rates(pairing)
    return [aligned for aligned in found if any(results is not None for results in aligned.results)]


def _worst_on_error(pairing: Pairing) -> bool:
    return all(score_settings(run).worst_on_error for run in pairing.runs)


# How many questions bring an answer, and how many answers decline or come with their lists: yes or no of each question,
# or None where it is not asked of it.


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
    said: Callable[[Side], Iterable[bool | None]]
    seen: Callable[[Side], Iterable[bool | None]]
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


def _rates(pairing: Pairing) -> Iterator[Aligned]:
    """The rates that say something of these runs: where some answers fail, decline or lack a list."""
    for rate in _RATES.values():
        if any(rate.has <= set(rate.seen(side)) for side in pairing.sides):
            yield _align(rate.metric, [_yes_or_no(rate, side) for side in pairing.sides], pairing)


def _yes_or_no(rate: _Rate, side: Side) -> ScoreColumn:
    """A column of yes and no; None is no result."""
    values = array("d", (nan if one is None else float(one) for one in rate.said(side)))
    found = array("B", (not isnan(value) for value in values))
    return ScoreColumn(rate.metric.name, values, found, [ResultKind(), ResultKind()])


def fed_of(metric: BaseMetric, pairing: Pairing) -> Fed:
    """The values of one metric in two runs, a value a question of the pairing."""
    rate, worst = _RATES.get(metric.name), _worst_on_error(pairing)
    columns = [_yes_or_no(rate, side) if rate else _results(metric, side, worst=worst) for side in pairing.sides]
    nothing = array("d", [nan]) * len(pairing.ids)
    first, last = (nothing if found is None else found.values for found in columns)
    return Fed(metric, first, last, _lost(metric, columns, pairing))


def _has_value(run: EvalRun, name: str) -> bool:
    """Whether the metric has a value over the run; values of single questions may not stand for it."""
    summary = run.scorecard.find(name)
    return summary is not None and summary.value is not None


def find_unknown(pairing: Pairing) -> list[str]:
    """The metrics that do not exist here: of a plug-in that is not installed, or of a newer version."""
    return [name for name in _names(pairing) if known_metric(name) is None]


def _names(pairing: Pairing) -> list[str]:
    return list(dict.fromkeys(summary.name for run in pairing.runs for summary in run.scorecard.metrics))


def _results(metric: BaseMetric, side: Side, *, worst: bool) -> ScoreColumn | None:
    """All results of one run, those without a value included."""
    column = side.column(metric.name)
    if column is not None and worst and metric.worst is not None:
        return column.instead("transport", metric.worst)
    return column


def _align(metric: BaseMetric, columns: Sequence[ScoreColumn | None], pairing: Pairing) -> Aligned:
    there = [None if column is None or column.is_empty else column for column in columns]
    lost = _lost(metric, there, pairing)
    subset = pairing.subset(_mask(there, len(pairing.ids), nothing=_is_unknown(lost)))
    reason = _why_not_all(there, subset.ids, pairing)
    results = [None if column is None else column.taken(subset.places) for column in there]
    aligned = Aligned(metric, subset.ids, results, subset.clusters, reason)
    if lost is None or not subset.ids or metric.aggregation is Aggregation.SUM:
        return aligned  # what was counted stands for nothing that is lost
    full = tuple({} if column is None else _by_question(metric, column, pairing) for column in there)
    return replace(aligned, lost=lost, columns=full)


def _is_unknown(lost: LostPairs | None) -> bool:
    return lost is not None and lost.unknown


def _mask(there: Sequence[ScoreColumn | None], count: int, *, nothing: bool) -> bytes:
    """1 for each question of which all runs that have a value have one."""
    having = [] if nothing else [column for column in there if column is not None]
    both = int.from_bytes(b"\x01" * count) if having else 0
    for column in having:
        both &= int.from_bytes(column.found)
    return both.to_bytes(count)


def _why_not_all(there: Sequence[ScoreColumn | None], ids: Sequence[str], pairing: Pairing) -> str | None:
    lacking = [run.id for run, column in zip(pairing.runs, there, strict=True) if column is None]
    if lacking:
        return f"no value in {', '.join(lacking)}"
    return None if ids else "no question for which all runs have a value"


def _lost(metric: BaseMetric, there: Sequence[ScoreColumn | None], pairing: Pairing) -> LostPairs | None:
    """What is lost of the runs that have a value."""
    having = [column for column in there if column is not None and not column.is_empty]
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


# Two runs side by side, and what is seen of a metric in both.


@dataclass(frozen=True, slots=True)
class Change:
    """A metric in the baseline and in the run, over the questions for which both have a value."""

    before: float
    after: float
    interval: Interval | None
    """Of the difference, after minus before."""
    n: int


@dataclass(frozen=True, slots=True)
class Sides:
    """The baseline and the run, side by side, with what they did differently."""

    pairing: Pairing
    aligned: dict[str, Aligned]
    margin: float
    obstacles: Sequence[Obstacle] = ()

    @property
    def baseline(self) -> EvalRun:
        return self.pairing.runs[0]

    @property
    def run(self) -> EvalRun:
        return self.pairing.runs[1]

    @property
    def confidence(self) -> float:
        return score_settings(self.run).confidence

    def clusters(self, ids: Sequence[str]) -> list[str]:
        """What each of these questions belongs to."""
        labels = dict(zip(self.pairing.ids, self.pairing.sides[1].clusters(), strict=True))
        return [labels[each] for each in ids]

    @property
    def failed(self) -> str | None:
        """Which of the two failed, and why; None where both did not."""
        for run in self.pairing.runs:
            reason = why_failed(run)
            if reason is not None:
                return f"run {run.id} failed: {reason}"
        return None


# The weighted score of two runs over their common questions, with an interval of the difference.


def score_change(sides: Sides) -> Change | str:
    """The weighted score of both runs over their common questions, or why the two do not compare."""
    reason = _why_not(sides)
    if reason is not None:
        return reason
    usable = [each for each in sides.aligned.values() if each.complete]
    (score, first), (other, last) = (_scored(sides, usable, place) for place in (0, 1))
    if first is None or last is None:
        return f"no score over the common questions: {score.reason or other.reason or 'nothing in it varies'}"
    # Both have values of the same questions, those that are common to the runs.
    before, after = fmean(first.values.values()), fmean(last.values.values())
    return Change(before, after, _interval(sides, list(first.values), first, last), len(first.values))


def _scored(sides: Sides, usable: Sequence[Aligned], place: int) -> tuple[WeightedScore, Influence | None]:
    """The weighted score of one of the runs, and what each question contributes to it."""
    settings, scoring = score_settings(sides.run), scoring_config(sides.run)
    summaries = (each.summaries(settings)[place] for each in usable)
    card = Scorecard(metrics=[summary for summary in summaries if summary is not None])
    score = make_weighted_score(card, scoring)
    columns = {each.metric.name: each.column(place, settings) for each in usable}
    metrics = [each.metric for each in usable]
    return score, influence(score, metrics, columns.get, scoring.thresholds, sides.confidence)


def _why_not(sides: Sides) -> str | None:
    for run in sides.pairing.runs:
        head = headline(run)
        if head.score is None:
            return f"run {run.id} has no score: {head.reason}"
    changed = differing_objectives(sides.baseline, sides.run)
    if changed:
        return f"the scores measure different objectives: {'; '.join(changed)}"
    for metric in _feeding(sides):
        why = why_withheld(metric, sides.obstacles)
        if why is not None:
            return f"{metric.name} is not compared: {why}"
    return None


def _feeding(sides: Sides) -> list[BaseMetric]:
    """The metrics that feed either score."""
    fed = (name for run in sides.pairing.runs for names in run.weighted_score.fed_by.values() for name in names)
    return [sides.aligned[name].metric for name in dict.fromkeys(fed) if name in sides.aligned]


def _interval(sides: Sides, ids: Sequence[str], first: Influence, last: Influence) -> Interval | None:
    """Of the difference, from what each question contributes to either score; it lies from -1 to 1."""
    difference = paired_difference(
        [first.values[key] for key in ids],
        [last.values[key] for key in ids],
        sides.clusters(ids),
        low=min(first.low, last.low),
        high=max(first.high, last.high),
        confidence=sides.confidence,
    )
    ends = difference.bounds if difference else None
    return ends and (max(-1.0, ends[0]), min(1.0, ends[1]))


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
