"""`csv`: a row a question, which a spreadsheet shows and does not run."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from evals.report.tables import cell, sheet
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.export import export_run
from evals.report.wording import printable
from evals.schemas import EvalResponse, MetricGroup, MetricResult

Build = Callable[..., Any]
deterministic = settings(derandomize=True, deadline=None, max_examples=300)
text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def rows_of(document: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(document, newline="")))


def test_every_record_is_read_back(build_run: Build) -> None:
    """Question, answer, metrics, reasons and metadata are in the columns that bear their names."""
    run, records = build_run(
        "a",
        {"q1": {"mrr": 0.5, "recall_at_1": None}, "q2": "timeout"},
        questions={
            "q1": {"expected_answer": 'Say "yes",\nthen no', "metadata": {"difficulty": "easy", "tags": ["x", "y"]}},
            "q2": {"question": "Wo ist Zürich?", "metadata": {"page": 7}},
        },
    )
    first, second = rows_of(export_run(run, records, "csv"))
    assert first == {
        "id": "q1",
        "dataset": "golden",
        "question": "What is q1?",
        "expected_answer": 'Say "yes",\nthen no',
        "answer": "It is q1.",
        "error": "",
        "abstained": "false",
        "latency_ms": "12.5",
        "attempts": "1",
        "chunks": "1",
        "mrr": "0.5",
        "recall_at_1": "",
        "reasons": "recall_at_1: it does not apply",
        "meta.difficulty": "easy",
        "meta.page": "",
        "meta.tags": '["x", "y"]',
    }
    assert second["question"] == "Wo ist Zürich?"
    assert second["error"] == "timeout: no answer came"
    assert (second["answer"], second["abstained"], second["mrr"], second["chunks"]) == ("", "", "", "")
    assert second["meta.page"] == "7"


def test_a_latency_stands_in_one_column(build_run: Build) -> None:
    """Percentiles are of a run; of one question they are its latency."""
    run, records = build_run("a", {"q1": {"latency_p50": 12.5, "latency_p95": 12.5, "mrr": 1.0}})
    (row,) = rows_of(export_run(run, records, "csv"))
    assert [name for name, value in row.items() if value == "12.5"] == ["latency_ms"]
    assert row["mrr"] == "1.0"


def test_a_question_that_was_not_asked_has_a_row(build_run: Build) -> None:
    """An interrupted run is exported whole."""
    run, records = build_run("a", {"q1": {"mrr": 0.5}})
    (row,) = rows_of(export_run(run, [records[0].model_copy(update={"response": None, "scores": []})], "csv"))
    assert (row["error"], row["attempts"], row["mrr"]) == ("not asked", "", "")


@pytest.mark.parametrize(
    "hostile",
    [
        "=1+1",
        '=HYPERLINK("http://x","y")',
        "+1+1",
        "-2+3",
        "@SUM(A1)",
        "\t=1+1",
        "\r=1",
        "\n=1",
        "=cmd|' /C calc'!A0",
        "＝1+1",
        "-",
        "+",
        "--1",
        "-1e",
        "1e5=",
        " =1+1",
        "\u00a0 @SUM(A1)",
    ],
)
def test_text_that_could_be_a_formula_is_made_text(hostile: str) -> None:
    """An apostrophe before it keeps a spreadsheet from running it; a number at the start of the text does not."""
    first = hostile[0]
    assert cell(hostile) == (hostile if first.isdigit() else f"'{hostile}")


@pytest.mark.parametrize("number", [-1.5, 0, 3, 1e-7, -0.0, "-5", "+3.25", "-1e-5", "-.5"])
def test_numbers_stay_numbers(number: float | str) -> None:
    """A negative value is no formula, whether it is ours or the answer of a server."""
    assert cell(number) == str(number)
    assert float(cell(number)) == float(number)


def test_formulas_are_harmless_in_every_column(build_run: Build) -> None:
    """Whatever a dataset or a server sends, no cell begins as a formula."""
    evil = "=1+1"
    run, records = build_run(
        "a",
        {evil: {"mrr": 1.0}},
        questions={evil: {"question": evil, "dataset": evil, "metadata": {evil: evil}}},
    )
    response = records[0].response.model_copy(update={"answer": evil})
    for form in ("csv", "review"):
        document = export_run(run, [records[0].model_copy(update={"response": response})], form)
        assert not [value for row in csv.reader(io.StringIO(document)) for value in row if value.startswith("=")]


@deterministic
@given(st.lists(st.lists(text, min_size=3, max_size=3), max_size=8))
def test_any_text_is_read_back(rows: list[list[str]]) -> None:
    """Quotes, commas, line breaks and foreign letters come back as they were; what no sheet shows has its sign."""
    document = "".join(sheet(["a", "b", "c"], [dict(zip("abc", row, strict=True)) for row in rows]))
    found = list(csv.reader(io.StringIO(document, newline="")))
    assert found == [["a", "b", "c"], *([cell(value) for value in row] for row in rows)]
    for row, original in zip(found[1:], rows, strict=True):
        for value, first in zip(row, original, strict=True):
            assert value in {printable(first), f"'{printable(first)}"}


def test_a_review_sheet_shows_failures_first(build_run: Build) -> None:
    """Then what is disputed, then what is sound; passages stand beside the answer, and two columns are empty."""
    gold = {"gold_passages": [{"text": "Nothing like what the server found."}], "expected_answer": "Something else."}
    values = {"sound": {"mrr": 1.0}, "disputed": {"mrr": 1.0}, "wrong": {"mrr": 0.0}, "lost": "timeout"}
    run, records = build_run("a", values, questions={"wrong": gold})
    details = {"fuzzy_match": 0.0, "gptscore": 1.0, "needs_verification": True}
    match = MetricResult(name="factual_match", group=MetricGroup.GENERATION, value=1.0, details=details)
    marked = [r.model_copy(update={"scores": [match]}) if r.question.id == "disputed" else r for r in records]
    rows = rows_of(export_run(run, marked, "review"))
    assert [(row["id"], row["failure"], row["needs_verification"]) for row in rows] == [
        ("lost", "no answer: timeout, no answer came", ""),
        ("wrong", "the reference passage is not among 1 chunk", ""),
        ("disputed", "", "yes"),
        ("sound", "", ""),
    ]
    assert (rows[1]["passage_1"], rows[1]["mrr"]) == ("[?]\nAbout wrong.", "0.0")
    assert all((row["verdict"], row["comment"]) == ("", "") for row in rows)


def test_the_expected_answer_counts_for_the_column_of_abstentions(build_run: Build) -> None:
    """It says what the metrics were told: an answer that holds what is expected is none."""
    questions = {"q1": {"expected_answer": "Kings", "is_unanswerable": False}}
    run, records = build_run("a", {"q1": {"mrr": 0.5}}, questions=questions)
    answered = records[0].model_copy(update={"response": EvalResponse(answer="I don't know about the Kings.")})
    assert rows_of(export_run(run, [answered], "csv"))[0]["abstained"] == "false"


def test_the_time_to_the_first_token_has_one_column_in_runs_that_measure_it(build_run: Build) -> None:
    """Its percentiles would both say the same of a question; other runs have the columns that they had."""
    run, records = build_run("a", {"q1": {"time_to_first_token_p50": 20.0, "time_to_first_token_p95": 20.0}})
    timed = [
        record.model_copy(update={"response": record.response.model_copy(update={"time_to_first_token_ms": 20.0})})
        for record in records
    ]
    (row,) = rows_of(export_run(run, timed, "csv"))
    assert row["time_to_first_token_ms"] == "20.0"
    assert not {"time_to_first_token_p50", "time_to_first_token_p95"} & row.keys()
    run, records = build_run("b", {"q1": {"mrr": 1.0}})
    assert "time_to_first_token_ms" not in rows_of(export_run(run, records, "csv"))[0]
