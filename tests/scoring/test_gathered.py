"""Results in columns."""

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics.registry import parse_metric
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse
from evals.scoring.columns import ResultColumn, ScoreTable
from evals.scoring.settings import ScoreSettings, ScoringContext

RESPONSE = EvalResponse(answer="Ada")
METRIC = parse_metric("mrr")
RESULTS = st.one_of(
    st.floats(0, 1).map(METRIC.result),
    st.sampled_from(["not_applicable", "transport", "judge"]).map(
        lambda kind: METRIC.undefined(f"why {kind}", missing=kind)
    ),
)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(RESULTS))
def test_a_column_gives_back_what_was_put_in(results: list[Any]) -> None:
    """Values, why there is none, and on what they hang, in their order."""
    column = ResultColumn.of(METRIC, results)
    assert [value for value, _ in column] == [result.value for result in results]
    assert [kind.missing for _, kind in column] == [result.missing for result in results]
    assert [kind.reason for _, kind in column] == [result.reason for result in results]
    assert column.missing().total() == len(column) == len(results)


def test_a_metric_that_some_questions_lack_keeps_to_the_rows_of_those_that_have_it(
    build_run: Callable[..., Any],
) -> None:
    """So that its values belong to the clusters of their own questions."""
    records = build_run(
        "a", {"q1": {"mrr": 1.0}, "q2": {"precision_at_5": 1.0}, "q3": {"mrr": 0.5, "precision_at_5": 0.0}}
    )[1]
    table = ScoreTable.of([METRIC, parse_metric("precision_at_5")], records, "question")
    assert list(table.rows("mrr")) == [0, 2]
    assert list(table.rows("precision_at_5")) == [1, 2]
    assert table.column("mrr").values == [1.0, 0.5]
    assert [table.ids[row] for row in table.rows("precision_at_5")] == ["q2", "q3"]
    assert table.clusters(table.rows("mrr")) == table.clusters([0, 2])
    assert len(set(table.clusters(range(3)))) == 3


def test_cases_hold_the_records_in_hand_and_no_more() -> None:
    """However many records pass."""
    cases = ScoringContext(ScoreSettings())
    records = [EvalRecord(question=EvalQuestion(id=f"q{n}", question="Who?")) for n in range(400)]
    first = cases.about(records[0].question, RESPONSE)
    assert cases.about(records[0].question, RESPONSE) is first
    for record in records[1:]:
        cases.of(record)
    assert cases.about(records[0].question, RESPONSE) is not first


def test_more_reasons_than_fit_a_byte_are_told_apart() -> None:
    """Those before and those after the codes became longer."""
    reasons = [f"why {number}" for number in range(300)]
    column = ResultColumn.of(METRIC, [METRIC.undefined(reason) for reason in [*reasons, reasons[0]]])
    assert [kind.reason for _, kind in column] == [*reasons, reasons[0]]
