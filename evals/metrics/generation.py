"""Generation: is the answer grounded, correct and to the point? An LLM judge reads; the scores are computed here."""

from collections.abc import Mapping
from typing import Any, ClassVar

from evals.case.case import Case
from evals.metrics.abstaining import settled_by_abstention, settled_relevance
from evals.metrics.base import Need
from evals.metrics.inquiries import (
    answer_beside_reference,
    numbered_contexts,
    question_and_answer,
)
from evals.metrics.judged import Inquiry, JudgedMetric, LabelledMetric, ReplyData
from evals.schemas import MetricGroup, MetricResult


def _answer_in_contexts(case: Case) -> dict[str, Any]:
    question = case.question.question
    return {"contexts": numbered_contexts(case), "question": question, "answer": case.response.answer}


class Faithfulness(JudgedMetric):
    """Share of the answer's claims that the retrieved chunks support.

    Formula: supported / (supported + unsupported) over the claims that the judge finds in the answer; claims on which
    it could not tell do not count. A claim is supported only with a quotation that stands in a chunk. Range 0 to 1,
    higher is better. None for an abstention, an answer without claims, and without chunks.
    Reference: Es et al. 2023 (RAGAS).
    """

    name = "faithfulness"
    group = MetricGroup.GENERATION
    suites: ClassVar = frozenset({"core", "answer"})
    needs = frozenset({Need.JUDGE, Need.CHUNKS})
    inquiries = (Inquiry("faithfulness", "faithfulness", _answer_in_contexts),)

    def hangs_on_abstention(self, case: Case) -> bool:
        return bool(numbered_contexts(case))

    def settled(self, case: Case) -> MetricResult | None:
        if case.abstained:
            return self.undefined("the answer abstains")
        return None if numbered_contexts(case) else self.undefined("the chunks carry no text")

    def grade(self, case: Case, replies: Mapping[str, ReplyData]) -> MetricResult:
        claims = replies["faithfulness"]["claims"]
        verdicts = [claim["verdict"] for claim in claims]
        supported, unsupported = verdicts.count("supported"), verdicts.count("unsupported")
        if not verdicts:
            return self.undefined("the answer makes no claims")
        if not supported + unsupported:
            return self.undefined("the judge could not tell", missing="judge")
        failed = [claim["claim"] for claim in claims if claim["verdict"] == "unsupported"]
        return self.result(supported / (supported + unsupported), claims=len(verdicts), unsupported=failed)


class AnswerCorrectness(LabelledMetric):
    """Whether the answer says what the expected answer says.

    Formula: correct 1, partly correct 0.5, incorrect 0. Range 0 to 1, higher is better. 0 where the server abstains on
    an answerable question, or answers an unanswerable one. None for a right abstention, and without an expected answer.
    Reference: a reference-guided label after Zheng et al. 2023 (LLM-as-a-judge); the rubric is ours.
    """

    name = "answer_correctness"
    group = MetricGroup.GENERATION
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})
    heeds_abstention = True
    inquiries = (Inquiry("answer_correctness", "answer_correctness", answer_beside_reference),)
    scale: ClassVar = {"correct": 1.0, "partly_correct": 0.5, "incorrect": 0.0}

    def settled(self, case: Case) -> MetricResult | None:
        return settled_by_abstention(self, case)


class AnswerRelevancy(LabelledMetric):
    """Whether the answer addresses the question that was asked.

    Formula: relevant 1, partly relevant 0.5, irrelevant 0. Range 0 to 1, higher is better. 0 where the server abstains
    on an answerable question. None for an abstention on an unanswerable one, or where the dataset does not say.
    Reference: after Es et al. 2023 (RAGAS answer relevance), by a label instead of generated questions.
    """

    name = "answer_relevancy"
    group = MetricGroup.GENERATION
    suites: ClassVar = frozenset({"core", "answer"})
    heeds_abstention = True
    inquiries = (Inquiry("answer_relevancy", "answer_relevancy", question_and_answer),)
    scale: ClassVar = {"relevant": 1.0, "partly_relevant": 0.5, "irrelevant": 0.0}

    def settled(self, case: Case) -> MetricResult | None:
        return settled_relevance(self, case)
