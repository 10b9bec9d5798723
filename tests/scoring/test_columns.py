"""The results of a run in columns: what they say is what the records say."""

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evals.metrics.registry import parse_metric
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, MetricGroup, MetricResult
from evals.scoring.run_columns import ANSWERABLE, CHUNKS, ScoreColumn, ScoreTable, columns_of, pack, unpack

_MISSING = st.sampled_from(["not_applicable", "transport", "judge"])
_RESULT = st.one_of(
    st.builds(
        lambda value, judged_by, rules: {"value": value, "judged_by": judged_by, "details": {"rules": rules, "x": 1}},
        st.floats(allow_nan=False, allow_infinity=False),
        st.lists(st.sampled_from(["claims", "correctness"]), max_size=2),
        st.dictionaries(st.sampled_from(["exact", "overlap"]), st.integers(0, 3)),
    ),
    st.builds(lambda missing, reason: {"missing": missing, "reason": reason}, _MISSING, st.sampled_from(["no", "nö"])),
    st.none(),
)


def records_of(given_results: list[dict[str, Any] | None], name: str = "mrr") -> list[EvalRecord]:
    """A record a result; None is a record without one."""
    return [
        EvalRecord(
            question=EvalQuestion(id=f"q{number}", question="What?", dataset="d"),
            response=EvalResponse(answer="That."),
            scores=[] if each is None else [MetricResult(name=name, group=MetricGroup.RETRIEVAL, **each)],
        )
        for number, each in enumerate(given_results)
    ]


def said(result: MetricResult | None) -> object:
    """What summaries read of a result."""
    if result is None:
        return None
    rules = result.details.get("rules")
    return result.value, result.missing, result.reason, list(result.judged_by), rules


@given(st.lists(_RESULT, max_size=12))
def test_a_column_says_of_each_question_what_its_record_says(results: list[dict[str, Any] | None]) -> None:
    """Value, reason, kind of missing, verdicts and rules; also packed and unpacked."""
    records = records_of(results)
    columns = columns_of(records, "question")
    for found in (columns, unpack(pack(columns))):
        column = found.scores.get("mrr", ScoreColumn("mrr"))
        rows = range(len(records) if column.values else 0)
        expected = [said(record.scores[0]) if record.scores else None for record in records]
        assert [said(column.at(row)) for row in rows] == (expected if column.values else [])
        assert found.ids == [record.question.id for record in records]


def test_what_is_packed_is_unpacked_whole(build_run: Callable[..., Any]) -> None:
    """Every part of the columns."""
    parts = {"q1": {"is_unanswerable": False, "expected_answer": "Ja"}}
    _, records = build_run("a", {"q1": {"mrr": 1.0}, "q2": "timeout", "q3": {"mrr": None}}, questions=parts)
    columns = columns_of(records, "question")
    again = unpack(pack(columns))
    for name, part in vars(columns).items():
        assert name.startswith("_") or repr(getattr(again, name)) == repr(part), name
    assert columns.errors == ["", "timeout", ""]
    assert columns.flags[0] & ANSWERABLE
    assert not columns.flags[1] & CHUNKS


def test_unpacked_columns_hold_the_ids_that_are_held_anyway(build_run: Callable[..., Any]) -> None:
    """A question that was not asked has no row, and no string is held twice."""
    _, records = build_run("a", {"q1": {"mrr": 1.0}, "q2": {"mrr": 0.5}, "q3": {"mrr": None}})
    records[1] = records[1].model_copy(update={"response": None})
    ids = [record.question.id for record in records]
    found = unpack(pack(columns_of(records, "question")), ids)
    assert [id(key) for key in found.ids] == [id(ids[0]), id(ids[2])]


def test_a_question_without_an_answer_may_count_as_the_worst() -> None:
    """Those lost to transport alone; nothing else changes, and the column itself stays."""
    lost, other = {"missing": "transport", "reason": "late"}, {"missing": "judge", "reason": "torn"}
    column = columns_of(records_of([{"value": 0.5}, lost, other]), "question").scores["mrr"]
    worst = column.instead("transport", 0.0)
    assert [said(worst.at(row)) for row in range(3)] == [
        (0.5, None, None, [], None), (0.0, None, None, [], None), (None, "judge", "torn", [], None),
    ]  # fmt: skip
    assert said(column.at(1)) == (None, "transport", "late", [], None)


def test_a_metric_that_some_questions_lack_keeps_to_the_rows_of_those_that_have_it(
    build_run: Callable[..., Any],
) -> None:
    """So that its values belong to the clusters of their own questions, also of two parts that are put together."""
    records = build_run(
        "a", {"q1": {"mrr": 1.0}, "q2": {"precision_at_5": 1.0}, "q3": {"mrr": 0.5, "precision_at_5": 0.0}}
    )[1]
    metrics = [parse_metric("mrr"), parse_metric("precision_at_5")]
    table = ScoreTable("question", metrics).add_all(records[:2])
    table.extend(ScoreTable("question", metrics).add_all(records[2:]))
    assert table.ids == ["q1", "q2", "q3"]
    assert list(table.column("mrr").codes) == [1, 0, 1]
    assert list(table.column("precision_at_5").codes) == [0, 1, 1]
    assert table.column("mrr").scored == [1.0, 0.5]
    assert len(set(table.labels())) == 3
    assert table.labels([2]) == table.labels()[2:]


def test_more_kinds_of_results_than_fit_a_byte_are_told_apart() -> None:
    """Those before and those after the codes became longer, also of two parts that are put together."""
    metric = parse_metric("mrr")
    reasons = [f"why {number}" for number in range(300)]
    column = ScoreColumn.of(metric, [metric.undefined(reason) for reason in [*reasons, reasons[0]]])
    assert [kind.reason for _, kind in column] == [*reasons, reasons[0]]
    first = ScoreColumn.of(metric, [metric.undefined("first")])
    first.extend(column)
    assert [kind.reason for _, kind in first] == ["first", *reasons, reasons[0]]
    assert first.missing().total() == len(first) == 302
