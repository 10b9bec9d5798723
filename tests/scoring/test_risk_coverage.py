"""Risk by coverage, and the area under the curve."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whole_runs import risk_coverage

from evals.export import export_run
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse
from evals.scoring.settings import ScoreSettings, ScoringContext

CASES = st.lists(st.tuples(st.sampled_from([0.1, 0.4, 0.7, 0.9]), st.booleans()), min_size=1, max_size=12)


def records(*sure: tuple[float | None, bool]) -> list[EvalRecord]:
    """Answers by their confidence and whether they are right."""
    return [
        EvalRecord(
            question=EvalQuestion(id=str(n), question="Which colour is it?", expected_answer="blue"),
            response=EvalResponse(answer="It is blue." if right else "It is green.", confidence=confidence),
        )
        for n, (confidence, right) in enumerate(sure)
    ]


def test_the_curve_and_its_area() -> None:
    """By hand: of four answers the second surest and the least sure are wrong."""
    curve = risk_coverage(
        records((0.2, False), (0.9, True), (0.5, True), (0.7, False)), ScoringContext(ScoreSettings())
    )
    assert [(point.confidence, point.coverage) for point in curve.points] == [
        (0.9, 0.25), (0.7, 0.5), (0.5, 0.75), (0.2, 1.0),
    ]  # fmt: skip
    assert [point.risk for point in curve.points] == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    assert curve.area == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert curve.area_of_chance == 0.5
    assert curve.least_area == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(CASES)
def test_no_order_beats_the_best_one_and_ties_have_none(sure: list[tuple[float, bool]]) -> None:
    """The area lies between the least possible and 1, and does not depend on the order of the questions."""
    curve, turned = (risk_coverage(records(*some), ScoringContext(ScoreSettings())) for some in (sure, sure[::-1]))
    assert curve.area == pytest.approx(turned.area)
    assert curve.least_area - 1e-9 <= curve.area <= 1


def test_the_same_confidence_everywhere_is_chance() -> None:
    """It tells nothing, so its area is the share of wrong answers."""
    curve = risk_coverage(records(*[(0.5, n % 3 > 0) for n in range(9)]), ScoringContext(ScoreSettings()))
    assert curve.area == pytest.approx(curve.area_of_chance) == pytest.approx(1 / 3)


def test_answers_without_confidence_and_abstentions_are_left_out() -> None:
    """A server that gives none has no curve."""
    assert risk_coverage(records((None, True), (None, False)), ScoringContext(ScoreSettings())) is None
    (one,) = records((0.9, True))
    declined = EvalResponse(answer="I don't have enough information to answer that.", confidence=0.1)
    assert risk_coverage([one.model_copy(update={"response": declined})], ScoringContext(ScoreSettings())) is None


def test_an_answer_to_what_cannot_be_answered_is_wrong() -> None:
    """Whatever it says."""
    asked = EvalQuestion(id="q", question="Which colour is it?", is_unanswerable=True)
    (one,) = records((0.9, True))
    curve = risk_coverage([one.model_copy(update={"question": asked})], ScoringContext(ScoreSettings()))
    assert curve.area == 1.0


def test_markdown_tells_the_area(build_run: object) -> None:
    """With what chance and the best possible confidence would reach."""
    run, _ = build_run("a", {"q": {"mrr": 1.0}})  # type: ignore[operator]
    document = export_run(run, records((0.9, True), (0.1, False)), "markdown")
    assert "AURC 0.250 (chance 0.500, best possible 0.250) over 2 answers with a confidence" in document
