"""Runs in the space of objectives: which ones no other run beats on everything."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Literal

from evals.compare.models import ParetoReport
from evals.compare.values import Aligned
from evals.schemas import EvalRun, MetricSummary, ParetoPoint, Scorecard
from evals.scoring.config import ScoringConfig
from evals.scoring.settings import score_settings, scoring_config
from evals.scoring.weighted import make_weighted_score

Direction = Literal["higher", "lower"]


def dominates(first: Mapping[str, float], second: Mapping[str, float], directions: Mapping[str, Direction]) -> bool:
    """Whether the first is at least as good on every objective and better on at least one."""
    signs = {name: 1 if direction == "higher" else -1 for name, direction in directions.items()}
    gains = [sign * (first[name] - second[name]) for name, sign in signs.items()]
    return all(gain >= 0 for gain in gains) and any(gain > 0 for gain in gains)


def find_pareto(runs: Sequence[EvalRun], metrics: Sequence[Aligned], *, same_concurrency: bool) -> ParetoReport:
    """Compare runs by the objectives of the weighted score that all of them have.

    An objective is fed by the metrics that all runs have a value of, over their common questions; feeds and weights
    are those of the first run's `scoring`. One fed by milliseconds or dollars alone is these, and lower is better;
    latency is left out between runs of different concurrency. Weighted scores are over the same objectives. A run that
    failed stands on no front and beats nobody.
    """
    scoring = scoring_config(runs[0])
    usable = [each for each in metrics if each.complete and (same_concurrency or each.metric.unit != "ms")]
    columns = [each.summaries(score_settings(runs[0])) for each in usable]
    cards = [Scorecard(metrics=[row[place] for row in columns if row[place]]) for place in range(len(runs))]
    weighted = [make_weighted_score(card, scoring) for card in cards]
    fed_by = weighted[0].fed_by
    units = {name: _unit([card for card in cards[0].metrics if card.name in fed_by[name]]) for name in fed_by}
    directions: dict[str, Direction] = {
        name: "lower" if unit in scoring.thresholds else "higher" for name, unit in units.items()
    }
    values = [
        {
            name: _rounded(_raw(card, fed_by[name]) if directions[name] == "lower" else score.objectives[name])
            for name in fed_by
        }
        for card, score in zip(cards, weighted, strict=True)
    ]
    points = [_point(run, own, runs, values, directions) for run, own in zip(runs, values, strict=True)]
    return ParetoReport(
        objectives=directions,
        units=units,
        fed_by=fed_by,
        left_out=_left_out(scoring, fed_by, metrics, same_concurrency=same_concurrency),
        points=points,
        front=_front(runs, points),
        best={name: _best(points, name, direction) for name, direction in directions.items()},
        weights=weighted[0].weights,
        scores=[score.score for score in weighted],
    )


def _front(runs: Sequence[EvalRun], points: Sequence[ParetoPoint]) -> list[str]:
    failed = {run.id for run in runs if run.status == "failed"}
    return [point.run_id for point in points if point.on_front and point.run_id not in failed]


def _unit(summaries: Sequence[MetricSummary]) -> str:
    """The unit that all metrics of an objective share; "ratio" where they are scaled to be averaged."""
    units = {summary.unit for summary in summaries}
    return units.pop() if len(units) == 1 else "ratio"


def _raw(card: Scorecard, names: Sequence[str]) -> float:
    return fmean(summary.value for summary in card.metrics if summary.name in names and summary.value is not None)


def _rounded(value: float) -> float:
    """Twelve digits: what is left of rounding makes no run better than another."""
    return float(f"{value:.12g}")


def _point(
    run: EvalRun,
    own: dict[str, float],
    runs: Sequence[EvalRun],
    values: Sequence[dict[str, float]],
    directions: Mapping[str, Direction],
) -> ParetoPoint:
    others = [(other, theirs) for other, theirs in zip(runs, values, strict=True) if other.status != "failed"]
    better = [other.id for other, theirs in others if dominates(theirs, own, directions)]
    return ParetoPoint(run_id=run.id, name=run.name, objectives=own, dominated_by=better)


def _best(points: Sequence[ParetoPoint], name: str, direction: Direction) -> list[str]:
    values = [point.objectives[name] for point in points]
    target = max(values) if direction == "higher" else min(values)
    return list(dict.fromkeys(point.run_id for point in points if point.objectives[name] == target))


def _left_out(
    scoring: ScoringConfig, fed_by: Mapping[str, list[str]], metrics: Sequence[Aligned], *, same_concurrency: bool
) -> dict[str, str]:
    """Why objectives, or some of the metrics that feed them, are not compared."""
    by_name = {each.metric.name: each for each in metrics}
    reasons: dict[str, str] = {}
    for objective, weight in scoring.weights.items():
        if not weight:
            reasons[objective] = "its weight is 0"
            continue
        missing = []
        for name in scoring.feeds[objective]:
            if name in fed_by.get(objective, []):
                continue
            found = by_name.get(name)
            if found is None:
                missing.append(f"{name}: no run has a value")
            elif found.metric.unit == "ms" and not same_concurrency:
                missing.append(f"{name}: the runs had different concurrency")
            else:
                missing.append(f"{name}: {found.reason}")
        if objective not in fed_by:
            reasons[objective] = "; ".join(missing)
        elif missing:
            reasons[f"a part of {objective}"] = "; ".join(missing)
    return reasons
