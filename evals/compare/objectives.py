"""The difference between two runs in one objective, the mean of one or several metrics."""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import NamedTuple

from evals.compare.statistics import PairedMetric, least_p
from evals.metrics.base import Aggregation, BaseMetric
from evals.scoring.stats.differences import bounded_difference, sign_flip_p
from evals.scoring.stats.intervals import group, questions_among

_PAIR = 2
"""Of fewer questions nothing is said."""

_NOTHING = "no question for which both runs have a value"


class Standing(NamedTuple):
    """The comparison of two runs in one objective.

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


def stand(fed: Sequence[PairedMetric], clusters: Mapping[str, str], thresholds: Mapping[str, float]) -> Standing:
    """Compare two runs in an objective.

    Args:
        fed: What feeds the objective: it is the mean of these, each on a scale from 0 to 1.
        clusters: What each question that both runs asked belongs to, by id.
        thresholds: By unit, the value that stands for 1 where a metric has no range.
    """
    if len(fed) > 1 and any(one.metric.aggregation is Aggregation.PERCENTILE for one in fed):
        return Standing(reason="it contains a percentile, for which there is no test")
    if not all(one.ids for one in fed):
        return Standing(reason=_NOTHING)
    if len(fed) > 1:
        return _stand_in_mean([_Part(one, thresholds) for one in fed], clusters)
    (found,) = fed
    if found.p is None:
        return Standing(reason="too few pairs")
    return Standing(_sign(found.metric) * found.difference, found.p, found.differing, len(found.ids))


def _sign(metric: BaseMetric) -> int:
    return -1 if metric.higher_is_better is False else 1


class _Part:
    """One of the metrics that feed an objective.

    Attributes:
        steps: By question with a value in both runs, how much better it became, as a share of the metric's range or of
            its threshold.
        lost: Where verdicts are lost, all questions that may have a value.
        mean: Of the steps; lost ones have those that stand for them.
    """

    def __init__(self, fed: PairedMetric, thresholds: Mapping[str, float]) -> None:
        scale = _sign(fed.metric) / (thresholds.get(fed.metric.unit) or fed.span or 1.0)
        self.steps = {key: scale * step for key, step in zip(fed.ids, fed.differences, strict=True)}
        self.lost = fed.lost
        steps = list(self.steps.values())
        self._weighted = fed.lost.weigh(steps) if fed.lost is not None else None
        self.mean = fsum(steps) / len(steps) if self._weighted is None else self._weighted.mean

    def influences(self) -> dict[str, float]:
        """By how much each question moves the mean, lost ones too: their sum is 0."""
        if self._weighted is None or self.lost is None:
            return {key: (step - self.mean) / len(self.steps) for key, step in self.steps.items()}
        residuals = zip(self.lost.ids, self._weighted.residuals(), strict=True)
        return {key: residual / self._weighted.size for key, residual in residuals}


def _stand_in_mean(parts: Sequence[_Part], clusters: Mapping[str, str]) -> Standing:
    """Test the mean of the metrics' means by what each question adds to it.

    Formula: with N questions, M metrics and n_m values of metric m, question i adds
    c_i = sum over its metrics of d_mi/(n_m·M); the gain is their sum, and a question that is asked of the two runs the
    other way round changes the sign of its c_i: the sign-flip test is over them, or over their sums by cluster.
    """
    there = set[str]().union(*(part.steps for part in parts))
    own = {key: label for key, label in clusters.items() if key in there}
    if len(own) < _PAIR:
        return Standing(reason="too few pairs")
    moved = (place for place, key in enumerate(own) if any(part.steps.get(key) for part in parts))
    differing = questions_among(moved, list(own.values()))
    lossy = any(part.lost is not None for part in parts)
    gain, p = _weighted_gain(parts, clusters) if lossy else _gain(parts, own)
    return Standing(gain, max(p, least_p(differing)), differing, len(own))


def _gain(parts: Sequence[_Part], clusters: Mapping[str, str]) -> tuple[float, float]:
    """The gain where nothing is lost, and its p by the sign-flip test."""
    steps = ([part.steps[key] / len(part.steps) for part in parts if key in part.steps] for key in clusters)
    added = [fsum(own) / len(parts) for own in steps]
    return fsum(added), sign_flip_p(group(added, list(clusters.values())).sums)


def _weighted_gain(parts: Sequence[_Part], clusters: Mapping[str, str]) -> tuple[float, float]:
    """The gain where values stand for lost ones, and its p, by the influence of each question on it.

    Formula: question i moves the objective by psi_i = sum over its metrics of N/(n_m·M)·(d_mi - mean_m), lost ones as
    those like them do; the gain plus psi_i are N values whose mean is the gain and whose cluster-robust error is that
    of the objective (the delta method; Deng et al. 2018).
    """
    gain = fsum(part.mean for part in parts) / len(parts)
    by_question: dict[str, list[float]] = {}
    for part in parts:
        for key, own in part.influences().items():
            by_question.setdefault(key, []).append(own)
    ids = [key for key in clusters if key in by_question]
    influences = [gain + len(ids) * (fsum(by_question[key]) / len(parts)) for key in ids]
    _, p = bounded_difference(gain, group(influences, [clusters[key] for key in ids]), 1.0, 0.95)
    return gain, p
