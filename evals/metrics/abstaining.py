"""What an abstention is worth to metrics of the answer: the same in all of them."""

from typing import Any

from evals.case.case import Case
from evals.metrics.base import BaseMetric
from evals.schemas import EvalQuestion, MetricResult


def settled_by_abstention(metric: BaseMetric, case: Case, **details: Any) -> MetricResult | None:
    """The result that follows from whether the question is answerable and whether the answer abstains.

    An abstention on an answerable question is worth 0, else abstaining would raise the mean; so is an answer to an
    unanswerable one. A right abstention has no value.

    Args:
        metric: Of which the result is.
        case: The record.
        details: To stand in a result of 0.

    Returns:
        None where the answer has to be looked at.
    """
    if case.question.is_unanswerable:
        if case.abstained:
            return metric.undefined("the question is unanswerable and the answer abstains")
        return metric.result(0.0, verdict="answered an unanswerable question", **details)
    return metric.result(0.0, verdict="abstained on an answerable question", **details) if case.abstained else None


def settled_relevance(metric: BaseMetric, case: Case) -> MetricResult | None:
    """The relevance that follows from an abstention: 0 on a question that can be answered, no value elsewhere.

    Returns:
        None where the answer does not abstain.
    """
    if not case.abstained:
        return None
    if known_answerable(case.question):
        return metric.result(0.0, verdict="abstained on an answerable question")
    return metric.undefined("the answer abstains, and the question is not known to be answerable")


def known_answerable(question: EvalQuestion) -> bool:
    """Whether the dataset says, or its gold shows, that the question can be answered."""
    if question.is_unanswerable is None:
        return bool(question.expected_answer or question.gold_passages)
    return not question.is_unanswerable
