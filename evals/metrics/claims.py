"""Claims: what answer and reference state, and what the chunks support; RAGChecker's measures (Ru et al. 2024).

They follow from a judge's verdicts on claims. A claim on which the judge could not tell does not count. Empty
denominators give None, where RAGChecker gives 0.
"""

from collections.abc import Callable
from typing import ClassVar

from evals.metrics import judge_tasks as asked
from evals.metrics.base import Need
from evals.metrics.judged import JudgedMetric, Marks, Replies, marks
from evals.metrics.sample import Sample
from evals.schemas.results import MetricGroup, MetricResult


def _having(verdict: str, task: asked.JudgeTask, claims: str = "claims") -> Callable[[Replies], Marks]:
    """Which of the claims in the reply to a task have a verdict."""
    return lambda replies: marks(asked.in_order(replies[task.name][claims]), verdict)


answer_correct = _having("correct", asked.COMPARED, "answer_claims")
"""Of each claim of the answer whether the reference says it."""
answer_supported = _having("supported", asked.ANSWER_IN_CONTEXTS)
"""Of each claim of the answer whether a chunk supports it."""
_answer_contradicted = _having("contradicted", asked.ANSWER_IN_CONTEXTS)
reference_conveyed = _having("conveyed", asked.COMPARED, "reference_claims")
"""Of each claim of the reference whether the answer conveys it, wholly."""
reference_supported = _having("supported", asked.REFERENCE_IN_CONTEXTS)
"""Of each claim of the reference whether a chunk supports it."""


class _ClaimMetric(JudgedMetric):
    """A share of claims: those that are `counted`, of those on which the judge could tell."""

    suites: ClassVar = frozenset({"claims"})
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER, Need.CHUNKS})
    answerable_only = True
    counted: Callable[[Replies], Marks]
    counts_reference: ClassVar[bool] = False
    """Whether claims of the reference are counted, not of the answer."""

    def nothing(self, sample: Sample) -> str:
        """Why there may be no claim to count."""
        if self.counts_reference:
            return "the expected answer states no facts"
        return "the answer abstains" if sample.abstained else "the answer makes no claims"

    def settled_by(self, sample: Sample, replies: Replies) -> MetricResult | None:
        claims = replies.get((asked.REFERENCE_CLAIMS if self.counts_reference else asked.ANSWER_CLAIMS).name)
        return self.undefined(self.nothing(sample)) if claims is not None and not claims["claims"] else None

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        counted = self.counted(replies)
        return self.share(counted, "claims") if counted else self.undefined(self.nothing(sample))


class ClaimPrecision(_ClaimMetric):
    """Share of the answer's claims that the expected answer says.

    Formula: correct / all claims of the answer on which the judge could tell. Range 0 to 1, higher is better. None
    for an abstention, an answer without claims, and an unanswerable question.
    Reference: Ru et al. 2024 (RAGChecker's overall precision).
    """

    name = "claim_precision"
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})
    inquiries = (asked.COMPARED,)
    counted = staticmethod(answer_correct)


class ClaimRecall(_ClaimMetric):
    """Share of the expected answer's claims that the retrieved chunks support: what the retriever makes possible.

    Formula: reference claims supported by at least one chunk / all reference claims. Range 0 to 1, higher is better.
    None for an unanswerable question; 0 without chunks.
    Reference: Ru et al. 2024 (RAGChecker's claim recall of the retriever).
    """

    name = "claim_recall"
    group = MetricGroup.RETRIEVAL
    inquiries = (asked.REFERENCE_IN_CONTEXTS,)
    of_answer = False
    counts_reference = True
    counted = staticmethod(reference_supported)


class ClaimF1(_ClaimMetric):
    """How far answer and expected answer say the same: the harmonic mean of claim precision and claim recall.

    Formula: 2PR / (P + R), where P is `claim_precision` and R the share of the expected answer's claims that the answer
    conveys; a claim that is conveyed in part is not. Range 0 to 1, higher is better. 0 where nothing of the expected
    answer is conveyed, so for an abstention and for an answer without claims too; None for an unanswerable question,
    and where the expected answer states no facts.
    Reference: Ru et al. 2024 (RAGChecker's overall F1).
    """

    name = "claim_f1"
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})
    inquiries = (asked.COMPARED,)
    counts_reference = True
    counted = staticmethod(reference_conveyed)

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        recalled, claims = super().grade(sample, replies), answer_correct(replies)
        correct = [right for right in claims if right is not None]
        if recalled.value is None:
            return recalled
        if claims and not correct:
            return self.undecided()
        recall, precision = recalled.value, sum(correct) / len(correct) if correct else 0.0
        value = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return self.result(value, precision=precision, recall=recall)


class ContextUtilization(_ClaimMetric):
    """Share of the expected facts among the retrieved chunks that the answer makes use of.

    Formula: reference claims that a chunk supports and the answer conveys / reference claims that a chunk supports.
    Range 0 to 1, higher is better. None where no chunk supports a reference claim; 0 for an abstention in spite of
    one that does.
    Reference: Ru et al. 2024 (RAGChecker).
    """

    name = "context_utilization"
    inquiries = (asked.REFERENCE_IN_CONTEXTS, asked.COMPARED)
    counts_reference = True

    @staticmethod
    def counted(replies: Replies) -> Marks:
        pairs = zip(reference_supported(replies), reference_conveyed(replies), strict=True)
        return [None if retrieved is None else conveyed for retrieved, conveyed in pairs if retrieved is not False]

    def nothing(self, sample: Sample) -> str:
        return "no chunk supports a claim of the expected answer"

    def settled_by(self, sample: Sample, replies: Replies) -> MetricResult | None:
        retrieved = reference_supported(replies) if asked.REFERENCE_IN_CONTEXTS.name in replies else [None]
        none = all(mark is False for mark in retrieved)
        return self.undefined(self.nothing(sample)) if none else super().settled_by(sample, replies)


class Hallucination(_ClaimMetric):
    """Share of the answer's claims that are wrong and stand in no chunk.

    Formula: claims that no chunk supports and the reference does not say / all claims. Range 0 to 1, lower is better.
    None for an abstention and an answer without claims. The details tell how many of these claims the chunks
    contradict; the others are made up.
    Reference: Ru et al. 2024 (RAGChecker).
    """

    name = "hallucination"
    inquiries = (asked.ANSWER_IN_CONTEXTS, asked.COMPARED)
    higher_is_better = False

    @staticmethod
    def counted(replies: Replies) -> Marks:
        pairs = zip(answer_correct(replies), answer_supported(replies), strict=True)
        return [None if None in pair else pair == (False, False) for pair in pairs]

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        result = super().grade(sample, replies)
        if result.value is None:
            return result
        pairs = list(zip(_answer_contradicted(replies), answer_correct(replies), strict=True))
        return self.with_verdicts(result, (), contradicted=pairs.count((True, False)))
