"""The difference between two runs in one objective, which one metric or several feed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from evals.compare.families import least_p
from evals.compare.lost_pairs import LostPairs
from evals.compare.measured import measure, span_of
from evals.metrics.base import Aggregation, BaseMetric
from evals.stats import Weighted, sign_flip_p
from evals.stats.clusters import group
from evals.stats.differences import bounded_error
from evals.stats.distributions import two_sided_p

_PAIR = 2
"""Of fewer questions nothing is said."""


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
    lost: LostPairs | None = None
    """Where verdicts are lost, all questions that may have a value in both runs."""

    def both(self, ids: Sequence[str]) -> tuple[list[str], list[float], list[float]]:
        """The questions with a value in both, and these values."""
        if self.lost is not None and self.lost.unknown:
            return [], [], []
        shared = [key for key in ids if key in self.first and key in self.last]
        return shared, [self.first[key] for key in shared], [self.last[key] for key in shared]


@dataclass(frozen=True, slots=True)
class _Part:
    """One of the metrics that feed an objective, over the questions with a value in both runs."""

    metric: BaseMetric
    steps: dict[str, float]
    """By how much each question became better, as a share of the metric's range or of its threshold."""
    lost: LostPairs | None = None

    @property
    def weighted(self) -> Weighted | None:
        """The steps as they stand for lost ones; None where each stands for itself."""
        return self.lost.weigh(list(self.steps.values())) if self.lost is not None else None

    @property
    def mean(self) -> float:
        weighted = self.weighted
        return fsum(self.steps.values()) / len(self.steps) if weighted is None else weighted.mean

    @property
    def moved(self) -> set[str]:
        """The questions that differ."""
        return {key for key, step in self.steps.items() if step}

    def influences(self) -> dict[str, float]:
        """By how much each question moves the mean, lost ones too: their sum is 0."""
        weighted, mean = self.weighted, self.mean
        if weighted is None or self.lost is None:
            return {key: (step - mean) / len(self.steps) for key, step in self.steps.items()}
        residuals = zip(self.lost.ids, weighted.residuals(mean), strict=True)
        return {key: residual / weighted.size for key, residual in residuals}


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
    found = measure(fed.metric, first, last, [clusters[key] for key in ids], fed.lost)
    if found.p is None:
        return Standing(reason="too few pairs")
    return Standing(_sign(fed.metric) * found.difference, found.p, found.differing, len(ids))


def _part(fed: Fed, clusters: Mapping[str, str], thresholds: Mapping[str, float]) -> _Part:
    metric = fed.metric
    ids, first, last = fed.both(list(clusters))
    scale = _sign(metric) / (thresholds.get(metric.unit) or span_of(metric) or 1.0)
    steps = zip(ids, first, last, strict=True)
    return _Part(metric, {key: scale * (after - before) for key, before, after in steps}, fed.lost)


def _sign(metric: BaseMetric) -> int:
    return -1 if metric.higher_is_better is False else 1


def _stand_in_mean(parts: Sequence[_Part], clusters: Mapping[str, str]) -> Standing:
    """Test the mean of the metrics' means by what each question adds to it.

    Formula: with N questions, M metrics and n_m values of metric m, question i adds
    c_i = sum over its metrics of d_mi/(n_m·M); the gain is their sum, and a question that is asked of the two runs the
    other way round changes the sign of its c_i: the sign-flip test is over them, or over their sums by cluster.
    """
    there = {key for part in parts for key in part.steps}
    ids = [key for key in clusters if key in there]
    if len(ids) < _PAIR:
        return Standing(reason="too few pairs")
    differing = len(set().union(*(part.moved for part in parts)))
    lossy = any(part.lost is not None for part in parts)
    gain, p = _weighted_gain(parts, clusters) if lossy else _gain(parts, ids, clusters)
    return Standing(gain, max(p, least_p(differing)), differing, len(ids))


def _gain(parts: Sequence[_Part], ids: Sequence[str], clusters: Mapping[str, str]) -> tuple[float, float]:
    """The gain where nothing is lost, and its p by the sign-flip test."""
    added = [_added(parts, key) for key in ids]
    return fsum(added), sign_flip_p(group(added, [clusters[key] for key in ids]).sums)


def _added(parts: Sequence[_Part], key: str) -> float:
    """What a question adds to the mean of the metrics' means."""
    return fsum(part.steps[key] / len(part.steps) for part in parts if key in part.steps) / len(parts)


def _weighted_gain(parts: Sequence[_Part], clusters: Mapping[str, str]) -> tuple[float, float]:
    """The gain where values stand for lost ones, and its p, by the influence of each question on it.

    Formula: question i moves the objective by psi_i = sum over its metrics of N/(n_m·M)·(d_mi - mean_m), lost ones as
    those like them do; the gain plus psi_i are N values whose mean is the gain and whose cluster-robust error is that
    of the objective (the delta method; Deng et al. 2018).
    """
    gain = fsum(part.mean for part in parts) / len(parts)
    by_question = _influences(parts)
    ids = [key for key in clusters if key in by_question]
    influences = [gain + len(ids) * by_question[key] for key in ids]
    centre, error, df = bounded_error(influences, group(influences, [clusters[key] for key in ids]), 1.0)
    return gain, two_sided_p(centre / error, df)


def _influences(parts: Sequence[_Part]) -> dict[str, float]:
    """By how much each question moves the mean of the metrics' means."""
    found: dict[str, list[float]] = {}
    for part in parts:
        for key, own in part.influences().items():
            found.setdefault(key, []).append(own)
    return {key: fsum(own) / len(parts) for key, own in found.items()}
