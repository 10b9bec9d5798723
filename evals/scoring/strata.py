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
    """

    numbers: Groups
    weights: Vector

    @cached_property
    def drawn(self) -> Vector:
        """How many questions were drawn of each stratum."""
        return np.bincount(self.numbers).astype(np.float64)

    @cached_property
    def left(self) -> Vector:
        """The share of each stratum that was not drawn."""
        whole = np.bincount(self.numbers, self.weights)
        return np.maximum(0.0, 1 - self.drawn / np.maximum(whole, 1))

    def of(self, rows: "Groups") -> Vector:
        """The weights of some questions."""
        return self.weights[rows]

    def error(self, residuals: Vector, rows: Groups) -> float:
        """The standard error of a sum of residuals; questions without one count as 0."""
        numbers, size = self.numbers[rows], len(self.drawn)
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
        weights, mean, n = self.of(rows), self.mean(values, rows), len(values)
        if n < 2:
            return Estimate(None, METHOD, n, n, "too few questions")
        total, centre, added = weights.sum(), mean, 0.0
        if low is not None and high is not None and values.min() >= low and values.max() <= high:
            each = float((weights**2).sum() / total)  # a value's weight, by the effective size of the sample
            weight = pseudo_weight(confidence) * each * float(self.left.max())
            centre = (mean * total + weight * (low + high)) / (total + 2 * weight)
            added = weight * each * ((low - centre) ** 2 + (high - centre) ** 2) / total**2
        error = sqrt(self.error(weights * (values - mean) / total, rows) ** 2 + added)
        freedom = max(1, n - len(np.unique(self.numbers[rows])))
        half = t_quantile(0.5 + confidence / 2, freedom) * error
        if low is not None and high is None and mean > low:
            factor = exp(min(50.0, half / (mean - low)))
            return Estimate((low + (mean - low) / factor, low + (mean - low) * factor), METHOD, n, n)
        bottom, top = min(mean, centre - half), max(mean, centre + half)
        interval = bottom if low is None else max(low, bottom), top if high is None else min(high, top)
        return Estimate(interval, METHOD, n, n)

    def means_without_each(self, values: Vector, rows: Groups) -> Vector:
        """The mean of the whole without each question of the sample in turn; others of its stratum stand for it."""
        size, weights = len(self.drawn), self.of(rows)
        sums, wholes = np.zeros(len(self.weights)), np.zeros(len(self.weights))
        sums[rows], wholes[rows] = weights * values, weights
        factor = np.where(self.drawn > 1, self.drawn / np.maximum(self.drawn - 1, 1), 1.0)[self.numbers]
        without = [
            own.sum() + (factor - 1) * np.bincount(self.numbers, own, size)[self.numbers] - factor * own
            for own in (sums, wholes)
        ]
        means: Vector = np.where(without[1] > 0, without[0] / np.maximum(without[1], 1e-12), self.mean(values, rows))
        return means

    def jackknife_interval(self, estimate: float, without: Vector, confidence: float) -> Estimate:
        """The interval of an estimate between 0 and 1 from its values without each question in turn."""
        n, size = len(without), len(self.drawn)
        means = np.bincount(self.numbers, without, size) / self.drawn
        squares = np.bincount(self.numbers, (without - means[self.numbers]) ** 2, size)
        error = sqrt(float((self.left * (self.drawn - 1) / self.drawn * squares).sum()))
        half = t_quantile(0.5 + confidence / 2, max(1, n - size)) * error
        return Estimate((max(0.0, estimate - half), min(1.0, estimate + half)), "jackknife over strata", n, n)

    def percentile(self, values: Vector, rows: Groups, q: float) -> float:
        """The q-th percentile of the whole."""
        return self._at(values, rows, q / 100)

    def percentile_interval(self, values: Vector, rows: Groups, q: float, confidence: float) -> Estimate:
        """The interval of that percentile."""
        below = (values <= self.percentile(values, rows, q)).astype(np.float64)
        share = self.mean_interval(below, rows, 0.0, 1.0, confidence).interval
        if share is None:
            return Estimate(None, METHOD, len(values), len(values), "too few questions")
        middle = q / 100
        reach = (share[1] - share[0]) / 2
        ends: Interval = (
            self._at(values, rows, max(0.0, middle - reach)),
            self._at(values, rows, min(1.0, middle + reach)),
        )
        return Estimate(ends, METHOD, len(values), len(values))

    def _at(self, values: Vector, rows: Groups, share: float) -> float:
        order = np.argsort(values, kind="stable")
        reached = np.cumsum(self.of(rows)[order])
        place = int(np.searchsorted(reached, share * reached[-1] - 1e-9, side="left"))
        return float(values[order][min(place, len(values) - 1)])
