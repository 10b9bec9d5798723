"""The difference of one metric between two runs: its p, and its interval at any level."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, fsum, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Self

from evals.compare.models import Test
from evals.metrics.base import Aggregation, BaseMetric
from evals.schemas.results import WITHOUT_VERDICT, MetricResult
from evals.scoring.scorecard import value_over, weighted_value
from evals.scoring.stats.differences import agree, paired_difference, paired_percentile_difference, sign_flip_p
from evals.scoring.stats.intervals import Difference, Interval, group, questions_among, units
from evals.scoring.stats.missing import Observation, Weighted, weigh, weighted_difference

# How a comparison of many metrics keeps its chance of a false verdict: which metric is tested at which level.


if TYPE_CHECKING:
    import numpy as np

    Drawn = np.ndarray[Any, np.dtype[np.float64]]


ALPHA = 0.05
"""The chance of any false verdict in a family where nothing differs."""


PRIMARY_SHARE = 0.9
"""Of the level of a group that has a primary metric and others."""


FEWEST = 6
"""This many pairs must differ for a verdict: of five that all differ the same way, p is 0.0625."""


_ROUNDING = 1e-9
"""Relative: p of the same differences are that near to each other."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """The null hypothesis that a metric does not differ.

    Attributes:
        group: The group of which it shares the level.
        p: Two-sided.
        primary: Whether it is the primary one of its group, which has at most one.
        same: What it shares with others that are the same hypothesis; None for one by itself.
    """

    group: str
    p: float
    primary: bool = False
    same: Hashable = None


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
    """The least two-sided p that a test over this many pairs that differ can have, whatever it supposes: 2^(1-k)."""
    return min(1.0, 2.0 ** (1 - differing))


@dataclass(frozen=True)
class _Test:
    """Hypotheses that are tested together at one level.

    Attributes:
        places: Of the hypotheses in the family.
        count: How many different ones these are.
        share: Of the level of the family.
        drawn: The p of each hypothesis of the family under each draw; None where nothing is drawn.
    """

    places: Sequence[int]
    count: int
    share: float
    drawn: "Drawn | None" = None

    def adjusted(self, p: float) -> float:
        """The level of the family at which a hypothesis with this p is rejected."""
        within = self.count * p
        if self._lowest is not None:
            seen = 1 + int(self._lowest.searchsorted(p, side="right"))
            within = min(within, max(p, seen / (len(self._lowest) + 1)))
        return min(1.0, within / self.share)

    def level(self, alpha: float) -> float:
        """Below which p a hypothesis is rejected, where the family has this level."""
        least = alpha * self.share / self.count
        rank = -1 if self._lowest is None else ceil(alpha * self.share * (len(self._lowest) + 1)) - 2
        if self._lowest is None or rank < 0:
            return least
        return max(least, min(alpha * self.share, float(self._lowest[rank])))

    @cached_property
    def _lowest(self) -> "Drawn | None":
        """The lowest p of each draw, in ascending order; a little less, as rounding must not tell equal ones apart."""
        if self.drawn is None or self.count == 1:
            return None
        lowest: Drawn = self.drawn[:, list(self.places)].min(axis=1) * (1 - _ROUNDING)
        lowest.sort()
        return lowest


def decide(
    family: Sequence[Hypothesis], alpha: float = ALPHA, draw: "Callable[[], Drawn] | None" = None
) -> list[Ruling]:
    """Test a family of hypotheses, one after the other, at the levels that their weights give them.

    Args:
        family: In any order.
        alpha: The chance of any false rejection.
        draw: Gives the p of each hypothesis, a column, under each draw of signs, a row. It is called where that may
            reject more than Holm's procedure. None where nothing is known of how they move together.

    Returns:
        A ruling a hypothesis, in the same order.
    """
    rulings = _step_down(family, alpha)
    if draw is not None and _may_gain(family, rulings, alpha):
        return _step_down(family, alpha, draw())
    return rulings


def _step_down(family: Sequence[Hypothesis], alpha: float, drawn: "Drawn | None" = None) -> list[Ruling]:
    left = set(range(len(family)))
    rulings = [Ruling(alpha, 1.0)] * len(family)
    reached = 0.0
    while left:
        tests = _tests(family, left, drawn)
        ratio, place = min(min((test.adjusted(family[i].p), i) for i in test.places) for test in tests)
        if reached < alpha:
            for test in tests:
                for i in test.places:
                    rulings[i] = replace(rulings[i], level=test.level(alpha))
        reached = max(reached, ratio)
        for i in [i for i in left if _key(family, i) == _key(family, place)]:
            rulings[i] = Ruling(rulings[place].level, reached)
            left.remove(i)
    return rulings


def _may_gain(family: Sequence[Hypothesis], rulings: Sequence[Ruling], alpha: float) -> bool:
    """Whether, of those undecided that are tested together, one would be rejected if all were the same."""
    tests = _tests(family, {i for i, ruling in enumerate(rulings) if ruling.adjusted >= alpha})
    return any(test.count > 1 and min(family[i].p for i in test.places) < alpha * test.share for test in tests)


def _key(family: Sequence[Hypothesis], place: int) -> Hashable:
    """What is the same of hypotheses that are one."""
    return place if family[place].same is None else family[place].same


def _tests(family: Sequence[Hypothesis], left: set[int], drawn: "Drawn | None" = None) -> list[_Test]:
    """The tests of the undecided hypotheses, each with its share of the level."""
    groups: dict[str, list[int]] = {}
    for i in sorted(left):
        groups.setdefault(family[i].group, []).append(i)
    return [
        _Test(places, len({_key(family, i) for i in places}), share / len(groups), drawn)
        for members in groups.values()
        for places, share in _parts(family, members)
    ]


def _parts(family: Sequence[Hypothesis], members: Sequence[int]) -> list[tuple[list[int], float]]:
    """The primary metric of a group with what is the same, and the others, each with its share of the group's level."""
    primary = {_key(family, i) for i in members if family[i].primary}
    first = [i for i in members if _key(family, i) in primary]
    others = [i for i in members if _key(family, i) not in primary]
    if first and others:
        return [(first, PRIMARY_SHARE), (others, 1 - PRIMARY_SHARE)]
    return [(first or others, 1.0)]


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
        """How many times a mean of questions the value is: as many as there are for a sum."""
        return len(self.first) if self.metric.aggregation is Aggregation.SUM else 1

    @property
    def span(self) -> float | None:
        """From the metric's least to its greatest value; None where there is none."""
        low, high = self.metric.low, self.metric.high
        return None if low is None or high is None else high - low

    @property
    def flipped_units(self) -> dict[str, float]:
        """The difference of each unit that differs, by its name: what the sign-flip test flips; empty of another test.

        Questions are the units where there are no clusters, or too few.
        """
        if self.test not in {"sign-flip", "mcnemar"}:
            return {}
        labels, _, few = units(self.clusters, len(self.ids))
        found: dict[str, float] = {}
        for place, (label, difference) in enumerate(zip(labels, self.differences, strict=True)):
            name = self.ids[place] if few and label == str(place) else label
            found[name] = found.get(name, 0.0) + difference
        return {name: total for name, total in found.items() if total}

    @property
    def _is_plain(self) -> bool:
        """Whether it is a mean, or a sum, of pairs that each stand for themselves."""
        return self.lost is None and self.metric.aggregation is not Aggregation.PERCENTILE

    def tested(self) -> tuple[float | None, Test | None]:
        """The p of no difference, as the values give it, with its test; None for too few pairs."""
        if not self._is_plain:
            found = self._estimated(0.95)
            return found[1:] if found is not None else (None, None)
        if len(self.first) < 2:
            return None, None
        grouped = group(self.differences, self.clusters)
        yes_or_no = grouped.plain and {self.metric.low, self.metric.high}.issuperset([*self.first, *self.last])
        return sign_flip_p(grouped.sums), "mcnemar" if yes_or_no else "sign-flip"

    def interval(self, level: float) -> Interval | None:
        """The interval of the difference that leaves out 0 exactly where p is below the level.

        Of a sum it is that of the sum. None where the differences show no spread and nothing bounds them.
        """
        if self.p is None:
            return None
        if not self._is_plain:
            # The interval that p comes with, which reaches to 0 where p is not below the level.
            ends = self.bounds(level)
            return ends if ends is None or self.p < level else (min(0.0, ends[0]), max(0.0, ends[1]))
        found = self._plain(1 - level)
        if found is None or found.bounds is None:
            return None
        low, high = agree(found.bounds, found.difference, self.p, level)
        return self.times * low, self.times * high

    def bounds(self, level: float) -> Interval | None:
        """The same, but not cut at 0 where p is below the level: for whoever asks how great a loss can be.

        It is not narrowed by the test of no difference, also where few questions lose much and many gain a little.
        """
        if not self._is_plain:
            estimated = self._estimated(1 - level)
            return estimated[0] if estimated is not None else None
        found = self._plain(1 - level)
        ends = found.bounds if found is not None else None
        return ends and (self.times * ends[0], self.times * ends[1])

    def _plain(self, confidence: float) -> Difference | None:
        low, high = self.metric.low, self.metric.high
        return paired_difference(self.first, self.last, self.clusters, low=low, high=high, confidence=confidence)

    def _estimated(self, confidence: float) -> tuple[Interval | None, float, Test] | None:
        """What is not plain: interval, p and test; None for too few pairs, and percentiles of weighted values."""
        if self.lost is None:
            q = self.metric.percentile or 50.0
            resampled = paired_percentile_difference(self.first, self.last, q, confidence, self.clusters)
            return resampled and (resampled[0], resampled[1], "bootstrap")
        if self.metric.aggregation is Aggregation.PERCENTILE or len(self.first) < 2:
            return None
        steps = self.lost.weigh(self.differences)
        found = weighted_difference(steps, self.lost.clusters, span=self.span, confidence=confidence)
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
    p, test = pairs.tested()
    return replace(pairs, p=None if p is None else max(p, least_p(pairs.differing)), test=test)


# How small a difference a comparison could have shown, and how many questions a smaller one takes.


POWER = 0.8
"""The chance with which a difference shall be found."""

SOUGHT = 0.05
"""The difference that users ask about, as a share of a metric's range."""

_QUANTILE = NormalDist().inv_cdf

_Z = _QUANTILE(POWER)


@dataclass(frozen=True, slots=True)
class Reach:
    """The smallest detectable difference of a comparison of n questions.

    Attributes:
        smallest: The smallest difference found in four of five comparisons like this one.
        square: The square of the standard errors that it takes.
        noise: The squares of a question's changes that are no common one.
        size: Of a unit that changes.
    """

    smallest: float
    square: float
    noise: float
    size: float

    def needed(self, difference: float) -> int:
        """How many questions it takes to find a difference as often."""
        return ceil(self.square * (self.noise + self.size * difference) / difference**2)


def reach(
    differences: Sequence[float], clusters: Sequence[str] | None, span: float | None, level: float
) -> Reach | None:
    """What a sign-flip test of the differences at a level can show with a power of 0.8.

    Formula: with n questions and S the sums of the units that differ, r = sqrt(mean S²), or the range where none
    differs, and what is no common change, N = max(0, sum S² - r·|sum S|): a change of x = n·d more adds x/r units of
    size r, and is found where x = z·sqrt(N + r·x) with z = z_{1-level/2} + z_0.8 (Miller 2024, section 5, with the
    error of the test). N grows with n: a difference d takes n = z²·(N/n + r·d)/d² questions.

    Args:
        differences: A difference a question.
        clusters: What each question belongs to; None where all are independent.
        span: From the metric's least to its greatest value; None where there is none.
        level: Of the two-sided test.

    Returns:
        None for fewer than two differences, and for such without a range that are all 0.
    """
    if len(differences) < 2:
        return None
    n, sums = len(differences), [each for each in group(differences, clusters).sums if each]
    if not sums and span is None:
        return None
    squares = fsum(each * each for each in sums)
    size = sqrt(squares / len(sums)) if sums else span or 0.0
    noise, square = max(0.0, squares - size * abs(fsum(sums))), (_Z - _QUANTILE(level / 2)) ** 2
    half = square * size / 2
    smallest = (half + sqrt(half * half + square * noise)) / n
    return Reach(smallest if span is None else min(span, smallest), square, noise / n, size)
