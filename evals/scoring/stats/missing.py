"""Means with lost values: the others are weighted to stand for lost ones too.

What is known without a verdict is never lost, and what needs verdicts is, so the values that are there are not a fair
sample of all. Those that needed the same verdicts are: where five needed one and three got it, each of the three counts
5/3. A value that needed two verdicts counts the product (inverse probability weights, Horvitz and Thompson 1952; for
verdicts in sequence as in Robins, Rotnitzky and Zhao 1994). It is right where the loss does not depend on the value.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from graphlib import TopologicalSorter
from itertools import chain
from math import fsum, prod, sqrt
from statistics import fmean, variance

from evals.scoring.stats.differences import bounded_difference
from evals.scoring.stats.intervals import (
    Difference,
    Grouped,
    Interval,
    IntervalEstimate,
    Mark,
    group,
    standard_error,
    t_quantile,
    two_sided_p,
)
from evals.scoring.stats.means import TOGETHER, bounded_error, estimate, pseudo_weight, unbounded, within

WEIGHED = "t with two pseudo-values, weighted"
"""The method of an interval of values that stand for lost ones."""


MOST_UNKNOWN = 0.1
"""A greater share of what needs verdicts may not hang on a verdict that is lost everywhere."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The outcome of one question for a metric.

    Attributes:
        path: The verdicts that it needed, in order; of a lost one the last is the verdict that is lost. Empty where it
            is known without any.
        value: None where it has none, or it is lost.
        lost: Whether it is unknown.
    """

    path: tuple[str, ...]
    value: float | None = None
    lost: bool = False


@dataclass(frozen=True)
class Weighted:
    """Values that also stand for lost ones.

    Attributes:
        outcomes: Of all questions.
        masses: For how many questions each stands whose outcome is known, also one without a value; 0 for lost ones.
        stands_for: By verdict, how many needed it over how many got it; one that was never obtained is left out.
    """

    outcomes: Sequence[Observation]
    masses: list[float]
    stands_for: Mapping[str, float]

    @cached_property
    def weights(self) -> list[float]:
        """For how many questions each value stands; 0 where there is none."""
        return [mass * (each.value is not None) for mass, each in zip(self.masses, self.outcomes, strict=True)]

    @cached_property
    def values(self) -> list[float]:
        """Those that there are."""
        return [outcome.value for outcome in self.outcomes if outcome.value is not None]

    @property
    def size(self) -> float:
        """How many values there would be without losses, as far as can be told."""
        return fsum(self.weights)

    @property
    def heaviest(self) -> float:
        """For how many questions a value stands at most."""
        return max(self.weights)

    @property
    def uniform(self) -> bool:
        """Whether every value stands for as many questions as any other: a plain mean is right then."""
        return len(set(filter(None, self.weights))) < 2

    @cached_property
    def mean(self) -> float:
        """The weighted mean, which lies among the values."""
        found = fsum(weight * value for value, weight in self._pairs()) / self.size
        return min(max(self.values), max(min(self.values), found))

    def percentile(self, q: float) -> float:
        """The least value at or below which lie q percent of what the values stand for (nearest rank)."""
        ordered = sorted(self._pairs())
        needed, below = self.size * q / 100 * (1 - 1e-12), 0.0
        for value, weight in ordered:
            below += weight
            if below >= needed:
                return value
        return ordered[-1][0]

    def _pairs(self) -> "zip[tuple[float, float]]":
        return zip(self.values, filter(None, self.weights), strict=True)

    def residuals(self) -> list[float]:
        """By how much each question moves the mean, times `size`; lost ones move it as those like them do on average.

        With nothing lost it is value - mean. The sum is 0.
        """
        own = [0.0 if each.value is None else each.value - self.mean for each in self.outcomes]
        judged = [place for place, each in enumerate(self.outcomes) if each.path]
        if not judged:
            return own
        typical = fsum(self.masses[place] * own[place] for place in judged) / len(judged)
        beside = {place: self.masses[place] * (own[place] - typical) for place in judged}
        expected = self._expected(beside)
        for place in judged:
            own[place] = typical + self._moved(self.outcomes[place], beside[place], expected)
        return own

    def _moved(self, each: Observation, beside: float, expected: Mapping[str, float]) -> float:
        """What a question contributes apart from the mean of those that need verdicts."""
        there = each.path[:-1] if each.lost else each.path
        steps = (_onward(each, name, beside, expected) - self.stands_for[name] * expected[name] for name in there)
        return expected[each.path[0]] + fsum(steps)

    def _expected(self, beside: Mapping[int, float]) -> dict[str, float]:
        """By verdict, what a question that needs it contributes on average, whether or not it gets it."""
        members: dict[str, list[int]] = {}
        leads_to: dict[str, set[str]] = {}
        for place in beside:
            path = self.outcomes[place].path
            for at, name in enumerate(path, start=1):
                members.setdefault(name, []).append(place)
                leads_to.setdefault(name, set()).update(path[at:])
        found: dict[str, float] = {}
        for name in TopologicalSorter(leads_to).static_order():  # each before those that lead to it
            found[name] = fmean(_onward(self.outcomes[place], name, beside[place], found) for place in members[name])
        return found

    def grouped(self, clusters: Sequence[str] | None) -> Grouped:
        """What each question adds to the sum, lost ones too, by units."""
        added = [weight * self.mean + rest for weight, rest in zip(self.weights, self.residuals(), strict=True)]
        return group(added, clusters, self.weights)


def _onward(each: Observation, name: str, beside: float, expected: Mapping[str, float]) -> float:
    """What a question contributes once this verdict is there: as much as its next verdict lets expect, else itself."""
    at = each.path.index(name) + 1
    if at < len(each.path):
        return expected[each.path[at]]
    return 0.0 if each.lost else beside


def weigh(outcomes: Sequence[Observation]) -> Weighted | None:
    """Have each outcome stand for the lost ones that needed the same verdicts.

    Args:
        outcomes: Of all questions that may have a value; their paths follow one order.

    Returns:
        None where some need verdicts and of none of these anything is known, or where more than a tenth of them hang on
        a verdict that was never obtained.
    """
    judged = [each for each in outcomes if each.path]
    if not judged:
        return Weighted(outcomes, [1.0] * len(outcomes), {})
    stands_for = _stands_for(judged)
    known = fsum(_scaled_mass(each, stands_for) for each in judged)
    if not known or _unknown(judged, stands_for) > MOST_UNKNOWN * len(judged):
        return None
    scale = len(judged) / known
    return Weighted(outcomes, [_scaled_mass(each, stands_for, scale) for each in outcomes], stands_for)


def _unknown(judged: Sequence[Observation], stands_for: Mapping[str, float]) -> float:
    """How many hang on a verdict that was never obtained."""
    return fsum(_mass(each.path[:-1], stands_for) for each in judged if each.path[-1] not in stands_for)


def _scaled_mass(each: Observation, stands_for: Mapping[str, float], scale: float = 1.0) -> float:
    return 0.0 if each.lost else _mass(each.path, stands_for) * (scale if each.path else 1.0)


def _mass(path: Sequence[str], stands_for: Mapping[str, float]) -> float:
    """For how many questions one stands that got these verdicts; 0 if one of them was never obtained."""
    return prod(stands_for.get(name, 0.0) for name in path)


def _stands_for(judged: Sequence[Observation]) -> dict[str, float]:
    """By verdict, how many needed it over how many got it; one that was never obtained is left out."""
    needed = Counter(chain.from_iterable(each.path for each in judged))
    lost = Counter(each.path[-1] for each in judged if each.lost)
    return {name: count / (count - lost[name]) for name, count in needed.items() if count > lost[name]}


def weighted_interval(
    sample: Weighted,
    clusters: Sequence[str] | None = None,
    *,
    low: float | None = None,
    high: float | None = None,
    confidence: float = 0.95,
) -> IntervalEstimate | None:
    """The interval of a weighted mean, as `mean_interval` makes that of a plain one.

    Args:
        sample: The values, and for how many questions each stands.
        clusters: What each question belongs to, in the order of the outcomes; None where all are independent.
        low: The least value that there can be; None where there is none.
        high: The greatest.
        confidence: In (0.5, 1).

    Returns:
        None for no values.
    """
    if not sample.values:
        return None
    return estimate(sample.values, sample.mean, sample.grouped(clusters), (low, high), confidence, WEIGHED)


def weighted_difference(
    sample: Weighted, clusters: Sequence[str] | None = None, *, span: float | None = None, confidence: float = 0.95
) -> Difference | None:
    """The difference of two means of paired values, by Student's t over differences that stand for lost ones.

    Args:
        sample: The differences.
        clusters: What each question belongs to, in the order of the outcomes; None where all are independent.
        span: From the least to the greatest value that there can be; None where there is no range.
        confidence: Of the interval.

    Returns:
        None for fewer than two pairs.
    """
    if len(sample.values) < 2:
        return None
    grouped, mean = sample.grouped(clusters), sample.mean
    if len(grouped.sums) < 2:
        return None
    if span is not None and within(sample.values, -span, span):
        found, p = bounded_difference(mean, grouped, span, confidence, WEIGHED)
        return Difference(mean, found, p, found.method, found.interval)
    found = replace(unbounded(sample.values, grouped, None, confidence), method="t, weighted")
    if Mark.ALIKE in found.marks:
        return Difference(mean, found, 1.0 if mean == 0 else 2.0 ** (1 - len(grouped.sums)), "exact sign test", None)
    centre, error, df = standard_error(grouped.sums, grouped.sizes)
    return Difference(mean, found, two_sided_p(centre / error, df), found.method, found.interval)


# Means of what people would say, from few of their labels and many verdicts of a judge.


_FEWEST_LABELS = 10


@dataclass(frozen=True, slots=True)
class Corrected:
    """A corrected mean.

    Attributes:
        value: In the range of the labels.
        interval: Its ends.
        power: The weight lambda of the judge, 0 to 1.
    """

    value: float
    interval: Interval
    power: float


@dataclass(frozen=True, slots=True)
class Part:
    """Values with their clusters.

    Attributes:
        values: In any order.
        clusters: What each belongs to; None where all are independent.
    """

    values: Sequence[float]
    clusters: Sequence[str] | None = None


def prediction_powered_mean(
    labels: Sequence[float], judged: Part, others: Part, *, confidence: float = 0.95
) -> Corrected | None:
    """The mean of labels between 0 and 1 over all answers, of which few are labelled.

    Formula: lambda * mean(others) + mean(label - lambda * judged), with
    lambda = Cov(label, judged) / ((1 + n/N) Var(judged)), kept within 0 and 1; its variance is the sum of those of the
    two means. Errors of both are cluster-robust, and count one error of either kind more than was seen.

    Args:
        labels: Of the n answers that people have labelled.
        judged: The judge's scores of the same answers, in the same order.
        others: Its scores of the N answers without a label; there may be none.
        confidence: In (0.5, 1).

    Returns:
        None with fewer than ten labels.
    """
    if len(labels) < _FEWEST_LABELS:
        return None
    power = _power(labels, judged.values, others.values)
    errors = [label - power * score for label, score in zip(labels, judged.values, strict=True)]
    error, df = _bounded_error(Part(errors, judged.clusters), -power, 1.0, confidence)
    value, squared = fmean(errors), error * error
    if power:
        value += power * fmean(others.values)
        squared += (power * _bounded_error(others, 0.0, 1.0, confidence)[0]) ** 2
    half = t_quantile(0.5 + confidence / 2, df) * sqrt(squared)
    value = max(0.0, min(1.0, value))
    return Corrected(value, (max(0.0, value - half), min(1.0, value + half)), power)


def _power(labels: Sequence[float], judged: Sequence[float], others: Sequence[float]) -> float:
    """The weight of the judge that makes the variance least."""
    every = [*judged, *others]
    if not others or variance(every) == 0:
        return 0.0
    mean, own = fmean(labels), fmean(judged)
    shared = fsum((a - mean) * (b - own) for a, b in zip(labels, judged, strict=True)) / (len(labels) - 1)
    return max(0.0, min(1.0, shared / ((1 + len(labels) / len(others)) * variance(every))))


def _bounded_error(part: Part, low: float, high: float, confidence: float) -> tuple[float, float]:
    """The standard error of a mean of bounded values, which is never 0, and its degrees of freedom."""
    grouped = group(part.values, part.clusters)
    _, error, df = bounded_error(grouped, low, high, pseudo_weight(confidence), TOGETHER)
    return error, df
