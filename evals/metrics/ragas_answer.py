"""RAGAS: does the answer address the question, and the weighted score of the four."""

from collections.abc import Mapping, Sequence
from math import isfinite, isnan
from statistics import fmean
from typing import ClassVar

from evals.case.case import Case
from evals.case.inquiry import SAMPLES, Inquiry, ReplyData, question_and_answer
from evals.metrics.abstaining import settled_relevance
from evals.metrics.base import Need
from evals.metrics.comparing import EMBEDDING_NOT_FINITE, Comparing
from evals.metrics.judged import Decider, JudgedMetric
from evals.metrics.ragas import RagasContextPrecision, RagasContextRecall, RagasFaithfulness
from evals.metrics.ragas_weights import RAGAS_WEIGHTS
from evals.schemas import MetricGroup, MetricResult
from evals.schemas.results import WITHOUT_VERDICT
from evals.schemas.verdicts import VerdictRequest
from evals.semantics.base import Semantics, cosine

STRICTNESS = 3
"""How often RAGAS asks for the question."""

GENERATED_QUESTIONS = Inquiry(
    "generated_questions", "generated_questions", lambda case: {"answer": case.response.answer}, samples=STRICTNESS
)
"""The question to which the answer is an answer, and whether it commits itself; asked for three times, as by RAGAS."""

DIRECT_RELEVANCE = Inquiry("direct_relevance", "direct_relevance", question_and_answer)
"""How fully the answer addresses the question, on five steps."""


class RagasAnswerRelevance(Comparing, JudgedMetric):
    """How well the answer addresses the question, whether or not it is right, in percent.

    Formula: the judge is asked three times, each in a call of its own, for the question that the answer replies to;
    mean of the cosines between their embeddings and the question's, × 100 and not below 0. 0 where the judge calls the
    answer noncommittal all three times; a sample without a question does not count. Without an embedder the judge
    assesses directly: complete 100, mostly 75, partly 50, barely 25, not at all 0. Which of the two is decided once for
    a run and stands in the details; values of the two do not compare. Range 0 to 100, higher is better. 0 for an
    abstention on an answerable question; None for one on a question that is not known to be answerable.
    Reference: Es et al. 2023 (RAGAS answer relevance), by the rules of ragas 0.4.
    """

    name = "ragas_answer_relevance"
    group = MetricGroup.GENERATION
    suites: ClassVar = frozenset({"graphrag"})
    unit = "percent"
    high = 100.0
    needs = frozenset({Need.JUDGE, Need.EMBEDDER})
    heeds_abstention = True
    inquiries = (GENERATED_QUESTIONS,)
    scale: ClassVar[Mapping[str, float]] = {
        "complete": 100.0,
        "mostly": 75.0,
        "partly": 50.0,
        "barely": 25.0,
        "not_at_all": 0.0,
    }

    def __init__(self, judge: Decider | None = None, semantics: Semantics | None = None) -> None:
        super().__init__(judge)
        self.semantics = semantics

    def wanted(self, case: Case) -> tuple[Inquiry, ...]:
        return (GENERATED_QUESTIONS,) if self.embedder(case) else (DIRECT_RELEVANCE,)

    def settled(self, case: Case) -> MetricResult | None:
        return settled_relevance(self, case)

    def texts(self, case: Case) -> Sequence[str]:
        replies = GENERATED_QUESTIONS.replies(case).values() if self.embedder(case) else ()
        written = [sample["question"] for reply in replies for sample in _written(reply)]
        return [case.question.question, *written] if written else ()

    def grade(self, case: Case, replies: Mapping[str, ReplyData]) -> MetricResult:
        embedder = self.embedder(case)
        if embedder is None:
            return self._assessed(replies[DIRECT_RELEVANCE.name])
        samples = _written(replies[GENERATED_QUESTIONS.name])
        written = [sample["question"] for sample in samples]
        if not written:
            return self.undefined("the judge wrote no question", missing="judge")
        noncommittal = sum(sample["verdict"] == "noncommittal" for sample in samples)
        details = {"method": "generated questions", "questions": written, "noncommittal": noncommittal}
        asked, *vectors = embedder.embed([case.question.question, *written])
        alike = fmean(cosine(asked, vector) for vector in vectors)
        if not isfinite(alike):
            return self.undefined(EMBEDDING_NOT_FINITE)
        return self.result(0.0 if noncommittal == len(samples) else 100 * max(0.0, alike), **details)

    def _assessed(self, reply: ReplyData) -> MetricResult:
        details = {"method": "direct assessment", "verdict": reply["verdict"], "justification": reply["justification"]}
        value = self.scale.get(reply["verdict"])
        if value is None:
            return self.undefined("the judge could not tell", missing="judge", **details)
        return self.result(value, **details)


def _written(reply: ReplyData) -> list[ReplyData]:
    """The samples that hold a question."""
    return [sample for sample in reply[SAMPLES] if sample["question"].strip()]


def ragas_score(values: Mapping[str, float | None], weights: Mapping[str, float] = RAGAS_WEIGHTS) -> float | None:
    """The weighted mean of the values that are there: sum of weight × value / sum of their weights.

    Args:
        values: By the names of the metrics; NaN is no value, as None is.
        weights: By the same names; one that is not named keeps its default.

    Returns:
        On the scale of the values; None where none is there, or all that are weigh nothing.
    """
    weigh = {**RAGAS_WEIGHTS, **weights}
    there = {name: value for name, value in values.items() if value is not None and not isnan(value)}
    total = sum(weigh[name] for name in there)
    return sum(weigh[name] * value for name, value in there.items()) / total if total else None


def _verdicts_of(parts: Sequence[MetricResult]) -> tuple[list[str], str | None]:
    """The verdicts that parts hang on, up to the first that is lost, and why that one is; None where none is."""
    needed: dict[str, None] = {}
    for part in parts:
        needed.update(dict.fromkeys(part.judged_by))
        if part.missing in WITHOUT_VERDICT:
            return list(needed), part.reason
    return list(needed), None


class RagasScore(JudgedMetric):
    """The four RAGAS metrics in one number, in percent.

    Formula: sum of weight × value / sum of weights over those of the four that have a value; the weights are 0.30 for
    `ragas_faithfulness`, 0.20 for `ragas_context_precision`, 0.20 for `ragas_context_recall` and 0.30 for
    `ragas_answer_relevance` (`scoring.ragas_weights`). The details say what was left out: questions with different
    parts do not compare. Range 0 to 100, higher is better. None where none of the four has a value, and where the
    judge's word on one that weighs something is lost.
    Reference: the formula here.
    """

    name = "ragas_score"
    group = MetricGroup.GENERATION
    suites: ClassVar = frozenset({"graphrag"})
    unit = "percent"
    high = 100.0
    needs = frozenset({Need.JUDGE, Need.EMBEDDER})
    inquiries = tuple(
        dict.fromkeys(
            inquiry
            for part in (RagasFaithfulness, RagasContextPrecision, RagasContextRecall, RagasAnswerRelevance)
            for inquiry in part.inquiries
        )
    )
    of_answer = False

    def __init__(
        self,
        judge: Decider | None = None,
        weights: Mapping[str, float] = RAGAS_WEIGHTS,
        semantics: Semantics | None = None,
    ) -> None:
        super().__init__(judge)
        self.weights = weights
        self.parts = (
            RagasFaithfulness(),
            RagasContextPrecision(),
            RagasContextRecall(),
            RagasAnswerRelevance(semantics=semantics),
        )

    def requests(self, case: Case) -> list[VerdictRequest]:
        found = {request.name: request for part in self.parts for request in part.requests(case)}
        return list(found.values())

    def texts(self, case: Case) -> Sequence[str]:
        return [text for part in self.parts for text in part.texts(case)]

    def measure(self, case: Case) -> MetricResult:
        results = {part.name: part.score(case) for part in self.parts}
        values = {name: result.value for name, result in results.items()}
        left_out = {name: result.reason for name, result in results.items() if result.value is None}
        weigh = {**RAGAS_WEIGHTS, **self.weights}
        needed, lost = _verdicts_of([result for name, result in results.items() if weigh[name]])
        if lost is not None:
            found = self.undefined(lost, missing="judge", parts=values, **self.injection_flag(case))
            return self.judged(found, needed)
        score = ragas_score(values, self.weights)
        if score is None:
            return self.judged(self.undefined("; ".join(dict.fromkeys(map(str, left_out.values())))), needed)
        partly = {"left_out": left_out} if left_out else {}
        return self.judged(self.result(score, parts=values, **partly, **self.injection_flag(case)), needed)

    def verdicts_needed(self, case: Case) -> list[str]:
        return []  # as its parts say

    def grade(self, case: Case, replies: Mapping[str, ReplyData]) -> MetricResult:
        return self.measure(case)
