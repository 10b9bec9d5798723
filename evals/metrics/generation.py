"""Generation: is the answer grounded, correct and to the point? An LLM judge decides; see `evals.judges`."""

from evals.metrics.base import BaseMetric, Need
from evals.metrics.case import Case
from evals.schemas import MetricGroup, MetricResult


class _Judged(BaseMetric):
    """What the judged metrics share: without a judge they have no value."""

    group = MetricGroup.GENERATION
    needs = frozenset({Need.JUDGE})
    judge_calls = 1

    def measure(self, case: Case) -> MetricResult:
        return self.undefined("no judge was used (--no-judge)")


class Faithfulness(_Judged):
    """Share of the answer's claims that the retrieved chunks support.

    Range 0 to 1, higher is better. None without a judge, without chunks, or where the answer abstains.
    Reference: Es et al. 2023 (RAGAS).
    """

    name = "faithfulness"
    needs = frozenset({Need.JUDGE, Need.CHUNKS})


class AnswerCorrectness(_Judged):
    """Whether the answer says what the expected answer says.

    Range 0 to 1, higher is better. 0 where the server abstains on an answerable question or answers an unanswerable
    one. None without a judge or without an expected answer.
    """

    name = "answer_correctness"
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})


class AnswerRelevancy(_Judged):
    """Whether the answer addresses the question that was asked.

    Range 0 to 1, higher is better. 0 where the server abstains on an answerable question. None without a judge.
    """

    name = "answer_relevancy"
