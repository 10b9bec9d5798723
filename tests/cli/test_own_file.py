"""Questions of one's own on the command line: how many there are, and what was read."""

import csv
import io
import json
import re
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


def test_every_output_says_that_rows_were_left_out(
    evals_cli: Cli, questions: Path, golden_server: str, tmp_path: Path
) -> None:
    """100 of 150 on the terminal, in the plan, in JSON, Markdown and CSV, whose rows stand in the file's order."""
    runs = ["--runs-dir", tmp_path / "runs"]
    asked = ["eval", "--dataset-file", questions, "--no-judge", "--rag-url", golden_server, *runs, "--samples", 100]
    plan = evals_cli(*asked, "--dry-run").out
    assert "100 of 150 questions, 4 at a time" in plan
    assert "mine: 100 of 150 questions, 0 documents" in plan
    run = evals_cli(*asked, "--json").json
    (found,) = run["fingerprints"]
    assert (found["questions"], found["available"]) == (100, 150)
    assert "100 of 150 questions: 100 answered" in evals_cli("show", run["id"], *runs).out
    assert "· 100 of 150 questions ·" in evals_cli("export", "--run-id", run["id"], "--format", "markdown", *runs).out
    rows = csv.DictReader(io.StringIO(evals_cli("export", "--run-id", run["id"], *runs).out))
    ids = [int(row["id"].removeprefix("q")) for row in rows]
    assert (len(ids), ids) == (100, sorted(ids))


@pytest.mark.parametrize(
    ("flags", "count", "cut"),
    [((), "150", False), (("--samples", 0), "150", False), (("--samples", 150), "150", False),
     (("--samples", 100), "100 of 150", True)],
    ids=str,
)  # fmt: skip
def test_stats_counts_all_rows_of_a_file(
    evals_cli: Cli, questions: Path, flags: tuple[object, ...], count: str, cut: bool
) -> None:
    """The 100 of the datasets is not for a file of one's own."""
    out = evals_cli("stats", "--dataset-file", questions, *flags).out
    assert re.search(rf"^mine +{count} +not said", out, re.MULTILINE)
    assert ("--samples 0 for all" in out) == cut
