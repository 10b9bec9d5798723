"""Factual match: by letters, or by a judge that finds five criteria fulfilled. Both always run."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from evals.case.case import Case
from evals.case.inquiry import Inquiry, ReplyData, answer_beside_reference
from evals.metrics.abstaining import settled_by_abstention
from evals.metrics.base import Aggregation, Need
from evals.metrics.judged import JudgedMetric
from evals.metrics.qa import FuzzyMatch
from evals.schemas import MetricGroup, MetricResult
from evals.schemas.verdicts import VerdictRequest
from evals.text.counts import agree, counted

FIVE_CRITERIA = Inquiry("gptscore", "gptscore", answer_beside_reference)
"""The five criteria of a factual answer, each met, not met or not applicable."""


class GPTScore(JudgedMetric):
    """Whether the answer factually matches the expected one, by five criteria.

    Formula: 1 if the judge finds no criterion that applies not met, else 0. The criteria: the key topic is there; the
    central fact is not left out; nothing contradicts the expected answer; figures agree; the state or direction of
    indicators agrees. Range 0 or 1, higher is better. 0 for an abstention on an answerable question, and for an
    answer to an unanswerable one; None for a right abstention and without an expected answer. Not Fu et al.'s
    GPTScore, which needs token probabilities.
    Reference: the formula here; the judge as in Liu et al. 2023 (G-Eval), with criteria in place of a scale.
    """

    name = "gptscore"
    group = MetricGroup.GENERATION
    suites: ClassVar = frozenset({"qa"})
    aggregation = Aggregation.RATE
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})
    heeds_abstention = True
    inquiries = (FIVE_CRITERIA,)

    def settled(self, case: Case) -> MetricResult | None:
        return settled_by_abstention(self, case)

    def grade(self, case: Case, replies: Mapping[str, ReplyData]) -> MetricResult:
        verdicts = {item["id"]: item["verdict"] for item in replies[FIVE_CRITERIA.name]["criteria"]}
        if "not_met" in verdicts.values():
            failed = [name for name, verdict in verdicts.items() if verdict == "not_met"]
            return self.result(0.0, criteria=verdicts, not_met=failed)
        if "cannot_tell" in verdicts.values() or "met" not in verdicts.values():
            return self.undefined("the judge could not tell", missing="judge", criteria=verdicts)
        return self.result(1.0, criteria=verdicts)


class FactualMatch(JudgedMetric):
    """Whether the answer holds the expected fact, by letters or by meaning.

    Formula: 1 if `fuzzy_match` or `gptscore` is 1, else 0. Both always run; where they disagree the details say
    `needs_verification`, which `show` lists and `export --format review` gives to a reader. Where the judge gave no
    verdict, or none was used, 1 on a fuzzy match and else None. A run without a judge has no value: only the hits
    would be in it. Range 0 or 1, higher is better. None for a right abstention and without an expected answer.
    Reference: the formula here.
    """

    name = "factual_match"
    group = MetricGroup.GENERATION
    suites: ClassVar = frozenset({"qa"})
    aggregation = Aggregation.RATE
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})
    heeds_abstention = True
    inquiries = (FIVE_CRITERIA,)

    def requests(self, case: Case) -> list[VerdictRequest]:
        return GPTScore().requests(case)

    def score(self, case: Case) -> MetricResult:
        by_letters, by_meaning = FuzzyMatch().score(case), GPTScore().score(case)
        scores = {"fuzzy_match": by_letters.value, "gptscore": by_meaning.value}
        details: dict[str, Any] = {**scores, **self.injection_flag(case), **self.dispute_flag(case)}
        settled = bool(by_letters.value) or not case.judged
        needed = list(dict.fromkeys([*by_letters.judged_by, *([] if settled else by_meaning.judged_by)]))
        return self.judged(self._either(by_letters, by_meaning, details), needed)

    def _either(self, by_letters: MetricResult, by_meaning: MetricResult, details: Mapping[str, Any]) -> MetricResult:
        if by_letters.value is not None and by_meaning.value is not None:
            disagree = {"needs_verification": True} if by_letters.value != by_meaning.value else {}
            return self.result(max(by_letters.value, by_meaning.value), **details, **disagree)
        if by_letters.value:
            return self.result(1.0, **details)
        lacking = by_letters if by_letters.value is None else by_meaning
        return self.undefined(lacking.reason or "", missing=lacking.missing or "not_applicable", **details)

    def unavailable(self, case: Case) -> str | None:
        return None  # fuzzy match alone finds hits

    def one_sided(self, results: Sequence[MetricResult]) -> str | None:
        undecided = sum(
            result.details.get("fuzzy_match") == 0 and result.missing == "not_applicable" for result in results
        )
        if not undecided:
            return None
        answers, are = counted(undecided, "answer"), agree(undecided, "is", "are")
        return f"no judge was used: the {answers} that fuzzy_match does not find {are} undecided"

    def grade(self, case: Case, replies: Mapping[str, ReplyData]) -> MetricResult:
        return self.score(case)
