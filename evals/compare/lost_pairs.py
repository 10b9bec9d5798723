"""Pairs of questions of which a verdict is lost in one of the runs: the pairs that are there stand for them.

A pair needs the verdicts of all runs. So those that are there stand for the lost ones that needed the same verdicts
(`evals.stats.lost`), and pairs that are settled without a judge for themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from evals.metrics.base import BaseMetric
from evals.schemas import MetricResult
from evals.schemas.results import WITHOUT_VERDICT
from evals.stats import Observation, Weighted, weigh

RunResults = Mapping[str, MetricResult]
"""The results of a metric in a run, by question, with those that have no value."""


@dataclass(frozen=True, slots=True)
class LostPairs:
    """The questions that may have a value in all runs.

    Attributes:
        ids: Of the questions.
        observed: What became of each; the value of one that has some is 0 here.
        clusters: What each belongs to.
    """

    ids: list[str]
    observed: list[Observation]
    clusters: list[str]

    @classmethod
    def of(cls, ids: Sequence[str], clusters: Sequence[str], columns: Sequence[RunResults]) -> Self | None:
        """What is lost of these questions; None where nothing is, or a plain mean of the rest is right all the same."""
        all_of = {key: _observe([column.get(key) for column in columns]) for key in ids}
        found = {key: each for key, each in all_of.items() if each is not None}
        if not _needs_weights(list(found.values())):
            return None
        labels = dict(zip(ids, clusters, strict=True))
        return cls(list(found), list(found.values()), [labels[key] for key in found])

    @property
    def unknown(self) -> bool:
        """Whether some need verdicts, and not one pair of these has them."""
        return weigh(self.observed) is None

    def weigh(self, values: Sequence[float]) -> Weighted:
        """The values of those that have some, in their order, as they stand for the others.

        Raises:
            ValueError: It is `unknown`.
        """
        given = iter(values)
        found = weigh(
            [each if each.value is None else Observation(each.path, next(given), each.lost) for each in self.observed]
        )
        if found is None:
            raise ValueError("where nothing is known there are no pairs to weigh")
        return found

    def results(self, metric: BaseMetric, column: RunResults) -> list[MetricResult]:
        """One run's results, each as far as it is known in all runs."""
        return [
            metric.judged(_known(metric, each, column[key]), each.path)
            for key, each in zip(self.ids, self.observed, strict=True)
        ]


def _needs_weights(observed: Sequence[Observation]) -> bool:
    """Whether some are lost, it is known which verdicts they needed, and a plain mean of the rest is not right."""
    paths = [each.path for each in observed if each.lost]
    if not paths or not all(paths):
        return False
    weighted = weigh(observed)
    return weighted is None or not weighted.uniform


def _known(metric: BaseMetric, observed: Observation, result: MetricResult) -> MetricResult:
    if observed.lost:
        return metric.undefined("a verdict of the judge is lost in one of the runs", missing="judge")
    return metric.undefined("no value in one of the runs") if observed.value is None else result


def _observe(results: Sequence[MetricResult | None]) -> Observation | None:
    """What became of one question in all runs; None where it is known without a judge that some has no value."""
    there = [result for result in results if result is not None]
    if len(there) < len(results) or any(map(_has_none, there)):
        return None
    path: list[str] = []
    for place, result in enumerate(there):
        path += [f"{place}.{name}" for name in result.judged_by]
        if result.missing in WITHOUT_VERDICT:
            return Observation(tuple(path if result.judged_by else ()), None, lost=True)
        if result.value is None:
            return Observation(tuple(path))
    return Observation(tuple(path), 0.0)


def _has_none(result: MetricResult) -> bool:
    settled = result.missing == "not_applicable" and not result.judged_by
    return settled or result.missing == "transport"
