"""Seed 004, to the letter: its composite scores, grades, similarities and classes of answers."""

import pytest

from evals.metrics import parse_metric
from evals.metrics.abstention import UNCERTAIN, is_dont_know
from evals.metrics.ragas import letter_grade, ragas_score
from evals.schemas import EvalQuestion, EvalResponse

QUESTION = EvalQuestion(id="Novel-73586ddc", question="Which plant?", expected_answer="Cornish heath")


@pytest.mark.parametrize(
    ("faithfulness", "precision", "recall", "relevance", "score"),
    [
        (100.0, float("nan"), 100.0, 83.27, 93.73),
        (0.0, 0.0, 0.0, 83.27, 24.98),
        (None, None, None, 82.29, 82.29),
    ],
)
def test_the_composite_score_weighs_what_is_there(
    faithfulness: float | None, precision: float | None, recall: float | None, relevance: float, score: float
) -> None:
    """0.30, 0.20, 0.20 and 0.30, renormalised over the values that are numbers."""
    values = {
        "ragas_faithfulness": faithfulness,
        "ragas_context_precision": precision,
        "ragas_context_recall": recall,
        "ragas_answer_relevance": relevance,
    }
    assert ragas_score(values) == pytest.approx(score, abs=0.005)
    assert ragas_score(dict.fromkeys(values)) is None


@pytest.mark.parametrize(
    ("percent", "letter"),
    [(100, "A"), (80, "A"), (79.9, "B"), (60, "B"), (59, "C"), (40, "C"), (39, "D"), (20, "D"), (19.9, "E"), (0, "E")],
)
def test_grades_begin_at_80_60_40_and_20(percent: float, letter: str) -> None:
    """Excellent, good, moderate, poor, very poor."""
    assert letter_grade(percent) == letter


@pytest.mark.parametrize("phrase", UNCERTAIN)
def test_each_of_the_twelve_phrases_makes_a_dont_know(phrase: str) -> None:
    """Wherever it stands, in any case."""
    assert is_dont_know(f"Well, {phrase.upper()}, sorry to say.")


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("n/a", 1),
        ("None.", 1),
        ("null", 1),
        ("", 1),
        ("none of the plants is known", 0),
        ("Cornish heath", 0),
        ("I’m not sure.", 1),
    ],
)
def test_short_non_answers_are_dont_knows(answer: str, value: float) -> None:
    """Under ten characters, with one of four words."""
    assert parse_metric("dont_know_answers_count").compute(QUESTION, EvalResponse(answer=answer)).value == value
    if value:
        assert parse_metric("correct_answers_count").compute(QUESTION, EvalResponse(answer=answer), []).value is None
