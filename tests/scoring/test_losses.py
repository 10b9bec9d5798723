"""Whether lost verdicts were lost at random, and what a run says where they were not."""

from collections.abc import Callable

import numpy as np
import pytest
from whole_runs import score_records

from evals.metrics.generation import AnswerCorrectness, Faithfulness
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, JudgeVerdict, RetrievedChunk
from evals.schemas.verdicts import JudgeFailure
from evals.scoring.missing import find_losses, notes_on_losses
from evals.scoring.settings import ScoreSettings, ScoringContext

METRICS = [Faithfulness(), AnswerCorrectness()]
Lose = Callable[[int], bool]


def judged(lost: Lose, questions: int = 60, failure: JudgeFailure = "truncated") -> list[EvalRecord]:
    """Answers of one to sixty sentences, each with its verdicts as far as they are not lost."""
    return [_record(number, failure, lost=lost(number)) for number in range(1, questions + 1)]


def _record(number: int, failure: JudgeFailure, *, lost: bool) -> EvalRecord:
    replies = {
        "faithfulness": {"claims": [{"claim": "c", "verdict": "supported"}]},
        "answer_correctness": {"verdict": "correct", "justification": "-"},
    }
    verdicts = [
        JudgeVerdict(request=name, failure=failure, message="cut off")
        if lost and name == "faithfulness"
        else JudgeVerdict(request=name, reply=reply)
        for name, reply in replies.items()
    ]
    chunks = [RetrievedChunk(text=f"Passage {n}.") for n in range(1 + number % 2)]
    return EvalRecord(
        question=EvalQuestion(id=f"q{number}", question="How long?", expected_answer="Four days."),
        response=EvalResponse(answer="It lasts four days. " * number, chunks=chunks),
        verdicts=verdicts,
    )


def found(records: list[EvalRecord]) -> dict[tuple[str, str], bool]:
    """By request and measure, whether the losses are at random."""
    cases = ScoringContext(ScoreSettings(judged=True))
    losses = find_losses(METRICS, score_records(METRICS, records, cases), cases)
    return {(loss.request, loss.by): loss.at_random for loss in losses}


def test_losses_on_the_long_ones_are_told() -> None:
    """With figures, in the notes and in what is saved; what is asked of other requests is not accused."""
    records = judged(lambda number: number > 40)
    assert found(records) == {("faithfulness", "length"): False, ("faithfulness", "items"): True}
    cases = ScoringContext(ScoreSettings(judged=True))
    losses = find_losses(METRICS, score_records(METRICS, records, cases), cases)
    assert [(loss.lost, loss.obtained, loss.level) for loss in losses] == [(20, 40, 0.025)] * 2
    (note,) = notes_on_losses(losses)
    assert note.startswith("lost verdicts: faithfulness: not at random: lost ones (20) have a median of 1,1")
    assert "the others (40) of 5" in note
    assert "values are biased towards the others" in note


def test_losses_on_those_with_many_items_are_told() -> None:
    """Here the number of passages."""
    assert not found(judged(lambda number: number % 2 == 1))["faithfulness", "items"]


def test_losses_at_random_are_seldom_accused() -> None:
    """In about one run of twenty."""
    rng = np.random.default_rng(1)
    accused = 0
    for _ in range(60):
        lost = set(np.flatnonzero(rng.random(61) < 0.3).tolist())
        accused += not all(found(judged(lost.__contains__)).values())
    assert accused <= 8


@pytest.mark.parametrize("lost", [1, 5])
def test_what_is_too_long_is_never_lost_at_random(lost: int) -> None:
    """However few are lost: it was their length that decided."""
    records = judged(lambda number: number > 60 - lost, failure="too_long")
    cases = ScoringContext(ScoreSettings(judged=True))
    losses = find_losses(METRICS, score_records(METRICS, records, cases), cases)
    (of_length,) = (loss for loss in losses if loss.by == "length")
    assert (of_length.too_long, of_length.lost, of_length.at_random) == (lost, lost, False)
    (note,) = (note for note in notes_on_losses(losses) if "characters" in note)
    assert f"({lost} too long to be asked); values are biased towards the others, bounds are not" in note


@pytest.mark.parametrize("few", [0, 2])
def test_few_losses_are_not_tested(few: int) -> None:
    """Two lost verdicts show nothing, and none needs no test."""
    assert found(judged(lambda number: number <= few)) == {}
