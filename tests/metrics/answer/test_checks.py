"""The checks that questions declare, on hand-made answers."""

from functools import cache
from typing import Any

import pytest
from metrics.records import lack, score

from evals.datasets.base import LoadOptions
from evals.datasets.golden import GoldenLoader
from evals.metrics import parse_metric
from evals.schemas import EvalQuestion, EvalResponse, MetricResult

FULL_FACTS = "Yes. Territory 118 has 0.305%, more than the −0.133% of Territory 117; GRG 51 and GRG 15 differ by 36."
ALL_FACTS = [
    *("has_yes", "has_territory_118", "has_territory_117", "has_rate_0_305"),
    *("has_rate_neg_0_133", "has_grg_51", "has_grg_15", "has_difference_36"),
]
SHOWN = {"has_293", "has_2_061", "has_calculation"}


@cache
def golden() -> dict[str, EvalQuestion]:
    """The questions of the golden set, by id."""
    return {question.id: question for question in GoldenLoader().load(LoadOptions(samples=None)).questions}


def score_golden(name: str, question_id: str, answer: str) -> MetricResult:
    """Measure an answer to a question of the golden set."""
    return parse_metric(name).compute(golden()[question_id], EvalResponse(answer=answer))


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("Rule C-1 is one of them.", ["Rule C-1 Policy Term and Payment"]),
        ("**Rule C‑12:** Maximum Discount", ["Rule C-12 Maximum Discount"]),
        ("- vehicle use\n- maximum discount", ["Rule C-5 Vehicle Use", "Rule C-12 Maximum Discount"]),
        ("Vehicle Use: how it is used\n2) MAXIMUM DISCOUNT.", ["Rule C-5 Vehicle Use", "Rule C-12 Maximum Discount"]),
        ("They are Eligible Vehicles, Vehicle Use and so on", ["Rule C-5 Vehicle Use"]),
        ("They are: Vehicle Use and Maximum Discount.", ["Rule C-5 Vehicle Use", "Rule C-12 Maximum Discount"]),
        ("* C-1: Policy Term\n* C-12", ["Rule C-1 Policy Term and Payment", "Rule C-12 Maximum Discount"]),
        ("Rules C-11 and C-12.", ["Rule C-11 Cancellation by the Member", "Rule C-12 Maximum Discount"]),
        ("The manual describes deductibles and vehicle use.", []),
        ("Deductibles apply to vehicle use, and claim-free years matter.", []),
        *[(text, []) for text in ("Section C (12 rules) is long.", "I cannot list the rules of Section C.", "")],
        ("Rule C-13, Rule B-1 and the claim free yearbook", []),
    ],
)
def test_a_list_counts_the_items_that_are_named(answer: str, found: list[str]) -> None:
    """By any of their forms, as whole words: Rule C-12 is not Rule C-1."""
    result = score_golden("rules_coverage", "EF_1", answer)
    assert result.value == pytest.approx(len(found) / 12)
    assert result.details["found"] == found
    assert result.details["rules_found"] == len(found)
    assert len(result.details["missing"]) == 12 - len(found)


@pytest.mark.parametrize(
    ("answer", "lacking"),
    [
        (FULL_FACTS, set()),
        (FULL_FACTS.replace("−", "-"), set()),
        (FULL_FACTS.replace("−", ""), {"has_rate_neg_0_133"}),
        (FULL_FACTS.replace("%", ""), {"has_rate_0_305", "has_rate_neg_0_133"}),
        (FULL_FACTS.replace("differ by 36", "differ: the difference exceeds 30"), set()),
        (FULL_FACTS.replace("differ by 36", "differ by more than 30"), set()),
        (FULL_FACTS.replace("differ by 36", "differ by 37"), {"has_difference_36"}),
        (FULL_FACTS.replace("Yes", "Yesterday"), {"has_yes"}),
        (FULL_FACTS.replace("Territory 118", "**territory 118**"), set()),
        (FULL_FACTS.replace("Territory 117", "Territory 1175"), {"has_territory_117"}),
        ("No. Page 51 and 15 of the manual; 36 pages.", set(ALL_FACTS)),
        (FULL_FACTS.replace("GRG 51 and GRG 15", "GRG51 and GRG15"), set()),
        (FULL_FACTS.replace("GRG 51 and GRG 15", "GRGs 51 and 15"), set()),
        (FULL_FACTS.replace("GRG 51 and GRG 15", "Taldo Ridge 2.4 AWD: 51 and Brisk Pip 1.0 (15)"), set()),
        (f"{FULL_FACTS} Territories 118 and 117.".replace("Territory", "area"), set()),
        *[(text, set(ALL_FACTS)) for text in ("No such thing is known.", "")],
    ],
)
def test_facts_hold_one_by_one(answer: str, lacking: set[str]) -> None:
    """The score is the share of the facts; minus and percent sign belong to a number."""
    result = score_golden("fact_score", "EF_2", answer)
    assert result.details == {"facts": {name: name not in lacking for name in ALL_FACTS}}
    assert result.value == pytest.approx(1 - len(lacking) / 8)


@pytest.mark.parametrize(
    ("answer", "value", "true"),
    [
        ("293 × 2.061 = 603.873, so $604.", 1, {"has_604", *SHOWN}),
        ("293 * 2.061 = $604.00", 1, {"has_604", *SHOWN}),
        ("293x2.061 gives **$604**", 1, {"has_604", *SHOWN}),
        ("By multiplying 293 by 2.061: 604", 1, {"has_604", *SHOWN}),
        ("**$604**", 1, {"has_604"}),
        ("Multiply the base rate by the factor: 604", 1, {"has_604", "has_calculation"}),
        ("By multiplication: 604", 1, {"has_604", "has_calculation"}),
        ("I do not have enough information. $604?", 0, {"has_604", "cannot_calculate"}),
        ("It cannot be computed... 604", 0, {"has_604", "cannot_calculate"}),
        ("It isn't possible to calculate the premium of $604", 0, {"has_604", "cannot_calculate"}),
        ("We couldn’t determine it; 604?", 0, {"has_604", "cannot_calculate"}),
        ("293 × 2.061 = $603", 0, SHOWN),
        *[(text, 0, set()) for text in ("$6040 or $1,604 or 604%", "")],
        ("I cannot calculate the premium.", 0, {"cannot_calculate"}),
        ("It may be $604, but I can’t calculate it.", 0, {"has_604", "cannot_calculate"}),
        ("There is not enough\ninformation for 604.", 0, {"has_604", "cannot_calculate"}),
    ],
)
def test_a_calculation_is_correct_with_its_result_and_without_excuses(
    answer: str, value: float, true: set[str]
) -> None:
    """The right number, and nowhere the claim that it cannot be calculated."""
    result = score_golden("is_correct", "EF_3", answer)
    assert result.value == value
    stated = result.details["facts"] | {"cannot_calculate": result.details["cannot_calculate"]}
    assert {name for name, holds in stated.items() if holds} == true
    assert stated.keys() == {"has_604", *SHOWN, "cannot_calculate"}


def test_several_checks_of_a_kind_are_taken_together() -> None:
    """Items and facts are pooled, calculations must all be right, and any name may be used."""
    items = [{"name": "red", "any": ["red", "crimson"]}, {"name": "blue", "any": ["blue"]}]
    facts = [{"name": "value", "any": ["red"]}, {"name": "self", "numbers": ["7"]}]
    checks: list[dict[str, Any]] = [
        {"kind": "list", "name": "colours", "items": items},
        {"kind": "list", "name": "first", "items": items[:1]},
        {"kind": "facts", "facts": facts},
        {"kind": "facts", "facts": [{"name": "x", "any": ["blue"]}]},
        {"kind": "calculation", "facts": facts[:1], "answer": "value"},
        {"kind": "calculation", "facts": facts[1:], "answer": "self", "cannot_phrases": ["no idea"]},
    ]
    colours = score("rules_coverage", "Crimson.", checks=checks)
    assert colours.value == pytest.approx(2 / 3)
    assert (colours.details["colours_coverage"], colours.details["first_found"]) == (0.5, 1)
    assert (colours.details["found"], colours.details["missing"]) == (["red", "red"], ["blue"])
    stated = score("fact_score", "red and 7", checks=checks)
    assert stated.value == pytest.approx(2 / 3)
    assert stated.details == {"facts": {"value": True, "self": True, "x": False}}
    values = [score("is_correct", text, checks=checks).value for text in ("red and 7", "red", "7", "red, 7: no idea")]
    assert values == [1, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "kind"), [("rules_coverage", "list"), ("fact_score", "facts"), ("is_correct", "calculation")]
)
def test_a_question_without_the_check_has_no_value(name: str, kind: str) -> None:
    """Only what is declared is checked; an answer that was not sent is not a wrong one."""
    undeclared = f"the question declares no check of kind {kind!r}"
    assert lack(score_golden(name, "G001", "anything")) == (None, "not_applicable", undeclared)
    facts = [{"name": "f", "any": ["x"]}]
    parts = {"items": facts, "name": "n"} if kind == "list" else {"facts": facts}
    parts |= {"answer": "f"} if kind == "calculation" else {}
    assert score(name, None, checks=[{"kind": kind, **parts}]).reason == "the server sent no answer"
