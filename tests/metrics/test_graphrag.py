"""The graphrag suite's verdicts on answers: graded accuracy and the three counts."""

from itertools import product
from typing import Any

import pytest
from metrics.records import judged, values
from whole_runs import scorecard_of

from evals.metrics import parse_metric
from evals.metrics.ragas import FactualAccuracyPercentage
from evals.schemas import EvalRecord
from evals.scoring.settings import ScoreSettings

ABSTENTION = "I don't know."
CRITERIA = ("correctness", "completeness", "consistency")
NAMES = ("correct_answers_count", "wrong_answers_count", "dont_know_answers_count")
COUNTS = [parse_metric(name) for name in NAMES]


def classified(verdict: str) -> dict[str, Any]:
    return {"answer_classification": {"verdict": verdict, "justification": "because"}}


def test_accuracy_weighs_its_criteria_and_has_the_letter_of_its_percentage() -> None:
    """125 combinations against whole numbers: 50, 30 and 20 percent."""
    for scores in product((100, 75, 50, 25, 0), repeat=3):
        tenths = sum(weight * score for weight, score in zip((5, 3, 2), scores, strict=True))
        rated = {name: {"justification": "so", "score": score} for name, score in zip(CRITERIA, scores, strict=True)}
        result = FactualAccuracyPercentage().score(judged({"factual_accuracy": rated}))
        assert result.value == pytest.approx(tenths / 10), scores
        assert result.details["label"] == "EDCBA"[min(tenths // 200, 4)], scores
        assert result.details["criteria"] == dict(zip(CRITERIA, scores, strict=True))


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"is_unanswerable": False, "answer": ABSTENTION}, 0.0),
        ({"is_unanswerable": None, "answer": ABSTENTION}, 0.0),
        ({"is_unanswerable": True, "expected_answer": None, "answer": ABSTENTION}, None),
        ({"is_unanswerable": True, "expected_answer": None}, 0.0),
        ({"expected_answer": None}, None),
        ({"answer": None}, None),
    ],
)
def test_accuracy_that_abstention_settles_is_not_asked_for(fields: dict[str, Any], value: float | None) -> None:
    """0 has the letter E; a right abstention, a missing reference and a missing answer have no value."""
    case = judged(**fields)
    assert FactualAccuracyPercentage().requests(case) == []
    result = FactualAccuracyPercentage().score(case)
    assert (result.value, result.details.get("label")) == (value, "E" if value == 0 else None)
    assert result.missing == (None if value == 0 else "not_applicable")


@pytest.mark.parametrize(("verdict", "expected"), [("correct", [1, 0, 0]), ("wrong", [0, 1, 0])])
def test_an_answer_is_of_one_class(verdict: str, expected: list[float]) -> None:
    """The judge decides between correct and wrong; it is asked once for both counts."""
    case = judged(classified(verdict))
    assert values(COUNTS, case) == expected
    assert {request.name for metric in COUNTS for request in metric.requests(case)} == {"answer_classification"}


def test_an_answer_to_an_unanswerable_question_is_wrong_without_the_judge() -> None:
    """Nothing is there that it could agree with; not to know is right, and is counted as not to know."""
    asked = {"is_unanswerable": True, "expected_answer": None}
    answered = judged(**asked)
    assert values(COUNTS, answered) == [0, 1, 0]
    assert parse_metric("wrong_answers_count").requests(answered) == []
    assert values(COUNTS, judged(answer=ABSTENTION, **asked)) == [0, 0, 1]


def test_the_counts_of_a_run_are_those_of_the_definitions_example() -> None:
    """17 correct, 6 wrong, 1 not known, 24 together; of two on which the judge fails as many are correct as of 23."""
    cases = [judged(classified(verdict)) for verdict in [*["correct"] * 17, *["wrong"] * 6]]
    cases += [judged(answer=ABSTENTION), judged({"answer_classification": "refused"}), judged()]
    questions = [case.question.model_copy(update={"id": f"q{n}"}) for n, case in enumerate(cases)]
    records = [
        EvalRecord(question=question, response=case.response, verdicts=[*case.verdicts])
        for question, case in zip(questions, cases, strict=True)
    ]
    card = scorecard_of(COUNTS, records, ScoreSettings(judged=True))
    found = [summary for summary in map(card.get, NAMES) if summary is not None]
    assert [summary.value for summary in found] == [17, 6, 1]
    assert [(summary.counts.scored, summary.counts.judge) for summary in found] == [(24, 2), (24, 2), (26, 0)]
    assert [summary.bounds for summary in found[:2]] == [(17, 19), (8, 6)]
    whole = scorecard_of(COUNTS, records[:24], ScoreSettings(judged=True))
    assert {summary.name: summary.value for summary in whole.metrics} == dict(zip(NAMES, (17, 6, 1), strict=True))
