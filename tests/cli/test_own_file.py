"""Questions of one's own on the command line: how many there are, and what was read."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """A file of 150 questions, whose ids count."""
    path = tmp_path / "mine.jsonl"
    rows = ({"id": f"q{number}", "question": f"What is fee {number}?"} for number in range(150))
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_outputs_tell_of_rows_left_out(evals_cli: Cli, questions: Path, golden_server: str, tmp_path: Path) -> None:
    """100 of 150 on the terminal, in the plan, in JSON, Markdown and CSV, whose rows stand in the file's order."""
    runs = ["--runs-dir", tmp_path / "runs"]
    asked = ["eval", "--dataset-file", questions, "--no-judge", "--rag-url", golden_server, *runs, "--samples", 100]
    plan = evals_cli(*asked, "--dry-run").out
    assert "100 of 150 questions, 4 at a time" in plan
    assert "mine: 100 of 150 questions, 0 documents" in plan
    run = evals_cli(*asked, "--json").json
    (found,) = run["fingerprints"]
    assert (found["questions"], found["available"]) == (100, 150)
    assert "100 of 150 questions: " in evals_cli("show", run["id"], *runs).out
    assert "\n100 of 150 questions: " in evals_cli("export", "--run-id", run["id"], "--format", "markdown", *runs).out
    rows = csv.DictReader(io.StringIO(evals_cli("export", "--run-id", run["id"], *runs).out))
    ids = [int(row["id"].removeprefix("q")) for row in rows]
    assert (len(ids), ids) == (100, sorted(ids))


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    """A sheet in German, with a reference that declines."""
    path = tmp_path / "fragen.csv"
    rows = ["Anliegen;Soll;Quelle;Thema", "Wie lang?;96 Stunden;Sie hält 96 Stunden.;Akku", "Wer?;I don't know.;;Leute"]
    path.write_text("\n".join(rows), encoding="cp1252")
    return path


COLUMNS = "question=Anliegen, expected_answer=soll,gold_passages=Quelle"


def test_stats_shows_how_a_file_was_read(evals_cli: Cli, sheet: Path) -> None:
    """Columns, and what became of the others: its owner sees what is wrong."""
    out = evals_cli("stats", "--dataset-file", sheet, "--columns", COLUMNS).out
    said = " ".join(out.split())
    assert "left out: 1 × expected answer that declines to answer; measures retrieval, generation, citation" in said
    assert "read: question from 'Anliegen', expected_answer from 'Soll', gold_passages from 'Quelle'" in said
    assert "! fragen.csv: read as Windows-1252, for it is not UTF-8; kept as metadata: Thema" in said
    twice = evals_cli("stats", sheet, "--dataset-file", sheet)
    assert (twice.code, f"two files are named: {sheet} and {sheet}" in twice.err) == (2, True)


def test_a_run_says_how_its_file_was_read(evals_cli: Cli, sheet: Path, golden_server: str, tmp_path: Path) -> None:
    """Beside the numbers: on the terminal, in JSON and in Markdown, and in the plan."""
    flags = ["--dataset-file", sheet, "--columns", COLUMNS, "--runs-dir", tmp_path / "runs"]
    asked = ["eval", *flags, "--no-judge", "--no-preflight", "--rag-url", golden_server]
    notes = (
        "fragen.csv: read as Windows-1252, for it is not UTF-8; kept as metadata: Thema",
        "fragen.csv: left out: 1 × expected answer that declines to answer",
    )
    plan = evals_cli(*asked, "--dry-run").out
    run = evals_cli(*asked, "--json").json
    shown = evals_cli("show", run["id"], "--runs-dir", tmp_path / "runs").out
    exported = evals_cli("export", "--run-id", run["id"], "--format", "markdown", "--runs-dir", tmp_path / "runs").out
    for note in notes:
        assert note in plan
        assert f"! {note}" in shown
        assert f"- {note}" in exported
    columns = {"question": "Anliegen", "expected_answer": "Soll", "gold_passages": "Quelle"}
    assert run["eval_config"]["columns"] == {**columns, "expected_answer": "soll"}
    (found,) = run["fingerprints"]
    assert found["columns"] == columns
    assert found["notes"] == [f"{notes[0]} (`columns` names what is read otherwise)"]
    assert found["dropped"] == {"expected answer that declines to answer": 1}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("Frage", "--columns must be FIELD=COLUMN, with commas between several"),
        ("question=", "--columns must be FIELD=COLUMN"),
        ("farbe=Anliegen", "--columns: a question has no field 'farbe' (known: answers, checks"),
        ("question=Farge", "fragen.csv has no column 'Farge', which `columns` names"),
        ("id=Thema", "fragen.csv: no column holds the question; its columns: Anliegen, Soll, Quelle, Thema"),
    ],
)
def test_columns_that_cannot_be_read_end_with_2(evals_cli: Cli, sheet: Path, columns: str, message: str) -> None:
    """One message that names the flag or the column."""
    result = evals_cli("eval", "--dataset-file", sheet, "--columns", columns, "--no-judge", "--dry-run")
    assert (result.code, result.out) == (2, "")
    assert f"error: {message}" in result.err


def test_files_that_are_not_read_any_more_end_with_2(evals_cli: Cli, tmp_path: Path) -> None:
    """Those of promptfoo in each of its forms, and topics of TREC by their name and by having no header."""
    row = {"vars": {"question": "How long?"}, "assert": [{"type": "equals", "value": "96 hours"}]}
    contents = {
        "q.jsonl": json.dumps(row),
        "q.csv": "question,__expected\nHow long?,96 hours\n",
        "q.yaml": json.dumps({"prompts": ["{{question}}"], "tests": [row]}),
        "output.json": json.dumps({"evalId": "e", "results": {"results": [{"testCase": row}]}}),
        "topics.tsv": "301\tWhat?\n302\tWho?\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
        result = evals_cli("stats", "--dataset-file", tmp_path / name)
        files = "TREC topics" if name == "topics.tsv" else "promptfoo"
        assert (result.code, f"files of {files} are not read any more" in result.err) == (2, True), name
        assert files != "promptfoo" or "write a table with the columns question and expected_answer" in result.err
