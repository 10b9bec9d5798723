"""How many questions bring an answer at all: what the metrics of quality leave out."""

from evals.case.case import Case
from evals.compare.models import ANSWER_RATE
from evals.metrics.base import Aggregation, BaseMetric
from evals.schemas import MetricGroup, MetricResult


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
