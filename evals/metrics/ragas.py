"""The RAGAS family (Es et al. 2023) on a scale of 0 to 100, and its context metrics on 0 to 1.

Edge values: no claims 100, no contexts 0. The details name the edge that was met.

The package `ragas` is not used: it calls the judge by itself, past the cache, the budget and the checks of quotations.
"""

from collections.abc import Mapping
from math import isfinite, isnan
from statistics import fmean
from typing import ClassVar

from evals.metrics import judge_tasks as asked
from evals.metrics.abstention import is_dont_know
from evals.metrics.base import Aggregation, Need, settled_by_abstention, settled_relevance
from evals.metrics.embedders import Semantics, cosine
from evals.metrics.judged import Decider, JudgedMetric, LabelledMetric, Replies, marks
from evals.metrics.sample import Sample
from evals.metrics.semantic import EMBEDDING_NOT_FINITE
from evals.schemas.results import RAGAS_WEIGHTS, WITHOUT_VERDICT, MetricGroup, MetricResult
from evals.schemas.verdicts import VerdictRequest


class _Percent:
    """What the metrics of the suite share that are a percentage."""

    suites: ClassVar[frozenset[str]] = frozenset({"graphrag"})
    unit: ClassVar[str] = "percent"
    high: ClassVar[float | None] = 100.0


class _ContextMetric(JudgedMetric):
    """What the metrics of retrieved chunks share: no chunk can help to answer an unanswerable question."""

    group = MetricGroup.RETRIEVAL
    suites: ClassVar[frozenset[str]] = frozenset({"answer"})
    needs = frozenset({Need.JUDGE, Need.CHUNKS})
    of_answer = False
    answerable_only = True


def _share_supported(metric: JudgedMetric, sample: Sample, replies: Replies) -> MetricResult:
    """The share of the claims of the metric's inquiry that the chunks support; all of it where there are none."""
    claims = replies[metric.inquiries[0].name]["claims"]
    if not claims:
        return metric.result(metric.high or 1.0, edge="no claims")
    edge = {} if sample.passages else {"edge": "no contexts"}
    return metric.share(marks(claims, "supported"), "claims", **edge)


class ContextPrecision(_ContextMetric):
    """Share of the retrieved chunks that help to answer the question.

    Formula: relevant chunks / chunks on which the judge could tell. Range 0 to 1, higher is better. 0 where the
    server retrieved nothing; None where it does not say what it retrieved, and for an unanswerable question, to which
    no chunk can help. The same verdicts give `ragas_context_precision`.
    Reference: as the specification writes it; Es et al. 2023 (RAGAS), without weighing by rank.
    """

    name = "context_precision"
    suites: ClassVar = frozenset({"answer", "production"})
    inquiries = (asked.CONTEXT_RELEVANCE,)

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        contexts = asked.in_order(replies[asked.CONTEXT_RELEVANCE.name]["contexts"])
        known = [mark for mark in marks(contexts, "relevant") if mark is not None]
        if not contexts:
            return self.result(0.0, edge="no contexts")
        if not known:
            return self.undecided()
        return self.result((self.high or 1.0) * self.precision(known), relevant=sum(known), contexts=len(known))

    def precision(self, relevant: list[bool]) -> float:
        """The share, 0 to 1, of the chunks in rank order."""
        return sum(relevant) / len(relevant)


class ContextRecall(_ContextMetric):
    """Share of the expected answer's claims that the retrieved chunks support.

    Formula: supported claims / claims of the expected answer on which the judge could tell. Range 0 to 1, higher is
    better. Edges: an expected answer without claims has 1, nothing retrieved 0. None for an unanswerable question.
    The same verdicts give `ragas_context_recall`.
    Reference: as the specification writes it, by claims instead of sentences; Es et al. 2023 (RAGAS context
    recall).
    """

    name = "context_recall"
    needs = frozenset({Need.JUDGE, Need.CHUNKS, Need.EXPECTED_ANSWER})
    inquiries = (asked.REFERENCE_IN_CONTEXTS,)
    grade = _share_supported


class RagasContextPrecision(_Percent, ContextPrecision):
    """Share of the retrieved chunks that help to answer the question, in percent.

    Formula: relevant chunks / chunks on which the judge could tell × 100. Range 0 to 100, higher is better. 0 where
    the server retrieved nothing; None where it does not say what it retrieved, and for an unanswerable question.
    `ragas_context_precision_ordered` weighs by rank.
    Reference: as the specification writes it: the unweighted mean; Es et al. 2023 (RAGAS context precision).
    """

    name = "ragas_context_precision"


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
        ranks = [rank for rank, is_relevant in enumerate(relevant, start=1) if is_relevant]
        return sum(hits / rank for hits, rank in enumerate(ranks, start=1)) / len(ranks) if ranks else 0.0


class RagasContextRecall(_Percent, ContextRecall):
    """Share of the expected answer's claims that the retrieved chunks support, in percent.

    Formula: supported claims / claims of the expected answer on which the judge could tell × 100. Range 0 to 100,
    higher is better. Edges: an expected answer without claims has 100, nothing retrieved 0. None for an unanswerable
    question.
    Reference: as the specification writes it, by claims; Es et al. 2023 (RAGAS context recall) takes sentences.
    """

    name = "ragas_context_recall"


class RagasFaithfulness(_Percent, JudgedMetric):
    """Share of the answer's claims that the retrieved chunks support, in percent.

    Formula: supported claims / claims of the answer on which the judge could tell × 100. Range 0 to 100, higher is
    better. Edges: an answer without claims, an abstention included, has 100; one for which nothing was retrieved, 0.
    The core metric `faithfulness` has no value at either edge. None where the server does not say what it retrieved.
    Reference: as the specification writes it; Es et al. 2023 (RAGAS faithfulness).
    """

    name = "ragas_faithfulness"
    needs = frozenset({Need.JUDGE, Need.CHUNKS})
    inquiries = (asked.ANSWER_IN_CONTEXTS,)
    grade = _share_supported


# RAGAS: does the answer address the question, and the weighted score of the four.


GENERATED_QUESTIONS = asked.JudgeTask("generated_questions", "generated_questions", asked.showing("answer"))
"""Three questions to which the answer is an answer, and whether it commits itself."""


DIRECT_RELEVANCE = asked.JudgeTask("direct_relevance", "direct_relevance", asked.question_and_answer)
"""How fully the answer addresses the question, on five steps."""


class RagasAnswerRelevance(_Percent, LabelledMetric):
    """How well the answer addresses the question, whether or not it is right, in percent.

    Formula: the judge writes three questions that the answer replies to; mean of the cosines between their embeddings
    and the question's, × 100 and not below 0. 0 where the judge calls the answer noncommittal. Without an embedder
    the judge assesses directly: complete 100, mostly 75, partly 50, barely 25, not at all 0. Which of the two is
    decided once for a run and stands in the details; values of the two do not compare. Range 0 to 100, higher is
    better. 0 for an abstention on an answerable question; None for one on a question that is not known to be
    answerable.
    Reference: as the specification writes it; that an answer which the judge calls noncommittal has 0 is of ragas 0.4.
    """

    name = "ragas_answer_relevance"
    needs = frozenset({Need.JUDGE, Need.EMBEDDER})
    heeds_abstention = True
    inquiries = (GENERATED_QUESTIONS,)
    scale: ClassVar = {"complete": 100.0, "mostly": 75.0, "partly": 50.0, "barely": 25.0, "not_at_all": 0.0}

    def __init__(self, judge: Decider | None = None, semantics: Semantics | None = None) -> None:
        super().__init__(judge)
        self.semantics = semantics

    def wanted(self, sample: Sample) -> tuple[asked.JudgeTask, ...]:
        return (GENERATED_QUESTIONS if self.compares_by(sample).embedder else DIRECT_RELEVANCE,)

    settled = settled_relevance

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        embedder = self.compares_by(sample).embedder
        if embedder is None:
            return self.labelled(replies[DIRECT_RELEVANCE.name], method="direct assessment")
        reply = replies[GENERATED_QUESTIONS.name]
        questions = [question for question in reply["questions"] if question.strip()]
        if not questions:
            return self.undefined("the judge wrote no question", missing="judge")
        noncommittal = reply["verdict"] == "noncommittal"
        details = {"method": "generated questions", "questions": questions, "noncommittal": noncommittal}
        own, *vectors = embedder.embed([sample.question.question, *questions])
        alike = fmean(cosine(own, vector) for vector in vectors)
        if not isfinite(alike):
            return self.undefined(EMBEDDING_NOT_FINITE)
        return self.result(0.0 if noncommittal else 100 * max(0.0, alike), **details)


def ragas_score(values: Mapping[str, float | None], weights: Mapping[str, float] = RAGAS_WEIGHTS) -> float | None:
    """The weighted mean of the values that are there: sum of weight × value / sum of their weights.

    Args:
        values: By the names of the metrics; NaN is no value, as None is.
        weights: By the same names; one that is not named keeps its default.

    Returns:
        On the scale of the values; None where none is there, or all that are weigh nothing.
    """
    weigh = {**RAGAS_WEIGHTS, **weights}
    known = {name: value for name, value in values.items() if value is not None and not isnan(value)}
    total = sum(weigh[name] for name in known)
    return sum(weigh[name] * value for name, value in known.items()) / total if total else None


class RagasScore(_Percent, JudgedMetric):
    """The four RAGAS metrics in one number, in percent.

    Formula: sum of weight × value / sum of weights over those of the four that have a value; the weights are 0.30 for
    `ragas_faithfulness`, 0.20 for `ragas_context_precision`, 0.20 for `ragas_context_recall` and 0.30 for
    `ragas_answer_relevance` (`scoring.ragas_weights`). The details say what was left out: questions with different
    parts do not compare. Range 0 to 100, higher is better. None where none of the four has a value, and where the
    judge's word on one that weighs something is lost.
    Reference: as the specification writes it.
    """

    name = "ragas_score"
    needs = frozenset({Need.JUDGE, Need.EMBEDDER})
    part_classes = (RagasFaithfulness, RagasContextPrecision, RagasContextRecall)
    inquiries = (*(cls.inquiries[0] for cls in part_classes), GENERATED_QUESTIONS)
    of_answer = False

    def __init__(
        self,
        judge: Decider | None = None,
        weights: Mapping[str, float] = RAGAS_WEIGHTS,
        semantics: Semantics | None = None,
    ) -> None:
        super().__init__(judge)
        self.weights = {**RAGAS_WEIGHTS, **weights}
        self.parts = (*(cls() for cls in self.part_classes), RagasAnswerRelevance(semantics=semantics))

    def requests(self, sample: Sample) -> list[VerdictRequest]:
        return list({request.name: request for part in self.parts for request in part.requests(sample)}.values())

    def measure(self, sample: Sample) -> MetricResult:
        results = {part.name: part.score(sample) for part in self.parts}
        values = {name: part.value for name, part in results.items()}
        left_out = {name: str(part.reason) for name, part in results.items() if part.value is None}
        score, details = ragas_score(values, self.weights), {"parts": values, **self.injection_flag(sample)}
        if score is None:
            result = self.undefined("; ".join(dict.fromkeys(left_out.values())))
        else:
            result = self.result(score, **details, **({"left_out": left_out} if left_out else {}))
        judged_by: dict[str, None] = {}
        for part in (part for name, part in results.items() if self.weights[name]):
            judged_by.update(dict.fromkeys(part.judged_by))
            if part.missing in WITHOUT_VERDICT:
                result = self.undefined(str(part.reason), missing="judge", **details)
                break
        return self.with_verdicts(result, list(judged_by))

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        return self.measure(sample)


# The graphrag suite's verdicts on an answer: a graded accuracy, and how many are correct, wrong, or not known.


FACTUAL_ACCURACY = asked.JudgeTask("factual_accuracy", "factual_accuracy", asked.answer_beside_reference)
"""Correctness, completeness and consistency of the answer, each from 0 to 100."""

ANSWER_CLASSIFICATION = asked.JudgeTask("answer_classification", "answer_classification", asked.answer_beside_reference)
"""Whether the answer is correct or wrong, and nothing between."""

_GRADES = ((80.0, "A"), (60.0, "B"), (40.0, "C"), (20.0, "D"), (0.0, "E"))


def letter_grade(percent: float) -> str:
    """The letter of a percentage: A from 80, B from 60, C from 40, D from 20, else E."""
    return next(letter for least, letter in _GRADES if percent >= least)


class FactualAccuracyPercentage(_Percent, JudgedMetric):
    """How accurate the answer is, measured by the expected answer and by three criteria, in percent.

    Formula: 0.5 × correctness + 0.3 × completeness + 0.2 × consistency, each from 0 to 100 by the judge. The letter (A
    from 80, B from 60, C from 40, D from 20, else E) stands in the details, and the scorecard shows how they are
    distributed. Range 0 to 100, higher is better. 0 for an abstention on an answerable question, and for an answer
    to an unanswerable one; None for a right abstention and without an expected answer.
    Reference: Liu et al. 2023 (G-Eval), with one sample instead of token probabilities.
    """

    name = "factual_accuracy_percentage"
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})
    heeds_abstention = True
    inquiries = (FACTUAL_ACCURACY,)
    weights: ClassVar[Mapping[str, float]] = {"correctness": 0.5, "completeness": 0.3, "consistency": 0.2}

    def settled(self, sample: Sample) -> MetricResult | None:
        return settled_by_abstention(self, sample, label="E")

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        scores = {name: replies[FACTUAL_ACCURACY.name][name]["score"] for name in self.weights}
        value = sum(weight * scores[name] for name, weight in self.weights.items())
        return self.result(value, label=letter_grade(value), criteria=scores)


class _AnswerCount(JudgedMetric):
    """How many answers are of one class."""

    suites: ClassVar = frozenset({"graphrag"})
    unit = "answers"
    aggregation = Aggregation.SUM
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})
    inquiries = (ANSWER_CLASSIFICATION,)
    counted: ClassVar[str]

    def settled(self, sample: Sample) -> MetricResult | None:
        if is_dont_know(sample.answer or ""):
            return self._classified("don't know")
        return self._classified("wrong") if sample.question.is_unanswerable else None

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        reply = replies[ANSWER_CLASSIFICATION.name]
        return self._classified(reply["verdict"], justification=reply["justification"])

    def _classified(self, label: str, **details: str) -> MetricResult:
        return self.result(float(label == self.counted), label=label, **details)


class CorrectAnswersCount(_AnswerCount):
    """How many answers are correct.

    Formula: sum over questions of 1 where the judge calls the answer correct, measured by the expected answer, and not
    wrong. What `dont_know_answers_count` counts is neither. Range 0 to the number of questions, higher is better. None
    without an expected answer.
    Reference: as the specification writes it.
    """

    name = "correct_answers_count"
    counted = "correct"


class WrongAnswersCount(_AnswerCount):
    """How many answers are wrong.

    Formula: sum over questions of 1 where the judge calls the answer wrong, measured by the expected answer, or where
    an unanswerable question was answered. What `dont_know_answers_count` counts is neither. Range 0 to the number of
    questions, lower is better. None without an expected answer.
    Reference: as the specification writes it.
    """

    name = "wrong_answers_count"
    counted = "wrong"
    higher_is_better = False
