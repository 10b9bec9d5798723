"""GPTScore by its five criteria, and factual match by letters or by meaning."""

from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics import Sample
from evals.metrics.qa import FactualMatch, FuzzyMatch, GPTScore
from evals.schemas.verdicts import JudgeFailure

MakeCase = Callable[..., Sample]
ABSTENTION = "I don't know."
CRITERIA = ("topic", "central_fact", "no_contradiction", "figures", "direction")
HIT, MISS = "It lasts 96 hours.", "It lasts four days."
"""Answers whose letters hold, and do not hold, the expected "It lasts 96 hours."."""


def criteria(*verdicts: str) -> dict[str, Any]:
    items = [{"id": name, "verdict": verdict} for name, verdict in zip(CRITERIA, verdicts, strict=True)]
    return {"gptscore": {"criteria": items}}


MET, NOT_MET, UNTOLD = criteria(*["met"] * 5), criteria("met", "not_met", *["met"] * 3), criteria(*["cannot_tell"] * 5)


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize(
    ("verdict", "value"), [("met", 1.0), ("not_met", 0.0), ("not_applicable", 1.0), ("cannot_tell", None)]
)
def test_each_of_the_five_criteria_decides(
    judged_case: MakeCase, place: int, verdict: str, value: float | None
) -> None:
    """One that is not met is enough for 0; one that does not apply is no fault; one untold leaves it open."""
    verdicts = ["met"] * 5
    verdicts[place] = verdict
    result = GPTScore().score(judged_case(criteria(*verdicts)))
    assert result.value == value
    assert result.missing == ("judge" if value is None else None)
    assert result.details["criteria"] == dict(zip(CRITERIA, verdicts, strict=True))
    assert result.details.get("not_met") == ([CRITERIA[place]] if value == 0 else None)


@given(verdicts=st.lists(st.sampled_from(["met", "not_met", "not_applicable", "cannot_tell"]), min_size=5, max_size=5))
@settings(derandomize=True, max_examples=100)
def test_what_is_not_met_outweighs_what_could_not_be_told(judged_case: MakeCase, verdicts: list[str]) -> None:
    """All have to hold: one that fails settles it, one untold keeps it from 1, and so does it where none applies."""
    value = GPTScore().score(judged_case(criteria(*verdicts))).value
    if "not_met" in verdicts:
        assert value == 0.0
    else:
        assert value == (None if "cannot_tell" in verdicts or "met" not in verdicts else 1.0)


@pytest.mark.parametrize(
    ("replies", "value"), [([MET, NOT_MET], 0.0), ([MET, MET, NOT_MET], 1.0), ([MET, UNTOLD, NOT_MET], 0.0)]
)
def test_of_repeats_more_than_half_have_to_say_yes(
    judged_case: MakeCase, replies: list[dict[str, Any]], value: float
) -> None:
    """It stays 0 or 1; repeats that could not tell do not count."""
    case = judged_case({"gptscore": [reply["gptscore"] for reply in replies]})
    assert GPTScore().score(case).value == value


@pytest.mark.parametrize("failure", get_args(JudgeFailure))
def test_a_failure_of_the_judge_leaves_it_to_the_letters(judged_case: MakeCase, failure: str) -> None:
    """GPTScore has no value; a fuzzy hit is still a match, and without one it stays open, by the judge's fault."""
    assert GPTScore().score(judged_case({"gptscore": failure})).missing == "judge"
    assert FactualMatch().score(judged_case({"gptscore": failure}, answer=HIT)).value == 1.0
    result = FactualMatch().score(judged_case({"gptscore": failure}, answer=MISS))
    assert (result.value, result.missing) == (None, "judge")
    assert failure in (result.reason or "")


@pytest.mark.parametrize(
    ("answer", "said", "value", "disagree"),
    [(HIT, MET, 1.0, False), (HIT, NOT_MET, 1.0, True), (MISS, MET, 1.0, True), (MISS, NOT_MET, 0.0, False)],
)
def test_either_is_enough_and_disagreement_needs_verification(
    judged_case: MakeCase, answer: str, said: dict[str, Any], value: float, disagree: bool
) -> None:
    """Both always run: the details hold both, and ask for a reader only where they differ."""
    result = FactualMatch().score(judged_case(said, answer=answer))
    assert result.value == value
    assert result.details.get("needs_verification", False) is disagree
    assert result.details["fuzzy_match"] == (answer == HIT)
    assert result.details["gptscore"] == (said is MET)


def test_both_run_even_where_the_letters_agree(judged_case: MakeCase) -> None:
    """The judge is asked although the answer is a fuzzy hit, and once for the two metrics."""
    case = judged_case({}, answer=HIT)
    assert FactualMatch().requests(case) == GPTScore().requests(case)
    (request,) = FactualMatch().requests(case)
    assert set(request.data) == {"question", "expected_answer", "accepted_variants", "answer"}


@pytest.mark.parametrize("answer", [HIT, MISS])
def test_without_a_judge_there_is_no_value(judged_case: MakeCase, answer: str) -> None:
    """What is no hit by letters may be one by meaning, and a mean over the hits alone is always 1."""
    case = judged_case({}, answer=answer)
    case.judged = False
    result = FactualMatch().score(case)
    assert (result.value, result.missing, result.reason) == (None, "not_applicable", "no judge was used")
    assert "needs_verification" not in result.details


def test_an_open_verdict_leaves_it_open(judged_case: MakeCase) -> None:
    """A judge that could not tell is no no, and no disagreement either."""
    miss = FactualMatch().score(judged_case(UNTOLD, answer=MISS))
    assert (miss.value, miss.missing, miss.reason) == (None, "judge", "the judge could not tell")
    hit = FactualMatch().score(judged_case(UNTOLD, answer=HIT))
    assert (hit.value, hit.details) == (1.0, {"fuzzy_match": 1.0, "gptscore": None})


@pytest.mark.parametrize(
    ("asked", "answer", "value"),
    [
        ({"is_unanswerable": False}, ABSTENTION, 0.0),
        ({"is_unanswerable": True, "expected_answer": None}, ABSTENTION, None),
        ({"is_unanswerable": True, "expected_answer": None}, HIT, 0.0),
        ({"expected_answer": None}, HIT, None),
        ({}, None, None),
    ],
)
def test_abstentions_are_settled_alike_by_letters_and_by_meaning(
    judged_case: MakeCase, asked: dict[str, Any], answer: str | None, value: float | None
) -> None:
    """All three metrics agree, and nobody is asked."""
    case = judged_case({}, asked=asked, answer=answer)
    for metric in (GPTScore(), FactualMatch(), FuzzyMatch()):
        assert metric.requests(case) == []
        result = metric.score(case)
        assert (result.value, result.missing) == (value, None if value == 0 else "not_applicable"), metric.name
        assert "needs_verification" not in result.details
