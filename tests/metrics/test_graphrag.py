"""The graphrag suite's verdicts on answers: graded accuracy and the three counts."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from whole_runs import scorecard_of

from evals.metrics import Sample
from evals.metrics.abstention import DontKnowAnswersCount
from evals.metrics.ragas import (
    CorrectAnswersCount,
    FactualAccuracyPercentage,
    WrongAnswersCount,
    letter_grade,
)
from evals.schemas import EvalRecord
from evals.scoring.settings import ScoreSettings

MakeCase = Callable[..., Sample]
ABSTENTION = "I don't know."
CRITERIA = ("correctness", "completeness", "consistency")
POINTS = (100, 75, 50, 25, 0)
COUNTS = (CorrectAnswersCount(), WrongAnswersCount(), DontKnowAnswersCount())


def graded(*scores: int) -> dict[str, Any]:
    rated = {name: {"justification": "so", "score": score} for name, score in zip(CRITERIA, scores, strict=True)}
    return {"factual_accuracy": rated}


def classified(verdict: str) -> dict[str, Any]:
    return {"answer_classification": {"verdict": verdict, "justification": "because"}}


def counts(case: Sample) -> tuple[float | None, ...]:
    return tuple(metric.score(case).value for metric in COUNTS)


def test_accuracy_weighs_its_criteria_and_has_the_letter_of_its_percentage(judged_case: MakeCase) -> None:
    """125 combinations against whole numbers: 50, 30 and 20 percent."""
    for scores in product(POINTS, repeat=3):
        tenths = sum(weight * score for weight, score in zip((5, 3, 2), scores, strict=True))
        result = FactualAccuracyPercentage().score(judged_case(graded(*scores)))
        assert result.value == pytest.approx(tenths / 10), scores
        assert result.details["label"] == "EDCBA"[min(tenths // 200, 4)], scores
        assert result.details["criteria"] == dict(zip(CRITERIA, scores, strict=True))


@pytest.mark.parametrize(
    ("percent", "letter"),
    [
        (100.0, "A"), (80.0, "A"), (79.999, "B"), (60.0, "B"), (59.999, "C"), (40.0, "C"), (39.999, "D"), (20.0, "D"),
        (19.999, "E"), (0.0, "E"),
    ],
)  # fmt: skip
def test_a_letter_begins_at_its_threshold(percent: float, letter: str) -> None:
    """A from 80, B from 60, C from 40, D from 20, else E."""
    assert letter_grade(percent) == letter


@pytest.mark.parametrize(
    ("asked", "answer", "value"),
    [
        ({"is_unanswerable": False}, ABSTENTION, 0.0),
        ({"is_unanswerable": None}, ABSTENTION, 0.0),
        ({"is_unanswerable": True, "expected_answer": None}, ABSTENTION, None),
        ({"is_unanswerable": True, "expected_answer": None}, "96 hours.", 0.0),
        ({"expected_answer": None}, "96 hours.", None),
        ({}, None, None),
    ],
)
def test_accuracy_that_abstention_settles_is_not_asked_for(
    judged_case: MakeCase, asked: dict[str, Any], answer: str | None, value: float | None
) -> None:
    """0 has the letter E; a right abstention, a missing reference and a missing answer have no value."""
    case = judged_case({}, asked=asked, answer=answer)
    assert FactualAccuracyPercentage().requests(case) == []
    result = FactualAccuracyPercentage().score(case)
    assert result.value == value
    assert result.details.get("label") == ("E" if value == 0 else None)
    assert result.missing == (None if value == 0 else "not_applicable")


@pytest.mark.parametrize(("verdict", "expected"), [("correct", (1, 0, 0)), ("wrong", (0, 1, 0))])
def test_an_answer_is_of_one_class(
    judged_case: MakeCase, verdict: str, expected: tuple[float | None, float | None, float]
) -> None:
    """The judge decides between correct and wrong; it is asked once for both counts."""
    case = judged_case(classified(verdict))
    assert counts(case) == expected
    assert {request.name for metric in COUNTS for request in metric.requests(case)} == {"answer_classification"}


def test_an_answer_to_an_unanswerable_question_is_wrong_without_the_judge(judged_case: MakeCase) -> None:
    """Nothing is there that it could agree with; not to know is right, and is counted as not to know."""
    asked = {"is_unanswerable": True, "expected_answer": None}
    answered = judged_case({}, asked=asked, answer="96 hours.")
    assert counts(answered) == (0, 1, 0)
    assert WrongAnswersCount().requests(answered) == []
    assert counts(judged_case({}, asked=asked, answer=ABSTENTION)) == (0, 0, 1)


SAID = [*["correct"] * 17, *["wrong"] * 6, "don't know"]
"""The example of the definition: 24 evaluations."""


def test_the_counts_of_a_run_are_those_of_the_definitions_example(judged_case: MakeCase) -> None:
    """17 correct, 6 wrong, 1 not known, 24 together; of two on which the judge fails as many are correct as of 23."""
    cases = [
        judged_case({}, answer=ABSTENTION) if said == "don't know" else judged_case(classified(said)) for said in SAID
    ]
    cases += [judged_case({"answer_classification": "refused"}), judged_case({})]
    records = [
        EvalRecord(
            question=case.question.model_copy(update={"id": f"q{n}"}), response=case.response, verdicts=[*case.verdicts]
        )
        for n, case in enumerate(cases)
    ]
    settings = ScoreSettings(judged=True)
    card = scorecard_of(COUNTS, records, settings)
    correct, wrong, unknown = (card.get(metric.name) for metric in COUNTS)
    assert correct is not None
    assert wrong is not None
    assert unknown is not None
    assert (correct.value, wrong.value, unknown.value) == (17, 6, 1)
    assert correct.counts.scored == wrong.counts.scored == len(SAID)
    assert correct.counts.judge == wrong.counts.judge == 2
    assert (correct.bounds, wrong.bounds) == ((17, 19), (8, 6))
    assert unknown.counts.scored == len(cases)
    whole = scorecard_of(COUNTS, records[:24], settings)
    assert [summary.value for summary in whole.metrics if summary.name != "dont_know_answers_count"] == [17, 6]
