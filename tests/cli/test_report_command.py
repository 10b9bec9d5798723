"""`evals report`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]


@pytest.fixture
def report(save: Cli, evals_cli: Cli, tmp_path: Path) -> Cli:
    """Save two runs, and run `evals report`."""
    for run_id in ("abcd1234", "ffff0000"):
        save(run_id, {"q1": {"mrr": 0.5}, "q2": "timeout"}, name=f"run of {run_id}")
    return lambda *arguments: evals_cli("report", *arguments, "--runs-dir", tmp_path / "runs")


def test_a_page_is_written_and_its_place_said(report: Cli, tmp_path: Path) -> None:
    """Of one run or of several."""
    path = tmp_path / "one.html"
    result = report("abcd", "ffff", "-o", path)
    assert (result.code, result.out, result.err) == (0, "", f"wrote {path}\n")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert all(f">run of {name}</h1>" in text for name in ("abcd1234", "ffff0000"))


@pytest.mark.parametrize(
    ("runs", "output", "words"),
    [
        (["abcd", "abcd1234"], "x.html", "abcd1234 is named 2 times"),
        (["zzzz"], "x.html", "evals runs"),
        (["abcd"], "nowhere/x.html", "there is no folder"),
    ],
)
def test_what_cannot_be_written_is_told(report: Cli, tmp_path: Path, runs: list[str], output: str, words: str) -> None:
    """A run twice, an unknown run, and a file in no folder; nothing is written."""
    result = report(*runs, "-o", tmp_path / output)
    assert (result.code, words in result.err) == (2, True)
    assert not (tmp_path / output).exists()
