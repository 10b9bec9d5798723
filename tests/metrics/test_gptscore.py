"""GPTScore by its five criteria, and factual match by letters or by meaning."""

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics.records import judged, lack

from evals.metrics.qa import FactualMatch, FuzzyMatch, GPTScore
from evals.schemas.verdicts import JudgeFailure

CRITERIA = ("topic", "central_fact", "no_contradiction", "figures", "direction")
HIT, MISS = "It lasts 96 hours.", "It lasts four days."
"""Answers whose letters hold, and do not hold, the expected "It lasts 96 hours."."""


def criteria(*verdicts: str) -> dict[str, Any]:
    items = [{"id": name, "verdict": verdict} for name, verdict in zip(CRITERIA, verdicts, strict=True)]
    return {"criteria": items}


MET, NOT_MET, UNTOLD = criteria(*["met"] * 5), criteria("met", "not_met", *["met"] * 3), criteria(*["cannot_tell"] * 5)


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize(
    ("verdict", "value"), [("met", 1.0), ("not_met", 0.0), ("not_applicable", 1.0), ("cannot_tell", None)]
)
def test_each_of_the_five_criteria_decides(place: int, verdict: str, value: float | None) -> None:
    """One that is not met is enough for 0; one that does not apply is no fault; one untold leaves it open."""
    verdicts = ["met"] * 5
    verdicts[place] = verdict
    result = GPTScore().score(judged({"gptscore": criteria(*verdicts)}))
    assert (result.value, result.missing) == (value, "judge" if value is None else None)
    assert result.details["criteria"] == dict(zip(CRITERIA, verdicts, strict=True))
    assert result.details.get("not_met") == ([CRITERIA[place]] if value == 0 else None)


@given(verdicts=st.lists(st.sampled_from(["met", "not_met", "not_applicable", "cannot_tell"]), min_size=5, max_size=5))
@settings(derandomize=True, max_examples=100)
def test_what_is_not_met_outweighs_what_could_not_be_told(verdicts: list[str]) -> None:
    """All have to hold: one that fails settles it, one untold keeps it from 1, and so does it where none applies."""
    is_open = "cannot_tell" in verdicts or "met" not in verdicts
    value = GPTScore().score(judged({"gptscore": criteria(*verdicts)})).value
    assert value == (0.0 if "not_met" in verdicts else None if is_open else 1.0)


@pytest.mark.parametrize(
    ("replies", "value"), [([MET, NOT_MET], 0.0), ([MET, MET, NOT_MET], 1.0), ([MET, UNTOLD, NOT_MET], 0.0)]
)
def test_of_repeats_more_than_half_have_to_say_yes(replies: list[Any], value: float) -> None:
    """It stays 0 or 1; repeats that could not tell do not count."""
    assert GPTScore().score(judged({"gptscore": replies})).value == value


@pytest.mark.parametrize(
    "said", [*get_args(JudgeFailure), UNTOLD], ids=lambda said: said if said != UNTOLD else "untold"
)
def test_a_judge_that_does_not_decide_leaves_it_to_the_letters(said: Any) -> None:
    """GPTScore has no value; a fuzzy hit is still a match, and without one it stays open, by the judge's fault."""
    assert GPTScore().score(judged({"gptscore": said})).missing == "judge"
    hit = FactualMatch().score(judged({"gptscore": said}, answer=HIT))
    assert (hit.value, hit.details) == (1.0, {"fuzzy_match": 1.0, "gptscore": None})
    reason = "the judge could not tell" if said == UNTOLD else f"judge {said}: why"
    assert lack(FactualMatch().score(judged({"gptscore": said}, answer=MISS))) == (None, "judge", reason)


@pytest.mark.parametrize(
    ("answer", "said", "value", "disagree"),
    [(HIT, MET, 1.0, False), (HIT, NOT_MET, 1.0, True), (MISS, MET, 1.0, True), (MISS, NOT_MET, 0.0, False)],
)
def test_either_is_enough_and_disagreement_needs_verification(
    answer: str, said: dict[str, Any], value: float, disagree: bool
) -> None:
    """Both always run: the details hold both, and ask for a reader only where they differ."""
    result = FactualMatch().score(judged({"gptscore": said}, answer=answer))
    told = {"fuzzy_match": float(answer == HIT), "gptscore": float(said is MET)}
    assert (result.value, result.details) == (value, told | ({"needs_verification": True} if disagree else {}))


def test_both_run_even_where_the_letters_agree() -> None:
    """The judge is asked although the answer is a fuzzy hit, and once for the two metrics."""
    case = judged(answer=HIT)
    (request,) = FactualMatch().requests(case)
    assert GPTScore().requests(case) == [request]
    assert set(request.data) == {"question", "expected_answer", "accepted_variants", "answer"}


@pytest.mark.parametrize("answer", [HIT, MISS])
def test_without_a_judge_there_is_no_value(answer: str) -> None:
    """What is no hit by letters may be one by meaning, and a mean over the hits alone is always 1."""
    case = judged(answer=answer)
    case.judged = False
    assert lack(FactualMatch().score(case)) == (None, "not_applicable", "no judge was used")


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"is_unanswerable": False, "answer": "I don't know."}, 0.0),
        ({"is_unanswerable": True, "expected_answer": None, "answer": "I don't know."}, None),
        ({"is_unanswerable": True, "expected_answer": None, "answer": HIT}, 0.0),
        ({"expected_answer": None, "answer": HIT}, None),
        ({"answer": None}, None),
    ],
)
def test_abstentions_are_settled_alike_by_letters_and_by_meaning(fields: dict[str, Any], value: float | None) -> None:
    """All three metrics agree, and nobody is asked."""
    case = judged(**fields)
    for metric in (GPTScore(), FactualMatch(), FuzzyMatch()):
        assert metric.requests(case) == []
        result = metric.score(case)
        assert (result.value, result.missing) == (value, None if value == 0 else "not_applicable"), metric.name
        assert "needs_verification" not in result.details
