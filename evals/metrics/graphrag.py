"""The graphrag suite's verdicts on an answer: a graded accuracy, and how many are correct, wrong, or not known."""

from collections.abc import Mapping
from typing import ClassVar

from evals.case.case import Case
from evals.case.inquiry import Inquiry, ReplyData, answer_beside_reference
from evals.metrics.abstaining import settled_by_abstention
from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.inquiries import ANSWER_CORRECTNESS
from evals.metrics.judged import JudgedMetric
from evals.schemas import MetricGroup, MetricResult

FACTUAL_ACCURACY = Inquiry("factual_accuracy", "factual_accuracy", answer_beside_reference)
"""Correctness, completeness and consistency of the answer, each on five steps."""

_GRADES = ((80.0, "A"), (60.0, "B"), (40.0, "C"), (20.0, "D"))


def letter_grade(percent: float) -> str:
    """The letter of a percentage: A from 80, B from 60, C from 40, D from 20, else E."""
    return next((letter for least, letter in _GRADES if percent >= least), "E")


class FactualAccuracyPercentage(JudgedMetric):
    """How accurate the answer is, measured by the expected answer and by three criteria, in percent.

    Formula: 0.5 × correctness + 0.3 × completeness + 0.2 × consistency, each excellent 100, good 75, fair 50, poor 25
    or bad 0 by the judge. Steps instead of any number from 0 to 100, for judges agree better on few anchored steps;
    a step has a letter of its own. The letter (A from 80, B from 60, C from 40, D from 20, else E) stands in the
    details, and the scorecard shows how they are distributed. Range 0 to 100, higher is better. 0 for an abstention
    on an answerable question, and for an answer to an unanswerable one; None for a right abstention and without an
    expected answer.
    Reference: Liu et al. 2023 (G-Eval), with one sample instead of token probabilities.
    """

    name = "factual_accuracy_percentage"
    group = MetricGroup.GENERATION
    suites: ClassVar = frozenset({"graphrag"})
    unit = "percent"
    high = 100.0
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})
    heeds_abstention = True
    inquiries = (FACTUAL_ACCURACY,)
    weights: ClassVar[Mapping[str, float]] = {"correctness": 0.5, "completeness": 0.3, "consistency": 0.2}
    scale: ClassVar[Mapping[str, float]] = {"excellent": 100.0, "good": 75.0, "fair": 50.0, "poor": 25.0, "bad": 0.0}

    def settled(self, case: Case) -> MetricResult | None:
        return settled_by_abstention(self, case, label="E")

    def grade(self, case: Case, replies: Mapping[str, ReplyData]) -> MetricResult:
        verdicts = {item["id"]: item["verdict"] for item in replies[FACTUAL_ACCURACY.name]["criteria"]}
        if "cannot_tell" in verdicts.values():
            return self.undefined("the judge could not tell", missing="judge", criteria=verdicts)
        value = sum(weight * self.scale[verdicts[name]] for name, weight in self.weights.items())
        return self.result(value, label=letter_grade(value), criteria=verdicts)


class _AnswerCount(JudgedMetric):
    """How many answers are of one class."""

    group = MetricGroup.GENERATION
    suites: ClassVar = frozenset({"graphrag"})
    unit = "answers"
    aggregation = Aggregation.SUM
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})
    heeds_abstention = True
    inquiries = (ANSWER_CORRECTNESS,)
    counted: ClassVar[str]

    def settled(self, case: Case) -> MetricResult | None:
        if case.abstained:
            return self._classified("don't know")
        return self._classified("wrong") if case.question.is_unanswerable else None

    def grade(self, case: Case, replies: Mapping[str, ReplyData]) -> MetricResult:
        reply = replies[ANSWER_CORRECTNESS.name]
        said, why = reply["verdict"], reply["justification"]
        if said == "cannot_tell":
            return self.undefined("the judge could not tell", missing="judge", justification=why)
        return self._classified("correct" if said == "correct" else "wrong", said=said, justification=why)

    def _classified(self, label: str, **details: str) -> MetricResult:
        return self.result(float(label == self.counted), label=label, **details)


class CorrectAnswersCount(_AnswerCount):
    """How many answers are correct.

    Formula: sum over questions of 1 where the judge calls the answer correct, measured by the expected answer, in the
    same call as `answer_correctness`; a partly correct one counts as wrong. An abstention is neither correct nor wrong.
    Range 0 to the number of questions, higher is better. None without an expected answer.
    Reference: the formula here.
    """

    name = "correct_answers_count"
    counted = "correct"


class WrongAnswersCount(_AnswerCount):
    """How many answers are wrong.

    Formula: sum over questions of 1 where the judge calls the answer incorrect or only partly correct, measured by the
    expected answer, or where an unanswerable question was answered. An abstention is neither correct nor wrong. Range 0
    to the number of questions, lower is better. None without an expected answer.
    Reference: the formula here.
    """

    name = "wrong_answers_count"
    counted = "wrong"
    higher_is_better = False


class DontKnowAnswersCount(BaseMetric):
    """How many answers say that they do not know.

    Formula: sum over questions of 1 where the answer abstains, as the abstention metrics have it: by the text rules,
    and of a longer answer by the judge where one takes part. Range 0 to the number of questions; neither direction is
    better in itself. None where the server sent no answer, and where the judge's word is lost.
    Reference: the formula here.
    """

    name = "dont_know_answers_count"
    group = MetricGroup.ABSTENTION
    suites: ClassVar = frozenset({"graphrag"})
    unit = "answers"
    aggregation = Aggregation.SUM
    higher_is_better = None
    heeds_abstention = True
    of_answer = True

    def measure(self, case: Case) -> MetricResult:
        return self.result(float(case.abstained))
