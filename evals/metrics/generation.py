"""Generation: is the answer grounded, correct and to the point?

An LLM judge reads; the scores are computed here, from its discrete verdicts. A judge that refuses, is cut off, cannot
be parsed or reached gives no score: such questions are counted apart (`judge`), never as bad answers. Repeats of a
verdict give the median of their scores.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, ClassVar, Protocol

from evals.metrics.base import BaseMetric, Need
from evals.metrics.case import Case
from evals.metrics.matching import MatchSettings
from evals.schemas import EvalQuestion, EvalResponse, JudgeVerdict, MetricGroup, MetricResult
from evals.schemas.results import VerdictRequest
from evals.sync import run_anywhere


class Decider(Protocol):
    """What a judge is to a metric."""

    async def decide(self, request: VerdictRequest) -> list[JudgeVerdict]:
        """Get the verdicts on one request."""


class _Judged(BaseMetric):
    """What the judged metrics share: a request to the judge, and a score from its replies."""

    group = MetricGroup.GENERATION
    needs = frozenset({Need.JUDGE})
    judge_calls = 1

    def __init__(self, judge: Decider | None = None) -> None:
        self.judge = judge
        """Asked by `compute` where no verdicts are given; a run gathers its verdicts itself."""

    def compute(
        self,
        question: EvalQuestion,
        response: EvalResponse,
        verdicts: Sequence[JudgeVerdict] | None = None,
        *,
        settings: MatchSettings | None = None,
    ) -> MetricResult:
        case = Case(
            question, response, verdicts or (), settings or MatchSettings(), judged=bool(verdicts or self.judge)
        )
        if verdicts is None and self.judge is not None:
            case.verdicts = run_anywhere(_decide(self.judge, self.requests(case)))
        return self.score(case)

    @abstractmethod
    def settled(self, case: Case) -> MetricResult | None:
        """The result where no judge is needed to know it; None where one is."""

    @abstractmethod
    def data(self, case: Case) -> dict[str, Any]:
        """What the judge is given to examine."""

    @abstractmethod
    def grade(self, reply: Mapping[str, Any]) -> tuple[float | None, dict[str, Any]]:
        """The score of one reply, None where the judge could not tell, and its details."""

    def requests(self, case: Case) -> list[VerdictRequest]:
        if case.response.error is not None or self.not_applicable_to(case.question) or self._lacking(case.response):
            return []
        if self.settled(case) is not None:
            return []
        return [VerdictRequest(prompt=self.name, data=self.data(case))]

    def score(self, case: Case) -> MetricResult:
        if case.response.error is None and not case.judged and not case.verdicts:
            return self.undefined("no judge was used (--no-judge)")
        return super().score(case)

    def measure(self, case: Case) -> MetricResult:
        settled = self.settled(case)
        if settled is not None:
            return settled
        verdicts = [verdict for verdict in case.verdicts if verdict.request == self.name]
        return self._from_verdicts(verdicts) if verdicts else self.undefined("the judge was not asked", missing="judge")

    def _from_verdicts(self, verdicts: list[JudgeVerdict]) -> MetricResult:
        suspected = {"injection_suspected": True} if any(v.injection_suspected for v in verdicts) else {}
        replies = [verdict.reply for verdict in verdicts if verdict.reply is not None]
        if not replies:
            failed = verdicts[0]
            return self.undefined(f"judge {failed.failure}: {failed.message}", missing="judge", **suspected)
        graded = [self.grade(reply) for reply in replies]
        values = [value for value, _ in graded if value is not None]
        if not values:
            reason = graded[0][1].pop("reason", "the judge could not tell")
            missing = "not_applicable" if reason == _NO_CLAIMS else "judge"
            return self.undefined(reason, missing=missing, **graded[0][1], **suspected)
        return self.result(median(values), **graded[0][1], **suspected)


async def _decide(judge: Decider, requests: Sequence[VerdictRequest]) -> list[JudgeVerdict]:
    return [verdict for request in requests for verdict in await judge.decide(request)]


_NO_CLAIMS = "the answer makes no claims"


class Faithfulness(_Judged):
    """Share of the answer's claims that the retrieved chunks support.

    Formula: supported / (supported + unsupported) over the claims that the judge finds in the answer; claims on which
    it could not tell do not count. A claim is supported only with a quotation that stands in a chunk. Range 0 to 1,
    higher is better. None for an abstention, an answer without claims, and without chunks.
    Reference: Es et al. 2023 (RAGAS).
    """

    name = "faithfulness"
    needs = frozenset({Need.JUDGE, Need.CHUNKS})

    def settled(self, case: Case) -> MetricResult | None:
        if case.abstained:
            return self.undefined("the answer abstains")
        if not any(chunk.text for chunk in case.response.chunks or []):
            return self.undefined("the chunks carry no text")
        return None

    def data(self, case: Case) -> dict[str, Any]:
        chunks = case.response.chunks or []
        contexts = [{"id": n, "text": chunk.text} for n, chunk in enumerate(chunks, start=1) if chunk.text]
        return {"contexts": contexts, "question": case.question.question, "answer": case.response.answer}

    def grade(self, reply: Mapping[str, Any]) -> tuple[float | None, dict[str, Any]]:
        verdicts = [claim["verdict"] for claim in reply["claims"]]
        supported, unsupported = verdicts.count("supported"), verdicts.count("unsupported")
        if not verdicts:
            return None, {"reason": _NO_CLAIMS}
        if not supported + unsupported:
            return None, {}
        failed = [claim["claim"] for claim in reply["claims"] if claim["verdict"] == "unsupported"]
        return supported / (supported + unsupported), {"claims": len(verdicts), "unsupported": failed}


class _Labelled(_Judged):
    """A metric whose verdict is one label."""

    scale: ClassVar[Mapping[str, float]]

    def grade(self, reply: Mapping[str, Any]) -> tuple[float | None, dict[str, Any]]:
        details = {"verdict": reply["verdict"], "justification": reply["justification"]}
        return self.scale.get(reply["verdict"]), details


class AnswerCorrectness(_Labelled):
    """Whether the answer says what the expected answer says.

    Formula: correct 1, partly correct 0.5, incorrect 0. Range 0 to 1, higher is better. 0 where the server abstains on
    an answerable question, or answers an unanswerable one. None for a right abstention, and without an expected answer.
    """

    name = "answer_correctness"
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})
    scale: ClassVar = {"correct": 1.0, "partly_correct": 0.5, "incorrect": 0.0}

    def settled(self, case: Case) -> MetricResult | None:
        if case.question.is_unanswerable:
            if case.abstained:
                return self.undefined("the question is unanswerable and the answer abstains")
            return self.result(0.0, verdict="answered an unanswerable question")
        return self.result(0.0, verdict="abstained on an answerable question") if case.abstained else None

    def data(self, case: Case) -> dict[str, Any]:
        return {
            "question": case.question.question,
            "expected_answer": case.question.expected_answer,
            "accepted_variants": case.question.answers,
            "answer": case.response.answer,
        }


class AnswerRelevancy(_Labelled):
    """Whether the answer addresses the question that was asked.

    Formula: relevant 1, partly relevant 0.5, irrelevant 0. Range 0 to 1, higher is better. 0 where the server abstains
    on an answerable question. None for an abstention on an unanswerable one, or where the dataset does not say.
    """

    name = "answer_relevancy"
    scale: ClassVar = {"relevant": 1.0, "partly_relevant": 0.5, "irrelevant": 0.0}

    def settled(self, case: Case) -> MetricResult | None:
        if not case.abstained:
            return None
        question = case.question
        answerable = question.is_unanswerable is False or (
            question.is_unanswerable is None and bool(question.expected_answer or question.gold_passages)
        )
        if answerable:
            return self.result(0.0, verdict="abstained on an answerable question")
        return self.undefined("the answer abstains, and the question is not known to be answerable")

    def data(self, case: Case) -> dict[str, Any]:
        return {"question": case.question.question, "answer": case.response.answer}
