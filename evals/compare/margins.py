"""Whether a run is not worse than a baseline by more than a margin: non-inferiority, over the questions of both."""

from collections.abc import Sequence

from evals.compare.measured import bounds_of
from evals.compare.pairing import Pairing
from evals.compare.score_change import score_change
from evals.compare.sides import Change, Sides
from evals.compare.values import Aligned
from evals.compare.withheld import find_obstacles
from evals.errors import ConfigError
from evals.metrics.base import UNITS_OF_TIME, BaseMetric
from evals.metrics.registry import parse_metric
from evals.schemas import GateOutcome
from evals.scoring.evidence import heed_flagged, judge_end
from evals.scoring.seen import SCORE, see


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
    sides = Sides(pairing, {each.metric.name: each for each in aligned}, margin, find_obstacles(pairing))
    return [_outcome(sides, name, metrics.get(name)) for name in names]


def _outcome(sides: Sides, name: str, metric: BaseMetric | None) -> GateOutcome:
    higher = metric is None or metric.higher_is_better is not False
    gate = f"{name} at most {sides.margin:g} {'below' if higher else 'above'} {sides.baseline.id}"
    seen = score_change(sides) if metric is None else _metric(sides, metric)
    if isinstance(seen, str):
        return GateOutcome(gate=gate, outcome="not met", message=seen)
    difference, ends = seen.after - seen.before, seen.interval
    gain, unfavourable = (difference, ends and ends[0]) if higher else (-difference, ends and -ends[1])
    found = judge_end(gain, unfavourable, -sides.margin, seen.n, lambda end: end > -sides.margin)
    spread = "no interval" if ends is None else f"at worst {ends[0] if higher else ends[1]:+.4g}"
    figures = f"{seen.after:.4g}, was {seen.before:.4g}: difference {difference:+.4g} ({spread}, n = {seen.n})"
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


def _with_flagged(sides: Sides, name: str, outcome: GateOutcome, *, higher: bool) -> GateOutcome:
    """The outcome if the questions that the judge flags, in either run, tell against the later run."""
    before, after = see(sides.baseline, name), see(sides.run, name)
    first, last = before.bound(upper=higher), after.bound(upper=not higher)
    worst = None if first is None or last is None else last - first
    holds = worst is not None and (worst if higher else -worst) > -sides.margin
    return heed_flagged(outcome, worst, before.flagged + after.flagged, holds=holds)


def _metric(sides: Sides, metric: BaseMetric) -> Change | str:
    """The metric in both runs, or why it cannot be compared."""
    aligned, failed = sides.aligned.get(metric.name), sides.failed
    if failed is not None:
        return failed
    if aligned is None or not aligned.complete:
        return f"{metric.name} is not compared: {(aligned and aligned.reason) or 'neither run has a value'}"
    withheld = sides.withheld(metric)
    if withheld is not None:
        return f"{metric.name} is not compared: {withheld}"
    if metric.unit in UNITS_OF_TIME and sides.loads_differ:
        return f"{metric.name} is not compared: the runs had different concurrency"
    first, last = aligned.values(0), aligned.values(1)
    interval = bounds_of(aligned.metric, first, last, sides.clusters(aligned.ids), sides.confidence, aligned.lost)
    before, after = (aligned.value(values) for values in (first, last))
    return Change(before, after, interval, len(first))
