"""Runs in the space of objectives: which ones no other run beats on everything."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Literal

from evals.compare.conditions import find_obstacles, same_load, why_no_latency, why_withheld
from evals.compare.models import ANSWER_RATE, ANSWERABLE_ABSTENTION_RATE, Dominance, ObjectiveTest, ParetoReport
from evals.compare.objectives import Standing, stand
from evals.compare.pairing import Pairing, SavedRun, pair_up
from evals.compare.statistics import ALPHA, FEWEST, Hypothesis, Ruling, decide
from evals.compare.values import Aligned, fed_of
from evals.metrics.abstention import FalseNegativeRate
from evals.metrics.base import UNITS_OF_TIME, BaseMetric
from evals.schemas.results import EvalRun, MetricSummary, ParetoPoint, Scorecard, WeightedScore
from evals.scoring.config import ScoringConfig, scoring_config
from evals.scoring.settings import ScoreSettings, score_settings
from evals.scoring.stats.intervals import Interval
from evals.scoring.weighted import influence, make_weighted_score, score_interval

# Which run is established better than which: on some objective, and on none worse.


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
    found: list[Contest] = []
    for first, last in combinations([each for each in saved if each.run.status != "failed"], 2):
        pairing = pair_up([first, last], may_be_empty=True)
        for name, metrics in fed_by.items():
            found.append(Contest(first.run.id, last.run.id, name, _stand(pairing, metrics, thresholds)))
    return decide_contests(found)


def decide_contests(found: Sequence[Contest]) -> list[ObjectiveTest]:
    """Say who is better where, all contests sharing 0.05 by Holm's procedure."""
    tested = {place: each.standing.p or 0.0 for place, each in enumerate(found) if each.may_be_decided}
    rulings = decide([Hypothesis(str(place), p) for place, p in tested.items()])
    by_place = dict(zip(tested, rulings, strict=True))
    return [_build(each, by_place.get(place)) for place, each in enumerate(found)]


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
    found = []
    for (first, last), own in by_pair.items():
        winners = {test.better for test in own} - {None}
        if len(winners) == 1:
            winner, loser = (first, last) if first in winners else (last, first)
            better_on = [test.objective for test in own if test.better]
            undecided = [test.objective for test in own if not test.better]
            found.append(Dominance(run=winner, over=loser, better_on=better_on, undecided=undecided))
    return found


# How sure the value of a run is on each objective: an interval over the questions that all runs share.


def _objective_intervals(
    place: int, settings: ScoreSettings, usable: Mapping[str, Aligned], space: "_Space", thresholds: Mapping[str, float]
) -> dict[str, Interval]:
    """The intervals of the objectives of one run; one that has none is left out.

    An objective on the scale from 0 to 1 is a weighted score of itself alone, and its interval is that of such a score:
    with all that the metrics which feed it have in common. One that is milliseconds, dollars or a rate has the interval
    of the metric that feeds it; where several do, there is none.

    Args:
        place: Of the run among the runs.
        settings: How intervals are made.
        usable: The metrics that all runs have, by name.
        space: The objectives, with the weighted scores of the runs.
        thresholds: Of the score, by unit.
    """
    # Not on the scale: amounts, of which less is better, and rates, which no score weighs.
    plain = [name for name, unit in space.units.items() if unit in thresholds or name not in space.weights]
    found: dict[str, Interval | None] = {}
    for name, value in space.weighted[place].objectives.items():
        if name not in plain:
            fed = space.fed_by[name]
            alone = WeightedScore(score=value, objectives={name: value}, weights={name: 1.0}, fed_by={name: fed})
            found[name] = _interval_of_score(place, [usable[each] for each in fed], alone, thresholds, settings)
    found |= {name: _interval_of_metric(place, space.fed_by[name], usable, settings) for name in plain}
    return {name: ends for name, ends in found.items() if ends is not None}


def _interval_of_metric(
    place: int, names: Sequence[str], usable: Mapping[str, Aligned], settings: ScoreSettings
) -> Interval | None:
    """That of the metric, where it is one alone."""
    summary = usable[names[0]].summaries(settings)[place] if len(names) == 1 else None
    return summary.ci if summary is not None else None


def _interval_of_score(
    place: int,
    feeding: Sequence[Aligned],
    alone: WeightedScore,
    thresholds: Mapping[str, float],
    settings: ScoreSettings,
) -> Interval | None:
    metrics: list[BaseMetric] = [each.metric for each in feeding]
    columns = {each.metric.name: each.column(place, settings) for each in feeding}
    told = influence(alone, metrics, columns.get, thresholds, settings.confidence)
    if told is None:
        return None
    clusters: dict[str, str] = {}
    for each in feeding:
        whole = each if each.lost is None else each.lost
        clusters.update(zip(whole.ids, whole.clusters, strict=True))
    estimate = score_interval(told, [clusters[key] for key in told.values], settings.confidence)
    return estimate.interval if estimate is not None else None


Direction = Literal["higher", "lower"]


def dominates(first: Mapping[str, float], second: Mapping[str, float], directions: Mapping[str, Direction]) -> bool:
    """Whether the first is at least as good on every objective and better on at least one, by the values alone."""
    signs = {name: 1 if direction == "higher" else -1 for name, direction in directions.items()}
    gains = [sign * (first[name] - second[name]) for name, sign in signs.items()]
    return all(gain >= 0 for gain in gains) and any(gain > 0 for gain in gains)


@dataclass(frozen=True, slots=True)
class _Space:
    """The objectives that all runs have, with the values of each run.

    Attributes:
        fed_by: The metrics of each objective.
        units: The unit of each.
        directions: Which way is better.
        values: A mapping a run, from objective to value.
        weights: Of the weighted score, which some objectives take no part in.
        weighted: The runs' weighted scores over these objectives.
    """

    fed_by: dict[str, list[str]]
    units: dict[str, str]
    directions: dict[str, Direction]
    values: list[dict[str, float]]
    weights: dict[str, float]
    weighted: list[WeightedScore]


def find_pareto(saved: Sequence[SavedRun], metrics: Sequence[Aligned]) -> ParetoReport:
    """Compare runs by the objectives of the weighted score that all have, and by their rates of answers and refusals.

    An objective is fed by the metrics that all runs have a value of, over their common questions; feeds and weights
    are those of the first run's `scoring`. One fed by milliseconds or dollars alone is these, and lower is better;
    latency is left out between runs of different concurrency. Abstentions on answerable questions are one where a run
    has such, and answers to unanswerable ones with it, less of both being better: what feeds accuracy may weigh the one
    against the other, and retrieval says nothing of either. Weighted scores are over the same objectives. A run
    dominates another that is on no objective established better, and on some established worse: between two runs,
    over the questions that these share. A run that failed stands on no front and beats nobody.

    Args:
        saved: The runs.
        metrics: Each over the questions that all runs asked.
    """
    runs = [each.run for each in saved]
    scoring, settings = scoring_config(runs[0]), score_settings(runs[0])
    usable = _usable(metrics, timed=same_load(runs))
    space = _space(runs, list(usable.values()), scoring)
    feeds = {name: [usable[metric].metric for metric in names] for name, names in space.fed_by.items()}
    tests = compare_objectives(saved, feeds, scoring.thresholds)
    dominance = find_dominance(tests)
    points = [_point(place, runs, space, dominance) for place in range(len(runs))]
    front, front_by_values = _fronts(points, runs)
    return ParetoReport(
        objectives=space.directions,
        units=space.units,
        fed_by=space.fed_by,
        left_out=_left_out(scoring, space.fed_by, metrics, same_concurrency=same_load(runs)),
        points=points,
        front=front,
        front_by_values=front_by_values,
        dominance=dominance,
        tests=tests,
        best={name: _best(points, name, direction) for name, direction in space.directions.items()},
        weights=space.weights,
        scores=[each.score for each in space.weighted],
        intervals=[
            _objective_intervals(place, settings, usable, space, scoring.thresholds) for place in range(len(runs))
        ],
    )


def _fronts(points: Sequence[ParetoPoint], runs: Sequence[EvalRun]) -> tuple[list[str], list[str]]:
    """The runs that no other beats, beyond chance and by the values alone; a run that failed is none of them."""
    sound = [point for point, run in zip(points, runs, strict=True) if run.status != "failed"]
    front = [point.run_id for point in sound if point.on_front]
    return front, [point.run_id for point in sound if not point.dominated_by_values]


def _usable(metrics: Sequence[Aligned], *, timed: bool) -> dict[str, Aligned]:
    """The metrics that all runs have, by name; times only where the runs asked at one concurrency."""
    complete = (each for each in metrics if each.complete)
    return {each.metric.name: each for each in complete if timed or each.metric.unit not in UNITS_OF_TIME}


def _space(runs: Sequence[EvalRun], usable: Sequence[Aligned], scoring: ScoringConfig) -> _Space:
    cards = _cards(runs, usable)
    weighted = [make_weighted_score(card, scoring) for card in cards]
    fed_by = dict(weighted[0].fed_by)
    units = {name: _unit([card for card in cards[0].metrics if card.name in fed_by[name]]) for name in fed_by}
    directions: dict[str, Direction] = {
        name: "lower" if unit in scoring.thresholds else "higher" for name, unit in units.items()
    }
    values = [
        {name: _value(card, score.objectives[name], fed_by[name], directions[name]) for name in fed_by}
        for card, score in zip(cards, weighted, strict=True)
    ]
    space = _Space(fed_by, units, directions, values, weighted[0].weights, weighted)
    _add_rates(space, cards)
    return space


def _cards(runs: Sequence[EvalRun], usable: Sequence[Aligned]) -> list[Scorecard]:
    """The metrics that all runs have, over their common questions, a scorecard a run."""
    rows = [each.summaries(score_settings(runs[0])) for each in usable]
    return [Scorecard(metrics=[row[place] for row in rows if row[place]]) for place in range(len(runs))]


def _add_rates(space: _Space, cards: Sequence[Scorecard]) -> None:
    """Rates of answers and of abstentions are objectives too, where all runs have them; in no weighted score."""
    rates = [{one.name: one.value for one in card.metrics if one.value is not None} for card in cards]
    _add_rate(space, rates, ANSWER_RATE, "higher")
    if any(rate.get(ANSWERABLE_ABSTENTION_RATE) for rate in rates):
        for name in (ANSWERABLE_ABSTENTION_RATE, FalseNegativeRate.name):
            _add_rate(space, rates, name, "lower")


def _add_rate(space: _Space, rates: Sequence[Mapping[str, float]], name: str, direction: Direction) -> None:
    for own, rate in zip(space.values, rates, strict=True):
        if name in rate:
            own[name] = rate[name]
            space.fed_by[name], space.units[name], space.directions[name] = [name], "ratio", direction


def _unit(summaries: Sequence[MetricSummary]) -> str:
    """The unit that all metrics of an objective share; "ratio" where they are scaled to be averaged."""
    units = {summary.unit for summary in summaries}
    return units.pop() if len(units) == 1 else "ratio"


def _value(card: Scorecard, scaled: float, names: Sequence[str], direction: Direction) -> float:
    """The value of an objective, to twelve digits: what is left of rounding makes no run better than another."""
    values = [summary.value for summary in card.metrics if summary.name in names and summary.value is not None]
    return float(f"{fmean(values) if direction == 'lower' else scaled:.12g}")


def _point(place: int, runs: Sequence[EvalRun], space: _Space, dominance: Sequence[Dominance]) -> ParetoPoint:
    run, own = runs[place], space.values[place]
    others = [(other, theirs) for other, theirs in zip(runs, space.values, strict=True) if other.status != "failed"]
    return ParetoPoint(
        run_id=run.id,
        name=run.name,
        objectives=own,
        dominated_by=[one.run for one in dominance if one.over == run.id],
        dominated_by_values=[other.id for other, theirs in others if dominates(theirs, own, space.directions)],
    )


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
        lacking = [name for name in scoring.feeds[objective] if name not in fed_by.get(objective, [])]
        missing = [_why_missing(name, by_name.get(name), same_concurrency=same_concurrency) for name in lacking]
        if missing:
            reasons[f"a part of {objective}" if objective in fed_by else objective] = "; ".join(missing)
    return reasons


def _why_missing(name: str, found: Aligned | None, *, same_concurrency: bool) -> str:
    if found is None:
        return f"{name}: no run has a value"
    if found.metric.unit in UNITS_OF_TIME and not same_concurrency:
        return f"{name}: the runs had different concurrency"
    return f"{name}: {found.reason}"
