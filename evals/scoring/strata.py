"""Values of a whole log from a stratified sample of it: each question stands for as many as were not drawn.

| value | formula |
|---|---|
| mean or rate | Σ w·v / Σ w over the questions with a value (Hájek); w = whole / drawn of the question's stratum |
| its variance | Σ over strata of (1 - drawn/whole) · drawn/(drawn - 1) · Σ (e - ē)², e = w·(v - mean) / Σ w |
| percentile | the least value with Σ w of the values up to it ≥ q·Σ w; its interval is that of the share below it |

Source: Särndal, Swensson and Wretman 1992, 5.7 and 7.2 (linearisation), Woodruff 1952. As for simple samples, one least
and one greatest possible value are added to the residuals, so that a rate of 0 has an interval.
"""

from dataclasses import dataclass
from functools import cached_property
from math import exp, sqrt

import numpy as np

from evals.scoring.stats import Estimate, Groups, Interval, Vector, pseudo_weight, t_quantile

METHOD = "t over strata"


@dataclass(frozen=True)
class Strata:
    """A stratified sample.

    Attributes:
        numbers: The number of the stratum of each question, from 0.
        weights: How many questions of the whole each question stands for, itself included.
        of_server: Whether intervals are for all that the server would answer, of which the log itself is a sample: then
            it makes no difference how much of a stratum was drawn.
    """

    numbers: Groups
    weights: Vector
    of_server: bool = False

    @cached_property
    def places(self) -> Groups:
        """The stratum of each question for the variance: strata of which one question was drawn are one together."""
        counts = np.bincount(self.numbers)
        single = (counts == 1)[self.numbers] & (self.weights > 1)
        if not single.any():
            return self.numbers
        shared = self.numbers[~single]
        merged = len(counts) if single.sum() > 1 or not len(shared) else int(np.bincount(shared).argmax())
        joined: Groups = np.unique(np.where(single, merged, self.numbers), return_inverse=True)[1]
        return joined

    @cached_property
    def drawn(self) -> Vector:
        """How many questions were drawn of each of these strata."""
        return np.bincount(self.places).astype(np.float64)

    @cached_property
    def left(self) -> Vector:
        """The share of each stratum that was not drawn."""
        if self.of_server:
            return np.ones(len(self.drawn))
        whole = np.bincount(self.places, self.weights)
        return np.maximum(0.0, 1 - self.drawn / np.maximum(whole, 1))

    def of(self, rows: "Groups") -> Vector:
        """The weights of some questions."""
        return self.weights[rows]

    def error(self, residuals: Vector, rows: Groups) -> float:
        """The standard error of a sum of residuals; questions without one count as 0."""
        numbers, size = self.places[rows], len(self.drawn)
        sums, squares = (np.bincount(numbers, power, size) for power in (residuals, residuals**2))
        spread = np.maximum(0.0, squares - sums**2 / self.drawn)
        return sqrt(float((self.left * self.drawn / np.maximum(self.drawn - 1, 1) * spread).sum()))

    def mean(self, values: Vector, rows: Groups) -> float:
        """The mean of the whole."""
        return float(np.average(values, weights=self.of(rows)))

    def mean_interval(
        self, values: Vector, rows: Groups, low: float | None, high: float | None, confidence: float
    ) -> Estimate:
        """The interval of that mean.

        Args:
            values: Of some questions.
            rows: Their places.
            low: The least possible value; None without one.
            high: The greatest.
            confidence: In (0.5, 1).
        """
        mean, n = self.mean(values, rows), len(values)
        if n < 2:
            return Estimate(None, METHOD, n, n, "too few questions")
        weights = self.of(rows)
        error = self.error(weights * (values - mean) / weights.sum(), rows)
        centre = mean
        if low is not None and high is not None and values.min() >= low and values.max() <= high:
            centre, error = self._with_pseudo_values(mean, error, weights, (low, high), confidence)
        half = self._reach(rows, confidence) * error
        if low is not None and high is None and mean > low:
            factor = exp(min(50.0, half / (mean - low)))
            return Estimate((low + (mean - low) / factor, low + (mean - low) * factor), METHOD, n, n)
        bottom, top = min(mean, centre - half), max(mean, centre + half)
        interval = bottom if low is None else max(low, bottom), top if high is None else min(high, top)
        return Estimate(interval, METHOD, n, n)

    def _reach(self, rows: Groups, confidence: float) -> float:
        """The quantile of t; its degrees of freedom are the questions less their strata."""
        return t_quantile(0.5 + confidence / 2, max(1, len(rows) - len(np.unique(self.places[rows]))))

    def _with_pseudo_values(
        self, mean: float, error: float, weights: Vector, ends: Interval, confidence: float
    ) -> tuple[float, float]:
        """The centre and the error with a least and a greatest possible value added.

        Each weighs as many questions as `pseudo_weight` says, of the average weight by the effective size of the
        sample, Σ w² / Σ w, times the greatest share of a stratum that was not drawn.
        """
        total, average = float(weights.sum()), float((weights**2).sum() / weights.sum())
        weight = pseudo_weight(confidence) * average * float(self.left.max())
        centre = (mean * total + weight * sum(ends)) / (total + 2 * weight)
        added = weight * average * sum((end - centre) ** 2 for end in ends) / total**2
        return centre, sqrt(error**2 + added)

    def means_without_each(self, values: Vector, rows: Groups) -> Vector:
        """The mean of the whole without each question of the sample in turn; others of its stratum stand for it."""
        size, weights = len(self.drawn), self.of(rows)
        sums, wholes = np.zeros(len(self.weights)), np.zeros(len(self.weights))
        sums[rows], wholes[rows] = weights * values, weights
        factor = np.where(self.drawn > 1, self.drawn / np.maximum(self.drawn - 1, 1), 1.0)[self.places]
        without = [
            own.sum() + (factor - 1) * np.bincount(self.places, own, size)[self.places] - factor * own
            for own in (sums, wholes)
        ]
        means: Vector = np.where(without[1] > 0, without[0] / np.maximum(without[1], 1e-12), self.mean(values, rows))
        return means

    def jackknife_interval(self, estimate: float, without: Vector, confidence: float) -> Estimate:
        """The interval of an estimate between 0 and 1 from its values without each question in turn."""
        n, size = len(without), len(self.drawn)
        means = np.bincount(self.places, without, size) / self.drawn
        squares = np.bincount(self.places, (without - means[self.places]) ** 2, size)
        error = sqrt(float((self.left * (self.drawn - 1) / self.drawn * squares).sum()))
        centre, error = self._with_pseudo_values(estimate, error, self.weights, (0.0, 1.0), confidence)
        half = self._reach(np.arange(n), confidence) * error
        interval = max(0.0, min(estimate, centre - half)), min(1.0, max(estimate, centre + half))
        return Estimate(interval, "jackknife over strata", n, n)

    def percentile(self, values: Vector, rows: Groups, q: float) -> float:
        """The q-th percentile of the whole."""
        return self._at(values, rows, q / 100)

    def percentile_interval(self, values: Vector, rows: Groups, q: float, confidence: float) -> Estimate:
        """The interval of that percentile; none where the share below it may be 0 or all."""
        n, share = len(values), q / 100
        weights = self.of(rows)
        below = (values <= self.percentile(values, rows, q)).astype(np.float64)
        error = self.error(weights * (below - float(np.average(below, weights=weights))) / weights.sum(), rows)
        _, error = self._with_pseudo_values(share, error, weights, (0.0, 1.0), confidence)
        half = self._reach(rows, confidence) * error
        if n < 2 or share - half <= 0 or share + half >= 1:
            return Estimate(None, METHOD, n, n, "too few questions")
        return Estimate((self._at(values, rows, share - half), self._at(values, rows, share + half)), METHOD, n, n)

    def _at(self, values: Vector, rows: Groups, share: float) -> float:
        order = np.argsort(values, kind="stable")
        reached = np.cumsum(self.of(rows)[order])
        place = int(np.searchsorted(reached, share * reached[-1] - 1e-9, side="left"))
        return float(values[order][min(place, len(values) - 1)])
