"""Which run is established better than which: on some objective, and on none worse."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from evals.compare.families import ALPHA, FEWEST, Hypothesis, Ruling, decide
from evals.compare.latency import why_no_latency
from evals.compare.models import Dominance, ObjectiveTest
from evals.compare.objectives import Standing, stand
from evals.compare.pairing import Pairing, SavedRun, pair_up
from evals.compare.values import fed_of
from evals.compare.withheld import find_obstacles, why_withheld
from evals.metrics.base import UNITS_OF_TIME, BaseMetric


@dataclass(frozen=True, slots=True)
class Contest:
    """Two runs in one objective."""

    first: str
    last: str
    objective: str
    standing: Standing

    @property
    def may_be_decided(self) -> bool:
        """Whether a verdict is possible at all."""
        return self.standing.p is not None and self.standing.differing >= FEWEST


def compare_objectives(
    saved: Sequence[SavedRun], fed_by: Mapping[str, Sequence[BaseMetric]], thresholds: Mapping[str, float]
) -> list[ObjectiveTest]:
    """Test each objective between every two of the runs, over the questions that these two share.

    All tests share 0.05 by Holm's procedure: among equal runs, a difference is found in at most one of twenty such
    comparisons, however many runs and objectives there are.

    Args:
        saved: The runs; one that failed is compared with none.
        fed_by: The metrics of each objective.
        thresholds: By unit, the value that stands for 1 where a metric has no range.
    """
    sound = [each for each in saved if each.run.status != "failed"]
    found: list[Contest] = []
    for first, last in combinations(sound, 2):
        standings = _stand_everywhere(first, last, fed_by, thresholds)
        found += [Contest(first.run.id, last.run.id, name, standing) for name, standing in standings.items()]
    return decide_contests(found)


def decide_contests(found: Sequence[Contest]) -> list[ObjectiveTest]:
    """Say who is better where, all contests sharing 0.05 by Holm's procedure."""
    tested = [each for each in found if each.may_be_decided]
    rulings = decide([Hypothesis(str(place), each.standing.p or 0.0) for place, each in enumerate(tested)])
    by_test = dict(zip(map(id, tested), rulings, strict=True))
    return [_build(each, by_test.get(id(each))) for each in found]


def _stand_everywhere(
    first: SavedRun, last: SavedRun, fed_by: Mapping[str, Sequence[BaseMetric]], thresholds: Mapping[str, float]
) -> dict[str, Standing]:
    pairing = pair_up([first, last], may_be_empty=True)
    return {name: _stand(pairing, metrics, thresholds) for name, metrics in fed_by.items()}


def _stand(pairing: Pairing, metrics: Sequence[BaseMetric], thresholds: Mapping[str, float]) -> Standing:
    obstacles = find_obstacles(pairing)
    for metric in metrics:
        late = why_no_latency(pairing.runs) if metric.unit in UNITS_OF_TIME else None
        reason = late or why_withheld(metric, obstacles)
        if reason is not None:
            return Standing(reason=reason)
    fed = [fed_of(metric, pairing) for metric in metrics]
    return stand(fed, dict(zip(pairing.ids, pairing.clusters(), strict=True)), thresholds)


def _build(each: Contest, ruling: Ruling | None) -> ObjectiveTest:
    standing = each.standing
    established = ruling is not None and ruling.adjusted < ALPHA
    reason = standing.reason
    if reason is None and ruling is None:
        reason = f"fewer than {FEWEST} questions differ" if standing.differing else "no question differs"
    return ObjectiveTest(
        first=each.first,
        last=each.last,
        objective=each.objective,
        gain=None if standing.p is None else standing.gain,
        p=standing.p,
        q=ruling.adjusted if ruling else standing.p and 1.0,
        n=standing.n,
        better=(each.last if standing.gain > 0 else each.first) if established else None,
        reason=reason,
    )


def find_dominance(tests: Sequence[ObjectiveTest]) -> list[Dominance]:
    """Every case in which a run is established better than another on some objective, and the other on none."""
    by_pair: dict[tuple[str, str], list[ObjectiveTest]] = {}
    for test in tests:
        by_pair.setdefault((test.first, test.last), []).append(test)
    found = (_dominance(*pair, own) for pair, own in by_pair.items())
    return [dominance for dominance in found if dominance is not None]


def _dominance(first: str, last: str, tests: Sequence[ObjectiveTest]) -> Dominance | None:
    winners = {test.better for test in tests} - {None}
    if len(winners) != 1:
        return None
    winner, loser = (first, last) if first in winners else (last, first)
    better_on = [test.objective for test in tests if test.better]
    undecided = [test.objective for test in tests if not test.better]
    return Dominance(run=winner, over=loser, better_on=better_on, undecided=undecided)
