"""One run against the baseline: each metric's paired difference, with its interval, its test and a verdict."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import NamedTuple

from evals.compare.conditions import find_obstacles, why_no_latency, why_withheld
from evals.compare.models import ANSWERING, MetricPair, RunComparison, Verdict
from evals.compare.pairing import Pairing, SavedRun, find_changes, find_moves, pair_up
from evals.compare.statistics import ALPHA, FEWEST, Hypothesis, PairedMetric, Ruling, decide, reach
from evals.compare.values import Aligned, align_all, find_vanished
from evals.metrics.base import UNITS_OF_TIME, Aggregation, BaseMetric
from evals.schemas.results import MetricGroup
from evals.scoring.config import scoring_config
from evals.scoring.stats.intervals import Interval

ANSWERING_GROUP = "answering"
"""The group of the rates of answers and abstentions: whether there is an answer at all."""


PRIMARY_FAMILY = "primary"
"""The family of the one metric that a comparison was told to be about."""

SOUGHT = 0.05
"""The difference that users ask about, as a share of a metric's range."""

_TOO_FEW = "too few pairs"

_TOO_FEW_DIFFER = f"fewer than {FEWEST} questions differ"


MARGIN = 0.03
"""A difference within this share of a metric's range counts as none."""


_NOTHING = 1e-12
"""A smaller difference comes from rounding."""


Withheld = Callable[[BaseMetric], str | None]


@dataclass(frozen=True, slots=True)
class Rules:
    """What decides which metrics are tested, and at which level.

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


def compare_paired(metrics: Sequence[Aligned], rules: Rules) -> list[MetricPair]:
    """Compare the second of two runs with the first, metric by metric; metrics that one of the two lacks are left out.

    Metrics of quality are one family, with the levels of `decide`; latency and cost are another.

    Args:
        metrics: Each with the values of both runs.
        rules: What is tested, and at which level.
    """
    found = [(each, each.paired()) for each in metrics if each.complete]
    reasons = {own.metric.name: _no_verdict(own, rules) for _, own in found}
    sound = [own for _, own in found if reasons[own.metric.name] is None and own.differing >= FEWEST]
    rulings = rule_on(((own.metric, own.p or 1.0) for own in sound), rules)
    return [_pair(own, each, rulings.get(own.metric.name), reasons[own.metric.name], rules) for each, own in found]


def _no_verdict(each: PairedMetric, rules: Rules) -> str | None:
    if each.metric.unit in UNITS_OF_TIME and rules.latency is not None:
        return rules.latency
    return rules.withheld(each.metric) or (_TOO_FEW if each.p is None else None)


class Decided(NamedTuple):
    """How a metric was tested: with which others it shares 0.05, and whether it is the primary one of its group."""

    family: str
    primary: bool
    ruling: Ruling


def rule_on(tested: Iterable[tuple[BaseMetric, float]], rules: Rules) -> dict[str, Decided]:
    """By name, how each metric was tested.

    Args:
        tested: Metrics on which enough questions differ, each with its p.
        rules: Which ones are primary.
    """
    p_of = dict(tested)
    names = {metric.name for metric in p_of} - {rules.primary}
    primaries = {next(filter(names.__contains__, wanted), None) for wanted in rules.primary_of.values()}
    families: dict[str, list[tuple[str, Hypothesis]]] = {}
    for metric, p in p_of.items():
        name, group = metric.name, group_of(metric)
        if name == rules.primary:
            families[PRIMARY_FAMILY] = [(name, Hypothesis(PRIMARY_FAMILY, p, primary=True))]
        elif group == MetricGroup.PERFORMANCE.value:
            families.setdefault(group, []).append((name, Hypothesis(group, p)))
        else:
            families.setdefault("quality", []).append((name, Hypothesis(group, p, name in primaries)))
    found: dict[str, Decided] = {}
    for members in families.values():
        rulings = decide([each for _, each in members], rules.alpha)
        for (name, each), ruling in zip(members, rulings, strict=True):
            adjusted = min(1.0, rules.comparisons * ruling.adjusted)
            found[name] = Decided(each.group, each.primary, replace(ruling, adjusted=adjusted))
    return found


def group_of(metric: BaseMetric) -> str:
    """The group with which a metric shares its level."""
    return ANSWERING_GROUP if metric.name in ANSWERING else metric.group.value


def _pair(
    each: PairedMetric, aligned: Aligned, decided: Decided | None, reason: str | None, rules: Rules
) -> MetricPair:
    metric, before, after = each.metric, each.value(each.first), each.value(each.last)
    family, primary, ruling = decided or Decided(
        group_of(metric), metric.name == rules.primary, Ruling(rules.alpha, 1.0)
    )
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
    """What the comparison could have shown; nothing for percentiles, which are no means, and with lost verdicts."""
    ends = each.bounds(level)
    if ends is None or each.metric.aggregation is Aggregation.PERCENTILE or each.lost is not None:
        return {}
    found, size = reach(ends, len(each.first), level), abs(each.difference)
    range_of = each.span and each.span * each.times
    return {
        "smallest_difference": min(found.smallest, range_of or inf),
        "questions_needed": found.needed(SOUGHT * range_of) if range_of else None,
        "questions_for_seen": max(found.n + 1, found.needed(size)) if seen and size > _NOTHING else None,
    }


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
    return RunComparison(
        baseline=baseline.run.id,
        run=other.run.id,
        common=len(pairing.ids),
        pairs=compare_paired(metrics, rules),
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
    return compare_paired(metrics, _rules(pairing, None, 1))


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
