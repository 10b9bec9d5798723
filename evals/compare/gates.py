"""Gates on a saved run: conditions on its metrics, and not worse than a baseline.

Against a baseline, for each metric that must not be worse (docs/gates.md has this table with exit codes):

| the run is | outcome |
|---|---|
| better by value, or equal | met; a warning where the evidence is thin |
| worse, and the whole interval is within the margin | met |
| worse, and the evidence is thin | not enough evidence (`--lenient` passes it) |
| worse by more than the margin, beyond chance | not met |
"""

from collections.abc import Collection, Sequence
from math import inf

from evals.compare.conditions import warnings_on
from evals.compare.models import ANSWER_RATE, SCORE, MetricPair, RunComparison
from evals.compare.paired import compare_two
from evals.errors import ConfigError, GateFailedError
from evals.metrics.base import UNITS_OF_TIME
from evals.metrics.registry import parse_metric
from evals.schemas.base import Finite, Record
from evals.schemas.results import EvalRun, GateOutcome, GateResult
from evals.scoring.config import differing_objectives, why_failed
from evals.scoring.gates import Gate, parse_gate
from evals.scoring.saved import SavedRun

DEFAULT_MARGIN = 0.03
"""A loss of this size is tolerated."""


class GateReport(Record):
    """The outcome of a saved run's gates."""

    run: str
    baseline: str | None = None
    margin: Finite | None = None
    outcome: GateResult
    """The worst outcome of all gates."""
    headline: str | None = None
    """Which run is better by value."""
    gates: list[GateOutcome]
    warnings: list[str] = []


def check_alone(saved: SavedRun, gates: Sequence[str]) -> GateReport:
    """Check a run by itself.

    Args:
        saved: The run.
        gates: Conditions; without any, those that the run was made with.

    Raises:
        ConfigError: A gate is none, or there is none at all.
    """
    parsed = _parsed(saved.run, gates)
    if not parsed:
        raise ConfigError(
            f"run {saved.run.id} was made without gates, and none is given",
            "give one, such as --gate 'recall_at_5>=0.8', or --baseline RUN",
        )
    outcomes = [gate.check(saved.run) for gate in parsed]
    return GateReport(run=saved.run.id, outcome=_worst(outcomes), gates=outcomes)


def check_against(
    saved: SavedRun, baseline: SavedRun, gates: Sequence[str], names: Sequence[str] | None, margin: float
) -> GateReport:
    """Check a run by itself, and that it is not worse than a baseline.

    Args:
        saved: The run.
        baseline: The run that it must not be worse than.
        gates: Conditions; without any, those that the run was made with.
        names: The metrics that must not be worse; None for those of the gates given that are neither in milliseconds
            nor in dollars, else the weighted score.
        margin: The loss that is tolerated, in the unit of each metric.

    Raises:
        ConfigError: A gate is none, the margin is negative, or the runs have no question in common.
        UnknownNameError: A metric does not exist.
    """
    if not 0 <= margin < inf:
        raise ConfigError(f"the margin must be 0 or more, not {margin:g}", "it is the loss that would not matter")
    if saved.run.id == baseline.run.id:
        raise ConfigError(f"run {saved.run.id} is its own baseline", "name another run with --baseline")
    parsed = _parsed(saved.run, gates)
    outcomes = [_check_beside(gate, saved.run, baseline.run) for gate in parsed]
    held = list(names) if names is not None else _default_names(saved.run, parsed if gates else [])
    for name in held:
        if name != SCORE and parse_metric(name).higher_is_better is None:
            raise ConfigError(f"neither direction of {name} is better, so nothing is worse", "leave it out")
    comparison = compare_two(baseline, saved, named=[name for name in held if name != SCORE])
    outcomes += [_held(comparison, name, saved.run, baseline.run, margin) for name in held]
    warnings = [*warnings_on([baseline, saved]), *_thin(comparison, held), *_silence(comparison)]
    return GateReport(
        run=saved.run.id,
        baseline=baseline.run.id,
        margin=margin,
        outcome=_worst(outcomes),
        headline=headline_of(comparison) if comparison.score is not None or SCORE in held else None,
        gates=outcomes,
        warnings=warnings,
    )


_SEEN = 0.0005
"""A smaller difference of the score does not show in its three places."""


def headline_of(comparison: RunComparison) -> str:
    """Which of two runs is better by value, in a sentence."""
    score = comparison.score
    if score is None:
        return f"the scores do not compare: {comparison.score_reason}"
    values = f"score {score.last:.3f}, was {score.first:.3f}"
    if abs(score.difference) < _SEEN:
        return f"{comparison.run} and {comparison.baseline} have the same score: {values}"
    side = "better" if score.difference > 0 else "worse"
    sure = "beyond chance" if score.verdict in ("better", "worse") else "not established"
    return f"{comparison.run} is {side} than {comparison.baseline} by value ({values}), {sure}"


def _held(comparison: RunComparison, name: str, run: EvalRun, baseline: EvalRun, margin: float) -> GateOutcome:
    """Whether one metric is not worse than in the baseline."""
    pair = comparison.pair(name)
    side = "above" if pair is not None and pair.higher_is_better is False else "below"
    gate = f"{name} at most {margin:g} {side} {baseline.id}"
    failed = next((f"run {each.id} failed: {why}" for each in (baseline, run) if (why := why_failed(each))), None)
    if failed or pair is None or pair.verdict == "not compared":
        reason = failed or (comparison.score_reason if name == SCORE else None) or (pair and pair.reason)
        return GateOutcome(gate=gate, outcome="not met", message=reason or f"{name} has no value in both runs")
    outcome = judge_loss(pair, margin)
    unit = f" {pair.unit}" if pair.unit in ("ms", "USD") else ""
    spread = "no interval" if pair.interval is None else f"interval {pair.interval[0]:+.4g} … {pair.interval[1]:+.4g}"
    message = (
        f"{pair.last:.4g}{unit}, was {pair.first:.4g}{unit}: difference {pair.difference:+.4g} ({spread}, n = {pair.n})"
    )
    more = None
    if outcome == "not enough evidence" and pair.questions_needed:
        more = max(1, pair.questions_needed - pair.n)
        message += f"; about {pair.questions_needed:,} questions would decide"
    return GateOutcome(
        gate=gate,
        outcome=outcome,
        message=message,
        value=pair.difference,
        ci=pair.interval,
        n=pair.n,
        more_questions=more,
    )


def judge_loss(pair: MetricPair, margin: float) -> GateResult:
    """The outcome of a metric against its baseline, by the table of this module."""
    if pair.gain >= 0 or (pair.name == SCORE and abs(pair.difference) < _SEEN):  # latencies move the score a little
        return "met"
    if pair.interval is None:
        return "met" if -pair.gain <= margin else "not met"
    ends = (-pair.interval[1], -pair.interval[0]) if pair.higher_is_better is False else pair.interval
    if ends[0] >= -margin:
        return "met"
    beyond_chance = ends[1] < 0 and pair.p is not None
    if beyond_chance and -pair.gain > margin:
        return "not met"
    return "not enough evidence"


def _thin(comparison: RunComparison, held: Sequence[str]) -> list[str]:
    """The metrics that are better or equal by value, without evidence that they are."""
    pairs = [pair for name in held if (pair := comparison.pair(name)) is not None]
    return [
        f"{pair.name} is better by value, and the evidence is thin ({pair.reason})"
        for pair in pairs
        if pair.gain > 0 and pair.verdict == "not established"
    ]


def _silence(comparison: RunComparison) -> list[str]:
    """What no condition on a metric sees: fewer questions bring an answer."""
    pair = comparison.pair(ANSWER_RATE)
    if pair is None or pair.verdict != "worse":
        return []
    return [f"{pair.first:.1%} of the questions brought an answer, now {pair.last:.1%}: metrics are over the rest"]


def _parsed(run: EvalRun, gates: Sequence[str]) -> list[Gate]:
    known = [metric.name for metric in run.scorecard.metrics]
    return [parse_gate(text, known) for text in (gates or run.eval_config.get("gate") or [])]


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
    results = {outcome.outcome for outcome in outcomes}
    if "not met" in results:
        return "not met"
    return "not enough evidence" if "not enough evidence" in results else "met"


def regression_of(compared: RunComparison, primary: str | None, uncalibrated: Collection[str]) -> str:
    """In what a run is worse than the baseline; nothing where it is not.

    Args:
        compared: The run with the baseline.
        primary: The metric that must have been tested; None for any.
        uncalibrated: Metrics by which the judge was never calibrated, which are marked.

    Raises:
        GateFailedError: No metric of quality compares.
    """
    doubt = f"{compared.run} may be worse than {compared.baseline}"
    quality = [pair for pair in compared.pairs if pair.is_of_quality and pair.name != ANSWER_RATE]
    if all(pair.verdict == "not compared" for pair in quality):
        reasons = "; ".join(sorted({pair.reason for pair in quality if pair.reason}))
        why = f" ({reasons})" if reasons else ""
        raise GateFailedError(
            f"no metric of quality has values in both runs that compare{why}, so {doubt}",
            "compare runs whose questions have gold passages, expected answers or a known answerability, "
            "measured alike",
        )
    problems = []
    for pair in compared.regressions:
        mark = ", uncalibrated" if pair.name in uncalibrated else ""
        problems.append(f"{pair.name} {pair.first:.3g} to {pair.last:.3g} (p {pair.q or 0:.2g}{mark})")
    missing = [metric.name for metric in compared.vanished if metric.is_regression or metric.name == primary]
    problems += [f"{name} has no value any more" for name in missing]
    if problems:
        return f"{compared.run} is worse than {compared.baseline}: {', '.join(problems)}"
    tested = compared.pair(primary) if primary else None
    if tested is not None and tested.verdict == "not compared":
        return f"{primary} could not be tested ({tested.reason}), so {doubt}"
    return ""
