"""Claims: what answer and reference state, and what the chunks support; RAGChecker's measures (Ru et al. 2024).

They follow from a judge's verdicts on claims. A claim on which the judge could not tell does not count. Empty
denominators give None, where RAGChecker gives 0.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

from evals.metrics.base import Need
from evals.metrics.judge_tasks import (
    ANSWER_CLAIMS,
    ANSWER_IN_CONTEXTS,
    COMPARED,
    REFERENCE_CLAIMS,
    REFERENCE_IN_CONTEXTS,
    JudgeTask,
    in_order,
)
from evals.metrics.judged import JudgedMetric, Replies
from evals.metrics.sample import Sample
from evals.schemas.results import MetricGroup, MetricResult


def _verdicts(replies: Replies, task: JudgeTask, claims: str = "claims") -> list[str]:
    return [item["verdict"] for item in in_order(replies[task.name][claims])]


def _which(verdicts: Iterable[str], wanted: str) -> list[bool | None]:
    """Of each claim whether it has the wanted verdict; None where the judge could not tell."""
    return [None if verdict == "cannot_tell" else verdict == wanted for verdict in verdicts]


def answer_correct(replies: Replies) -> list[bool | None]:
    """Of each claim of the answer whether the reference says it."""
    return _which(_verdicts(replies, COMPARED, "answer_claims"), "correct")


def reference_conveyed(replies: Replies) -> list[bool | None]:
    """Of each claim of the reference whether the answer conveys it, wholly."""
    return _which(_verdicts(replies, COMPARED, "reference_claims"), "conveyed")


def supported(replies: Replies, task: JudgeTask) -> list[bool | None]:
    """Of each claim whether a chunk supports it."""
    return _which(_verdicts(replies, task), "supported")


class ClaimMetric(JudgedMetric):
    """A share of claims."""

    group = MetricGroup.GENERATION
    suites: ClassVar = frozenset({"claims"})
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})
    answerable_only = True
    of_reference: ClassVar[bool] = False
    """Whether claims of the reference are counted, not of the answer."""

    @abstractmethod
    def counted(self, replies: Replies) -> Sequence[bool | None]:
        """Whether each claim counts; None where the judge could not tell."""

    def nothing(self, sample: Sample) -> str:
        """Why there may be no claim to count."""
        if self.of_reference:
            return "the expected answer states no facts"
        return "the answer abstains" if sample.abstained else "the answer makes no claims"

    def settled_by(self, sample: Sample, replies: Replies) -> MetricResult | None:
        claims = replies.get((REFERENCE_CLAIMS if self.of_reference else ANSWER_CLAIMS).name)
        return self.undefined(self.nothing(sample)) if claims is not None and not claims["claims"] else None

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        counted = self.counted(replies)
        known = [value for value in counted if value is not None]
        if known:
            return self.result(sum(known) / len(known), claims=len(known))
        return self.undecided() if counted else self.undefined(self.nothing(sample))


class ClaimPrecision(ClaimMetric):
    """Share of the answer's claims that the expected answer says.

    Formula: correct / all claims of the answer on which the judge could tell. Range 0 to 1, higher is better. None
    for an abstention, an answer without claims, and an unanswerable question.
    Reference: Ru et al. 2024 (RAGChecker's overall precision).
    """

    name = "claim_precision"
    inquiries = (COMPARED,)

    def counted(self, replies: Replies) -> Sequence[bool | None]:
        return answer_correct(replies)


class ClaimRecall(ClaimMetric):
    """Share of the expected answer's claims that the retrieved chunks support: what the retriever makes possible.

    Formula: reference claims supported by at least one chunk / all reference claims. Range 0 to 1, higher is better.
    None for an unanswerable question; 0 without chunks.
    Reference: Ru et al. 2024 (RAGChecker's claim recall of the retriever).
    """

    name = "claim_recall"
    group = MetricGroup.RETRIEVAL
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER, Need.CHUNKS})
    inquiries = (REFERENCE_IN_CONTEXTS,)
    of_answer = False
    of_reference = True

    def counted(self, replies: Replies) -> Sequence[bool | None]:
        return supported(replies, REFERENCE_IN_CONTEXTS)


class ClaimF1(ClaimMetric):
    """How far answer and expected answer say the same: the harmonic mean of claim precision and claim recall.

    Formula: 2PR / (P + R), where P is `claim_precision` and R the share of the expected answer's claims that the answer
    conveys; a claim that is conveyed in part is not. Range 0 to 1, higher is better. 0 where nothing of the expected
    answer is conveyed, so for an abstention and for an answer without claims too; None for an unanswerable question,
    and where the expected answer states no facts.
    Reference: Ru et al. 2024 (RAGChecker's overall F1).
    """

    name = "claim_f1"
    inquiries = (COMPARED,)
    of_reference = True

    def counted(self, replies: Replies) -> Sequence[bool | None]:
        return reference_conveyed(replies)

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


class ContextUtilization(ClaimMetric):
    """Share of the expected facts among the retrieved chunks that the answer makes use of.

    Formula: reference claims that a chunk supports and the answer conveys / reference claims that a chunk supports.
    Range 0 to 1, higher is better. None where no chunk supports a reference claim; 0 for an abstention in spite of
    one that does.
    Reference: Ru et al. 2024 (RAGChecker).
    """

    name = "context_utilization"
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER, Need.CHUNKS})
    inquiries = (REFERENCE_IN_CONTEXTS, COMPARED)
    of_reference = True

    def counted(self, replies: Replies) -> Sequence[bool | None]:
        pairs = zip(supported(replies, REFERENCE_IN_CONTEXTS), reference_conveyed(replies), strict=True)
        return [None if retrieved is None else conveyed for retrieved, conveyed in pairs if retrieved is not False]

    def nothing(self, sample: Sample) -> str:
        return "no chunk supports a claim of the expected answer"

    def settled_by(self, sample: Sample, replies: Replies) -> MetricResult | None:
        retrieved = supported(replies, REFERENCE_IN_CONTEXTS) if REFERENCE_IN_CONTEXTS.name in replies else [None]
        none = all(chunk is False for chunk in retrieved)
        return self.undefined(self.nothing(sample)) if none else super().settled_by(sample, replies)


class Hallucination(ClaimMetric):
    """Share of the answer's claims that are wrong and stand in no chunk.

    Formula: claims that no chunk supports and the reference does not say / all claims. Range 0 to 1, lower is better.
    None for an abstention and an answer without claims. The details tell how many of these claims the chunks
    contradict; the others are made up.
    Reference: Ru et al. 2024 (RAGChecker).
    """

    name = "hallucination"
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER, Need.CHUNKS})
    inquiries = (ANSWER_IN_CONTEXTS, COMPARED)
    higher_is_better = False

    def counted(self, replies: Replies) -> Sequence[bool | None]:
        pairs = zip(answer_correct(replies), supported(replies, ANSWER_IN_CONTEXTS), strict=True)
        return [None if None in pair else pair == (False, False) for pair in pairs]

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        result = super().grade(sample, replies)
        if result.value is None:
            return result
        pairs = list(zip(_verdicts(replies, ANSWER_IN_CONTEXTS), answer_correct(replies), strict=True))
        denied = pairs.count(("contradicted", False))
        return self.with_verdicts(result, (), contradicted=denied)
