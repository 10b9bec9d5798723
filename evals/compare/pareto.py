"""Pareto fronts: the runs that no other run dominates."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from statistics import fmean
from typing import Any, Literal, NamedTuple

from evals.compare.conditions import find_obstacles, same_load, why_no_latency, why_withheld
from evals.compare.models import ANSWER_RATE, ANSWERABLE_ABSTENTION_RATE, Dominance, ObjectiveTest, ParetoReport
from evals.compare.objectives import Standing, stand
from evals.compare.pairing import Pairing, SavedRun, pair_up
from evals.compare.statistics import ALPHA, FEWEST, Hypothesis, decide
from evals.compare.values import Aligned, align
from evals.metrics.abstention import FalseNegativeRate
from evals.metrics.base import UNITS_OF_TIME, BaseMetric
from evals.schemas.results import EvalRun, ParetoPoint, Scorecard, WeightedScore
from evals.scoring.config import ScoringConfig, scoring_config
from evals.scoring.settings import ScoreSettings, score_settings
from evals.scoring.stats.intervals import Interval
from evals.scoring.weighted import influence, make_weighted_score, score_interval

# Which run is established better than which: on some objective, and on none worse.


class Contest(NamedTuple):
    """Two runs in one objective."""

    first: str
    last: str
    objective: str
    standing: Standing


def compare_objectives(
    saved: Sequence[SavedRun], fed_by: Mapping[str, Sequence[BaseMetric]], thresholds: Mapping[str, float]
) -> list[ObjectiveTest]:
    """Test each objective between every two of the runs, over the questions that these two share.

    Args:
        saved: The runs; one that failed is compared with none.
        fed_by: The metrics of each objective.
        thresholds: By unit, the value that stands for 1 where a metric has no range.
    """
    found: list[Contest] = []
    for first, last in combinations([each for each in saved if each.run.status != "failed"], 2):
        pairing = pair_up([first, last], may_be_empty=True)
        for name, metrics in fed_by.items():
            found.append(Contest(first.run.id, last.run.id, name, _stand(pairing, metrics, thresholds)))
    return decide_contests(found)


def decide_contests(found: Sequence[Contest]) -> list[ObjectiveTest]:
    """Decide which run is better in which objective.

    All contests share 0.05 by Holm's procedure: among equal runs, a difference is found in at most one of twenty such
    comparisons, however many runs and objectives there are.
    """
    tested = {
        place: Hypothesis(str(place), each.standing.p)
        for place, each in enumerate(found)
        if each.standing.p is not None and each.standing.differing >= FEWEST
    }
    adjusted = {place: one.adjusted for place, one in zip(tested, decide(list(tested.values())), strict=True)}
    return [_test_of(each, adjusted.get(place)) for place, each in enumerate(found)]


def _test_of(each: Contest, adjusted: float | None) -> ObjectiveTest:
    standing, reason = each.standing, each.standing.reason
    if reason is None and adjusted is None:
        reason = f"fewer than {FEWEST} questions differ" if standing.differing else "no question differs"
    winner = each.last if standing.gain > 0 else each.first
    return ObjectiveTest(
        first=each.first,
        last=each.last,
        objective=each.objective,
        gain=None if standing.p is None else standing.gain,
        p=standing.p,
        q=adjusted if adjusted is not None else standing.p and 1.0,
        n=standing.n,
        better=winner if adjusted is not None and adjusted < ALPHA else None,
        reason=reason,
    )


def _stand(pairing: Pairing, metrics: Sequence[BaseMetric], thresholds: Mapping[str, float]) -> Standing:
    obstacles = find_obstacles(pairing)
    for metric in metrics:
        late = why_no_latency(pairing.runs) if metric.unit in UNITS_OF_TIME else None
        reason = late or why_withheld(metric, obstacles)
        if reason is not None:
            return Standing(reason=reason)
    fed = [align(metric, pairing).paired() for metric in metrics]
    return stand(fed, dict(zip(pairing.ids, pairing.clusters(), strict=True)), thresholds)


def find_dominance(tests: Sequence[ObjectiveTest]) -> list[Dominance]:
    """Every case in which a run is established better than another on some objective, and the other on none."""
    by_pair: dict[tuple[str, str], list[ObjectiveTest]] = {}
    for test in tests:
        by_pair.setdefault((test.first, test.last), []).append(test)
    found = []
    for (first, last), own in by_pair.items():
        winners = {test.better for test in own} - {None}
        if len(winners) == 1:
            winner, loser = (first, last) if first in winners else (last, first)
            better_on = [test.objective for test in own if test.better]
            undecided = [test.objective for test in own if not test.better]
            found.append(Dominance(run=winner, over=loser, better_on=better_on, undecided=undecided))
    return found


# The objectives that all runs have, with the value of each run and how sure it is.


Direction = Literal["higher", "lower"]


def dominates(first: Mapping[str, float], second: Mapping[str, float], directions: Mapping[str, Direction]) -> bool:
    """Whether the first is at least as good on every objective and better on at least one, by the values alone."""
    signs = {name: 1 if direction == "higher" else -1 for name, direction in directions.items()}
    gains = [sign * (first[name] - second[name]) for name, sign in signs.items()]
    return all(gain >= 0 for gain in gains) and any(gain > 0 for gain in gains)


@dataclass(frozen=True, slots=True)
class _Objective:
    """An objective that all runs have.

    Attributes:
        name: Of the objective.
        fed_by: The metrics of it.
        unit: Of its values; "ratio" where metrics are scaled to be averaged.
        direction: Which way is better.
        values: Of the runs.
        scaled: The same on the scale from 0 to 1, on which the weighted score weighs it; None for an amount, of which
            less is better, and for a rate, which no score weighs.
    """

    name: str
    fed_by: list[str]
    unit: str
    direction: Direction
    values: list[float]
    scaled: list[float] | None = None


def find_pareto(saved: Sequence[SavedRun], metrics: Sequence[Aligned]) -> ParetoReport:
    """Compare runs by the objectives of the weighted score that all have, and by their rates of answers and refusals.

    An objective is the mean of the metrics that all runs have a value of, over their common questions, with the metrics
    and weights of the first run's `scoring`. An objective of milliseconds or dollars alone is in these units, and lower
    is better. Latency is left out between runs of different concurrency. If a run declined answerable questions, the
    rates of wrong and of missed refusals are objectives too. Weighted scores are over the same objectives. A run
    dominates another if it is significantly better on some objective and significantly worse on none: between two runs,
    over the questions that these share. A run that failed is on no front and dominates no run.

    Args:
        saved: The runs.
        metrics: Each over the questions that all runs asked.
    """
    runs = [each.run for each in saved]
    scoring, settings, timed = scoring_config(runs[0]), score_settings(runs[0]), same_load(runs)
    usable = _usable(metrics, timed=timed)
    cards = _cards(usable, settings, len(runs))
    weighted = [make_weighted_score(card, scoring) for card in cards]
    objectives = [*_weighed(cards, weighted, scoring.thresholds), *_rates(cards)]
    by_name = partial(_by_name, objectives)
    fed_by: dict[str, list[str]] = by_name(lambda one: one.fed_by)
    feeds = by_name(lambda one: [usable[metric].metric for metric in one.fed_by])
    tests = compare_objectives(saved, feeds, scoring.thresholds)
    dominance = find_dominance(tests)
    points = [_point(place, runs, objectives, dominance) for place in range(len(runs))]
    front, front_by_values = _fronts(points, runs)
    intervals = partial(_intervals, objectives, usable, scoring.thresholds, settings)
    return ParetoReport(
        objectives=by_name(lambda one: one.direction),
        units=by_name(lambda one: one.unit),
        fed_by=fed_by,
        left_out=_left_out(scoring, fed_by, metrics, timed=timed),
        points=points,
        front=front,
        front_by_values=front_by_values,
        dominance=dominance,
        tests=tests,
        best=by_name(partial(_best, points)),
        weights=weighted[0].weights,
        scores=[each.score for each in weighted],
        intervals=list(map(intervals, range(len(runs)), cards)),
    )


def _by_name(objectives: Sequence[_Objective], get: Callable[[_Objective], Any]) -> dict[str, Any]:
    return {one.name: get(one) for one in objectives}


def _fronts(points: Sequence[ParetoPoint], runs: Sequence[EvalRun]) -> tuple[list[str], list[str]]:
    """The runs that no other beats, beyond chance and by the values alone; a run that failed is none of them."""
    sound = [point for point, run in zip(points, runs, strict=True) if run.status != "failed"]
    front = [point.run_id for point in sound if point.on_front]
    return front, [point.run_id for point in sound if not point.dominated_by_values]


def _usable(metrics: Sequence[Aligned], *, timed: bool) -> dict[str, Aligned]:
    """The metrics that all runs have, by name; times only where the runs asked at one concurrency."""
    complete = (each for each in metrics if each.complete)
    return {each.metric.name: each for each in complete if timed or each.metric.unit not in UNITS_OF_TIME}


def _cards(usable: Mapping[str, Aligned], settings: ScoreSettings, runs: int) -> list[Scorecard]:
    """The metrics that all runs have, over their common questions, a scorecard a run."""
    rows = [each.summaries(settings) for each in usable.values()]
    return [Scorecard(metrics=[row[place] for row in rows if row[place]]) for place in range(runs)]


def _weighed(
    cards: Sequence[Scorecard], weighted: Sequence[WeightedScore], thresholds: Mapping[str, float]
) -> Iterator[_Objective]:
    """The objectives of the weighted score."""
    for name, fed in weighted[0].fed_by.items():
        units = {summary.unit for summary in cards[0].metrics if summary.name in fed}
        unit = units.pop() if len(units) == 1 else "ratio"
        scaled = [score.objectives[name] for score in weighted]
        if unit in thresholds:
            amounts = [_without_rounding(_mean(card, fed)) for card in cards]
            yield _Objective(name, fed, unit, "lower", amounts)
        else:
            yield _Objective(name, fed, unit, "higher", list(map(_without_rounding, scaled)), scaled)


def _mean(card: Scorecard, names: Sequence[str]) -> float:
    return fmean(found.value for found in card.metrics if found.name in names and found.value is not None)


def _without_rounding(value: float) -> float:
    """The value to twelve digits: what is left of rounding makes no run better than another."""
    return float(f"{value:.12g}")


def _rates(cards: Sequence[Scorecard]) -> Iterator[_Objective]:
    """Rates of answers and of abstentions are objectives too, where all runs have them; in no weighted score."""
    told = [{one.name: one.value for one in card.metrics if one.value is not None} for card in cards]
    declines = any(own.get(ANSWERABLE_ABSTENTION_RATE) for own in told)
    for name, direction in _RATES.items():
        if name in told[0] and (declines or name == ANSWER_RATE):
            yield _Objective(name, [name], "ratio", direction, [own[name] for own in told])


_RATES: Mapping[str, Direction] = {
    ANSWER_RATE: "higher",
    ANSWERABLE_ABSTENTION_RATE: "lower",
    FalseNegativeRate.name: "lower",
}


def _intervals(
    objectives: Sequence[_Objective],
    usable: Mapping[str, Aligned],
    thresholds: Mapping[str, float],
    settings: ScoreSettings,
    place: int,
    card: Scorecard,
) -> dict[str, Interval]:
    """The intervals of the objectives of one run, over the questions that all runs share; one may have none.

    An objective on the scale from 0 to 1 is a weighted score of itself alone, and its interval is that of such a score:
    with all that the metrics which feed it have in common. One that is milliseconds, dollars or a rate has the interval
    of the metric that feeds it; where several do, there is none.
    """
    found: dict[str, Interval | None] = {}
    for one in sorted(objectives, key=lambda one: one.scaled is None):
        if one.scaled is not None:
            feeding = [usable[name] for name in one.fed_by]
            found[one.name] = _interval_of_score(one, one.scaled[place], place, feeding, thresholds, settings)
        elif len(one.fed_by) == 1 and (summary := card.find(one.fed_by[0])) is not None:
            found[one.name] = summary.ci
    return {name: ends for name, ends in found.items() if ends is not None}


def _interval_of_score(
    objective: _Objective,
    value: float,
    place: int,
    feeding: Sequence[Aligned],
    thresholds: Mapping[str, float],
    settings: ScoreSettings,
) -> Interval | None:
    name, fed = objective.name, objective.fed_by
    alone = WeightedScore(score=value, objectives={name: value}, weights={name: 1.0}, fed_by={name: fed})
    columns = {each.metric.name: each.column(place, settings) for each in feeding}
    told = influence(alone, [each.metric for each in feeding], columns.get, thresholds, settings.confidence)
    if told is None:
        return None
    clusters: dict[str, str] = {}
    for each in feeding:
        whole = each if each.lost is None else each.lost
        clusters.update(zip(whole.ids, whole.clusters, strict=True))
    estimate = score_interval(told, [clusters[key] for key in told.values], settings.confidence)
    return estimate.interval if estimate is not None else None


def _point(
    place: int, runs: Sequence[EvalRun], objectives: Sequence[_Objective], dominance: Sequence[Dominance]
) -> ParetoPoint:
    own, *others = ({each.name: each.values[number] for each in objectives} for number in (place, *range(len(runs))))
    directions = {each.name: each.direction for each in objectives}
    sound = [(run.id, theirs) for run, theirs in zip(runs, others, strict=True) if run.status != "failed"]
    return ParetoPoint(
        run_id=runs[place].id,
        name=runs[place].name,
        objectives=own,
        dominated_by=[one.run for one in dominance if one.over == runs[place].id],
        dominated_by_values=[key for key, theirs in sound if dominates(theirs, own, directions)],
    )


def _best(points: Sequence[ParetoPoint], objective: _Objective) -> list[str]:
    target = max(objective.values) if objective.direction == "higher" else min(objective.values)
    both = zip(points, objective.values, strict=True)
    return list(dict.fromkeys(point.run_id for point, value in both if value == target))


def _left_out(
    scoring: ScoringConfig, fed_by: Mapping[str, list[str]], metrics: Sequence[Aligned], *, timed: bool
) -> dict[str, str]:
    """Why objectives, or some of the metrics that feed them, are not compared."""
    by_name = {each.metric.name: each for each in metrics}

    def why(name: str) -> str:
        found = by_name.get(name)
        if found is None:
            return f"{name}: no run has a value"
        late = found.metric.unit in UNITS_OF_TIME and not timed
        return f"{name}: {'the runs had different concurrency' if late else found.reason}"

    reasons: dict[str, str] = {}
    for objective, weight in scoring.weights.items():
        missing = [why(name) for name in scoring.feeds[objective] if name not in fed_by.get(objective, [])]
        if not weight:
            reasons[objective] = "its weight is 0"
        elif missing:
            reasons[f"a part of {objective}" if objective in fed_by else objective] = "; ".join(missing)
    return reasons
