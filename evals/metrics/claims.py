"""Claims: what answer and reference state, what the chunks support, and where each goes wrong.

RAGChecker's measures (Ru et al. 2024) and nuggets (Pradeep et al. 2024), from verdicts on claims. A claim on which
the judge could not tell does not count. Empty denominators give None, where RAGChecker gives 0.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from evals.metrics.base import Need
from evals.metrics.judge_tasks import (
    ANSWER_CLAIMS,
    ANSWER_IN_CONTEXTS,
    COMPARED,
    REFERENCE_CLAIMS,
    REFERENCE_IN_CONTEXTS,
    JudgeTask,
    ReplyData,
    in_order,
)
from evals.metrics.judged import JudgedMetric
from evals.metrics.sample import Sample
from evals.schemas.results import MetricGroup, MetricResult


@dataclass(frozen=True)
class Claims:
    """The verdicts on the claims of one case, in the order of the claims; None where the judge could not tell.

    Attributes:
        replies: By the names of the inquiries; only what a metric asked for is there.
    """

    replies: Mapping[str, ReplyData]

    @cached_property
    def correct(self) -> list[bool | None]:
        """Of each claim of the answer: whether the reference says it."""
        verdicts = [item["verdict"] for item in in_order(self.replies[COMPARED.name]["answer_claims"])]
        return [None if verdict == "cannot_tell" else verdict == "correct" for verdict in verdicts]

    @cached_property
    def conveyed(self) -> list[str]:
        """Of each claim of the reference: conveyed, partly, missing or cannot_tell."""
        return [item["verdict"] for item in in_order(self.replies[COMPARED.name]["reference_claims"])]

    @cached_property
    def grounded(self) -> list[frozenset[int] | None]:
        """Of each claim of the answer: the chunks that support it."""
        return _supporting(self.replies[ANSWER_IN_CONTEXTS.name])

    @cached_property
    def retrieved(self) -> list[frozenset[int] | None]:
        """Of each claim of the reference: the chunks that support it."""
        return _supporting(self.replies[REFERENCE_IN_CONTEXTS.name])

    @cached_property
    def denied(self) -> list[bool]:
        """Of each claim of the answer: whether the chunks contradict it."""
        return [item["verdict"] == "contradicted" for item in in_order(self.replies[ANSWER_IN_CONTEXTS.name]["claims"])]

    @cached_property
    def vital(self) -> list[bool]:
        """Of each claim of the reference: whether an answer without it would be none."""
        return [claim["importance"] == "vital" for claim in self.replies[REFERENCE_CLAIMS.name]["claims"]]

    def has_none(self, of: JudgeTask) -> bool:
        """Whether the answer, or the reference, is known to make no claim."""
        found = self.replies.get(of.name)
        return found is not None and not found["claims"]

    @property
    def retrieved_none(self) -> bool:
        """Whether the chunks are known to support no claim of the reference."""
        if self.has_none(REFERENCE_CLAIMS):
            return True
        known = REFERENCE_IN_CONTEXTS.name in self.replies
        return known and all(chunks is not None and not chunks for chunks in self.retrieved)

    @cached_property
    def relevant(self) -> frozenset[int]:
        """The chunks that support a claim of the reference."""
        return frozenset().union(*(chunks for chunks in self.retrieved if chunks))


def _supporting(reply: ReplyData) -> list[frozenset[int] | None]:
    found: list[frozenset[int] | None] = []
    for item in in_order(reply["claims"]):
        supported = item["verdict"] == "supported"
        chunks = frozenset(passage["id"] for passage in item["passages"]) if supported else frozenset()
        found.append(None if item["verdict"] == "cannot_tell" else chunks)
    return found


class ClaimMetric(JudgedMetric):
    """A share of claims."""

    group = MetricGroup.GENERATION
    suites: ClassVar = frozenset({"claims"})
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})
    answerable_only = True

    @abstractmethod
    def counted(self, claims: Claims) -> list[float | None]:
        """What each claim that counts contributes, 0 to 1; None where the judge could not tell."""

    def nothing(self, case: Sample) -> str:
        """Why there may be no claim to count."""
        return "the answer abstains" if case.abstained else "the answer makes no claims"

    def none_counts(self, claims: Claims) -> bool:
        """Whether the replies that are there, maybe not all, show that no claim counts."""
        return claims.has_none(ANSWER_CLAIMS)

    def settled_by(self, case: Sample, replies: Mapping[str, ReplyData]) -> MetricResult | None:
        return self.undefined(self.nothing(case)) if self.none_counts(Claims(replies)) else None

    def grade(self, case: Sample, replies: Mapping[str, ReplyData]) -> MetricResult:
        counted = self.counted(Claims(replies))
        known = [value for value in counted if value is not None]
        if known:
            return self.result(sum(known) / len(known), claims=len(known))
        if counted:
            return self.undecided()
        return self.undefined(self.nothing(case))


class ClaimPrecision(ClaimMetric):
    """Share of the answer's claims that the expected answer says.

    Formula: correct / all claims of the answer on which the judge could tell. Range 0 to 1, higher is better. None
    for an abstention, an answer without claims, and an unanswerable question.
    Reference: Ru et al. 2024 (RAGChecker's overall precision).
    """

    name = "claim_precision"
    inquiries = (COMPARED,)

    def counted(self, claims: Claims) -> list[float | None]:
        return [None if correct is None else float(correct) for correct in claims.correct]


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

    def counted(self, claims: Claims) -> list[float | None]:
        return [None if chunks is None else float(bool(chunks)) for chunks in claims.retrieved]

    def none_counts(self, claims: Claims) -> bool:
        return claims.has_none(REFERENCE_CLAIMS)

    def nothing(self, case: Sample) -> str:
        return "the expected answer states no facts"


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

    def none_counts(self, claims: Claims) -> bool:
        return claims.has_none(REFERENCE_CLAIMS)

    def nothing(self, case: Sample) -> str:
        return "the expected answer states no facts"

    def counted(self, claims: Claims) -> list[float | None]:
        return [None if said == "cannot_tell" else float(said == "conveyed") for said in claims.conveyed]

    def grade(self, case: Sample, replies: Mapping[str, ReplyData]) -> MetricResult:
        recalled, claims = super().grade(case, replies), Claims(replies)
        correct = [right for right in claims.correct if right is not None]
        if recalled.value is None or (claims.correct and not correct):
            return self.undecided() if claims.conveyed else recalled
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

    def counted(self, claims: Claims) -> list[float | None]:
        pairs = zip(claims.retrieved, claims.conveyed, strict=True)
        worth = {"conveyed": 1.0, "partly": 0.0, "missing": 0.0}
        return [None if chunks is None else worth.get(said) for chunks, said in pairs if chunks is None or chunks]

    def none_counts(self, claims: Claims) -> bool:
        return claims.retrieved_none

    def nothing(self, case: Sample) -> str:
        return "no chunk supports a claim of the expected answer"


class _Wrong(ClaimMetric):
    """A share of the answer's claims, by what the reference and the chunks say of them."""

    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER, Need.CHUNKS})
    inquiries: ClassVar[tuple[JudgeTask, ...]] = (ANSWER_IN_CONTEXTS, COMPARED)
    higher_is_better: ClassVar[bool | None] = False

    def counted(self, claims: Claims) -> list[float | None]:
        return [
            None if correct is None or chunks is None else float(self.counts(correct, chunks, claims))
            for correct, chunks in zip(claims.correct, claims.grounded, strict=True)
        ]

    @abstractmethod
    def counts(self, correct: bool, chunks: frozenset[int], claims: Claims) -> bool:
        """Whether a claim is of the kind that is counted."""


class NoiseSensitivity(_Wrong):
    """Share of the answer's claims that are wrong and come from a retrieved chunk.

    Formula: claims that a chunk supports and the reference does not say / all claims. Range 0 to 1, lower is better.
    None for an abstention and an answer without claims. The two parts are metrics of their own:
    `noise_sensitivity_relevant` and `noise_sensitivity_irrelevant`.
    Reference: Ru et al. 2024 (RAGChecker, both kinds of noise together).
    """

    name = "noise_sensitivity"

    def counts(self, correct: bool, chunks: frozenset[int], claims: Claims) -> bool:
        return not correct and bool(chunks)


class NoiseSensitivityRelevant(_Wrong):
    """Share of the answer's claims that are wrong and come from a chunk that also holds expected facts.

    Formula: claims that the reference does not say and that a chunk supports which supports a reference claim / all
    claims. Range 0 to 1, lower is better. None for an abstention and an answer without claims.
    Reference: Ru et al. 2024 (RAGChecker).
    """

    name = "noise_sensitivity_relevant"
    inquiries = (ANSWER_IN_CONTEXTS, REFERENCE_IN_CONTEXTS, COMPARED)

    def counts(self, correct: bool, chunks: frozenset[int], claims: Claims) -> bool:
        return not correct and bool(chunks & claims.relevant)


class NoiseSensitivityIrrelevant(_Wrong):
    """Share of the answer's claims that are wrong and come only from chunks without any expected fact.

    Formula: claims that the reference does not say and that only chunks support which support no reference claim /
    all claims. Range 0 to 1, lower is better. None for an abstention and an answer without claims.
    Reference: Ru et al. 2024 (RAGChecker).
    """

    name = "noise_sensitivity_irrelevant"
    inquiries = (ANSWER_IN_CONTEXTS, REFERENCE_IN_CONTEXTS, COMPARED)

    def counts(self, correct: bool, chunks: frozenset[int], claims: Claims) -> bool:
        return not correct and bool(chunks) and not chunks & claims.relevant


class Hallucination(_Wrong):
    """Share of the answer's claims that are wrong and stand in no chunk.

    Formula: claims that no chunk supports and the reference does not say / all claims. Range 0 to 1, lower is better.
    None for an abstention and an answer without claims. With self_knowledge and the share that chunks support it adds
    up to 1. The details tell how many of these claims the chunks contradict; the others are made up.
    Reference: Ru et al. 2024 (RAGChecker).
    """

    name = "hallucination"

    def grade(self, case: Sample, replies: Mapping[str, ReplyData]) -> MetricResult:
        result, claims = super().grade(case, replies), Claims(replies)
        if result.value is None:
            return result
        denied = sum(denied and correct is False for denied, correct in zip(claims.denied, claims.correct, strict=True))
        return self.detailed(result, contradicted=denied)

    def counts(self, correct: bool, chunks: frozenset[int], claims: Claims) -> bool:
        return not correct and not chunks


class SelfKnowledge(_Wrong):
    """Share of the answer's claims that are right although no chunk says so: the model knew.

    Formula: claims that no chunk supports and the reference says / all claims. Range 0 to 1; neither direction is
    better in itself. None for an abstention and an answer without claims.
    Reference: Ru et al. 2024 (RAGChecker).
    """

    name = "self_knowledge"
    higher_is_better = None

    def counts(self, correct: bool, chunks: frozenset[int], claims: Claims) -> bool:
        return correct and not chunks


# Nuggets: how many of the facts that a good answer conveys does this one convey? The nuggets are the claims of the
# expected answer, vital or okay; their assignment is the comparison of claims that the claim metrics use too.


class _Nuggets(ClaimMetric):
    """A mean over nuggets. An abstention on an answerable question conveys none: 0."""

    inquiries = (COMPARED,)
    only_vital: ClassVar[bool] = False
    partly: ClassVar[float] = 0.5

    def counted(self, claims: Claims) -> list[float | None]:
        worth = {"conveyed": 1.0, "partly": self.partly, "missing": 0.0}
        pairs = zip(claims.conveyed, claims.vital, strict=True)
        return [worth.get(said) for said, vital in pairs if vital or not self.only_vital]

    def none_counts(self, claims: Claims) -> bool:
        if REFERENCE_CLAIMS.name not in claims.replies:
            return False
        return not any(claims.vital) if self.only_vital else claims.has_none(REFERENCE_CLAIMS)

    def nothing(self, case: Sample) -> str:
        return "no fact of the expected answer is vital" if self.only_vital else "the expected answer states no facts"


class NuggetVital(_Nuggets):
    """Mean support of the vital nuggets.

    Formula: conveyed 1, partly 0.5, missing 0, mean over the vital nuggets. Range 0 to 1, higher is better. 0 for an
    abstention on an answerable question; None for an unanswerable one and where no nugget is vital.
    Reference: Pradeep et al. 2024 (AutoNuggetizer, "vital").
    """

    name = "nugget_vital"
    only_vital = True


class NuggetVitalStrict(_Nuggets):
    """Share of the vital nuggets that are fully conveyed: the primary measure of TREC RAG.

    Formula: conveyed 1, partly 0, missing 0, mean over the vital nuggets. Range 0 to 1, higher is better. 0 for an
    abstention on an answerable question; None for an unanswerable one and where no nugget is vital.
    Reference: Pradeep et al. 2024 (AutoNuggetizer, "strict vital").
    """

    name = "nugget_vital_strict"
    only_vital = True
    partly = 0.0


class NuggetAll(_Nuggets):
    """Mean support of all nuggets.

    Formula: conveyed 1, partly 0.5, missing 0, mean over all nuggets. Range 0 to 1, higher is better. 0 for an
    abstention on an answerable question; None for an unanswerable one and for an expected answer without facts.
    Reference: Pradeep et al. 2024 (AutoNuggetizer, "all").
    """

    name = "nugget_all"


class NuggetAllStrict(_Nuggets):
    """Share of all nuggets that are fully conveyed.

    Formula: conveyed 1, partly 0, missing 0, mean over all nuggets. Range 0 to 1, higher is better. 0 for an
    abstention on an answerable question; None for an unanswerable one and for an expected answer without facts.
    Reference: Pradeep et al. 2024 (AutoNuggetizer, "strict all").
    """

    name = "nugget_all_strict"
    partly = 0.0
