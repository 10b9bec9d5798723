"""The rubric of a question: what the dataset says in plain words that an answer to it must be like."""

from typing import ClassVar

from evals.metrics.base import Need
from evals.metrics.judge_tasks import JudgeTask, showing
from evals.metrics.judged import JudgedMetric, Replies
from evals.metrics.sample import Sample
from evals.schemas.results import MetricGroup, MetricResult

CRITERIA = JudgeTask(
    "rubric",
    "rubric",
    lambda sample: {
        "criteria": [{"id": n, "text": text} for n, text in enumerate(sample.question.rubric, start=1)],
        **showing("expected_answer", "question", "answer")(sample),
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
    group = MetricGroup.GENERATION
    suites: ClassVar[frozenset[str]] = frozenset()
    needs = frozenset({Need.JUDGE, Need.RUBRIC})
    inquiries = (CRITERIA,)

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        texts = dict(enumerate(sample.question.rubric, start=1))
        known = [item for item in replies[CRITERIA.name]["criteria"] if item["verdict"] != "cannot_tell"]
        if not known:
            return self.undecided()
        failed = [item for item in known if item["verdict"] == "not_met"]
        told = {"not_met": [f"{texts.get(item['id'])}: {item['justification']}" for item in failed]}
        return self.result((len(known) - len(failed)) / len(known), criteria=len(known), **told)
