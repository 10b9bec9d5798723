"""Nuggets: the arithmetic over scripted assignments, and what an abstention conveys."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics import Sample, parse_metric
from evals.schemas import MetricResult

MakeCase = Callable[..., Sample]
Replies = Callable[..., dict[str, Any]]
ALL = ["nugget_all", "nugget_all_strict", "nugget_vital", "nugget_vital_strict"]
VITAL = ALL[2:]


@pytest.fixture(scope="module")
def case_of(judged_case: MakeCase, claim_replies: Replies) -> MakeCase:
    """Build a record whose nuggets are given as (assignment, importance)."""

    def make(*nuggets: tuple[str, str], **fields: Any) -> Sample:
        claims = [(said, (), importance) for said, importance in nuggets]
        return judged_case(claim_replies([("correct", ())], claims), **fields)

    return make


def score(name: str, case: Sample) -> MetricResult:
    return parse_metric(name).score(case)


def values(case: Sample) -> list[float | None]:
    return [score(name, case).value for name in ALL]


@pytest.mark.parametrize(
    ("nuggets", "expected"),
    [
        ([("conveyed", "vital"), ("conveyed", "okay")], [1, 1, 1, 1]),
        ([("missing", "vital"), ("missing", "okay")], [0, 0, 0, 0]),
        ([("partly", "vital"), ("partly", "okay")], [0.5, 0, 0.5, 0]),
        ([("conveyed", "vital"), ("partly", "vital"), ("missing", "okay")], [0.5, 1 / 3, 0.75, 0.5]),
        ([("missing", "vital"), ("conveyed", "okay"), ("partly", "okay")], [0.5, 1 / 3, 0, 0]),
        ([("conveyed", "vital"), ("cannot_tell", "vital"), ("partly", "okay")], [0.75, 0.5, 1, 1]),
        ([("conveyed", "okay")], [1, 1, None, None]),
    ],
)
def test_a_nugget_counts_by_how_far_it_is_conveyed(
    case_of: MakeCase, nuggets: list[tuple[str, str]], expected: list[float | None]
) -> None:
    """Half where partly, nothing where strict; the vital ones apart; what the judge could not tell does not count."""
    assert values(case_of(*nuggets)) == pytest.approx(expected)


@pytest.mark.parametrize("name", VITAL)
def test_without_a_vital_nugget_there_is_no_share_of_them(case_of: MakeCase, name: str) -> None:
    """AutoNuggetizer gives 0 there, which would punish the answer for the reference."""
    result = score(name, case_of(("conveyed", "okay")))
    assert (result.missing, result.reason) == ("not_applicable", "no fact of the expected answer is vital")


@pytest.mark.parametrize(("name", "could_not_tell"), [("nugget_vital", True), ("nugget_all", False)])
def test_a_judge_that_could_not_tell_on_the_vital_nuggets_gives_no_share_of_them(
    case_of: MakeCase, name: str, could_not_tell: bool
) -> None:
    """The other nuggets still count among all."""
    result = score(name, case_of(("cannot_tell", "vital"), ("conveyed", "okay")))
    assert (result.value is None, result.missing == "judge") == (could_not_tell, could_not_tell)


@pytest.mark.parametrize("answer", ["I don't know.", ""])
def test_an_abstention_on_an_answerable_question_conveys_nothing(case_of: MakeCase, answer: str) -> None:
    """It is 0 and not left out; only the expected answer is asked about, whatever was said of the other."""
    case = case_of(("conveyed", "vital"), ("conveyed", "okay"), answer=answer)
    assert values(case) == [0, 0, 0, 0]
    assert {one.name for name in ALL for one in parse_metric(name).requests(case)} == {"reference_claims"}


def autonuggetizer(nuggets: Sequence[tuple[str, str]], *, strict: bool, vital: bool) -> float | None:
    """As the AutoNuggetizer scores an answer: support 1, partial support 0.5 or strictly 0, no support 0."""
    worth = {"conveyed": 1.0, "partly": 0.0 if strict else 0.5, "missing": 0.0}
    counted = [worth[said] for said, importance in nuggets if importance == "vital" or not vital]
    return sum(counted) / len(counted) if counted else None


assignments = st.tuples(st.sampled_from(["conveyed", "partly", "missing"]), st.sampled_from(["vital", "okay"]))
example_count = settings(derandomize=True, deadline=None, max_examples=100)


@example_count
@given(nuggets=st.lists(assignments, min_size=1, max_size=8))
def test_the_values_are_autonuggetizers(case_of: MakeCase, nuggets: list[tuple[str, str]]) -> None:
    """All four, whatever is assigned."""
    wanted = [
        autonuggetizer(nuggets, strict=strict, vital=vital) for vital in (False, True) for strict in (False, True)
    ]
    assert values(case_of(*nuggets)) == pytest.approx(wanted)
