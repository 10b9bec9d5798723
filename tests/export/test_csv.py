"""`csv`: a row a question, which a spreadsheet shows and does not run."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from whole_runs import kept_run

from evals.export import export_pieces

Build = Callable[..., Any]


def rows_of(folder: Path, run: Any, records: Any) -> list[dict[str, str]]:
    document = "".join(map(str, export_pieces(kept_run(folder, run, records), "csv")))
    return list(csv.DictReader(io.StringIO(document, newline="")))


def test_every_record_is_read_back(build_run: Build, tmp_path: Path) -> None:
    """Question, outcome, answer, gold, chunks, metrics, reasons and metadata are in the columns of their names."""
    run, records = build_run(
        "a",
        {"q1": {"mrr": 0.5, "recall_at_1": None}, "q2": "timeout"},
        questions={
            "q1": {
                "expected_answer": 'Say "yes",\nthen no',
                "gold_passages": [{"text": "About q1."}],
                "metadata": {"difficulty": "easy", "tags": ["x", "y"]},
            },
            "q2": {"question": "Wo ist Zürich?", "metadata": {"page": 7}},
        },
    )
    first, second = rows_of(tmp_path, run, records)
    assert json.loads(first.pop("chunks")) == [{"rank": 1, "is_gold": True, "text": "About q1."}]
    assert json.loads(first.pop("gold_passages")) == [{"text": "About q1."}]
    assert first == {
        "id": "q1",
        "dataset": "golden",
        "question": "What is q1?",
        "expected_answer": 'Say "yes",\nthen no',
        "is_unanswerable": "",
        "outcome": "differs",
        "answer": "It is q1.",
        "error": "",
        "declined": "false",
        "latency_ms": "12.5",
        "attempts": "1",
        "citations": "",
        "mrr": "0.5",
        "recall_at_1": "",
        "reasons": "recall_at_1: it does not apply",
        "meta.difficulty": "easy",
        "meta.page": "",
        "meta.tags": '["x", "y"]',
    }
    assert second["question"] == "Wo ist Zürich?"
    assert (second["outcome"], second["error"]) == ("failed", "timeout: no answer came")
    assert (second["answer"], second["declined"], second["mrr"], second["chunks"]) == ("", "", "", "")
    assert second["meta.page"] == "7"


def test_a_latency_stands_in_one_column(build_run: Build, tmp_path: Path) -> None:
    """Percentiles are of a run; of one question they are its latency."""
    (row,) = rows_of(tmp_path, *build_run("a", {"q1": {"latency_p50": 12.5, "latency_p95": 12.5, "mrr": 1.0}}))
    assert [name for name, value in row.items() if value == "12.5"] == ["latency_ms"]
    assert row["mrr"] == "1.0"


def test_a_question_that_was_not_asked_has_a_row(build_run: Build, tmp_path: Path) -> None:
    """An interrupted run is exported whole."""
    run, records = build_run("a", {"q1": {"mrr": 0.5}})
    (row,) = rows_of(tmp_path, run, [records[0].model_copy(update={"response": None, "scores": []})])
    assert (row["outcome"], row["error"], row["attempts"], row.get("mrr", "")) == ("not_asked", "not asked", "", "")


HOSTILE = [
    "=1+1",
    '=HYPERLINK("http://x","y")',
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1",
    "\n=1",
    "=cmd|' /C calc'!A0",
]
HOSTILE += ["＝1+1", "-", "+", "--1", "-1e", " =1+1", "\u00a0 @SUM(A1)"]
HARMLESS = ["1e5=", "-5", "+3.25", "-1e-5", "-.5", 'Quotes "", commas\r\nand\n\nbreaks', "Zürich 数", "'"]


def test_text_that_could_be_a_formula_is_made_text_in_every_column(build_run: Build, tmp_path: Path) -> None:
    """An apostrophe keeps a spreadsheet from running it; numbers and all other text are read back as they were."""
    texts = [*HOSTILE, *HARMLESS]
    questions = {text: {"question": text, "dataset": text, "metadata": {"=key": text}} for text in texts}
    run, records = build_run("a", {text: {"mrr": -1e-7} for text in texts}, questions=questions)
    responses = [
        record.response.model_copy(update={"answer": text}) for record, text in zip(records, texts, strict=True)
    ]
    answered = zip(records, responses, strict=True)
    rows = rows_of(tmp_path, run, [record.model_copy(update={"response": response}) for record, response in answered])
    for text, row in zip(texts, rows, strict=True):
        cell = text if text in HARMLESS else f"'{text}"
        assert [row[name] for name in ("id", "question", "dataset", "answer", "meta.=key")] == [cell] * 5
        assert row["mrr"] == "-1e-07"


def test_the_time_to_the_first_token_has_one_column_in_runs_that_measure_it(build_run: Build, tmp_path: Path) -> None:
    """Its percentiles would both say the same of a question; other runs have no such column."""
    run, records = build_run("a", {"q1": {"time_to_first_token_p50": 20.0, "time_to_first_token_p95": 20.0}})
    timed = records[0].response.model_copy(update={"time_to_first_token_ms": 20.0})
    (row,) = rows_of(tmp_path, run, [records[0].model_copy(update={"response": timed})])
    assert row["time_to_first_token_ms"] == "20.0"
    assert not {"time_to_first_token_p50", "time_to_first_token_p95"} & row.keys()
    (row,) = rows_of(tmp_path, *build_run("b", {"q1": {"mrr": 1.0}}))
    assert "time_to_first_token_ms" not in row
