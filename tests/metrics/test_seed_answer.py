"""Seed 001, to the letter: its examples of the custom metrics and of the questions EF_1, EF_2 and EF_3."""

from typing import Any

import pytest

from evals.metrics import parse_metric
from evals.schemas import EvalQuestion, EvalResponse, MetricResult

EXPECTED = "Territory 118 has a rate change of 0.305%"
GENERATED = "The rate change for Territory 118 is 0.305%"


def score(name: str, expected: str | None, answer: str, **more: Any) -> MetricResult:
    question = EvalQuestion(**({"id": "q", "question": "What is it?", "expected_answer": expected} | more))
    return parse_metric(name).compute(question, EvalResponse(answer=answer))


@pytest.mark.parametrize(("answer", "value"), [("the  PREMIUM\nis $604", 1), ("The premium is $604.", 0), ("$604", 0)])
def test_exact_match_allows_for_case_and_white_space(answer: str, value: float) -> None:
    """True if identical after normalisation."""
    assert score("exact_match", "The premium is $604", answer).value == value


def test_keywords_are_phrases_numbers_and_words_of_four_letters() -> None:
    """The seed's example has high coverage; half of the keywords are 0.5."""
    assert score("keyword_coverage", EXPECTED, GENERATED).value == 1
    found = score("keyword_coverage", EXPECTED, "Territory 117 has a change of 0.305%")
    assert found.details["missing"] == ["118", "rate", "territory 118"]
    assert found.value == pytest.approx(3 / 6)
    assert score("keyword_coverage", "Rule C-1", "See rule C-1.").value == 1
    assert score("keyword_coverage", "北京位于北部", "北京").value == pytest.approx(2 / 5)


@pytest.mark.parametrize(
    ("expected", "answer", "value"),
    [
        ("$604", "The premium is $604", 1),
        ("293 and 2.061", "293 only", 0.5),
        ("-0.133%", "−0.133 %", 1),
        ("0.305%", "0.305", 0),
        ("293", "none", 0),
    ],
)
def test_numbers_match_as_sets(expected: str, answer: str, value: float) -> None:
    """(matched numbers) / (total expected numbers)."""
    assert score("number_match", expected, answer).value == value


def test_completeness_is_the_mean_of_length_and_keywords() -> None:
    """min(generated words / expected words, 1), and keyword coverage."""
    assert score("answer_completeness", EXPECTED, GENERATED).value == 1
    half = score("answer_completeness", EXPECTED, "Territory 118 has rates")
    assert half.details["length"] == 0.5
    assert half.value == pytest.approx((0.5 + half.details["keyword_coverage"]) / 2)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("It is 5.", 0),
        ("From it: 5.", 1 / 3),
        ("According to the PDF: 5.", 2 / 3),
        ("It costs 5 euros. Source: the document, page 3, based on table: rates.", 1),
    ],
)
def test_three_indicators_of_a_source_are_enough(answer: str, value: float) -> None:
    """min(found_indicators / 3.0, 1.0)."""
    assert score("source_citation_quality", None, answer).value == pytest.approx(value)


def test_ef_1_extracts_rules_from_lists_and_by_their_codes() -> None:
    """rules_found / total_rules; found are those that the answer lists or names by `Rule C-X`."""
    expected = "* Rule C-1: Term\n* Deductibles\n* Vehicle Use\nand Rule C-12"
    found = score("rules_coverage", expected, "* deductibles\n* Rule C-12\nVehicle use matters.", id="EF_1")
    assert found.value == 0.5
    assert found.details["rules_found"] == 2
    assert found.details["total_rules"] == 4
    assert found.details["rules_coverage"] == 0.5
    assert found.details["missing"] == ["rule c 1", "vehicle use"]
    assert score("rules_coverage", expected, "x", id="EF_10").value is None


def test_ef_2_looks_for_eight_facts() -> None:
    """fact_score is their mean."""
    answer = "Yes. Territory 118 has 0.305%, Territory 117 has -0.133%; GRG 51 and GRG 15 differ by 36."
    found = score("fact_score", None, answer, id="EF_2")
    assert found.value == 1
    assert list(found.details["facts"]) == [
        *("has_yes", "has_territory_118", "has_territory_117", "has_rate_0_305"),
        *("has_rate_neg_0_133", "has_grg_51", "has_grg_15", "has_difference_36"),
    ]
    assert score("fact_score", None, "Yes, it exceeds 30.", id="EF_2").value == 0.25
    assert score("fact_score", None, "0.133% of Yesterday", id="EF_2").value == 0


@pytest.mark.parametrize(
    ("answer", "value", "true"),
    [
        ("293 × 2.061 = $604", 1, {"has_604", "has_293", "has_2_061", "has_calculation"}),
        ("$604", 1, {"has_604"}),
        ("I cannot calculate it; $604?", 0, {"has_604", "cannot_calculate"}),
        ("293 * 2.061 = $603", 0, {"has_293", "has_2_061", "has_calculation"}),
    ],
)
def test_ef_3_is_correct_with_604_and_no_excuse(answer: str, value: float, true: set[str]) -> None:
    """is_correct = has_604 AND NOT cannot_calculate."""
    found = score("is_correct", None, answer, id="EF_3")
    assert found.value == value
    stated = found.details["facts"] | {"cannot_calculate": found.details["cannot_calculate"]}
    assert {name for name, holds in stated.items() if holds} == true
