"""Pareto fronts: a run dominates another if it is at least as good on all objectives, and better on one.

Fronts are by values alone; beside them `differences` says, for every two runs, which objectives differ beyond chance.
Each two runs are tested by themselves, so a third run never changes what is said of them.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from evals.compare.models import Direction, ObjectiveDifference, ParetoFront
from evals.errors import ConfigError
from evals.schemas.results import EvalRun, ParetoPoint, WeightedScore
from evals.scoring.config import scoring_config
from evals.scoring.outcomes import asked_questions
from evals.scoring.results import Results
from evals.scoring.saved import SavedRun
from evals.scoring.scorecard import Rows
from evals.scoring.stats import ALPHA, FEWEST, Vector, holm, paired_test, pseudo_values
from evals.scoring.weighted import score_over, scores_without_each


def pareto(runs: Sequence[SavedRun]) -> ParetoFront:
    """The Pareto front of runs, over the objectives that all of them have.

    Raises:
        ConfigError: They have no objective in common.
    """
    scored = [each for each in runs if each.run.weighted_score.objectives]
    fed = _common_objectives([each.run for each in scored])
    if not fed:
        raise ConfigError("these runs have no objective in common", "compare runs that measured the same")
    values: dict[str, dict[str, float]] = {}
    directions, units = dict[str, Direction](), dict[str, str]()
    for objective, names in fed.items():
        single = scored[0].run.scorecard.find(names[0]) if len(names) == 1 else None
        raw = single is not None and single.unit in scoring_config(scored[0].run).thresholds
        directions[objective] = "lower" if raw else "higher"
        units[objective] = single.unit if raw and single is not None else "ratio"
        for each in scored:
            summary = each.run.scorecard.get(names[0]) if raw else None
            value = summary.value if summary is not None else each.run.weighted_score.objectives[objective]
            values.setdefault(each.run.id, {})[objective] = value or 0.0
    points = [
        ParetoPoint(
            run_id=each.run.id,
            name=each.run.name,
            objectives=values[each.run.id],
            dominated_by=[
                other.run.id for other in scored if dominates(values[other.run.id], values[each.run.id], directions)
            ],
        )
        for each in scored
    ]
    best = {}
    for objective, direction in directions.items():
        pick = max if direction == "higher" else min
        top = pick(table[objective] for table in values.values())
        best[objective] = [key for key, table in values.items() if table[objective] == top]
    return ParetoFront(
        objectives=directions,
        units=units,
        fed_by=fed,
        left_out=_left_out([each.run for each in scored], fed),
        points=points,
        front=[point.run_id for point in points if point.on_front],
        differences=[one for pair in combinations(scored, 2) for one in _differences(*pair, fed)],
        best=best,
    )


def dominates(first: Mapping[str, float], second: Mapping[str, float], directions: Mapping[str, Direction]) -> bool:
    """Whether the first values are at least as good on all objectives, and better on one."""
    gains = [
        first[name] - second[name] if direction == "higher" else second[name] - first[name]
        for name, direction in directions.items()
    ]
    return all(gain >= 0 for gain in gains) and any(gain > 0 for gain in gains)


def _common_objectives(runs: Sequence[EvalRun]) -> dict[str, list[str]]:
    """The objectives that all runs have, with the same metrics."""
    if not runs:
        return {}
    first = runs[0].weighted_score.fed_by
    return {
        name: names
        for name, names in first.items()
        if all(sorted(run.weighted_score.fed_by.get(name, ())) == sorted(names) for run in runs[1:])
    }


def _left_out(runs: Sequence[EvalRun], fed: Mapping[str, list[str]]) -> dict[str, str]:
    """The objectives that some run lacks or measured by other metrics."""
    known = dict.fromkeys(name for run in runs for name in run.weighted_score.weights)
    lacking = {name: [run.id for run in runs if name not in run.weighted_score.fed_by] for name in known}
    return {
        name: f"no value in {', '.join(lacking[name])}" if lacking[name] else "the runs measured it by other metrics"
        for name in known
        if name not in fed
    }


def _differences(first: SavedRun, last: SavedRun, fed: Mapping[str, list[str]]) -> list[ObjectiveDifference]:
    """Each objective between two runs, tested over their common questions; Holm over the objectives."""
    places = asked_questions(last.results)
    common = [(row, places[key]) for key, row in asked_questions(first.results).items() if key in places]
    if len(common) < FEWEST:
        return []
    rows = [np.array(side, dtype=np.int64) for side in zip(*common, strict=True)]
    numbers = last.results.group_numbers()
    groups = np.arange(len(common)) if numbers is None else np.unique(numbers[rows[1]], return_inverse=True)[1]
    found: dict[str, tuple[float, float | None]] = {}
    for objective, names in fed.items():
        sides = [
            _objective(each, objective, names, own, groups, grouped=numbers is not None)
            for each, own in zip((first, last), rows, strict=True)
        ]
        count = len(sides[0][1])
        gain = sides[1][0] - sides[0][0]
        pseudo = pseudo_values(gain, sides[1][1] - sides[0][1])
        enough = _differing(first.results, last.results, names, rows) >= FEWEST
        found[objective] = gain, paired_test(np.zeros(count), pseudo, 1.0).p if enough else None
    adjusted = holm({name: p for name, (_, p) in found.items() if p is not None})
    return [
        ObjectiveDifference(
            first=first.run.id,
            last=last.run.id,
            objective=name,
            gain=gain,
            p=p,
            q=adjusted.get(name),
            n=len(common),
            better=(last if gain > 0 else first).run.id if adjusted.get(name, 1.0) < ALPHA else None,
        )
        for name, (gain, p) in found.items()
    ]


def _objective(
    saved: SavedRun, objective: str, names: Sequence[str], rows: Rows, groups: Rows, *, grouped: bool
) -> tuple[float, Vector]:
    """The value of an objective over some questions, and its value without each of them (or their groups)."""
    alone = WeightedScore(
        score=None, objectives={objective: 0.0}, weights={objective: 1.0}, fed_by={objective: list(names)}
    )
    thresholds = scoring_config(saved.run).thresholds
    without, _ = scores_without_each(alone, saved.results, saved.settings, thresholds, rows, groups, grouped=grouped)
    return score_over(alone, saved.results, saved.settings, thresholds, rows), without


def _differing(first: Results, last: Results, names: Sequence[str], rows: Sequence[Rows]) -> int:
    changed = np.zeros(len(rows[0]), dtype=bool)
    for name in names:
        before, after = first.columns[name].numbers[rows[0]], last.columns[name].numbers[rows[1]]
        changed |= (before != after) & ~(np.isnan(before) & np.isnan(after))
    return int(changed.sum())
