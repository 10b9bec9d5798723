"""Abstention as a two-by-two table."""

import pytest
from whole_runs import abstention_table, score_records

from evals.metrics.registry import select
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, ResponseError
from evals.scoring.abstention import beside_scorecard
from evals.scoring.scorecard import make_scorecard
from evals.scoring.settings import ScoreSettings, ScoringContext
from evals.scoring.stats.intervals import wilson

REFUSAL = "I don't have enough information to answer that."


def records(*counts: int) -> list[EvalRecord]:
    """So many answerable questions that are answered and declined, and unanswerable ones."""
    kinds = [(False, "It is blue."), (False, REFUSAL), (True, "It is blue."), (True, REFUSAL)]
    return [
        EvalRecord(
            question=EvalQuestion(id=f"{kind}-{n}", question="Which colour is it?", is_unanswerable=kind[0]),
            response=EvalResponse(answer=kind[1]),
        )
        for kind, count in zip(kinds, counts, strict=True)
        for n in range(count)
    ]


def test_the_cells_and_the_rates() -> None:
    """Counts add up to the questions, each rate is of its own part, with Wilson's interval."""
    table = abstention_table(records(6, 2, 1, 3), ScoringContext(ScoreSettings()), 0.9)
    assert (table.answerable_answered, table.answerable_abstained) == (6, 2)
    assert (table.unanswerable_answered, table.unanswerable_abstained) == (1, 3)
    rates = {name: (rate["count"], rate["of"]) for name, rate in table.model_dump().items() if isinstance(rate, dict)}
    assert rates == {
        "false_abstention": (2, 8),
        "missed_abstention": (1, 4),
        "recall": (3, 4),
        "precision": (3, 5),
        "accuracy": (9, 12),
        "always_answering": (8, 12),
        "always_abstaining": (4, 12),
    }
    assert table.precision.value == 0.6
    assert table.precision.interval == wilson(3, 5, 0.9)


def test_the_rates_are_those_of_the_metrics() -> None:
    """The table and the scorecard say the same."""
    asked, cases = records(6, 2, 1, 3), ScoringContext(ScoreSettings())
    metrics = select([], ["unanswerable_accuracy", "abstention_false_positive_rate", "abstention_false_negative_rate"])
    card = make_scorecard(metrics, score_records(metrics, asked, cases), ScoreSettings())
    table = abstention_table(asked, cases)
    assert table.accuracy.value == card.get("unanswerable_accuracy").value
    assert table.false_abstention.value == card.get("abstention_false_positive_rate").value
    assert table.missed_abstention.value == card.get("abstention_false_negative_rate").value


def test_a_rate_that_the_scorecard_has_too_has_its_interval() -> None:
    """Questions about one document are one cluster: a second, narrower interval of the same number would be wrong."""
    asked, cases = [*records(20, 10, 10, 5)], ScoringContext(ScoreSettings())
    for n, record in enumerate(asked):
        question = record.question.model_copy(update={"metadata": {"topic": f"t{n // 5}"}})
        asked[n] = record.model_copy(update={"question": question})
    metrics = select([], ["unanswerable_accuracy", "abstention_false_positive_rate", "abstention_false_negative_rate"])
    settings = ScoreSettings(cluster="topic")
    card = make_scorecard(metrics, score_records(metrics, asked, cases), settings)
    table = abstention_table(asked, cases)
    beside = beside_scorecard(table, card)
    missed = card.get("abstention_false_negative_rate").ci
    assert missed != table.missed_abstention.interval
    assert beside.missed_abstention.interval == missed
    assert beside.recall.interval == (1 - missed[1], 1 - missed[0])
    assert beside.false_abstention.interval == card.get("abstention_false_positive_rate").ci
    assert beside.accuracy.interval == card.get("unanswerable_accuracy").ci
    assert beside.precision == table.precision


def test_a_rate_of_other_questions_keeps_its_own_interval() -> None:
    """Where the scorecard's value is another, as of a part of the questions, its interval is not taken."""
    cases = ScoringContext(ScoreSettings())
    metrics = select([], ["unanswerable_accuracy"])
    card = make_scorecard(metrics, score_records(metrics, records(6, 2, 1, 3), cases), ScoreSettings())
    table = abstention_table(records(8, 2, 1, 3), cases)
    assert beside_scorecard(table, card) == table


def test_a_rate_of_nothing_has_no_value() -> None:
    """A dataset without unanswerable questions says nothing of how they are declined."""
    table = abstention_table(records(2, 0, 0, 0), ScoringContext(ScoreSettings()))
    assert (table.recall.value, table.recall.interval, table.precision.value) == (None, None, None)


@pytest.mark.parametrize(
    "parts",
    [
        {"response": None},
        {"response": EvalResponse()},
        {"response": EvalResponse(error=ResponseError(kind="timeout", message="120 s"))},
        {"question": EvalQuestion(question="Which colour is it?")},
    ],
    ids=["not asked", "retrieved only", "lost", "answerability unknown"],
)
def test_what_tells_nothing_of_abstention_is_left_out(parts: dict[str, object]) -> None:
    """Without any other question there is no table."""
    (one,) = records(1, 0, 0, 0)
    assert abstention_table([one.model_copy(update=parts)], ScoringContext(ScoreSettings())) is None
