"""Abstention: does the server decline exactly the questions that cannot be answered?"""

from typing import ClassVar

from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.sample import Sample
from evals.schemas.dataset import EvalQuestion
from evals.schemas.results import MetricGroup, MetricResult
from evals.text.tokens import lists_of


class _Abstention(BaseMetric):
    """What all abstention metrics share: a dataset that says which questions are answerable.

    Where lower is better they count wrong decisions to abstain or to answer, else right ones.
    """

    group = MetricGroup.ABSTENTION
    suites: ClassVar[frozenset[str]] = frozenset({"core"})
    aggregation = Aggregation.RATE
    needs = frozenset({Need.ANSWERABILITY})
    heeds_abstention = True
    of_answer = True
    over_unanswerable: bool | None = None
    """Over which questions: True the unanswerable ones, False the answerable ones, None all."""

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        unanswerable = question.is_unanswerable
        if self.over_unanswerable is not None and unanswerable is (not self.over_unanswerable):
            return "the question is " + ("unanswerable" if unanswerable else "answerable")
        return super().not_applicable_to(question)

    def measure(self, sample: Sample) -> MetricResult:
        is_right = sample.abstained is bool(sample.question.is_unanswerable)
        return self.result(is_right is self.higher_is_better, abstained=sample.abstained)


class UnanswerableAccuracy(_Abstention):
    """Share of the questions on which the server abstains exactly when it should.

    Formula: mean(abstained == unanswerable); it says nothing about whether a given answer is correct. An answer
    abstains by the refusal model; a judge decides what that finds doubtful, where one takes part. Range 0 to 1,
    higher is better. None where the dataset does not say whether the question is answerable, and where the judge's word
    is lost.
    Reference: as the specification writes it; the answerability decision of Rajpurkar et al. 2018 (SQuAD v2), as
    accuracy.
    """

    name = "unanswerable_accuracy"


class FalsePositiveRate(_Abstention):
    """Share of the answerable questions on which the server abstains.

    Formula: |abstained and answerable| / |answerable|; `unanswerable_accuracy` says what abstains. Range 0 to 1, lower
    is better.
    Reference: as the specification writes it; the false positive rate of abstaining as a classifier.
    """

    name = "abstention_false_positive_rate"
    higher_is_better = False
    over_unanswerable = False


class FalseNegativeRate(_Abstention):
    """Share of the unanswerable questions that the server answers all the same.

    Formula: |answered and unanswerable| / |unanswerable|; `unanswerable_accuracy` says what abstains. Range 0 to 1,
    lower is better.
    Reference: as the specification writes it; the false negative rate of abstaining as a classifier.
    """

    name = "abstention_false_negative_rate"
    higher_is_better = False
    over_unanswerable = True


UNCERTAIN = tuple(lists_of("language")["dont_know"])
"""What makes an answer "don't know" wherever it stands in it."""
_SHORT = ("unknown", "n/a", "none", "null")


def is_dont_know(answer: str) -> bool:
    """Whether an answer is of the class "don't know": it holds one of twelve phrases, or is short and says no more.

    By substring, as the three counts of answers are specified; the metrics of abstention read the whole answer.
    """
    text = answer.lower().replace("’", "'").strip()
    return not text or any(phrase in text for phrase in (UNCERTAIN + _SHORT if len(text) < 10 else UNCERTAIN))


class DontKnowAnswersCount(BaseMetric):
    """How many answers say that they do not know.

    Formula: sum over questions of 1 where the answer, in lower case, holds one of twelve phrases ("i don't know", "i do
    not know", "unknown", "not sure", "cannot determine", "no information", "insufficient data", "unable to answer",
    "cannot answer", "don't have enough information", "not available", "no data"), or is under ten characters and holds
    "unknown", "n/a", "none" or "null", or is empty. Range 0 to the number of questions; neither direction is better in
    itself. None where the server sent no answer.
    Reference: as the specification writes it.
    """

    name = "dont_know_answers_count"
    group = MetricGroup.ABSTENTION
    suites: ClassVar = frozenset({"graphrag"})
    unit = "answers"
    aggregation = Aggregation.SUM
    higher_is_better = None
    of_answer = True

    def measure(self, sample: Sample) -> MetricResult:
        return self.result(float(is_dont_know(sample.answer or "")))


class DeclinedRate(_Abstention):
    """Share of the answers that decline to answer, whether or not the question can be answered.

    Formula: |answers that abstain| / |answers|; `unanswerable_accuracy` says what abstains. Range 0 to 1; neither
    direction is better in itself. None where the server sent no answer.
    Reference: defined here.
    """

    name = "declined_rate"
    suites: ClassVar[frozenset[str]] = frozenset({"production"})
    higher_is_better = None
    needs = frozenset()

    def measure(self, sample: Sample) -> MetricResult:
        return self.result(float(sample.abstained))
