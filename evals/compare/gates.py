"""Gates on a saved run, alone and against a baseline (non-inferiority by a margin)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean
from typing import NamedTuple

from evals.compare.conditions import Obstacle, find_obstacles, find_warnings, same_load, why_withheld
from evals.compare.models import ANSWERING
from evals.compare.paired import compare_metrics
from evals.compare.pairing import Pairing, SavedRun, pair_up
from evals.compare.statistics import PairedMetric
from evals.compare.values import Aligned, align_all
from evals.errors import ConfigError
from evals.metrics.base import UNITS_OF_TIME, BaseMetric
from evals.metrics.registry import parse_metric
from evals.schemas.base import Finite, Record
from evals.schemas.results import EvalRun, Scorecard, WeightedScore
from evals.schemas.run_parts import GateOutcome, GateResult
from evals.scoring.config import SCORE, differing_objectives, headline, scoring_config, see, why_failed
from evals.scoring.gates import Gate, heed_flagged, judge_end, parse_gate
from evals.scoring.settings import score_settings
from evals.scoring.stats.differences import paired_difference
from evals.scoring.stats.intervals import Interval
from evals.scoring.weighted import Influence, influence, make_weighted_score, with_intervals
from evals.text.numbers import counted

# Whether a run is not worse than a baseline by more than a margin: non-inferiority, over the questions of both.


def hold_against(
    pairing: Pairing, aligned: Sequence[Aligned], names: Sequence[str], margin: float
) -> list[GateOutcome]:
    """Whether a run is worse than its baseline by less than the margin in each of these metrics.

    Met where the unfavourable end of the paired difference's interval is within the margin; not met where the
    difference itself is not, or nothing can be compared (as by two judges); else there is not enough evidence.

    Args:
        pairing: The baseline and the run.
        aligned: The metrics of both.
        names: Of metrics; `score` is the weighted score, over the common questions.
        margin: In the unit of each metric, at least 0.

    Raises:
        ConfigError: Neither way of a metric is the better one.
        UnknownNameError: A metric does not exist.
    """
    metrics = {name: parse_metric(name) for name in names if name != SCORE}
    for metric in metrics.values():
        if metric.higher_is_better is None:
            raise ConfigError(f"neither way of {metric.name} is the better one, so nothing is worse", "leave it out")
    sides = _Sides(pairing, {each.metric.name: each for each in aligned}, margin, find_obstacles(pairing))
    return [_outcome(sides, name, metrics.get(name)) for name in names]


class _Change(NamedTuple):
    """A metric in the baseline and in the run, over the questions for which both have a value."""

    before: float
    after: float
    interval: Interval | None
    """Of the difference, after minus before."""
    n: int


@dataclass(frozen=True, slots=True)
class _Sides:
    """The baseline and the run, side by side, with what they did differently."""

    pairing: Pairing
    aligned: dict[str, Aligned]
    margin: float
    obstacles: Sequence[Obstacle]

    @property
    def baseline(self) -> EvalRun:
        return self.pairing.runs[0]

    @property
    def run(self) -> EvalRun:
        return self.pairing.runs[1]

    @property
    def confidence(self) -> float:
        return score_settings(self.run).confidence

    def why_withheld(self, metric: BaseMetric) -> str | None:
        """Why the metric of the two runs does not compare; None where it does."""
        late = metric.unit in UNITS_OF_TIME and not same_load(self.pairing.runs)
        return why_withheld(metric, self.obstacles) or ("the runs had different concurrency" if late else None)

    def clusters(self, ids: Iterable[str]) -> list[str]:
        """What each of these questions belongs to, by the configuration of the run."""
        labels = dict(zip(self.pairing.ids, self.pairing.sides[1].clusters(), strict=True))
        return [labels[each] for each in ids]


def _outcome(sides: _Sides, name: str, metric: BaseMetric | None) -> GateOutcome:
    higher = metric is None or metric.higher_is_better is not False
    gate = f"{name} at most {sides.margin:g} {'below' if higher else 'above'} {sides.baseline.id}"
    seen = _score_change(sides) if metric is None else _metric_change(sides, metric)
    if isinstance(seen, str):
        return GateOutcome(gate=gate, outcome="not met", message=seen)
    difference, ends = seen.after - seen.before, seen.interval
    gain, unfavourable = (difference, ends and ends[0]) if higher else (-difference, ends and -ends[1])
    found = judge_end(gain, unfavourable, -sides.margin, seen.n, lambda end: end > -sides.margin)
    spread = "no interval" if ends is None else f"at worst {ends[0] if higher else ends[1]:+.4g}"
    unit = see(sides.run, name).unit
    values = f"{seen.after:.4g}{unit}, was {seen.before:.4g}{unit}"
    figures = f"{values}: difference {difference:+.4g} ({spread}, n = {seen.n})"
    outcome = GateOutcome(
        gate=gate,
        outcome=found.outcome,
        message=f"{figures}{found.advice}",
        value=difference,
        ci=ends,
        n=seen.n,
        more_questions=found.more,
    )
    return _with_flagged(sides, name, outcome, higher=higher)


def _with_flagged(sides: _Sides, name: str, outcome: GateOutcome, *, higher: bool) -> GateOutcome:
    """The outcome if the questions that the judge flags, in either run, tell against the later run."""
    before, after = see(sides.baseline, name), see(sides.run, name)
    first, last = before.bound(upper=higher), after.bound(upper=not higher)
    worst = None if first is None or last is None else last - first
    holds = worst is not None and (worst if higher else -worst) > -sides.margin
    return heed_flagged(outcome, worst, before.flagged + after.flagged, holds=holds)


def _metric_change(sides: _Sides, metric: BaseMetric) -> _Change | str:
    """The metric in both runs, or why it cannot be compared."""
    failed = [f"run {run.id} failed: {why}" for run in sides.pairing.runs if (why := why_failed(run))]
    if failed:
        return failed[0]
    aligned = sides.aligned.get(metric.name)
    if aligned is None or not aligned.complete:
        return f"{metric.name} is not compared: {(aligned and aligned.reason) or 'neither run has a value'}"
    why = sides.why_withheld(metric)
    if why is not None:
        return f"{metric.name} is not compared: {why}"
    first, last, ids = aligned.values(0), aligned.values(1), aligned.ids
    pairs = PairedMetric(aligned.metric, ids, first, last, sides.clusters(ids), lost=aligned.lost)
    return _Change(pairs.value(first), pairs.value(last), pairs.bounds(1 - sides.confidence), len(ids))


def _score_change(sides: _Sides) -> _Change | str:
    """The weighted score of both runs over their common questions, or why the two do not compare."""
    reason = _why_no_score(sides)
    if reason is not None:
        return reason
    (score, first), (other, last) = (_scored(sides, place) for place in (0, 1))
    if first is None or last is None:
        return f"no score over the common questions: {score.reason or other.reason or 'nothing in it varies'}"
    # Both have values of the same questions, those that are common to the runs.
    before, after = list(first.values.values()), [last.values[key] for key in first.values]
    low, high = min(first.low, last.low), max(first.high, last.high)
    clusters, confidence = sides.clusters(first.values), sides.confidence
    difference = paired_difference(before, after, clusters, low=low, high=high, confidence=confidence)
    ends = difference.bounds if difference else None
    within = ends and (max(-1.0, ends[0]), min(1.0, ends[1]))
    return _Change(fmean(before), fmean(last.values.values()), within, len(before))


def _scored(sides: _Sides, place: int) -> tuple[WeightedScore, Influence | None]:
    """The weighted score of one of the runs over their common questions, and what each question contributes to it."""
    settings, scoring = score_settings(sides.run), scoring_config(sides.run)
    usable = [each for each in sides.aligned.values() if each.complete]
    summaries = (each.summaries(settings)[place] for each in usable)
    card = Scorecard(metrics=[summary for summary in summaries if summary is not None])
    score = make_weighted_score(card, scoring)
    columns = {each.metric.name: each.column(place, settings) for each in usable}
    metrics = [each.metric for each in usable]
    return score, influence(score, metrics, columns.get, scoring.thresholds, sides.confidence)


def _why_no_score(sides: _Sides) -> str | None:
    """Why the scores of the two runs do not compare: one has none, or they are not of the same."""
    for run in sides.pairing.runs:
        head = headline(run)
        if head.score is None:
            return f"run {run.id} has no score: {head.reason}"
    changed = differing_objectives(sides.baseline, sides.run)
    if changed:
        return f"the scores measure different objectives: {'; '.join(changed)}"
    fed = (name for run in sides.pairing.runs for names in run.weighted_score.fed_by.values() for name in names)
    for name in dict.fromkeys(fed):
        why = why_withheld(sides.aligned[name].metric, sides.obstacles) if name in sides.aligned else None
        if why is not None:
            return f"{name} is not compared: {why}"
    return None


DEFAULT_MARGIN = 0.03
"""The margin unless another is set: a smaller loss does not matter."""


class GateReport(Record):
    """The outcome of a saved run's gates."""

    run: str
    baseline: str | None = None
    margin: Finite | None = None
    outcome: GateResult
    """Of all gates together: the worst of theirs."""
    gates: list[GateOutcome]
    warnings: list[str] = []
    """What makes the two runs hard to compare."""


def check_alone(saved: SavedRun, gates: Sequence[str]) -> GateReport:
    """Check a run by itself.

    Args:
        saved: The run.
        gates: Conditions; where there are none, those that the run was made with.

    Raises:
        ConfigError: A gate is none, or there is none at all.
    """
    parsed = _parsed(saved.run, gates)
    if not parsed:
        raise ConfigError(
            f"run {saved.run.id} was made without gates, and none is given",
            "give one, such as --gate 'recall_at_5>=0.8', or --baseline RUN",
        )
    run = with_intervals(saved.run, saved.records, parsed)
    outcomes = [gate.check(run) for gate in parsed]
    return GateReport(run=saved.run.id, outcome=_worst(outcomes), gates=outcomes)


def check_against(
    saved: SavedRun, baseline: SavedRun, gates: Sequence[str], names: Sequence[str] | None, margin: float
) -> GateReport:
    """Check a run by itself, and that it is not worse than a baseline by more than a margin.

    A condition on the weighted score is not met where the two runs' scores measure different objectives; one on a
    metric, or on a score that it feeds, where the two were measured by different means. Questions of which the gold was
    changed in between are left out.

    Args:
        saved: The run.
        baseline: The run to hold it against.
        gates: Conditions; where there are none, those that the run was made with.
        names: The metrics that must not be worse; None for those of the gates given that are neither in milliseconds
            nor in dollars, and for the weighted score where there are none.
        margin: By how much they may be worse, in the unit of each, at least 0.

    Raises:
        ConfigError: A gate is none, the margin cannot be, or the runs have no question in common.
        UnknownNameError: A metric does not exist.
    """
    if not 0 <= margin < inf:
        raise ConfigError(f"the margin must be 0 or more, not {margin:g}", "it is the loss that would not matter")
    if saved.run.id == baseline.run.id:
        raise ConfigError(f"run {saved.run.id} is its own baseline", "name another run with --baseline")
    parsed = _parsed(saved.run, gates)
    run = with_intervals(saved.run, saved.records, parsed)
    outcomes = [_check_beside(gate, run, baseline.run) for gate in parsed]
    common = pair_up([baseline, saved])
    held = names if names is not None else _default_names(saved.run, parsed if gates else [])
    pairing, aligned = _of_same_gold(common, held)
    outcomes += hold_against(pairing, aligned, held, margin)
    return GateReport(
        run=saved.run.id,
        baseline=baseline.run.id,
        margin=margin,
        outcome=_worst(outcomes),
        gates=outcomes,
        warnings=[*find_warnings(pairing), *_left_out(common, pairing), *_silence(pairing, aligned)],
    )


def _of_same_gold(common: Pairing, held: Sequence[str]) -> tuple[Pairing, list[Aligned]]:
    """The common questions whose gold is the same; all of them where these have no value of a metric that is held."""
    pairing = common.of_same_gold()
    aligned = align_all(pairing)
    if pairing is common or {SCORE, *(each.metric.name for each in aligned if each.complete)}.issuperset(held):
        return pairing, aligned
    return common, align_all(common)


def _left_out(common: Pairing, pairing: Pairing) -> Iterator[str]:
    """Of which common questions the gold was changed since the baseline."""
    left = f"left out, {len(pairing.ids)} are compared"
    for name, ids in common.regraded.items() if pairing is not common else ():
        yield f"{counted(len(ids), 'question', 'differs')} in {name}: {left}"


def _silence(pairing: Pairing, aligned: Sequence[Aligned]) -> Iterator[str]:
    """What no condition on a metric sees: answers that do not come, that decline, or that come without their lists."""
    for pair in compare_metrics(pairing, aligned):
        if pair.name in ANSWERING and pair.verdict in ("worse", "changed"):
            said = f"{pair.name} is {pair.last:.3f}, was {pair.first:.3f}"
            yield f"{said}: what is measured is of the questions that are left"


def _parsed(run: EvalRun, gates: Sequence[str]) -> list[Gate]:
    known = [metric.name for metric in run.scorecard.metrics]
    made_with = run.eval_config.get("gate") or []
    return [parse_gate(text, known) for text in (gates or made_with)]


def _check_beside(gate: Gate, run: EvalRun, baseline: EvalRun) -> GateOutcome:
    outcome = gate.check(run)
    changed = differing_objectives(baseline, run) if gate.metric == SCORE else []
    if not changed:
        return outcome
    message = f"the scores measure different objectives: {'; '.join(changed)} ({outcome.message})"
    return outcome.model_copy(update={"outcome": "not met", "message": message, "more_questions": None})


def _default_names(run: EvalRun, gates: Sequence[Gate]) -> list[str]:
    summaries = {summary.name: summary for summary in run.scorecard.metrics}
    named = dict.fromkeys(gate.metric for gate in gates)
    held = [name for name in named if name not in summaries or summaries[name].unit not in {*UNITS_OF_TIME, "USD"}]
    return held or [SCORE]


def _worst(outcomes: Sequence[GateOutcome]) -> GateResult:
    found = {outcome.outcome for outcome in outcomes}
    if "not met" in found:
        return "not met"
    return "not enough evidence" if "not enough evidence" in found else "met"
