"""Generation: is the answer grounded, correct and to the point? An LLM judge reads; the scores are computed here."""

from typing import ClassVar

from evals.metrics import judge_tasks as asked
from evals.metrics.base import Need, settled_by_abstention, settled_relevance
from evals.metrics.judged import JudgedMetric, LabelledMetric, Replies, marks
from evals.metrics.sample import Sample
from evals.schemas.results import MetricResult


class _Grounded(JudgedMetric):
    """A share of the claims that the judge finds in the answer, by what the retrieved chunks say of them."""

    needs = frozenset({Need.JUDGE, Need.CHUNKS})
    inquiries = (asked.FAITHFULNESS,)
    counted: ClassVar[str]
    """The verdict of the claims that count."""
    listed: ClassVar[tuple[str, ...]]
    """The details that list claims: the first always, the others where they are not empty."""

    def hangs_on_abstention(self, sample: Sample) -> bool:
        return bool(sample.passages)

    def settled(self, sample: Sample) -> MetricResult | None:
        if sample.abstained:
            return self.undefined("the answer abstains")
        return None if sample.passages else self.undefined("the chunks carry no text")

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        claims = replies[asked.FAITHFULNESS.name]["claims"]
        if not claims:
            return self.undefined("the answer makes no claims")
        lists = {
            "unsupported": [claim["claim"] for claim in claims if claim["verdict"] in {"contradicted", "not_said"}],
            "contradicted": [claim["claim"] for claim in claims if claim["verdict"] == "contradicted"],
        }
        told = {name: lists[name] for name in self.listed if lists[name] or name == self.listed[0]}
        return self.share(marks(claims, self.counted), "claims", claims=len(claims), **told)


class Faithfulness(_Grounded):
    """Share of the answer's claims that the retrieved chunks support.

    Formula: supported / (supported + contradicted + not said) over the claims that the judge finds in the answer;
    claims on which it could not tell do not count. A claim is supported only with a quotation that stands in a chunk.
    Range 0 to 1, higher is better. None for an abstention, an answer without claims, and without chunks.
    `contradiction` tells the contradicted claims apart.
    Reference: as the specification writes it, by claims after Es et al. 2023 (RAGAS).
    """

    name = "faithfulness"
    suites: ClassVar = frozenset({"core", "answer", "production"})
    counted = "supported"
    listed = ("unsupported", "contradicted")


class AnswerCorrectness(LabelledMetric):
    """Whether the answer says what the expected answer says.

    Formula: correct 1, partly correct 0.5, incorrect 0. Range 0 to 1, higher is better. 0 where the server abstains on
    an answerable question, or answers an unanswerable one. None for a right abstention, and without an expected answer.
    That a longer answer abstains is a label of the same call (declines, 0).
    Reference: as the specification writes it, by a reference-guided label after Zheng et al. 2023 (LLM-as-a-judge);
    the rubric is ours.
    """

    name = "answer_correctness"
    suites: ClassVar[frozenset[str]] = frozenset({"core"})
    needs = frozenset({Need.JUDGE, Need.EXPECTED_ANSWER})
    heeds_abstention = True
    inquiries = (asked.ANSWER_CORRECTNESS,)
    scale: ClassVar = {"correct": 1.0, "partly_correct": 0.5, "incorrect": 0.0, "declines": 0.0}
    settled = settled_by_abstention


class AnswerRelevancy(LabelledMetric):
    """Whether the answer addresses the question that was asked.

    Formula: relevant 1, partly relevant 0.5, evasive or irrelevant 0. Range 0 to 1, higher is better. 0 where the
    server abstains on an answerable question, which one with gold or an expected answer is where the dataset does not
    say. None for an abstention on another.
    Reference: as the specification writes it, by a label; RAGAS (Es et al. 2023) generates questions instead, as
    `ragas_answer_relevance` does.
    """

    name = "answer_relevancy"
    suites: ClassVar = frozenset({"core", "answer", "production"})
    heeds_abstention = True
    inquiries = (asked.JudgeTask("answer_relevancy", "answer_relevancy", asked.question_and_answer),)
    scale: ClassVar = {"relevant": 1.0, "partly_relevant": 0.5, "evasive": 0.0, "irrelevant": 0.0}
    settled = settled_relevance


class Contradiction(_Grounded):
    """Share of the answer's claims that the retrieved chunks contradict.

    Formula: contradicted / (supported + contradicted + not said), by the verdicts of `faithfulness`, in the same call.
    A claim is contradicted only with a quotation that stands in a chunk and cannot be true together with it. What is
    not said is no contradiction: the two are 1 − faithfulness. Range 0 to 1, lower is better. None for an abstention,
    an answer without claims, and without chunks.
    Reference: the three labels of entailment (Bowman et al. 2015), on claims as in Es et al. 2023 (RAGAS).
    """

    name = "contradiction"
    suites: ClassVar = frozenset({"answer"})
    higher_is_better = False
    counted = "contradicted"
    listed = ("contradicted",)


# What the dataset says in plain words that an answer to a question must be like.

CRITERIA = asked.JudgeTask(
    "rubric",
    "rubric",
    lambda sample: {
        "criteria": [{"id": n, "text": text} for n, text in enumerate(sample.question.rubric, start=1)],
        **asked.showing("expected_answer", "question", "answer")(sample),
    },
)
"""Which of the question's own criteria the answer meets."""


class Rubric(JudgedMetric):
    """Share of the criteria that the dataset has for the question which the answer meets.

    Formula: met / (met + not met) over the column `rubric` (or `criteria`) of the dataset, a text or a list; criteria
    on which the judge could not tell do not count. Range 0 to 1, higher is better. None where the question has none.
    Reference: the assertion `llm-rubric` of promptfoo, and the guidelines of MLflow; quote and label are ours.
    """

    name = "rubric"
    needs = frozenset({Need.JUDGE, Need.RUBRIC})
    inquiries = (CRITERIA,)

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        texts, criteria = dict(enumerate(sample.question.rubric, start=1)), replies[CRITERIA.name]["criteria"]
        failed = [item for item in criteria if item["verdict"] == "not_met"]
        not_met = [f"{texts.get(item['id'])}: {item['justification']}" for item in failed]
        return self.share(marks(criteria, "met"), "criteria", not_met=not_met)
