"""How many times as long a run takes as the baseline, question by question: slower, faster, equal or undecided.

A percentile of all latencies knows nothing of which question is which. Where runs were asked in turn, each question has
two latencies of the same minute, and their ratio is free of what makes one question slower than another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean

from evals.case.case import Case
from evals.compare.families import ALPHA, FEWEST, Ruling
from evals.compare.models import LatencyRatio, LatencyVerdict
from evals.compare.values import Aligned
from evals.metrics.base import BaseMetric
from evals.metrics.performance import LatencyP50
from evals.schemas import MetricGroup, MetricResult
from evals.stats import Difference, Interval, paired_difference

MARGIN = 0.1
"""Within a tenth, the one as well as the other way, is what counts as equal."""


class LatencyPlace(BaseMetric):
    """Stands for the ratio in the family of latency and cost, with which it shares its level."""

    name = "latency_ratio"
    group = MetricGroup.PERFORMANCE
    unit = "ratio"
    high = None
    higher_is_better = False

    def measure(self, case: Case) -> MetricResult:
        """None: it is of two answers."""
        return self.undefined("the ratio is of two runs")


@dataclass(frozen=True, slots=True)
class PairedLatency:
    """The latencies of two runs, by question, as natural logarithms of milliseconds."""

    first: Sequence[float]
    last: Sequence[float]
    clusters: Sequence[str]

    def difference(self, confidence: float) -> Difference:
        """The mean of the logarithms' differences: that of the ratio of the geometric means."""
        found = paired_difference(self.first, self.last, self.clusters, confidence=confidence)
        if found is None:
            raise ValueError("fewer than two pairs")
        return found

    @property
    def p(self) -> float:
        """Two-sided, by the sign-flip test, that neither is the slower one."""
        return self.difference(1 - ALPHA).p


def pair_latency(metrics: Sequence[Aligned]) -> PairedLatency | None:
    """The latencies of two runs; None where too few differ for a verdict, or none has a logarithm."""
    found = next((each for each in metrics if each.metric.name == LatencyP50.name and each.complete), None)
    if found is None:
        return None
    pairs = zip(found.values(0), found.values(-1), found.clusters, strict=True)
    sound = [(log(before), log(after), cluster) for before, after, cluster in pairs if min(before, after) > 0]
    if sum(before != after for before, after, _ in sound) < FEWEST:
        return None
    first, last, clusters = zip(*sound, strict=True)
    return PairedLatency(first, last, clusters)


def rate(paired: PairedLatency, ruling: Ruling, alpha: float) -> LatencyRatio:
    """The ratio with its verdict.

    Formula: ratio = exp(mean(log last - log first)). It is slower or faster where the sign-flip test of the logarithms'
    differences, over questions or clusters of them, says so at the level that it has. Else it is equal where the
    interval with confidence 1 - 2·alpha lies within 1/(1 + margin) and 1 + margin: two one-sided tests (Schuirmann
    1987). Else it is undecided, however near to 1.

    Args:
        paired: The latencies.
        ruling: How its p was tested among those of the family.
        alpha: The level of each one-sided test of equivalence.
    """
    found, wide = paired.difference(1 - ruling.level), paired.difference(1 - 2 * alpha)
    within = _as_ratio(wide.bounds)
    return LatencyRatio(
        first_ms=exp(fmean(paired.first)),
        last_ms=exp(fmean(paired.last)),
        ratio=exp(found.difference),
        n=len(paired.first),
        interval=_as_ratio(found.estimate.interval),
        p=found.p,
        q=ruling.adjusted,
        level=ruling.level,
        margin=MARGIN,
        equivalence_interval=within,
        verdict=_verdict(found.difference, ruling, within),
    )


def _as_ratio(interval: Interval | None) -> Interval | None:
    return interval and (exp(interval[0]), exp(interval[1]))


def _verdict(difference: float, ruling: Ruling, within: Interval | None) -> LatencyVerdict:
    if ruling.adjusted < ALPHA:
        return "slower" if difference > 0 else "faster"
    if within is not None and within[0] > 1 / (1 + MARGIN) and within[1] < 1 + MARGIN:
        return "equal"
    return "undecided"
