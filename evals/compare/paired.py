"""Runs against a baseline: each metric's paired difference over the common questions, with its test and verdict.

The weighted score and `--primary` are tested at the full level of 0.05. The other metrics that feed an objective, or
that the configuration names, share 0.05 by Holm's procedure, as far as at least six questions differ. The rest is shown
without a verdict.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evals.compare.conditions import differences_of, warnings_on, why_not_compared
from evals.compare.independent import are_independent, independent_pairs, independent_scores
from evals.compare.models import (
    ANSWER_RATE,
    SCORE,
    Comparison,
    MetricPair,
    OutcomeMove,
    QuestionChange,
    RunComparison,
    RunHead,
    VanishedMetric,
)
from evals.compare.pareto import pareto
from evals.errors import ConfigError, UnknownNameError
from evals.metrics.base import Aggregation, BaseMetric
from evals.schemas.results import WeightedScore
from evals.scoring.config import differing_objectives, headline, scoring_config
from evals.scoring.outcomes import OUTCOMES, Outcome, asked_questions
from evals.scoring.saved import SavedRun
from evals.scoring.scorecard import Rows, make_scorecard, scored_values, summarise
from evals.scoring.settings import known_metrics
from evals.scoring.stats import (
    ALPHA,
    FEWEST,
    Groups,
    PairedTest,
    Vector,
    holm,
    paired_test,
    pseudo_values,
    questions_needed,
)
from evals.scoring.weighted import make_weighted_score, on_scale, scores_without_each
from evals.text.numbers import agree


@dataclass
class Pairing:
    """Two runs over the questions that both have asked.

    Attributes:
        first: The baseline.
        last: The other run.
    """

    first: SavedRun
    last: SavedRun

    @cached_property
    def rows(self) -> tuple[Rows, Rows]:
        """The rows of the common questions in each run, in the order of the baseline; their gold is the same."""
        asked = [asked_questions(each.results) for each in (self.first, self.last)]
        common = [key for key in asked[0] if key in asked[1]]
        first, last = (np.array([rows[key] for key in common], dtype=np.int64) for rows in asked)
        return first, last

    @property
    def ids(self) -> list[str]:
        """The common questions."""
        return [self.first.results.ids[row] for row in self.rows[0]]

    @cached_property
    def groups(self) -> Groups | None:
        """The group of each common question, by the configuration of the other run; None where each is its own."""
        numbers = self.last.results.group_numbers()
        if numbers is None:
            return None
        return np.unique(numbers[self.rows[1]], return_inverse=True)[1]

    def sides(self, metric: BaseMetric) -> list[tuple[Vector, Rows]]:
        """The values of a metric in each run over the common questions, with the places of these."""
        sides = []
        for saved, rows in zip((self.first, self.last), self.rows, strict=True):
            column = saved.results.columns.get(metric.name)
            worst = saved.settings.worst_on_error
            sides.append(
                (np.empty(0), np.empty(0, np.int64))
                if column is None
                else scored_values(metric, column, worst_on_error=worst, rows=rows)
            )
        return sides

    def values(self, metric: BaseMetric) -> tuple[Vector, Vector, Rows]:
        """The values of a metric in both runs, and the places of their questions among the common ones."""
        (first, rows_of_first), (last, rows_of_last) = self.sides(metric)
        common, in_first, in_last = np.intersect1d(rows_of_first, rows_of_last, assume_unique=True, return_indices=True)
        return first[in_first], last[in_last], common


def compare_runs(
    runs: Sequence[SavedRun], *, primary: str | None = None, with_pareto: bool = False, named: Sequence[str] = ()
) -> Comparison:
    """Compare runs with the first of them.

    Args:
        runs: The baseline first; at least two.
        primary: A metric that is tested at the full level.
        with_pareto: Whether to find the Pareto front.
        named: Further metrics that are tested.

    Raises:
        ConfigError: A run is named twice, or two runs have no question in common.
        UnknownNameError: No run has the primary metric.
    """
    if len({each.run.id for each in runs}) < len(runs):
        raise ConfigError("a run is named twice", "name different runs")
    baseline = runs[0]
    known = {metric.name for each in runs for metric in known_metrics(each.run)}
    if primary is not None and primary not in known | {ANSWER_RATE}:
        raise UnknownNameError("metric of these runs", primary, known)
    against = [compare_two(baseline, other, primary=primary, named=named) for other in runs[1:]]
    common = set(asked_questions(baseline.results)).intersection(*(asked_questions(each.results) for each in runs[1:]))
    return Comparison(
        runs=[head_of(each) for each in runs],
        common=len(common),
        warnings=list(warnings_on(runs)),
        differences=list(differences_of(runs)),
        against=against,
        pareto=pareto(runs) if with_pareto else None,
        confidence=baseline.settings.confidence,
        primary=primary,
    )


def head_of(saved: SavedRun) -> RunHead:
    """The identity of a run."""
    run = saved.run
    return RunHead(
        id=run.id,
        name=run.name,
        created_at=run.created_at,
        status=run.status,
        scored=run.completed_at is not None,
        url=run.server.url,
        datasets=run.datasets,
        question_count=run.question_count,
        error_count=run.error_count,
        concurrency=run.concurrency,
        judge=run.judge.model if run.judge else None,
        coverage=headline(run).coverage,
    )


def compare_two(
    baseline: SavedRun, other: SavedRun, *, primary: str | None = None, named: Sequence[str] = ()
) -> RunComparison:
    """Compare one run with a baseline.

    Raises:
        ConfigError: The two have no question in common.
    """
    tested = scoring_config(other.run).feeding | {ANSWER_RATE, *named, *(other.run.eval_config.get("metrics") or ())}
    if are_independent(baseline, other):
        score, reason = independent_scores(baseline, other)
        pairs = list(independent_pairs(baseline, other))
        tested |= {pair.name for pair in pairs}
        return RunComparison(
            baseline=baseline.run.id,
            run=other.run.id,
            common=0,
            score=score and _decided(score, score.p, tested=True),
            score_reason=reason,
            pairs=_with_verdicts(pairs, tested, primary),
        )
    pairing = Pairing(baseline, other)
    if not len(pairing.rows[0]):
        raise ConfigError(
            f"runs {baseline.run.id} and {other.run.id} have no question in common with the same gold",
            "compare runs over the same datasets and seed, or give their questions the same gold and answers",
        )
    score, reason = compare_scores(pairing)
    metrics = {metric.name: metric for each in (other, baseline) for metric in known_metrics(each.run)}
    pairs, vanished = [_answer_rate(pairing)], []
    for metric in metrics.values():
        first, last, places = pairing.values(metric)
        if len(first):
            pairs.append(_pair(pairing, metric, first, last, places))
        elif (before := _of_baseline(pairing, metric)) is not None:
            vanished.append(before)
    changes = list(_changes(pairing, metrics))
    return RunComparison(
        baseline=baseline.run.id,
        run=other.run.id,
        common=len(pairing.rows[0]),
        score=score,
        score_reason=reason,
        pairs=_with_verdicts(pairs, tested, primary),
        vanished=vanished,
        lost=sorted((one for one in changes if one.change < 0), key=lambda one: one.change),
        gained=sorted((one for one in changes if one.change > 0), key=lambda one: -one.change),
        moves=_moves(pairing),
    )


# One metric.


def _pair(pairing: Pairing, metric: BaseMetric, first: Vector, last: Vector, places: Rows) -> MetricPair:
    """A metric in both runs, with the test of its difference; verdicts come when all metrics are known."""
    rows = [rows[places] for rows in pairing.rows]
    before, after = (
        summarise(metric, each.results.columns[metric.name], each.settings, None, own)
        for each, own in zip((pairing.first, pairing.last), rows, strict=True)
    )
    values = before.value or 0.0, after.value or 0.0
    groups = None if pairing.groups is None else pairing.groups[places]
    span = None if metric.low is None or metric.high is None else metric.high - metric.low
    test = paired_test(first, last, span, groups=groups)
    reason = why_not_compared(metric, pairing.first.run, pairing.last.run)
    percentile = metric.aggregation is Aggregation.PERCENTILE
    ids, differences = pairing.ids, last - first
    return MetricPair(
        name=metric.name,
        group=metric.group.value,
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
        n=len(first),
        first=values[0],
        last=values[1],
        difference=values[1] - values[0],
        at_least=(before.at_least, after.at_least),
        interval=None if percentile or reason else _scaled(test, metric, len(first)),
        p=None if reason else test.p,
        test=test.test,
        differing=test.differing,
        risen=[ids[places[at]] for at in np.flatnonzero(differences > 0)],
        fallen=[ids[places[at]] for at in np.flatnonzero(differences < 0)],
        questions_needed=questions_needed(differences, float(differences.mean()), span if test.test == "t" else None),
        verdict="not compared" if reason else "no verdict",
        reason=reason,
    )


def _scaled(test: PairedTest, metric: BaseMetric, n: int) -> tuple[float, float] | None:
    """The interval of the difference; of a sum, that of the mean times the number of questions."""
    if test.interval is None or metric.aggregation is not Aggregation.SUM:
        return test.interval
    return test.interval[0] * n, test.interval[1] * n


def _answer_rate(pairing: Pairing) -> MetricPair:
    """The share of questions that bring an answer."""
    failed = OUTCOMES.index(Outcome.FAILED)
    sides = [
        (np.frombuffer(each.results.outcomes, dtype=np.uint8)[rows] != failed).astype(float)
        for each, rows in zip((pairing.first, pairing.last), pairing.rows, strict=True)
    ]
    test = paired_test(sides[0], sides[1], 1.0, groups=pairing.groups)
    ids, differences = pairing.ids, sides[1] - sides[0]
    return MetricPair(
        name=ANSWER_RATE,
        group="performance",
        unit="ratio",
        higher_is_better=True,
        n=len(ids),
        first=float(sides[0].mean()),
        last=float(sides[1].mean()),
        difference=test.difference,
        interval=test.interval,
        p=test.p,
        test=test.test,
        differing=test.differing,
        risen=[ids[at] for at in np.flatnonzero(differences > 0)],
        fallen=[ids[at] for at in np.flatnonzero(differences < 0)],
        questions_needed=questions_needed(differences, test.difference),
    )


def _of_baseline(pairing: Pairing, metric: BaseMetric) -> VanishedMetric | None:
    """The metric where the baseline alone has values of it, among the common questions."""
    before, after = (len(values) for values, _ in pairing.sides(metric))
    if not before or after:
        return None
    summary = pairing.last.run.scorecard.find(metric.name)
    reason = (summary.reason if summary is not None else None) or "the run did not measure it"
    return VanishedMetric(name=metric.name, group=metric.group.value, n=before, reason=reason)


def _with_verdicts(
    pairs: Sequence[MetricPair], tested: frozenset[str] | set[str], primary: str | None
) -> list[MetricPair]:
    """The metrics with their verdicts: the primary one at the full level, the others after Holm."""
    family = {
        pair.name: pair.p
        for pair in pairs
        if pair.name in tested and pair.name != primary and pair.p is not None and pair.verdict != "not compared"
    }
    adjusted = holm(family)
    decided = []
    for pair in pairs:
        if pair.verdict == "not compared":
            decided.append(pair)
            continue
        is_primary = pair.name == primary
        q = pair.p if is_primary else adjusted.get(pair.name)
        marked = pair.model_copy(update={"primary": is_primary})
        decided.append(_decided(marked, q, tested=is_primary or pair.name in tested, family=len(family)))
    return decided


def _decided(pair: MetricPair, q: float | None, *, tested: bool, family: int = 1) -> MetricPair:
    verdict, reason = "no verdict", None
    if pair.differing == 0:
        verdict = "identical"
    elif not tested:
        reason = "it feeds no objective"
    elif q is None:
        differ = f"{pair.differing} {agree(pair.differing, 'differs', 'differ')}"
        verdict, reason = "not established", f"{differ} (fewer than {FEWEST})"
    elif q >= ALPHA:
        verdict, reason = "not established", _why_within_chance(pair, family)
    elif pair.higher_is_better is None:
        verdict = "changed"
    else:
        verdict = "better" if pair.gain > 0 else "worse"
    return pair.model_copy(update={"q": q, "verdict": verdict, "reason": reason})


def _why_within_chance(pair: MetricPair, family: int) -> str:
    if pair.p is not None and pair.p < ALPHA:
        return f"within chance for one of {family} metrics tested; --primary tests it alone"
    if pair.questions_needed is not None and pair.questions_needed > pair.n:
        return f"about {pair.questions_needed:,} questions would do"
    return "within chance"


# The weighted score.


def compare_scores(pairing: Pairing) -> tuple[MetricPair | None, str | None]:
    """The weighted scores over the common questions, and their difference by the jackknife; or why there is none."""
    runs = pairing.first.run, pairing.last.run
    for run in runs:
        if (head := headline(run)).score is None:
            return None, f"run {run.id} has no score: {head.reason}"
    if changed := differing_objectives(*runs):
        return None, f"the scores measure different objectives: {'; '.join(changed)}"
    fed = [metric for metric in known_metrics(runs[1]) if metric.name in set().union(*_fed_by(pairing.last).values())]
    for metric in fed:
        if reason := why_not_compared(metric, *runs):
            if metric.group.value == "performance":
                continue  # its weight is small, and a score without it would be another one
            return None, f"{metric.name} is not compared: {reason}"
    sides = [
        _score_side(each, rows, pairing) for each, rows in zip((pairing.first, pairing.last), pairing.rows, strict=True)
    ]
    (first, without_first), (last, without_last) = sides
    if first.score is None or last.score is None:
        return None, "no score over the common questions"
    differences = without_last - without_first
    count, difference = len(differences), last.score - first.score
    pseudo = pseudo_values(difference, differences)
    test = paired_test(np.zeros(count), pseudo, 1.0)
    changed_questions = _differing_questions(pairing, fed)
    pair = MetricPair(
        name=SCORE,
        group="score",
        unit="ratio",
        higher_is_better=True,
        n=len(pairing.rows[0]),
        first=first.score,
        last=last.score,
        difference=difference,
        interval=test.interval,
        p=test.p if changed_questions >= FEWEST else None,
        test="jackknife",
        primary=True,
        differing=changed_questions,
        questions_needed=questions_needed(pseudo, difference, 1.0),
    )
    return _decided(pair, pair.p, tested=True), None


def _fed_by(saved: SavedRun) -> dict[str, list[str]]:
    return saved.run.weighted_score.fed_by


def _score_side(saved: SavedRun, rows: Rows, pairing: Pairing) -> tuple[WeightedScore, Vector]:
    """The score of a run over the common questions, and the score without each of these (or their groups)."""
    scoring = scoring_config(pairing.last.run)
    card = make_scorecard(known_metrics(saved.run), saved.results, saved.settings, rows)
    score = make_weighted_score(card, scoring)
    groups = np.arange(len(rows)) if pairing.groups is None else pairing.groups
    without, _ = scores_without_each(
        score, saved.results, saved.settings, scoring.thresholds, rows, groups, grouped=pairing.groups is not None
    )
    return score, without


def _differing_questions(pairing: Pairing, metrics: Sequence[BaseMetric]) -> int:
    """How many questions differ in some quality metric of the score."""
    changed: set[int] = set()
    for metric in metrics:
        if metric.group.value != "performance":
            first, last, places = pairing.values(metric)
            changed.update(places[first != last].tolist())
    return len(changed)


# Questions.


def _changes(pairing: Pairing, metrics: dict[str, BaseMetric]) -> Iterator[QuestionChange]:
    """The questions that fared better or worse, by the quality metrics of the score."""
    scoring = scoring_config(pairing.last.run)
    moved: dict[int, dict[str, tuple[float, float, float]]] = defaultdict(dict)
    measured: dict[int, int] = defaultdict(int)
    for name in sorted(scoring.feeding & metrics.keys()):
        metric = metrics[name]
        if metric.group.value == "performance" or why_not_compared(metric, pairing.first.run, pairing.last.run):
            continue
        first, last, places = pairing.values(metric)
        for before, after, place in zip(first.tolist(), last.tolist(), places.tolist(), strict=True):
            measured[place] += 1
            if before != after:
                scaled = [on_scale(metric, value, scoring.thresholds) for value in (before, after)]
                moved[place][name] = (before, after, scaled[1] - scaled[0])
    ids = pairing.ids
    for place, by_metric in moved.items():
        change = sum(one[2] for one in by_metric.values()) / measured[place]
        ordered = sorted(by_metric.items(), key=lambda item: -abs(item[1][2]))
        rows = pairing.rows[0][place], pairing.rows[1][place]
        yield QuestionChange(
            question_id=ids[place],
            question=pairing.first.log.question(int(rows[0])).question if abs(change) > 0 else "",
            change=max(-1.0, min(1.0, change)),
            moved={name: (before, after) for name, (before, after, _) in ordered},
            outcomes=(_outcome(pairing.first, rows[0]), _outcome(pairing.last, rows[1])),
        )


def _outcome(saved: SavedRun, row: Any) -> Outcome:
    return OUTCOMES[saved.results.outcomes[int(row)]]


def _moves(pairing: Pairing) -> list[OutcomeMove]:
    moves: dict[tuple[Outcome, Outcome], list[str]] = defaultdict(list)
    for key, first, last in zip(pairing.ids, *pairing.rows, strict=True):
        ends = _outcome(pairing.first, first), _outcome(pairing.last, last)
        if ends[0] is not ends[1]:
            moves[ends].append(key)
    ordered = sorted(moves.items(), key=lambda item: -len(item[1]))
    return [OutcomeMove(first=first, last=last, questions=ids) for (first, last), ids in ordered]
