"""The difference between two runs in one objective, which one metric or several feed."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isnan, nan
from typing import ClassVar

from evals.compare.models import ABSTENTION_RATE, ANSWER_RATE, ANSWERABLE_ABSTENTION_RATE, CHUNKS_RATE, CITATIONS_RATE
from evals.compare.statistics import LostPairs, least_p, measure, span_of
from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.sample import Sample
from evals.schemas.results import MetricGroup, MetricResult
from evals.scoring.stats.differences import bounded_difference, sign_flip_p
from evals.scoring.stats.intervals import group, questions_among
from evals.scoring.stats.missing import Weighted

# How many questions bring an answer at all, which the metrics of quality do not say.


class AnswerRate(BaseMetric):
    """Share of the questions that the server answers, well or badly.

    Formula: 1 - |failures of transport| / |questions asked|. A server that fails on hard questions has no bad answers
    to them: without this, it would look no worse than one that answers. Like the rates below, it is made of the columns
    of saved runs (`values`), and asks no sample.
    """

    name = ANSWER_RATE
    group = MetricGroup.PERFORMANCE
    suites = frozenset()
    aggregation = Aggregation.RATE

    def measure(self, case: Sample) -> MetricResult:
        """None: it is made of columns."""
        return self.undefined("it is of saved runs")


class ChunksRate(AnswerRate):
    """Share of the answers that come with a list of chunks, which may be empty.

    Formula: |answers whose chunks are not null| / |answers|. Where there is no list, retrieval has no value: a server
    that sends none with its bad answers would look no worse.
    """

    name = CHUNKS_RATE


class CitationsRate(AnswerRate):
    """Share of the answers that come with a list of citations, which may be empty.

    Formula: |answers whose citations are not null| / |answers|, those left out that decline: they have nothing to cite,
    and a server that cites by markers has none in them. Without a list, citations have no value.
    """

    name = CITATIONS_RATE


class AbstentionRate(AnswerRate):
    """Share of the answers that decline to answer, whether they should or not.

    Formula: |abstentions| / |answers|, by the detector of this version in all runs. Neither direction is better: where
    questions cannot be answered, abstaining is right.
    """

    name = ABSTENTION_RATE
    group = MetricGroup.ABSTENTION
    higher_is_better: ClassVar[bool | None] = None


class AnswerableAbstentionRate(AbstentionRate):
    """Share of the answers that decline, of those to questions that are known to be answerable.

    Formula: |abstentions| / |answers| over `known_answerable`. Lower is better. A server that falls silent keeps its
    retrieval, and without a judge nothing else says that its answers are gone.
    """

    name = ANSWERABLE_ABSTENTION_RATE
    higher_is_better = False


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
    """A metric that feeds an objective, with its values in the two runs.

    Attributes:
        metric: The metric.
        first: A value for each question that both runs asked, in their order; NaN where there is none.
        last: As many, of the second run.
        lost: Where verdicts are lost, all questions that may have a value in both runs.
    """

    metric: BaseMetric
    first: Sequence[float]
    last: Sequence[float]
    lost: LostPairs | None = None

    def both(self) -> "array[int]":
        """The places of the questions with a value in both."""
        if self.lost is not None and self.lost.unknown:
            return array("I")
        pairs = enumerate(zip(self.first, self.last, strict=True))
        return array("I", (place for place, (before, after) in pairs if not isnan(before) and not isnan(after)))


@dataclass(frozen=True, slots=True)
class _Part:
    """One of the metrics that feed an objective, over the questions with a value in both runs.

    Attributes:
        steps: By how much each question became better, as a share of the metric's range or of its threshold; NaN for
            one without a value in both.
        count: How many have one.
        lost: As of what feeds it.
    """

    steps: "array[float]"
    count: int
    lost: LostPairs | None = None

    @property
    def there(self) -> list[float]:
        """The steps of the questions with a value in both."""
        return [step for step in self.steps if not isnan(step)]

    @property
    def weighted(self) -> Weighted | None:
        """The steps as they stand for lost ones; None where each stands for itself."""
        return self.lost.weigh(self.there) if self.lost is not None else None

    @property
    def mean(self) -> float:
        weighted = self.weighted
        return fsum(self.there) / self.count if weighted is None else weighted.mean

    def influences(self, ids: Iterable[str]) -> dict[str, float]:
        """By how much each question moves the mean, lost ones too: their sum is 0."""
        weighted, mean = self.weighted, self.mean
        if weighted is None or self.lost is None:
            steps = zip(ids, self.steps, strict=True)
            return {key: (step - mean) / self.count for key, step in steps if not isnan(step)}
        residuals = zip(self.lost.ids, weighted.residuals(), strict=True)
        return {key: residual / weighted.size for key, residual in residuals}


def stand(fed: Sequence[Fed], clusters: Mapping[str, str], thresholds: Mapping[str, float]) -> Standing:
    """Compare two runs in an objective.

    Args:
        fed: What feeds the objective: it is the mean of these, each on a scale from 0 to 1.
        clusters: What each question that both runs asked belongs to, by id, in the order of the values.
        thresholds: By unit, the value that stands for 1 where a metric has no range.
    """
    if len(fed) == 1:
        return _stand_in_one(fed[0], clusters)
    if any(one.metric.aggregation is Aggregation.PERCENTILE for one in fed):
        return Standing(reason="it is fed by a percentile among others, for which there is no test")
    parts = [_part(one, thresholds) for one in fed]
    if not all(part.count for part in parts):
        return Standing(reason="no question for which both runs have a value")
    return _stand_in_mean(parts, clusters)


def _stand_in_one(fed: Fed, clusters: Mapping[str, str]) -> Standing:
    places, labels = fed.both(), list(clusters.values())
    if not places:
        return Standing(reason="no question for which both runs have a value")
    first, last = (array("d", (own[place] for place in places)) for own in (fed.first, fed.last))
    found = measure(fed.metric, first, last, [labels[place] for place in places], fed.lost)
    if found.p is None:
        return Standing(reason="too few pairs")
    return Standing(_sign(fed.metric) * found.difference, found.p, found.differing, len(places))


def _part(fed: Fed, thresholds: Mapping[str, float]) -> _Part:
    metric, places = fed.metric, fed.both()
    scale = _sign(metric) / (thresholds.get(metric.unit) or span_of(metric) or 1.0)
    steps = array("d", [nan]) * len(fed.first)
    for place in places:
        steps[place] = scale * (fed.last[place] - fed.first[place])
    return _Part(steps, len(places), fed.lost)


def _sign(metric: BaseMetric) -> int:
    return -1 if metric.higher_is_better is False else 1


def _stand_in_mean(parts: Sequence[_Part], clusters: Mapping[str, str]) -> Standing:
    """Test the mean of the metrics' means by what each question adds to it.

    Formula: with N questions, M metrics and n_m values of metric m, question i adds
    c_i = sum over its metrics of d_mi/(n_m·M); the gain is their sum, and a question that is asked of the two runs the
    other way round changes the sign of its c_i: the sign-flip test is over them, or over their sums by cluster.
    """
    table = [part.steps for part in parts]
    places = array("I", (place for place, row in enumerate(zip(*table, strict=True)) if not all(map(isnan, row))))
    if len(places) < _PAIR:
        return Standing(reason="too few pairs")
    differing = questions_among(_moved(table), list(clusters.values()))
    lossy = any(part.lost is not None for part in parts)
    gain, p = _weighted_gain(parts, clusters) if lossy else _gain(parts, places, list(clusters.values()))
    return Standing(gain, max(p, least_p(differing)), differing, len(places))


def _moved(table: Sequence[Sequence[float]]) -> Iterator[int]:
    """The places of the questions that differ in any metric."""
    rows = enumerate(zip(*table, strict=True))
    return (place for place, row in rows if any(step and not isnan(step) for step in row))


def _gain(parts: Sequence[_Part], places: Sequence[int], clusters: Sequence[str]) -> tuple[float, float]:
    """The gain where nothing is lost, and its p by the sign-flip test."""
    added = array("d", (_added(parts, place) for place in places))
    return fsum(added), sign_flip_p(group(added, [clusters[place] for place in places]).sums)


def _added(parts: Sequence[_Part], place: int) -> float:
    """What a question adds to the mean of the metrics' means."""
    steps = ((part.steps[place], part.count) for part in parts)
    return fsum(step / count for step, count in steps if not isnan(step)) / len(parts)


def _weighted_gain(parts: Sequence[_Part], clusters: Mapping[str, str]) -> tuple[float, float]:
    """The gain where values stand for lost ones, and its p, by the influence of each question on it.

    Formula: question i moves the objective by psi_i = sum over its metrics of N/(n_m·M)·(d_mi - mean_m), lost ones as
    those like them do; the gain plus psi_i are N values whose mean is the gain and whose cluster-robust error is that
    of the objective (the delta method; Deng et al. 2018).
    """
    gain = fsum(part.mean for part in parts) / len(parts)
    by_question = _influences(parts, clusters)
    ids = [key for key in clusters if key in by_question]
    influences = [gain + len(ids) * by_question[key] for key in ids]
    _, p = bounded_difference(gain, group(influences, [clusters[key] for key in ids]), 1.0, 0.95)
    return gain, p


def _influences(parts: Sequence[_Part], ids: Iterable[str]) -> dict[str, float]:
    """By how much each question moves the mean of the metrics' means."""
    found: dict[str, list[float]] = {}
    for part in parts:
        for key, own in part.influences(ids).items():
            found.setdefault(key, []).append(own)
    return {key: fsum(own) / len(parts) for key, own in found.items()}
