"""The difference of one metric between two runs: its p, and its interval at any level."""

from collections.abc import Sequence
from dataclasses import dataclass

from evals.compare.families import least_p
from evals.compare.lost_pairs import LostPairs
from evals.compare.models import Test
from evals.metrics.base import Aggregation, BaseMetric
from evals.scoring.strata import value_over, weighted_value
from evals.stats import Difference, Interval, agree, paired_difference, sign_flip_p, weighted_difference
from evals.stats.bootstrap import paired_percentile_difference
from evals.stats.clusters import group, questions_among, units

_PAIR = 2
"""Of fewer questions nothing is said."""


@dataclass(frozen=True, slots=True)
class PairedMetric:
    """One metric over paired questions.

    Attributes:
        metric: The metric.
        first: A value a question, in the baseline.
        last: As many, in the other run.
        clusters: What each question belongs to.
        p: Two-sided, that nothing differs; never below what so few pairs that differ allow. None for too few pairs.
        test: What it comes from.
    """

    metric: BaseMetric
    first: Sequence[float]
    last: Sequence[float]
    clusters: Sequence[str]
    p: float | None
    test: Test | None
    lost: LostPairs | None = None
    """Where verdicts are lost, all questions that may have a value in both runs."""

    @property
    def difference(self) -> float:
        """That of the two runs' values."""
        return self.value(self.last) - self.value(self.first)

    def value(self, values: Sequence[float]) -> float:
        """The values of one of the runs as its value over the pairs."""
        if self.lost is not None:
            return weighted_value(self.metric, self.lost.weigh(values))
        return value_over(self.metric, values)

    @property
    def differences(self) -> list[float]:
        """Last minus first, question by question."""
        return [after - before for before, after in zip(self.first, self.last, strict=True)]

    @property
    def differing(self) -> int:
        """How many questions differ; one that was asked several times counts once."""
        return _differing(self.first, self.last, self.clusters)

    @property
    def times(self) -> int:
        """How many times a mean of questions the value is: so many as there are for a sum."""
        return len(self.first) if self.metric.aggregation is Aggregation.SUM else 1

    @property
    def span(self) -> float | None:
        """From the metric's least to its greatest value; None where there is none."""
        return span_of(self.metric)

    def interval(self, level: float) -> Interval | None:
        """The interval of the difference that leaves out 0 exactly where p is below the level.

        Of a sum it is that of the sum. None where the differences show no spread and nothing bounds them.
        """
        if self.p is None:
            return None
        if self.lost is not None or self.metric.aggregation is Aggregation.PERCENTILE:
            return self._stretched(self.p, level)
        found = _difference(self.metric, self.first, self.last, self.clusters, 1 - level)
        if found is None or found.bounds is None:
            return None
        return _scaled(self.metric, len(self.first), agree(found.bounds, found.difference, self.p, level))

    def bounds(self, level: float) -> Interval | None:
        """The same, but not cut at 0 where p is below the level: for whoever asks how great a loss can be."""
        return bounds_of(self.metric, self.first, self.last, self.clusters, 1 - level, self.lost)

    def _stretched(self, p: float, level: float) -> Interval | None:
        """The interval that p comes with, which reaches to 0 where p is not below the level."""
        found = self.bounds(level)
        if found is None or p < level:
            return found
        return min(0.0, found[0]), max(0.0, found[1])


def flipped_units(each: PairedMetric, ids: Sequence[str]) -> dict[str, float]:
    """The difference of each unit that differs, by its name: what the sign-flip test flips; empty for another test.

    Args:
        each: The metric.
        ids: Of its questions, which are the units where there are no clusters, or too few.
    """
    if each.test not in {"sign-flip", "mcnemar"}:
        return {}
    labels, _, few = units(each.clusters, len(ids))
    found: dict[str, float] = {}
    for place, (label, difference) in enumerate(zip(labels, each.differences, strict=True)):
        name = ids[place] if few and label == str(place) else label
        found[name] = found.get(name, 0.0) + difference
    return {name: total for name, total in found.items() if total}


def span_of(metric: BaseMetric) -> float | None:
    """From the metric's least to its greatest value; None where there is none."""
    return None if metric.low is None or metric.high is None else metric.high - metric.low


def measure(
    metric: BaseMetric,
    first: Sequence[float],
    last: Sequence[float],
    clusters: Sequence[str],
    lost: LostPairs | None = None,
) -> PairedMetric:
    """Compare the values of one metric, pair by pair; where verdicts are lost, pairs stand for those that are."""
    differing = _differing(first, last, clusters)
    p, test = _test(metric, first, last, clusters) if lost is None else _weighted_test(metric, first, last, lost)
    return PairedMetric(metric, first, last, clusters, None if p is None else max(p, least_p(differing)), test, lost)


def _differing(first: Sequence[float], last: Sequence[float], clusters: Sequence[str]) -> int:
    changed = (place for place, (before, after) in enumerate(zip(first, last, strict=True)) if before != after)
    return questions_among(changed, clusters)


def _test(
    metric: BaseMetric, first: Sequence[float], last: Sequence[float], clusters: Sequence[str]
) -> tuple[float | None, Test | None]:
    if metric.aggregation is Aggregation.PERCENTILE:
        found = paired_percentile_difference(first, last, metric.percentile or 50.0, clusters=clusters)
        return (found[1], "bootstrap") if found else (None, None)
    if len(first) < _PAIR:
        return None, None
    grouped = group([after - before for before, after in zip(first, last, strict=True)], clusters)
    yes_or_no = grouped.plain and {metric.low, metric.high}.issuperset([*first, *last])
    return sign_flip_p(grouped.sums), "mcnemar" if yes_or_no else "sign-flip"


def _weighted_test(
    metric: BaseMetric, first: Sequence[float], last: Sequence[float], lost: LostPairs
) -> tuple[float | None, Test | None]:
    found = _weighted(metric, first, last, lost, 0.95)
    return (found.p, "t") if found is not None else (None, None)


def _weighted(
    metric: BaseMetric, first: Sequence[float], last: Sequence[float], lost: LostPairs, confidence: float
) -> Difference | None:
    """The difference of two means; None for percentiles, of which values that stand for others have no test."""
    if metric.aggregation is Aggregation.PERCENTILE or len(first) < 2:
        return None
    steps = lost.weigh([after - before for before, after in zip(first, last, strict=True)])
    return weighted_difference(steps, lost.clusters, span=span_of(metric), confidence=confidence)


def _weighted_ends(
    metric: BaseMetric, first: Sequence[float], last: Sequence[float], lost: LostPairs, confidence: float
) -> Interval | None:
    found = _weighted(metric, first, last, lost, confidence)
    return found.estimate.interval if found is not None else None


def bounds_of(
    metric: BaseMetric,
    first: Sequence[float],
    last: Sequence[float],
    clusters: Sequence[str],
    confidence: float,
    lost: LostPairs | None = None,
) -> Interval | None:
    """The interval of the difference of a metric's value, of a sum that of the sum; None where there can be none.

    Other than that of a `PairedMetric`, it is not narrowed by the test of no difference: it bounds how great a loss can
    be, also where few questions lose much and many gain a little.
    """
    if lost is not None:
        return _weighted_ends(metric, first, last, lost, confidence)
    if metric.aggregation is Aggregation.PERCENTILE:
        found = paired_percentile_difference(first, last, metric.percentile or 50.0, confidence, clusters)
        return found[0] if found else None
    difference = _difference(metric, first, last, clusters, confidence)
    if difference is None or difference.bounds is None:
        return None
    return _scaled(metric, len(first), difference.bounds)


def _scaled(metric: BaseMetric, n: int, ends: Interval) -> Interval:
    """The interval of a mean, of a sum times the number of questions."""
    scale = n if metric.aggregation is Aggregation.SUM else 1
    return scale * ends[0], scale * ends[1]


def _difference(
    metric: BaseMetric, first: Sequence[float], last: Sequence[float], clusters: Sequence[str], confidence: float
) -> Difference | None:
    return paired_difference(first, last, clusters, low=metric.low, high=metric.high, confidence=confidence)
