"""The RAGAS family (Es et al. 2023) on a scale of 0 to 100, and its context metrics on 0 to 1.

Edge values: no claims 100, no contexts 0. The details name the edge that was met.

The package `ragas` is not used: it calls the judge by itself, past the cache, the budget and the checks of quotations.
"""

from collections.abc import Mapping
from typing import ClassVar

from evals.case.case import Case
from evals.case.inquiry import ReplyData, numbered_contexts
from evals.metrics.base import Need
from evals.metrics.inquiries import (
    ANSWER_IN_CONTEXTS,
    CONTEXT_RELEVANCE,
    REFERENCE_IN_CONTEXTS,
    in_order,
)
from evals.metrics.judged import JudgedMetric
from evals.schemas import EvalQuestion, MetricGroup, MetricResult


def _supported(reply: ReplyData) -> tuple[int, int]:
    """How many claims are supported, and of how many the judge could tell."""
    verdicts = [item["verdict"] for item in reply["claims"]]
    return verdicts.count("supported"), len(verdicts) - verdicts.count("cannot_tell")


class RagasFaithfulness(JudgedMetric):
    """Share of the answer's claims that the retrieved chunks support, in percent.

    Formula: supported claims / claims of the answer on which the judge could tell × 100. Range 0 to 100, higher is
    better. Edges: an answer without claims, an abstention included, has 100; one for which nothing was retrieved, 0.
    The core metric `faithfulness` has no value at either edge. None where the server does not say what it retrieved.
    Reference: Es et al. 2023 (RAGAS faithfulness).
    """

    name = "ragas_faithfulness"
    group = MetricGroup.GENERATION
    suites: ClassVar = frozenset({"graphrag"})
    unit = "percent"
    high = 100.0
    needs = frozenset({Need.JUDGE, Need.CHUNKS})
    inquiries = (ANSWER_IN_CONTEXTS,)

    def settled(self, case: Case) -> MetricResult | None:
        if case.response.chunks and not numbered_contexts(case):
            return self.undefined("the chunks carry no text")
        return None

    def grade(self, case: Case, replies: Mapping[str, ReplyData]) -> MetricResult:
        reply = replies[ANSWER_IN_CONTEXTS.name]
        supported, known = _supported(reply)
        if not reply["claims"]:
            return self.result(100.0, edge="no claims")
        if not known:
            return self.undefined("the judge could not tell", missing="judge")
        edge = {} if numbered_contexts(case) else {"edge": "no contexts"}
        return self.result(100.0 * supported / known, claims=known, **edge)


class _ContextPrecision(JudgedMetric):
    """Share of the chunks that help to answer the question."""

    group = MetricGroup.RETRIEVAL
    needs = frozenset({Need.JUDGE, Need.CHUNKS})
    inquiries = (CONTEXT_RELEVANCE,)
    of_answer = False

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        return "the question is unanswerable" if question.is_unanswerable else super().not_applicable_to(question)

    def settled(self, case: Case) -> MetricResult | None:
        if case.response.chunks and not numbered_contexts(case):
            return self.undefined("the chunks carry no text")
        return None

    def grade(self, case: Case, replies: Mapping[str, ReplyData]) -> MetricResult:
        verdicts = [item["verdict"] for item in in_order(replies[CONTEXT_RELEVANCE.name]["contexts"])]
        if not verdicts:
            return self.result(0.0, edge="no contexts")
        known = [verdict == "relevant" for verdict in verdicts if verdict != "cannot_tell"]
        if not known:
            return self.undefined("the judge could not tell", missing="judge")
        return self.result((self.high or 1.0) * self.precision(known), relevant=sum(known), contexts=len(known))

    def precision(self, relevant: list[bool]) -> float:
        """The share, 0 to 1, of the chunks in rank order."""
        return sum(relevant) / len(relevant)


class ContextPrecision(_ContextPrecision):
    """Share of the retrieved chunks that help to answer the question.

    Formula: relevant chunks / chunks on which the judge could tell. Range 0 to 1, higher is better. 0 where the
    server retrieved nothing; None where it does not say what it retrieved, and for an unanswerable question, to which
    no chunk can help. The same verdicts give `ragas_context_precision`.
    Reference: Es et al. 2023 (RAGAS), without weighing by rank.
    """

    name = "context_precision"
    suites: ClassVar = frozenset({"answer"})


class RagasContextPrecision(_ContextPrecision):
    """Share of the retrieved chunks that help to answer the question, in percent.

    Formula: relevant chunks / chunks on which the judge could tell × 100. Range 0 to 100, higher is better. 0 where
    the server retrieved nothing; None where it does not say what it retrieved, and for an unanswerable question.
    `ragas_context_precision_ordered` weighs by rank.
    Reference: Es et al. 2023 (RAGAS context precision), the unweighted mean.
    """

    name = "ragas_context_precision"
    suites: ClassVar = frozenset({"graphrag"})
    unit = "percent"
    high = 100.0


class RagasContextPrecisionOrdered(RagasContextPrecision):
    """How far up the chunks stand that help to answer the question, in percent.

    Formula: sum over relevant chunks of precision at their rank / number of relevant chunks × 100; 0 where none is
    relevant. Ranks are among the chunks on which the judge could tell. Not trec_eval's average precision, which
    divides by the number of relevant documents in the corpus.
    Range 0 to 100, higher is better. 0 where the server retrieved nothing; None where it does not say what it
    retrieved, and for an unanswerable question.
    Reference: RAGAS 0.4 (context precision with reference).
    """

    name = "ragas_context_precision_ordered"

    def precision(self, relevant: list[bool]) -> float:
        found = [rank for rank, is_relevant in enumerate(relevant, start=1) if is_relevant]
        return sum(hits / rank for hits, rank in enumerate(found, start=1)) / len(found) if found else 0.0


class _ContextRecall(JudgedMetric):
    """Share of the expected answer's claims that the retrieved chunks support."""

    group = MetricGroup.RETRIEVAL
    needs = frozenset({Need.JUDGE, Need.CHUNKS, Need.EXPECTED_ANSWER})
    inquiries = (REFERENCE_IN_CONTEXTS,)
    of_answer = False

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        return "the question is unanswerable" if question.is_unanswerable else super().not_applicable_to(question)

    def settled(self, case: Case) -> MetricResult | None:
        if case.response.chunks and not numbered_contexts(case):
            return self.undefined("the chunks carry no text")
        return None

    def grade(self, case: Case, replies: Mapping[str, ReplyData]) -> MetricResult:
        reply, whole = replies[REFERENCE_IN_CONTEXTS.name], self.high or 1.0
        if not reply["claims"]:
            return self.result(whole, edge="no claims")
        supported, known = _supported(reply)
        if not known:
            return self.undefined("the judge could not tell", missing="judge")
        edge = {} if numbered_contexts(case) else {"edge": "no contexts"}
        return self.result(whole * supported / known, claims=known, **edge)


class ContextRecall(_ContextRecall):
    """Share of the expected answer's claims that the retrieved chunks support.

    Formula: supported claims / claims of the expected answer on which the judge could tell. Range 0 to 1, higher is
    better. Edges: an expected answer without claims has 1, nothing retrieved 0. None for an unanswerable question.
    The same verdicts give `ragas_context_recall`.
    Reference: Es et al. 2023 (RAGAS context recall), by claims instead of sentences.
    """

    name = "context_recall"
    suites: ClassVar = frozenset({"answer"})


class RagasContextRecall(_ContextRecall):
    """Share of the expected answer's claims that the retrieved chunks support, in percent.

    Formula: supported claims / claims of the expected answer on which the judge could tell × 100. Range 0 to 100,
    higher is better. Edges: an expected answer without claims has 100, nothing retrieved 0. None for an unanswerable
    question.
    Reference: Es et al. 2023 (RAGAS context recall), by claims instead of sentences.
    """

    name = "ragas_context_recall"
    suites: ClassVar = frozenset({"graphrag"})
    unit = "percent"
    high = 100.0
