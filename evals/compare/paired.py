"""One run against the baseline: each metric's paired difference, with its interval, its test and a verdict."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import exp, log
from statistics import fmean, stdev
from typing import TYPE_CHECKING, NamedTuple

from evals.compare.conditions import find_obstacles, why_no_latency, why_withheld
from evals.compare.models import ANSWERING, LatencyRatio, LatencyVerdict, MetricPair, RunComparison, Verdict
from evals.compare.pairing import Pairing, SavedRun, find_changes, find_moves, pair_up
from evals.compare.statistics import (
    ALPHA,
    FEWEST,
    SOUGHT,
    Hypothesis,
    PairedMetric,
    Ruling,
    decide,
    measure,
    reach,
)
from evals.compare.values import Aligned, align_all, find_vanished
from evals.metrics.base import UNITS_OF_TIME, Aggregation, BaseMetric
from evals.metrics.performance import LatencyP50
from evals.metrics.sample import Sample
from evals.schemas.results import MetricGroup, MetricResult
from evals.scoring.config import scoring_config
from evals.scoring.stats.differences import DRAWS, drawn_p
from evals.scoring.stats.intervals import Interval

if TYPE_CHECKING:
    from evals.compare.statistics import Drawn


# How many times as long a run takes as the baseline, question by question: slower, faster, equal or undecided.


LATENCY_RATIO_MARGIN = 0.1
"""Within a tenth, the one as well as the other way, is what counts as equal."""


class LatencyRatioMetric(BaseMetric):
    """Stands for the ratio in the family of latency and cost, with which it shares its level."""

    name = "latency_ratio"
    group = MetricGroup.PERFORMANCE
    unit = "ratio"
    high = None
    higher_is_better = False

    def measure(self, case: Sample) -> MetricResult:
        """None: it is of two answers."""
        return self.undefined("the ratio is of two runs")


def pair_latency(metrics: Sequence[Aligned]) -> PairedMetric | None:
    """The latencies of two runs as natural logarithms; None where too few differ for a verdict, or none has one."""
    found = next((each for each in metrics if each.metric.name == LatencyP50.name and each.complete), None)
    if found is None:
        return None
    pairs = zip(found.values(0), found.values(-1), found.clusters, strict=True)
    sound = [(log(before), log(after), cluster) for before, after, cluster in pairs if min(before, after) > 0]
    if sum(before != after for before, after, _ in sound) < FEWEST:
        return None
    first, last, clusters = zip(*sound, strict=True)
    return measure(LatencyRatioMetric(), first, last, clusters)


def rate(paired: PairedMetric, ruling: Ruling, alpha: float) -> LatencyRatio:
    """The ratio with its verdict.

    Formula: ratio = exp(mean(log last - log first)). It is slower or faster where the sign-flip test of the logarithms'
    differences, over questions or clusters of them, says so at the level that it has. Else it is equal where the
    interval with confidence 1 - 2·alpha lies within 1/(1 + margin) and 1 + margin: two one-sided tests (Schuirmann
    1987). Else it is undecided, however near to 1.

    Args:
        paired: The logarithms of the latencies.
        ruling: How its p was tested among those of the family.
        alpha: The level of each one-sided test of equivalence.
    """
    difference, within = fmean(paired.differences), _as_ratio(paired.bounds(2 * alpha))
    return LatencyRatio(
        first_ms=exp(fmean(paired.first)),
        last_ms=exp(fmean(paired.last)),
        ratio=exp(difference),
        n=len(paired.first),
        interval=_as_ratio(paired.interval(ruling.level)),
        p=paired.p or 1.0,
        q=ruling.adjusted,
        level=ruling.level,
        margin=LATENCY_RATIO_MARGIN,
        equivalence_interval=within,
        verdict=_verdict_latency_ratio(difference, ruling, within),
    )


def _as_ratio(interval: Interval | None) -> Interval | None:
    return interval and (exp(interval[0]), exp(interval[1]))


def _verdict_latency_ratio(difference: float, ruling: Ruling, within: Interval | None) -> LatencyVerdict:
    if ruling.adjusted < ALPHA:
        return "slower" if difference > 0 else "faster"
    if within is not None and within[0] > 1 / (1 + LATENCY_RATIO_MARGIN) and within[1] < 1 + LATENCY_RATIO_MARGIN:
        return "equal"
    return "undecided"


ANSWERING_GROUP = "answering"
"""The group of the rates of answers and abstentions: whether there is an answer at all."""


PRIMARY_FAMILY = "primary"
"""The family of the one metric that a comparison was told to be about."""

_TOO_FEW = "too few pairs"

_TOO_FEW_DIFFER = f"fewer than {FEWEST} questions differ"


MARGIN = 0.03
"""A difference within this share of a metric's range counts as none."""


_NOTHING = 1e-12
"""A smaller difference comes from rounding."""


_DIGITS = 9
"""To this many decimals the differences of two metrics are the same, as shares of the greatest."""

Withheld = Callable[[BaseMetric], str | None]


class Tested(NamedTuple):
    """A metric on which enough questions differ for a verdict.

    Attributes:
        metric: The metric.
        p: Two-sided, that nothing differs.
        units: The difference of each unit, by its name; empty where p is not that of the sign-flip test.
    """

    metric: BaseMetric
    p: float
    units: Mapping[str, float] = {}

    @property
    def same(self) -> Hashable:
        """What metrics with the same differences have in common, in whatever unit and direction; None without units."""
        scale = max(self.units.values(), key=abs, default=0.0)
        return frozenset((unit, round(value / scale, _DIGITS)) for unit, value in self.units.items()) or None


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for which metrics are tested, and at which level.

    Attributes:
        withheld: Why a metric gets no verdict; None where it may get one.
        latency: Why latency gets none; None where it may.
        primary_of: By group of metrics, the names of which the first that is tested is the group's primary metric.
        primary: The one metric that is tested at 0.05; None for none.
        comparisons: How many runs are set against the baseline: their comparisons share 0.05.
    """

    withheld: Withheld = lambda _metric: None
    latency: str | None = None
    primary_of: Mapping[str, Sequence[str]] = field(default_factory=dict)
    primary: str | None = None
    comparisons: int = 1

    @property
    def alpha(self) -> float:
        """What this comparison has to spend."""
        return ALPHA / self.comparisons


def compare_paired(metrics: Sequence[Aligned], rules: Rules) -> tuple[list[MetricPair], LatencyRatio | None]:
    """Compare the second of two runs with the first, metric by metric; metrics that one of the two lacks are left out.

    Metrics of quality are one family, with the levels of `families`; latency and cost are another, to which the ratio
    of the latencies belongs too, where these compare.

    Args:
        metrics: Each with the values of both runs.
        rules: What is tested, and at which level.
    """
    complete = [each for each in metrics if each.complete]
    found = [each.paired() for each in complete]
    reasons = [_no_verdict(each, rules) for each in found]
    undecided = [each for each, reason in zip(found, reasons, strict=True) if reason is None]
    latency = pair_latency(metrics) if rules.latency is None else None
    rulings = rule_on(list(_tested([*undecided, *filter(None, [latency])])), rules)
    pairs = [
        _pair(each, own, rulings.get(each.metric.name), reason, rules)
        for each, own, reason in zip(found, complete, reasons, strict=True)
    ]
    return pairs, rate(latency, rulings[latency.metric.name][2], rules.alpha) if latency is not None else None


def _tested(found: Iterable[PairedMetric]) -> Iterator[Tested]:
    """The metrics on which enough questions differ for a verdict."""
    for each in found:
        if each.differing >= FEWEST and each.p is not None:
            yield Tested(each.metric, each.p, each.flipped_units)


def _no_verdict(each: PairedMetric, rules: Rules) -> str | None:
    if each.metric.unit in UNITS_OF_TIME and rules.latency is not None:
        return rules.latency
    return rules.withheld(each.metric) or (_TOO_FEW if each.p is None else None)


def rule_on(tested: Sequence[Tested], rules: Rules) -> dict[str, tuple[str, bool, Ruling]]:
    """By name, each metric's family, whether it is the primary one, and how it was tested.

    Args:
        tested: Metrics on which enough questions differ.
        rules: Which ones are primary.
    """
    found, best = {}, dict[Hashable, Ruling]()
    for family, members in _families(tested, rules).items():
        columns = [each.units for each, _ in members]
        rulings = decide([hypothesis for _, hypothesis in members], rules.alpha, partial(_draw, columns))
        for (each, hypothesis), ruling in zip(members, rulings, strict=True):
            group = hypothesis.group if family == "quality" else family
            key = each.same or each.metric.name
            best[key] = min(ruling, best.get(key, ruling), key=lambda one: one.adjusted)
            found[each.metric.name] = group, hypothesis.primary or family == PRIMARY_FAMILY, key
    adjusted = {key: min(1.0, rules.comparisons * ruling.adjusted) for key, ruling in best.items()}
    return {
        name: (group, primary, replace(best[key], adjusted=adjusted[key]))
        for name, (group, primary, key) in found.items()
    }


def _families(tested: Sequence[Tested], rules: Rules) -> dict[str, list[tuple[Tested, Hypothesis]]]:
    """What shares 0.05: the primary metric alone, quality by its groups, latency and cost by Holm's procedure."""
    names = {each.metric.name for each in tested} - {rules.primary}
    first_of_each = (next(filter(names.__contains__, wanted), None) for wanted in rules.primary_of.values())
    primaries = set(first_of_each) - {None}
    families: dict[str, list[tuple[Tested, Hypothesis]]] = {}
    for each in tested:
        name, group = each.metric.name, group_of(each.metric)
        family = group if group == MetricGroup.PERFORMANCE.value else "quality"
        family = PRIMARY_FAMILY if name == rules.primary else family
        place = group if family == "quality" else name
        hypothesis = Hypothesis(place, each.p, name in primaries, each.same)
        families.setdefault(family, []).append((each, hypothesis))
    return families


def _draw(columns: Sequence[Mapping[str, float]]) -> "Drawn":
    """The p of metrics under the same draws of signs.

    A metric whose p is of another test moves by itself: by Šidák's inequality that is never too lenient.
    """
    import numpy as np  # noqa: PLC0415

    drawn = np.random.default_rng(len(columns)).random((DRAWS, len(columns)))
    flipped = [place for place, column in enumerate(columns) if column]
    if flipped:
        drawn[:, flipped] = drawn_p([columns[place] for place in flipped])
    return drawn


def group_of(metric: BaseMetric) -> str:
    """The group with which a metric shares its level."""
    return ANSWERING_GROUP if metric.name in ANSWERING else metric.group.value


def _pair(
    each: PairedMetric, aligned: Aligned, decided: tuple[str, bool, Ruling] | None, reason: str | None, rules: Rules
) -> MetricPair:
    metric, before, after = each.metric, each.value(each.first), each.value(each.last)
    family, primary, ruling = decided or (group_of(metric), metric.name == rules.primary, Ruling(rules.alpha, 1.0))
    risen, fallen = (
        [key for key, step in zip(each.ids, each.differences, strict=True) if way * step > 0] for way in (1, -1)
    )
    pair = MetricPair(
        name=metric.name,
        group=metric.group.value,
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
        n=len(each.first),
        first=before,
        last=after,
        difference=after - before,
        at_least=(aligned.is_at_least(0, before), aligned.is_at_least(-1, after)),
        family=family,
        primary=primary,
        reason=reason,
        ties=len(each.first) - len(risen) - len(fallen),
        risen=risen,
        fallen=fallen,
    )
    if reason is not None:
        return pair
    interval, margin = each.interval(ruling.level), each.span and MARGIN * each.span * each.times
    verdict = _verdict(pair, each, ruling, interval, margin)
    tested = {
        "p": each.p,
        "q": ruling.adjusted,
        "test": each.test,
        "level": ruling.level,
        "interval": interval,
        "verdict": verdict,
        "margin": margin,
        "reason": _TOO_FEW_DIFFER if verdict == "not established" and each.differing < FEWEST else None,
    }
    return pair.model_copy(update={**tested, **_reach(each, ruling.level, seen=verdict == "not established")})


def _verdict(
    pair: MetricPair, each: PairedMetric, ruling: Ruling, interval: Interval | None, margin: float | None
) -> Verdict:
    if not each.differing:
        return "identical"
    if ruling.adjusted >= ALPHA or (interval is not None and interval[0] <= 0 <= interval[1]):
        is_within = margin and interval and -margin < interval[0] <= interval[1] < margin
        return "equivalent" if is_within else "not established"
    if pair.higher_is_better is None:
        return "changed"
    return "better" if (pair.difference > 0) == pair.higher_is_better else "worse"


def _reach(each: PairedMetric, level: float, *, seen: bool) -> dict[str, float | int | None]:
    """What the comparison could have shown, and the effect size; nothing for percentiles, which are no means.

    Nor is anything known of it where pairs stand for lost ones.
    """
    if each.metric.aggregation is Aggregation.PERCENTILE or each.lost is not None:
        return {}
    found = reach(each.differences, each.clusters, each.span, level)
    size = abs(each.difference) / each.times
    more_than = len(each.first) + 1
    return {
        "effect_size": effect_size(each.differences),
        "smallest_difference": each.times * found.smallest if found else None,
        "questions_needed": found.needed(SOUGHT * each.span) if found and each.span else None,
        "questions_for_seen": max(more_than, found.needed(size)) if found and seen and size > _NOTHING else None,
    }


def effect_size(differences: Sequence[float]) -> float | None:
    """The standardised mean difference of pairs, mean/s (Cohen's d_z); None where they do not vary."""
    if len(differences) < 2:
        return None
    spread = stdev(differences)
    return fmean(differences) / spread if spread > 1e-12 * max(map(abs, differences)) else None


# One run against the baseline, over the questions that the two share.


def compare_with_baseline(
    baseline: SavedRun, other: SavedRun, primary: str | None = None, comparisons: int = 1
) -> RunComparison:
    """Compare one run with the baseline.

    Args:
        baseline: The run that the other is set against; its configuration names the primary metric of each group.
        other: The run.
        primary: The one metric that is tested at 0.05; None for none.
        comparisons: How many runs are set against this baseline, which share 0.05.

    Raises:
        ConfigError: The two have no question in common.
    """
    pairing = pair_up([baseline, other])
    metrics = align_all(pairing)
    rules = _rules(pairing, primary, comparisons)
    sound = [each.metric for each in metrics if each.complete and rules.withheld(each.metric) is None]
    changes = find_changes(pairing, sound)
    pairs, latency = compare_paired(metrics, rules)
    return RunComparison(
        baseline=baseline.run.id,
        run=other.run.id,
        common=len(pairing.ids),
        pairs=pairs,
        latency=latency,
        vanished=find_vanished(pairing, metrics),
        lost=[change for change in changes if change.change < 0],
        gained=[change for change in reversed(changes) if change.change > 0],
        moves=find_moves(pairing),
    )


def compare_metrics(pairing: Pairing, metrics: Sequence[Aligned]) -> list[MetricPair]:
    """The metrics of a run against its baseline, without its questions.

    Args:
        pairing: The baseline and the run.
        metrics: Those of both.
    """
    return compare_paired(metrics, _rules(pairing, None, 1))[0]


def _rules(pairing: Pairing, primary: str | None, comparisons: int) -> Rules:
    """What is tested at which level between the two runs of a pairing."""
    obstacles = find_obstacles(pairing)
    return Rules(
        withheld=lambda metric: why_withheld(metric, obstacles),
        latency=why_no_latency(pairing.runs),
        primary_of=scoring_config(pairing.runs[0]).primary,
        primary=primary,
        comparisons=comparisons,
    )


def paired_change(baseline: SavedRun, other: SavedRun, metric: str) -> PairedMetric | None:
    """The difference of one metric between two runs, with its p and its interval at any level.

    For whoever asks about one metric alone: `change.interval(0.05)` is the two-sided interval at 95 % that leaves out 0
    where p is below 0.05. For a test of non-inferiority take `change.bounds(0.05)`, whose ends are one-sided bounds at
    97.5 %. Nothing is adjusted for other metrics.

    Returns:
        None where the two runs have no question with values in both, or measured the metric by different means.

    Raises:
        ConfigError: The two have no question in common.
    """
    pairing: Pairing = pair_up([baseline, other])
    found = next((each for each in align_all(pairing) if each.metric.name == metric and each.complete), None)
    if found is None or why_withheld(found.metric, find_obstacles(pairing)):
        return None
    return found.paired()
