"""How much is told of a run while it goes on and at its end."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.cli.measuring import Terminal, line_of
from evals.schemas import EvalQuestion, EvalResponse
from evals.schemas.response import ResponseError

Cli = Callable[..., Any]


QUESTION = EvalQuestion(id="q1", question="How long?", gold_passages=[{"text": "The battery lasts 96 hours."}])


def test_a_quiet_run_prints_score_and_place_alone(ask: Cli, golden_server: str, tmp_path: Path) -> None:
    """No scorecard, no failures, and of the progress nothing but what a reader of the numbers must know."""
    result = ask("--rag-url", golden_server, "--quiet")
    assert result.out.startswith("score 0.")
    assert f"saved to {tmp_path}" in result.out
    assert not any(words in result.out + result.err for words in ("recall_at_5 ↑", "went wrong", "asking"))


def test_a_verbose_run_has_a_line_for_each_answer(ask: Cli, golden_server: str) -> None:
    """With its question's id, how long it took, and how the answer begins."""
    result = ask("--rag-url", golden_server, "--verbose")
    told = [line.split()[0] for line in result.err.splitlines() if " ms  " in line]
    assert len(told) == len(set(told)) == 12


def test_little_and_much_exclude_each_other(ask: Cli, evals_cli: Cli, golden_server: str, tmp_path: Path) -> None:
    """One message, whatever the command."""
    run = ask("--rag-url", golden_server, "--json").json["id"]
    for result in (
        ask("--rag-url", golden_server, "--quiet", "--verbose"),
        evals_cli("rescore", run, "--runs-dir", tmp_path / "runs", "--no-judge", "--quiet", "--verbose"),
    ):
        assert (result.code, "--quiet and --verbose exclude each other" in result.err) == (2, True)


def test_a_terminal_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar, with the questions that failed and what was judged beside it."""
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    terminal.begin(4, 0)
    terminal.answered(QUESTION, EvalResponse(answer="96 hours", chunks=[], latency_ms=12.3))
    terminal.answered(QUESTION, EvalResponse(error=ResponseError(kind="timeout", message="too late")))
    terminal.judged(1, 0.02)
    terminal.end()
    assert "2/4" in screen.getvalue()
    assert "/s, 1 failed, 1 judged, $0.02" in screen.getvalue()


def test_a_line_of_a_failure_says_what_went_wrong() -> None:
    """With the attempts it took, and no control characters of the server's."""
    failed = EvalResponse(error=ResponseError(kind="timeout", message="too\x1b[2J late"), attempts=3)
    line = line_of(QUESTION, failed)
    assert line.startswith("  q1  –, 3 attempts  too")
    assert "\x1b" not in line
