"""How many questions bring an answer at all, which the metrics of quality do not say."""

from typing import ClassVar

from evals.case.case import Case
from evals.compare.models import (
    ABSTENTION_RATE,
    ANSWER_RATE,
    ANSWERABLE_ABSTENTION_RATE,
    CHUNKS_RATE,
    CITATIONS_RATE,
)
from evals.metrics.abstaining import known_answerable
from evals.metrics.base import Aggregation, BaseMetric
from evals.schemas import EvalQuestion, MetricGroup, MetricResult


class AnswerRate(BaseMetric):
    """Share of the questions that the server answers, well or badly.

    Formula: 1 - |failures of transport| / |questions asked|. A server that fails on hard questions has no bad answers
    to them: without this, it would look no worse than one that answers.
    """

    name = ANSWER_RATE
    group = MetricGroup.PERFORMANCE
    suites = frozenset()
    aggregation = Aggregation.RATE

    def score(self, case: Case) -> MetricResult:
        return self.result(case.response.error is None)

    def measure(self, case: Case) -> MetricResult:
        return self.score(case)


class ChunksRate(BaseMetric):
    """Share of the answers that come with a list of chunks, which may be empty.

    Formula: |answers whose chunks are not null| / |answers|. Where there is no list, retrieval has no value: a server
    that sends none with its bad answers would look no worse.
    """

    name = CHUNKS_RATE
    group = MetricGroup.PERFORMANCE
    suites = frozenset()
    aggregation = Aggregation.RATE

    def score(self, case: Case) -> MetricResult:
        return self.measure(case)

    def measure(self, case: Case) -> MetricResult:
        return self.result(case.response.chunks is not None)


class CitationsRate(ChunksRate):
    """Share of the answers that come with a list of citations, which may be empty.

    Formula: |answers whose citations are not null| / |answers|, those left out that decline: they have nothing to cite,
    and a server that cites by markers has none in them. Without a list, citations have no value.
    """

    name = CITATIONS_RATE

    def measure(self, case: Case) -> MetricResult:
        if case.abstained:
            return self.undefined("the answer declines")
        return self.result(case.response.citations is not None)


class AbstentionRate(BaseMetric):
    """Share of the answers that decline to answer, whether they should or not.

    Formula: |abstentions| / |answers|, by the detector of this version in all runs. Neither direction is better: where
    questions cannot be answered, abstaining is right.
    """

    name = ABSTENTION_RATE
    group = MetricGroup.ABSTENTION
    suites = frozenset()
    aggregation = Aggregation.RATE
    higher_is_better: ClassVar[bool | None] = None
    of_answer = True

    def measure(self, case: Case) -> MetricResult:
        return self.result(case.abstained)


class AnswerableAbstentionRate(AbstentionRate):
    """Share of the answers that decline, of those to questions that are known to be answerable.

    Formula: |abstentions| / |answers| over `known_answerable`. Lower is better. A server that falls silent keeps its
    retrieval, and without a judge nothing else says that its answers are gone.
    """

    name = ANSWERABLE_ABSTENTION_RATE
    higher_is_better = False

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        return None if known_answerable(question) else "nobody knows that the question is answerable"
