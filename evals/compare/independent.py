"""Two runs of different questions, such as two weeks of a log: the difference of two values, each with its interval.

Interval: MOVER (Donner and Zou 2012), of the distances of the ends of both intervals from their values. p is of a
normal distribution with the error of the side of that interval which is next to 0.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import erfc, sqrt
from statistics import NormalDist

from evals.compare.conditions import why_not_compared
from evals.compare.models import SCORE, MetricPair
from evals.metrics.base import UNITS_OF_TIME
from evals.scoring.config import differing_objectives, headline, scoring_config
from evals.scoring.saved import SavedRun
from evals.scoring.scorecard import make_scorecard
from evals.scoring.settings import ScoreSettings, known_metrics
from evals.scoring.stats import ALPHA, Interval
from evals.scoring.strata import Strata
from evals.scoring.weighted import with_interval


def are_independent(first: SavedRun, last: SavedRun) -> bool:
    """Whether two runs are of logs, and not of the same one, measured again."""
    sources = [[one.sha256 for one in saved.run.fingerprints] for saved in (first, last)]
    return None not in (first.run.log, last.run.log) and sources[0] != sources[1]


def difference_interval(first: float, ends: Interval, last: float, last_ends: Interval) -> Interval:
    """The interval of last - first, from the interval of each."""
    difference = last - first
    low = sqrt((last - last_ends[0]) ** 2 + (ends[1] - first) ** 2)
    high = sqrt((last_ends[1] - last) ** 2 + (first - ends[0]) ** 2)
    return difference - low, difference + high


def independent_p(difference: float, interval: Interval, confidence: float) -> float:
    """The two-sided p of a difference, from the side of its interval that is next to 0."""
    reach = difference - interval[0] if difference > 0 else interval[1] - difference
    if reach <= 0:
        return 1.0 if difference == 0 else 0.0
    return erfc(abs(difference) / reach * NormalDist().inv_cdf(0.5 + confidence / 2) / sqrt(2))


def server_strata(saved: SavedRun) -> Strata | None:
    """How the questions of a run were drawn, for intervals of what the server answers; None for a whole log."""
    sample = saved.results.sample
    return None if sample is None else replace(sample, of_server=True)


def _settings(saved: SavedRun) -> ScoreSettings:
    """How the run is scored, with intervals at the level of comparisons."""
    return replace(saved.settings, confidence=1 - ALPHA)


def independent_pairs(first: SavedRun, last: SavedRun) -> Iterator[MetricPair]:
    """The metrics of two runs that both have a value, without verdicts."""
    metrics = {metric.name: metric for saved in (last, first) for metric in known_metrics(saved.run)}
    cards = [
        make_scorecard(list(metrics.values()), saved.results, _settings(saved), sample=server_strata(saved))
        for saved in (first, last)
    ]
    for metric in metrics.values():
        before, after = (card.find(metric.name) for card in cards)
        if before is None or after is None or before.value is None or after.value is None:
            continue
        reason = None if metric.unit in UNITS_OF_TIME else why_not_compared(metric, first.run, last.run)
        interval = None
        if not reason and (before.ci is None or after.ci is None):
            reason = "one of them has no interval"
        elif before.ci and after.ci and not reason:
            interval = difference_interval(before.value, before.ci, after.value, after.ci)
        difference = after.value - before.value
        yield MetricPair(
            name=metric.name,
            group=metric.group.value,
            unit=metric.unit,
            higher_is_better=metric.higher_is_better,
            n=min(before.sample_size, after.sample_size),
            first=before.value,
            last=after.value,
            difference=difference,
            at_least=(before.at_least, after.at_least),
            interval=interval,
            p=None if interval is None else independent_p(difference, interval, 1 - ALPHA),
            test="independent",
            differing=min(before.sample_size, after.sample_size) if difference else 0,
            verdict="not compared" if reason else "no verdict",
            reason=reason,
        )


def independent_scores(first: SavedRun, last: SavedRun) -> tuple[MetricPair | None, str | None]:
    """The weighted scores of two runs; or why there is no difference of them."""
    for saved in (first, last):
        if (head := headline(saved.run)).score is None:
            return None, f"run {saved.run.id} has no score: {head.reason}"
    if changed := differing_objectives(first.run, last.run):
        return None, f"the scores measure different objectives: {'; '.join(changed)}"
    before, after = (
        with_interval(
            saved.run.weighted_score,
            saved.results,
            _settings(saved),
            scoring_config(saved.run).thresholds,
            server_strata(saved),
        )
        for saved in (first, last)
    )
    if before.score is None or after.score is None:
        return None, "one of them has no score"
    difference = after.score - before.score
    interval = difference_interval(before.score, before.ci, after.score, after.ci) if before.ci and after.ci else None
    size = min(saved.run.outcomes.answered for saved in (first, last))
    pair = MetricPair(
        name=SCORE,
        group="score",
        unit="ratio",
        higher_is_better=True,
        n=size,
        first=before.score,
        last=after.score,
        difference=difference,
        interval=interval,
        p=None if interval is None else independent_p(difference, interval, 1 - ALPHA),
        test="independent",
        primary=True,
        differing=size if difference else 0,
    )
    return pair, None
