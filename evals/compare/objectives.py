"""The difference between two runs in one objective, which one metric or several feed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from evals.compare.families import least_p
from evals.compare.measured import measure, span_of
from evals.metrics.base import Aggregation, BaseMetric
from evals.stats import paired_difference


@dataclass(frozen=True, slots=True)
class Standing:
    """How the second of two runs stands to the first in an objective.

    Attributes:
        gain: By how much it is better, on the scale of the objective; below 0 where it is worse.
        p: Two-sided, that the two are equal; None where it cannot be told.
        differing: How many questions differ in what feeds the objective.
        n: How many questions have a value in both runs.
        reason: Why it cannot be told.
    """

    gain: float = 0.0
    p: float | None = None
    differing: int = 0
    n: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Fed:
    """A metric that feeds an objective, with its values by question in the two runs."""

    metric: BaseMetric
    first: Mapping[str, float]
    last: Mapping[str, float]

    def both(self, ids: Sequence[str]) -> tuple[list[str], list[float], list[float]]:
        """The questions with a value in both, and these values."""
        shared = [key for key in ids if key in self.first and key in self.last]
        return shared, [self.first[key] for key in shared], [self.last[key] for key in shared]


@dataclass(frozen=True, slots=True)
class _Part:
    """One of the metrics that feed an objective, over the questions with a value in both runs."""

    metric: BaseMetric
    steps: dict[str, float]
    """By how much each question became better, as a share of the metric's range or of its threshold."""

    @property
    def mean(self) -> float:
        return fsum(self.steps.values()) / len(self.steps)


def stand(fed: Sequence[Fed], clusters: Mapping[str, str], thresholds: Mapping[str, float]) -> Standing:
    """Compare two runs in an objective.

    Args:
        fed: What feeds the objective: it is the mean of these, each on a scale from 0 to 1.
        clusters: What each question that both runs asked belongs to, by id.
        thresholds: By unit, the value that stands for 1 where a metric has no range.
    """
    if len(fed) == 1:
        return _stand_in_one(fed[0], clusters)
    if any(one.metric.aggregation is Aggregation.PERCENTILE for one in fed):
        return Standing(reason="it is fed by a percentile among others, for which there is no test")
    parts = [_part(one, clusters, thresholds) for one in fed]
    if not all(part.steps for part in parts):
        return Standing(reason="no question for which both runs have a value")
    return _stand_in_mean(parts, clusters)


def _stand_in_one(fed: Fed, clusters: Mapping[str, str]) -> Standing:
    ids, first, last = fed.both(list(clusters))
    if not ids:
        return Standing(reason="no question for which both runs have a value")
    found = measure(fed.metric, first, last, [clusters[key] for key in ids])
    if found.p is None:
        return Standing(reason="too few pairs")
    return Standing(_sign(fed.metric) * found.difference, found.p, found.differing, len(ids))


def _part(fed: Fed, clusters: Mapping[str, str], thresholds: Mapping[str, float]) -> _Part:
    metric = fed.metric
    ids, first, last = fed.both(list(clusters))
    scale = _sign(metric) / (thresholds.get(metric.unit) or span_of(metric) or 1.0)
    steps = zip(ids, first, last, strict=True)
    return _Part(metric, {key: scale * (after - before) for key, before, after in steps})


def _sign(metric: BaseMetric) -> int:
    return -1 if metric.higher_is_better is False else 1


def _stand_in_mean(parts: Sequence[_Part], clusters: Mapping[str, str]) -> Standing:
    """Test the mean of the metrics' means by the influence of each question on it.

    Formula: with N questions, M metrics and n_m values of metric m, question i moves the objective by
    psi_i = sum over its metrics of N/(n_m·M)·(d_mi - mean_m); the objective's gain plus psi_i are N values whose mean
    is the gain and whose cluster-robust error is that of the objective (the delta method; Deng et al. 2018).
    """
    moved = _of_any(parts)
    ids = [key for key in clusters if key in moved]
    gain = fsum(part.mean for part in parts) / len(parts)
    influences = [gain + _influence(parts, key, len(ids)) for key in ids]
    found = paired_difference(
        [(1 - value) / 2 for value in influences],
        [(1 + value) / 2 for value in influences],
        [clusters[key] for key in ids],
        low=0.0,
        high=1.0,
    )
    if found is None:
        return Standing(reason="too few pairs")
    differing = sum(moved.values())
    return Standing(gain, max(found.p, least_p(differing)), differing, len(ids))


def _of_any(parts: Sequence[_Part]) -> dict[str, bool]:
    """The questions with a value of any of the metrics, and whether any of them differs."""
    found: dict[str, bool] = {}
    for part in parts:
        for key, step in part.steps.items():
            found[key] = found.get(key, False) or step != 0
    return found


def _influence(parts: Sequence[_Part], key: str, n: int) -> float:
    """By how much a question moves the mean of the metrics' means, times the number of questions."""
    own = [n / len(part.steps) * (part.steps[key] - part.mean) for part in parts if key in part.steps]
    return fsum(own) / len(parts)
