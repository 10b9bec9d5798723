"""`evals export`: to standard output and to a file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]


@pytest.fixture
def export(save: Callable[..., Any], evals_cli: Cli, tmp_path: Path) -> Cli:
    """Save a run of two questions, and run `evals export` on it."""
    save("abcd1234", {"q1": {"mrr": 0.5}, "q2": "timeout"}, name="Größe")

    def call(*arguments: object, run_id: str = "abcd") -> Any:
        run = [run_id, *arguments[1:]] if "RUN" in arguments else ["--run-id", run_id, *arguments]
        return evals_cli("export", *run, "--runs-dir", tmp_path / "runs")

    return call


@pytest.mark.parametrize(
    ("flags", "begin"),
    [([], "id,dataset,"), (["--format", "json"], '{"id":'), (["--format", "markdown"], "### score ")],
)
def test_each_format_is_printed(export: Cli, flags: list[str], begin: str) -> None:
    """And nothing but the export; CSV is the default, and a pipe gets it without a mark."""
    result = export(*flags)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(begin)


def test_a_file_is_written_and_nothing_printed(export: Cli, tmp_path: Path) -> None:
    """The file is the export, with a byte order mark for spreadsheets."""
    path = tmp_path / "out.csv"
    result = export("--output", path)
    assert (result.code, result.out) == (0, "")
    assert path.read_bytes().startswith(b"\xef\xbb\xbfid,dataset,")
    assert export("--format", "json", "--output", tmp_path / "run.json").code == 0
    assert len(json.loads((tmp_path / "run.json").read_text())["records"]) == 2


@pytest.mark.parametrize(
    ("arguments", "run_id", "words"),
    [
        (["--format", "cvs"], "abcd", "did you mean 'csv'"),
        ([], "zzzz", "evals runs"),
        ([], "../abcd", "no run '../abcd'"),
        (["--output", "/dev/null/x.csv"], "abcd", "--output"),
        (["--output", "/"], "abcd", "says no format"),
        (["--format", "csv", "--output", "/"], "abcd", "is a folder"),
        (["--format", "beir"], "abcd", "no format 'beir' any more\n  csv, parquet and json have questions"),
        (["--format", "review"], "abcd", "`evals review` writes the sheet"),
        (["--output", "run.txt"], "abcd", "trec-run (.run)"),
        (["another"], "abcd", "2 runs are named"),
    ],
)
def test_what_cannot_be_exported_is_told(export: Cli, arguments: list[str], run_id: str, words: str) -> None:
    """An unknown format, an unknown run, and a file that cannot be written."""
    result = export(*arguments, run_id=run_id)
    assert result.code == 2
    assert "Traceback" not in result.err


def test_the_name_of_the_file_says_the_format(export: Cli, tmp_path: Path) -> None:
    """With the run as an argument; what is left out is said beside the file."""
    assert export("RUN", "-o", tmp_path / "x.md").code == 0
    assert (tmp_path / "x.md").read_text().startswith("### score ")
    result = export("RUN", "-o", tmp_path / "x.run")
    said = f"wrote {tmp_path / 'x.run'}\nleft out: 2 questions without a gold passage\n"
    assert (result.code, result.out, result.err) == (0, "", said)


def test_a_name_that_says_another_format_is_refused(export: Cli, tmp_path: Path) -> None:
    """A reader of the file would take it for what its name says."""
    refused = export("RUN", "-o", tmp_path / "x.json", "--format", "csv")
    assert (refused.code, (tmp_path / "x.json").exists()) == (2, False)
    assert "the name 'x.json' says json, not csv" in refused.err
    assert "leave out --format, or let the name end with .csv" in refused.err
    assert export("RUN", "-o", tmp_path / "x.tab", "--format", "csv").code == 0
