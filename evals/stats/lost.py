"""Means where some values are lost: each value stands for those that were lost beside it.

What is known without a verdict is never lost, and what needs verdicts is, so the values that are there are not a fair
sample of all. Those that needed the same verdicts are: where five needed one and three got it, each of the three counts
5/3. A value that needed two verdicts counts the product (inverse probability weights, Horvitz and Thompson 1952; for
verdicts in sequence as in Robins, Rotnitzky and Zhao 1994). It is right where the loss does not depend on the value.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum

from evals.stats.clusters import FEWEST, Grouped, standard_error
from evals.stats.differences import TOGETHER_IN_PAIRS
from evals.stats.distributions import t_quantile, two_sided_p
from evals.stats.estimates import Difference, IntervalEstimate, Mark
from evals.stats.means import TOGETHER, bounded_ends, few_clusters, pseudo_weight, unbounded, within

WEIGHED = "t with two pseudo-values, weighted"
"""The method of an interval of values that stand for lost ones."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What became of one question.

    Attributes:
        path: The verdicts that it needed, in order; of a lost one the last is the verdict that is lost. Empty where it
            is known without any.
        value: None where it has none, or it is lost.
        lost: Whether nobody knows it.
    """

    path: tuple[str, ...]
    value: float | None = None
    lost: bool = False


@dataclass(slots=True)
class _Node:
    """The questions that needed the same verdicts so far.

    Attributes:
        ended: Places of those of which all is known here.
        lost: Places of those whose verdict is lost here.
        onward: The others, by the verdict that they need next.
    """

    ended: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    onward: "dict[str, _Node]" = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.ended) + len(self.lost) + sum(child.size for child in self.onward.values())

    @property
    def live(self) -> "list[_Node]":
        """The children of which something is known; what is lost in the others is lost here."""
        return [child for child in self.onward.values() if child.known]

    @property
    def known(self) -> int:
        """How many members have their verdict, and lead to something known."""
        return len(self.ended) + sum(child.size for child in self.onward.values() if child.known)

    @property
    def members(self) -> list[int]:
        return [*self.ended, *self.lost, *(place for child in self.onward.values() for place in child.members)]


def _tree(outcomes: Sequence[Observation]) -> _Node:
    root = _Node()
    for place, outcome in enumerate(outcomes):
        node = root
        for name in outcome.path:
            node = node.onward.setdefault(name, _Node())
        (node.lost if outcome.lost else node.ended).append(place)
    return root


@dataclass(frozen=True, slots=True)
class Weighted:
    """Values that stand for lost ones beside themselves.

    Attributes:
        outcomes: Of all questions.
        weights: For how many questions each of them stands; 0 where it has no value.
        judged: Those that need verdicts, as a tree; the rest is settled.
        settled: Places of the rest.
    """

    outcomes: Sequence[Observation]
    weights: list[float]
    judged: _Node
    settled: list[int]

    @property
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
        there = {weight for weight in self.weights if weight}
        return len(there) < 2

    @property
    def mean(self) -> float:
        """The weighted mean, which lies among the values."""
        there = [(weight, outcome.value) for weight, outcome in self._pairs() if outcome.value is not None]
        found = fsum(weight * value for weight, value in there) / fsum(weight for weight, _ in there)
        values = [value for _, value in there]
        return min(max(values), max(min(values), found))

    def percentile(self, q: float) -> float:
        """The least value at or below which lie q percent of what the values stand for (nearest rank)."""
        there = sorted((each.value, weight) for weight, each in self._pairs() if each.value is not None)
        needed, below = self.size * q / 100 * (1 - 1e-12), 0.0
        for value, weight in there:
            below += weight
            if below >= needed:
                return value
        return there[-1][0]

    def _pairs(self) -> "zip[tuple[float, Observation]]":
        return zip(self.weights, self.outcomes, strict=True)

    def residuals(self, mean: float | None = None) -> list[float]:
        """By how much each question moves the mean, times `size`; lost ones move it as those like them do on average.

        With nothing lost it is value - mean. The sum is 0.

        Args:
            mean: Of the values, where it is known already.
        """
        centre = self.mean if mean is None else mean
        own = [0.0 if outcome.value is None else outcome.value - centre for outcome in self.outcomes]
        found = [0.0] * len(own)
        for place in self.settled:
            found[place] = own[place]
        if self.judged.known:
            _spread(self.judged, own, 1.0, found)
            typical = _typical(self.judged, own)
            for place in self.judged.members:
                found[place] += typical
        return found


def _typical(node: _Node, own: Sequence[float]) -> float:
    """The mean over a node, as far as it is known."""
    onward = (child.size * _typical(child, own) for child in node.live)
    return (fsum(own[place] for place in node.ended) + fsum(onward)) / node.known


def _spread(node: _Node, own: Sequence[float], weight: float, found: list[float]) -> None:
    """Add to each member what it is beside the mean of its node, times the weight that it has there."""
    weight, typical = weight * node.size / node.known, _typical(node, own)
    for place in node.ended:
        found[place] += weight * (own[place] - typical)
    for child in node.live:
        beside = weight * (_typical(child, own) - typical)
        for place in child.members:
            found[place] += beside
        _spread(child, own, weight, found)


def weigh(outcomes: Sequence[Observation]) -> Weighted | None:
    """Have each outcome stand for the lost ones that needed the same verdicts.

    Where of those that needed the same nothing is known, those stand for them that needed the same verdicts before.

    Args:
        outcomes: Of all questions that may have a value.

    Returns:
        None where some need a verdict and of none of these anything is known.
    """
    root = _tree(outcomes)
    judged = _Node(lost=root.lost, onward=root.onward)
    weights = [0.0] * len(outcomes)
    for place in root.ended:
        weights[place] = float(outcomes[place].value is not None)
    if judged.known:
        _assign(judged, outcomes, 1.0, weights)
    return Weighted(outcomes, weights, judged, root.ended) if judged.known or not judged.size else None


def _assign(node: _Node, outcomes: Sequence[Observation], weight: float, weights: list[float]) -> None:
    weight *= node.size / node.known
    for place in node.ended:
        weights[place] = weight * (outcomes[place].value is not None)
    for child in node.live:
        _assign(child, outcomes, weight, weights)


def weighted_units(sample: Weighted, clusters: Sequence[str] | None) -> Grouped:
    """The questions by units: sums whose residuals are those of the mean, and how many values each stands for.

    Args:
        sample: The values.
        clusters: What each question belongs to, in the order of the outcomes; None where all are independent.
    """
    mean, n = sample.mean, len(sample.values)
    labels = clusters if clusters is not None else list(map(str, range(len(sample.outcomes))))
    there = {label for label, outcome in zip(labels, sample.outcomes, strict=True) if outcome.value is not None}
    few = len(there) < min(n, FEWEST)
    if few:
        labels = list(map(str, range(len(sample.outcomes))))
    residuals: dict[str, list[float]] = {}
    sizes: dict[str, list[float]] = {}
    for label, residual, weight in zip(labels, sample.residuals(mean), sample.weights, strict=True):
        residuals.setdefault(label, []).append(residual)
        sizes.setdefault(label, []).append(weight)
    heavy = [fsum(each) for each in sizes.values()]
    sums = [size * mean + fsum(each) for size, each in zip(heavy, residuals.values(), strict=True)]
    return Grouped(sums, heavy, n, len(there), few)


def weighted_error(
    sample: Weighted, grouped: Grouped, low: float, high: float, weight: float, together: float
) -> tuple[float, float, float]:
    """The mean with two pseudo-values, its standard error and the degrees of freedom.

    A pseudo-value stands for as many lost ones as the heaviest value does; in clusters it is as heavy as the design
    effect says beside.

    Args:
        sample: The values.
        grouped: The same by units.
        low: The least possible value.
        high: The greatest.
        weight: Of a pseudo-value where nothing is lost and values are independent.
        together: As in `with_pseudo_values`.
    """
    heaviest, mean = sample.heaviest, sample.mean
    weight *= heaviest
    if len(grouped.sums) < len(sample.outcomes):
        size = fsum(size * size for size in grouped.sizes) / fsum(one * one for one in sample.weights)
        extra = together * ((high - low) * heaviest) ** 2
        between = fsum((s - k * mean) ** 2 for s, k in zip(grouped.sums, grouped.sizes, strict=True))
        inside = fsum(residual * residual for residual in sample.residuals(mean))
        weight *= min(max(1.0, size), max(1.0, (between + size * extra) / (inside + extra)))
    return standard_error([*grouped.sums, weight * low, weight * high], [*grouped.sizes, weight, weight])


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
    values = sample.values
    if not values:
        return None
    grouped, mean = weighted_units(sample, clusters), sample.mean
    if low is None or high is None or not within(values, low, high):
        return unbounded(values, grouped, low if within(values, low, high) else None, confidence)
    centre, error, df = weighted_error(sample, grouped, low, high, pseudo_weight(confidence), TOGETHER)
    ends = bounded_ends(mean, centre, t_quantile(0.5 + confidence / 2, df) * error, low, high)
    return IntervalEstimate(ends, WEIGHED, grouped.n, grouped.clusters, few_clusters(grouped))


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
    grouped, mean = weighted_units(sample, clusters), sample.mean
    if span is None or not within(sample.values, -span, span):
        centre, error, df = standard_error(grouped.sums, grouped.sizes)
        if error <= 1e-12 * max(map(abs, sample.values)):
            p = 1.0 if mean == 0 else 2.0 ** (1 - grouped.n)
            none = IntervalEstimate(None, "t, weighted", grouped.n, grouped.clusters, (Mark.ALIKE,))
            return Difference(mean, none, p, "exact sign test")
        half = t_quantile(0.5 + confidence / 2, df) * error
        ends, method = (mean - half, mean + half), "t, weighted"
    else:
        centre, error, df = weighted_error(sample, grouped, -span, span, 1.0, TOGETHER_IN_PAIRS)
        half = t_quantile(0.5 + confidence / 2, df) * error
        ends, method = bounded_ends(mean, centre, half, -span, span), WEIGHED
    found = IntervalEstimate(ends, method, grouped.n, grouped.clusters, few_clusters(grouped))
    return Difference(mean, found, two_sided_p(centre / error, df), method)
