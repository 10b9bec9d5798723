"""The abstention metrics: who is counted, and what counts."""

from collections.abc import Callable

import pytest

from evals.metrics import BaseMetric, FalseNegativeRate, FalsePositiveRate, UnanswerableAccuracy
from evals.schemas import MetricResult

Measure = Callable[..., MetricResult]
DECLINED, ANSWERED = "I don't know.", "Burst pipes are covered."


@pytest.mark.parametrize(
    ("is_unanswerable", "answer", "accuracy", "false_positive", "false_negative"),
    [
        (True, DECLINED, 1, None, 0),
        (True, ANSWERED, 0, None, 1),
        (True, "", 1, None, 0),
        (False, DECLINED, 0, 1, None),
        (False, ANSWERED, 1, 0, None),
        (False, "", 0, 1, None),
        (None, DECLINED, None, None, None),
        (None, ANSWERED, None, None, None),
    ],
)
def test_each_rate_counts_its_own_questions(
    measure: Measure,
    is_unanswerable: bool | None,
    answer: str,
    accuracy: float | None,
    false_positive: float | None,
    false_negative: float | None,
) -> None:
    """Accuracy is over all questions of known kind, the rates over the answerable or the unanswerable ones."""
    record = {"answer": answer, "is_unanswerable": is_unanswerable}
    assert measure(UnanswerableAccuracy(), **record).value == accuracy
    assert measure(FalsePositiveRate(), **record).value == false_positive
    assert measure(FalseNegativeRate(), **record).value == false_negative


@pytest.mark.parametrize(
    ("metric", "is_unanswerable", "reason"),
    [
        (FalsePositiveRate(), True, "the question is unanswerable"),
        (FalseNegativeRate(), False, "the question is answerable"),
    ],
)
def test_a_question_of_the_other_kind_gives_the_reason(
    measure: Measure, metric: BaseMetric, is_unanswerable: bool, reason: str
) -> None:
    """A rate says why a question is not in it."""
    assert measure(metric, is_unanswerable=is_unanswerable).reason == reason


def test_the_details_say_whether_the_answer_abstains(measure: Measure) -> None:
    """A reader can see what the detector decided."""
    assert measure(UnanswerableAccuracy(), answer=DECLINED, is_unanswerable=True).details == {"abstained": True}
