"""The progress of an evaluation in a notebook, and the silence of a script."""

import builtins
from pathlib import Path

import pytest

from evals import EvalConfig, run_evaluation
from evals.run.observer import Notebook, Observer
from evals.schemas import EvalQuestion, EvalResponse, ResponseError

QUESTION = EvalQuestion(question="What is covered?")
ANSWER = EvalResponse(answer="a")
FAILED = EvalResponse(error=ResponseError(kind="timeout", message="too late"))
Printed = pytest.CaptureFixture[str]


class ZMQInteractiveShell:
    """What notebooks call the shell that runs their cells."""


@pytest.fixture
def _in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)


@pytest.fixture
def config(golden_server: str, tmp_path: Path) -> EvalConfig:
    return EvalConfig(
        datasets=["golden"], rag_server_url=golden_server, judge=False, samples_per_dataset=7, runs_dir=tmp_path
    )


@pytest.mark.usefixtures("_in_a_notebook")
def test_a_notebook_shows_the_progress_under_the_cell(config: EvalConfig, capsys: Printed) -> None:
    """What was done, and how many questions were answered."""
    run_evaluation(config)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"· checking {config.rag_server_url}"
    assert "· asking 7 questions" in lines
    assert any(line.startswith("  7/7, ") for line in lines)
    assert "· scoring" in lines


@pytest.mark.usefixtures("_in_a_notebook")
def test_who_is_told_of_the_progress_is_told_instead_of_the_cell(config: EvalConfig, capsys: Printed) -> None:
    """An observer of one's own takes the place of the cell."""
    run_evaluation(config, Observer())
    assert capsys.readouterr() == ("", "")


def test_a_script_stays_quiet(config: EvalConfig, capsys: Printed) -> None:
    """A library writes nothing that nobody asked for."""
    run_evaluation(config)
    assert capsys.readouterr() == ("", "")


def test_a_line_now_and_then_says_how_fast_it_goes_and_what_failed(capsys: Printed) -> None:
    """A thousand answers are no thousand lines, the last state is shown, and no note steers the output."""
    now = 100.0
    notebook = Notebook(lambda: now)
    notebook.begin(1000, 0)
    for number in range(1000):
        now += 0.01
        notebook.answered(QUESTION, ANSWER if number % 2 else FAILED)
    notebook.note("the server \x1b[31mchanged")
    notebook.end()
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["· asking 1000 questions", "  200/1000, 100.0/s, 8 s left 100 failed"]
    assert lines[-2:] == ["! the server \ufffd[31mchanged", "  1000/1000, 100.0/s 500 failed"]
    assert len(lines) < 10
