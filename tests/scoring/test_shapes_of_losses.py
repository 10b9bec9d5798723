"""Losses of shapes that no estimator was made for: what values, counts, bounds and notes say of them."""

from collections.abc import Callable
from statistics import fmean
from typing import Any

import pytest
from whole_runs import score_records

from evals.metrics.claims import ClaimPrecision, NuggetAll
from evals.metrics.generation import AnswerCorrectness
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, JudgeVerdict, MetricSummary, RetrievedChunk
from evals.scoring.missing import find_losses, notes_on_datasets, notes_on_losses
from evals.scoring.scorecard import make_scorecard
from evals.scoring.settings import ScoreSettings, ScoringContext

METRICS = [AnswerCorrectness(), NuggetAll(), ClaimPrecision()]
SETTINGS = ScoreSettings(judged=True)
QUESTIONS = 60
REFUSALS = 12
Lose = Callable[[int, str, int], bool]
"""Whether the verdict on a question is lost: its number, the request and the repeat."""


def nothing(_number: int, _request: str, _repeat: int) -> bool:
    return False


def replies(number: int) -> dict[str, Any]:
    """The longer the answer, the worse; of two claims each."""
    right = number < QUESTIONS // 2
    said = ["correct", "correct" if right else "not_stated"]
    conveyed = ["conveyed", "conveyed" if right else "missing"]
    return {
        "answer_correctness": {"verdict": "correct" if right else "incorrect", "justification": "-"},
        "reference_claims": {"claims": [{"claim": "r", "importance": "vital"}] * 2},
        "answer_claims": {"claims": [{"claim": "a"}] * 2},
        "claims_compared": {
            "answer_claims": [{"id": n, "verdict": verdict} for n, verdict in enumerate(said, start=1)],
            "reference_claims": [{"id": n, "verdict": verdict} for n, verdict in enumerate(conveyed, start=1)],
        },
    }


def record(number: int, lose: Lose, repeats: int) -> EvalRecord:
    """Every fifth is a refusal of three words, of which no judge is asked but what should have been said."""
    refuses = number % 5 == 4
    verdicts = [
        JudgeVerdict(request=name, repeat=repeat, failure="unparsable", message="no JSON")
        if lose(number, name, repeat)
        else JudgeVerdict(request=name, repeat=repeat, reply=reply)
        for name, reply in replies(number).items()
        for repeat in range(repeats)
        if name == "reference_claims" or not refuses
    ]
    return EvalRecord(
        question=EvalQuestion(
            id=f"q{number}", question="How long?", expected_answer="Four days.", dataset="odd" if number % 2 else "even"
        ),
        response=EvalResponse(
            answer="I don't know." if refuses else "It lasts four days, and all is paid for. " * (number + 1),
            chunks=[RetrievedChunk(text="Four days.")],
        ),
        verdicts=verdicts,
    )


def scored(lose: Lose = nothing, repeats: int = 1) -> list[EvalRecord]:
    records = [record(number, lose, repeats) for number in range(QUESTIONS)]
    return score_records(METRICS, records, ScoringContext(SETTINGS))


def summary(records: list[EvalRecord], name: str) -> MetricSummary:
    found = make_scorecard(METRICS, records, SETTINGS).get(name)
    assert found is not None
    return found


def values(records: list[EvalRecord], name: str) -> list[float]:
    return [s.value for r in records for s in r.scores if s.name == name and s.value is not None]


def notes(records: list[EvalRecord]) -> list[str]:
    return [*notes_on_losses(find_losses(METRICS, records, ScoringContext(SETTINGS))), *notes_on_datasets(records)]


SHAPES: dict[str, Lose] = {
    "long answers": lambda number, name, _: name == "answer_correctness" and number >= 40,
    "second calls": lambda number, name, _: name == "claims_compared" and number % 3 == 0,
    "all second calls": lambda _n, name, _r: name == "claims_compared",
    "first calls": lambda number, name, _: name == "reference_claims" and number % 3 == 1,
    "one dataset": lambda number, name, _: number % 2 == 1,
    "the second half": lambda number, _name, _r: number >= QUESTIONS // 2,
    "all": lambda _n, _name, _r: True,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_the_value_without_losses_lies_in_the_bounds(shape: str, metric: Any) -> None:
    """And so does the value with them; counts add up to all questions; without a verdict there is no value."""
    records = scored(SHAPES[shape])
    found, clean = summary(records, metric.name), summary(scored(), metric.name)
    counts = found.counts
    assert counts.scored + counts.not_applicable + counts.judge == QUESTIONS
    assert counts.scored == len(values(records, metric.name))
    assert found.sample_size == (0 if found.value is None else counts.scored)
    needed = [s for r in records for s in r.scores if s.name == metric.name and s.judged_by]
    if all(result.missing == "judge" for result in needed):
        assert found.value is None
        assert "no JSON" in (found.reason or "")
    if found.bounds is not None and clean.value is not None:
        assert found.bounds[0] <= clean.value <= found.bounds[1]
        assert found.value is None or found.bounds[0] <= found.value <= found.bounds[1]


def test_losses_of_long_answers_lean_and_say_so() -> None:
    """Their value is that of the shorter ones, beside refusals in their true number."""
    records = scored(SHAPES["long answers"])
    found = summary(records, "answer_correctness")
    there = [value for r in records for s in r.scores if s.name == "answer_correctness" and s.judged_by
             if (value := s.value) is not None]  # fmt: skip
    assert found.value == pytest.approx((QUESTIONS - REFUSALS) * fmean(there) / QUESTIONS)
    (note,) = notes(records)
    assert "answer_correctness: not at random" in note
    assert "characters" in note


def test_a_lost_second_call_loses_what_it_decides_alone() -> None:
    """Nuggets of refusals are 0 without it, and stand for nothing but refusals."""
    records, clean = scored(SHAPES["second calls"]), scored()
    found = summary(records, "nugget_all")
    assert (found.counts.judge, summary(records, "answer_correctness").counts.judge) == (16, 0)
    assert (found.strata.settled, found.strata.judged, found.strata.obtained) == (0, QUESTIONS, QUESTIONS - 16)
    assert found.value == pytest.approx(summary(clean, "nugget_all").value, abs=0.01)
    assert notes(records) == []


def test_without_any_second_call_refusals_alone_are_no_value() -> None:
    """Twelve zeros are known, and forty-eight answers are not."""
    found = summary(scored(SHAPES["all second calls"]), "nugget_all")
    assert (found.value, found.counts.scored, found.counts.judge) == (None, REFUSALS, QUESTIONS - REFUSALS)
    assert "more than a tenth" in (found.reason or "")
    assert found.bounds == (0.0, 0.8)


def test_losses_of_one_dataset_are_said() -> None:
    """Its answers are as long as those of the other; alone it has no value, together the other one stands for it."""
    records = scored(SHAPES["one dataset"])
    told = [note for note in notes(records) if "of odd" in note]
    assert [note.split(";")[0] for note in told] == [
        f"lost verdicts: {name}: not at random: of odd {lost} of {lost} are lost, of the others 0 of {lost}"
        for name, lost in (("answer_correctness", 24), ("reference_claims", 30))
    ]
    odd = [record for record in records if record.question.dataset == "odd"]
    alone = summary(odd, "answer_correctness")
    assert (alone.value, alone.bounds) == (None, (0.0, 0.8))
    assert summary(records, "answer_correctness").value is not None


@pytest.mark.parametrize("shape", ["second calls", "first calls"])
def test_losses_spread_over_datasets_are_not_accused(shape: str) -> None:
    """Of each as many."""
    assert notes_on_datasets(scored(SHAPES[shape])) == []


def test_a_run_of_one_dataset_has_none_to_accuse() -> None:
    """Whatever is lost."""
    odd = [record for record in scored(SHAPES["the second half"]) if record.question.dataset == "odd"]
    assert notes_on_datasets(odd) == []


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_one_repeat_of_three_is_no_loss(lost: int) -> None:
    """The others decide; nothing is missing, whichever of the three it is, at each question another."""
    records = scored(lambda number, _name, repeat: repeat == (number + lost) % 3, repeats=3)
    for metric in METRICS:
        found, clean = summary(records, metric.name), summary(scored(), metric.name)
        assert (found.value, found.counts, found.bounds) == (clean.value, clean.counts, None)
        assert found.strata is None


def test_repeats_lost_at_different_calls_of_a_chain_leave_the_one_that_is_whole() -> None:
    """The first repeat lacks the first call, the second one the last."""
    gone = {("reference_claims", 0), ("claims_compared", 1)}
    records = scored(lambda _n, name, repeat: (name, repeat) in gone, repeats=3)
    assert summary(records, "nugget_all").value == summary(scored(), "nugget_all").value
    gone.add(("answer_claims", 2))
    records = scored(lambda _n, name, repeat: (name, repeat) in gone, repeats=3)
    found = summary(records, "nugget_all")
    assert (found.value, found.counts.judge) == (None, QUESTIONS - REFUSALS)
