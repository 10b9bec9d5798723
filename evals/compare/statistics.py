"""The difference of one metric between two runs: its p, and its interval at any level."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from statistics import NormalDist
from typing import Self

from evals.compare.models import Test
from evals.metrics.base import Aggregation, BaseMetric
from evals.schemas.results import WITHOUT_VERDICT, MetricResult
from evals.scoring.scorecard import value_over, weighted_value
from evals.scoring.stats.differences import agree, paired_difference, paired_percentile_difference
from evals.scoring.stats.intervals import Interval, normal_quantile, questions_among
from evals.scoring.stats.missing import Observation, Weighted, weigh, weighted_difference

# How a comparison of many metrics keeps its chance of a false verdict: which metric is tested at which level.


ALPHA = 0.05
"""The chance of any false verdict in a family where nothing differs."""


PRIMARY_SHARE = 0.9
"""Of the level of a group that has a primary metric and others."""


FEWEST = 6
"""So many pairs must differ for a verdict: of five that all differ the same way, p is 0.0625."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """That a metric does not differ.

    Attributes:
        group: The group of which it shares the level.
        p: Two-sided.
        primary: Whether it is the primary one of its group, which has at most one.
    """

    group: str
    p: float
    primary: bool = False


@dataclass(frozen=True, slots=True)
class Ruling:
    """How a hypothesis was tested.

    Attributes:
        level: It is rejected where p is below.
        adjusted: The level of the whole family at which it would be rejected; below alpha exactly where p < level.
    """

    level: float
    adjusted: float


def least_p(differing: int) -> float:
    """The least two-sided p that a test over so many pairs that differ can have, whatever it supposes: 2^(1-k)."""
    return min(1.0, 2.0 ** (1 - differing))


def decide(family: Sequence[Hypothesis], alpha: float = ALPHA) -> list[Ruling]:
    """Test a family of hypotheses, one after the other: those that are rejected leave their level to the others.

    Args:
        family: In any order.
        alpha: The chance of any false rejection.

    Returns:
        A ruling a hypothesis, in the same order.
    """
    left = set(range(len(family)))
    rulings = [Ruling(alpha, 1.0)] * len(family)
    reached = 0.0
    while left:
        shares = shares_of(family, left)
        if reached < alpha:
            for i, share in shares.items():
                rulings[i] = replace(rulings[i], level=alpha * share)
        place = min(left, key=lambda i: (family[i].p / shares[i], i))
        reached = min(1.0, max(reached, family[place].p / shares[place]))
        rulings[place] = replace(rulings[place], adjusted=reached)
        left.remove(place)
    return rulings


def shares_of(family: Sequence[Hypothesis], left: Iterable[int]) -> dict[int, float]:
    """The share of the level of each undecided hypothesis: groups share equally, and so do the others of a group."""
    groups: dict[str, list[int]] = {}
    for i in sorted(left):
        groups.setdefault(family[i].group, []).append(i)
    found: dict[int, float] = {}
    for members in groups.values():
        primary, others = ([i for i in members if family[i].primary is first] for first in (True, False))
        whole = [(members, 1.0)]
        for places, share in [(primary, PRIMARY_SHARE), (others, 1 - PRIMARY_SHARE)] if primary and others else whole:
            found |= dict.fromkeys(places, share / len(places) / len(groups))
    return found


# Pairs of questions of which a verdict is lost in one of the runs: the pairs that are there stand for them.


RunResults = Mapping[str, MetricResult]
"""The results of a metric in a run, by question, with those that have no value."""


@dataclass(frozen=True, slots=True)
class LostPairs:
    """The questions that may have a value in all runs.

    Attributes:
        ids: Of the questions.
        observed: What became of each; the value of one that has some is 0 here.
        clusters: What each belongs to.
    """

    ids: list[str]
    observed: list[Observation]
    clusters: list[str]

    @classmethod
    def of(cls, ids: Sequence[str], clusters: Sequence[str], columns: Sequence[RunResults]) -> Self | None:
        """What is lost of these questions; None where nothing is, or a plain mean of the rest is right all the same."""
        all_of = {key: _observe([column.get(key) for column in columns]) for key in ids}
        found = {key: each for key, each in all_of.items() if each is not None}
        if not _needs_weights(list(found.values())):
            return None
        labels = dict(zip(ids, clusters, strict=True))
        return cls(list(found), list(found.values()), [labels[key] for key in found])

    @property
    def unknown(self) -> bool:
        """Whether some need verdicts, and not one pair of these has them."""
        return weigh(self.observed) is None

    def weigh(self, values: Sequence[float]) -> Weighted:
        """The values of those that have some, in their order, as they stand for the others.

        Raises:
            ValueError: It is `unknown`.
        """
        given = iter(values)
        found = weigh(
            [each if each.value is None else Observation(each.path, next(given), each.lost) for each in self.observed]
        )
        if found is None:
            raise ValueError("where nothing is known there are no pairs to weigh")
        return found

    def results(self, metric: BaseMetric, column: RunResults) -> list[MetricResult]:
        """One run's results, each as far as it is known in all runs."""
        return [
            metric.judged(_known(metric, each, column[key]), each.path)
            for key, each in zip(self.ids, self.observed, strict=True)
        ]


def _needs_weights(observed: Sequence[Observation]) -> bool:
    """Whether some are lost, it is known which verdicts they needed, and a plain mean of the rest is not right."""
    paths = [each.path for each in observed if each.lost]
    if not paths or not all(paths):
        return False
    weighted = weigh(observed)
    return weighted is None or not weighted.uniform


def _known(metric: BaseMetric, observed: Observation, result: MetricResult) -> MetricResult:
    if observed.lost:
        return metric.undefined("a verdict of the judge is lost in one of the runs", missing="judge")
    return metric.undefined("no value in one of the runs") if observed.value is None else result


def _observe(results: Sequence[MetricResult | None]) -> Observation | None:
    """What became of one question in all runs; None where it is known without a judge that some has no value."""
    there = [result for result in results if result is not None and not _has_none(result)]
    if len(there) < len(results):
        return None
    path: list[str] = []
    for place, result in enumerate(there):
        path += [f"{place}.{name}" for name in result.judged_by]
        if result.missing in WITHOUT_VERDICT:
            return Observation(tuple(path if result.judged_by else ()), None, lost=True)
        if result.value is None:
            return Observation(tuple(path))
    return Observation(tuple(path), 0.0)


def _has_none(result: MetricResult) -> bool:
    settled = result.missing == "not_applicable" and not result.judged_by
    return settled or result.missing == "transport"


@dataclass(frozen=True, slots=True)
class PairedMetric:
    """One metric over paired questions.

    Attributes:
        metric: The metric.
        ids: The questions.
        first: A value a question, in the baseline.
        last: As many, in the other run.
        clusters: What each question belongs to.
        p: Two-sided, that nothing differs; never below what so few pairs that differ allow. None for too few pairs.
        test: What it comes from.
        lost: Where verdicts are lost, all questions that may have a value in both runs.
    """

    metric: BaseMetric
    ids: Sequence[str]
    first: Sequence[float]
    last: Sequence[float]
    clusters: Sequence[str]
    p: float | None = None
    test: Test | None = None
    lost: LostPairs | None = None

    @property
    def difference(self) -> float:
        """That of the two runs' values."""
        return self.value(self.last) - self.value(self.first)

    def value(self, values: Sequence[float]) -> float:
        """The values of one of the runs as its value over the pairs."""
        return value_of_pairs(self.metric, values, self.lost)

    @property
    def differences(self) -> list[float]:
        """Last minus first, question by question."""
        return [after - before for before, after in zip(self.first, self.last, strict=True)]

    @property
    def differing(self) -> int:
        """How many questions differ; one that was asked several times counts once."""
        pairs = enumerate(zip(self.first, self.last, strict=True))
        return questions_among((place for place, (before, after) in pairs if before != after), self.clusters)

    @property
    def times(self) -> int:
        """How many times a mean of questions the value is: so many as there are for a sum."""
        return len(self.first) if self.metric.aggregation is Aggregation.SUM else 1

    @property
    def span(self) -> float | None:
        """From the metric's least to its greatest value; None where there is none."""
        low, high = self.metric.low, self.metric.high
        return None if low is None or high is None else high - low

    @property
    def _is_plain(self) -> bool:
        """Whether it is a mean, or a sum, of pairs that each stand for themselves."""
        return self.lost is None and self.metric.aggregation is not Aggregation.PERCENTILE

    def interval(self, level: float) -> Interval | None:
        """The interval of the difference that leaves out 0 exactly where p is below the level.

        Of a sum it is that of the sum. None where the differences show no spread and nothing bounds them.
        """
        ends = self.bounds(level)
        if self.p is None or ends is None:
            return None
        # What is not plain has the interval that p comes with, which may reach to 0.
        return agree(ends, self.difference, self.p, level) if self._is_plain or self.p >= level else ends

    def bounds(self, level: float) -> Interval | None:
        """The same, but not cut at 0 where p is below the level: for whoever asks how great a loss can be.

        It is not narrowed by the test of no difference, also where few questions lose much and many gain a little.
        """
        found = self.estimated(1 - level)
        return found and found[0]

    def estimated(self, confidence: float) -> tuple[Interval | None, float, Test] | None:
        """Interval, p and test; None for too few pairs, and percentiles of weighted values."""
        if len(self.first) < 2:
            return None
        if self.lost is not None:
            return self._weighted(self.lost, confidence)
        if self.metric.aggregation is Aggregation.PERCENTILE:
            q = self.metric.percentile or 50.0
            resampled = paired_percentile_difference(self.first, self.last, q, confidence, self.clusters)
            return resampled and (*resampled, "bootstrap")
        low, high = self.metric.low, self.metric.high
        plain = paired_difference(self.first, self.last, self.clusters, low=low, high=high, confidence=confidence)
        if plain is None:
            return None
        ends = plain.bounds and (self.times * plain.bounds[0], self.times * plain.bounds[1])
        return ends, plain.p, "mcnemar" if plain.test == "exact McNemar" else "sign-flip"

    def _weighted(self, lost: LostPairs, confidence: float) -> tuple[Interval | None, float, Test] | None:
        if self.metric.aggregation is Aggregation.PERCENTILE:
            return None
        steps = lost.weigh(self.differences)
        found = weighted_difference(steps, lost.clusters, span=self.span, confidence=confidence)
        return None if found is None else (found.estimate.interval, found.p, "t")


def value_of_pairs(metric: BaseMetric, values: Sequence[float], lost: LostPairs | None) -> float:
    """The values of a run over pairs as its value, where verdicts are lost by what they stand for."""
    return value_over(metric, values) if lost is None else weighted_value(metric, lost.weigh(values))


def measure(
    metric: BaseMetric,
    first: Sequence[float],
    last: Sequence[float],
    clusters: Sequence[str],
    lost: LostPairs | None = None,
    ids: Sequence[str] | None = None,
) -> PairedMetric:
    """Compare the values of one metric, pair by pair; where verdicts are lost, pairs stand for those that are."""
    named = ids if ids is not None else [str(place) for place in range(len(first))]
    pairs = PairedMetric(metric, named, first, last, clusters, lost=lost)
    found = pairs.estimated(0.95)
    return pairs if found is None else replace(pairs, p=max(found[1], least_p(pairs.differing)), test=found[2])


# How small a difference a comparison could have shown, and how many questions a smaller one takes.


POWER = 0.8
"""The chance with which a difference shall be found."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What a comparison of n questions can show.

    Attributes:
        smallest: The smallest difference found in four of five comparisons like this one.
        n: The number of questions.
    """

    smallest: float
    n: int

    def needed(self, difference: float) -> int:
        """How many questions it takes to find a difference as often: the reach falls with the root of their number."""
        return ceil(self.n * (self.smallest / difference) ** 2)


def reach(interval: Interval, n: int, level: float) -> Reach:
    """What a test at a level can show with a power of 0.8, as far as the interval of the difference tells.

    Formula: (z_{1-level/2} + z_0.8) standard errors, of which half the interval is z_{1-level/2} (Miller 2024).
    """
    z = normal_quantile(1 - level)
    return Reach((interval[1] - interval[0]) / 2 * (1 + NormalDist().inv_cdf(POWER) / z), n)
