"""The progress of an evaluation in a notebook, and the silence of a script."""

import builtins
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evals import EvalConfig, run_evaluation
from evals.run.notebook import Notebook, Observer
from evals.schemas import EvalQuestion, EvalResponse, ResponseError

QUESTION = EvalQuestion(question="What is covered?")
FAILED = EvalResponse(error=ResponseError(kind="timeout", message="too late"))


class ZMQInteractiveShell:
    """What notebooks call the shell that runs their cells."""


class Cell:
    """Stands for the output of a cell: all that was shown there, the newest last."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display(self, data: dict[str, str], *, raw: bool, display_id: bool) -> "Cell":
        assert raw
        assert display_id
        self.update(data, raw=raw)
        return self

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.shown.append(data["text/plain"])


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Cell:
    """We are in a notebook."""
    cell, module = Cell(), ModuleType("IPython.display")
    monkeypatch.setattr(module, "display", cell.display, raising=False)
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)
    return cell


@pytest.fixture
def config(golden_server: str, tmp_path: Path) -> EvalConfig:
    return EvalConfig(
        datasets=["golden"], rag_server_url=golden_server, judge=False, samples_per_dataset=7, runs_dir=tmp_path
    )


def test_a_notebook_shows_the_progress_under_the_cell(cell: Cell, config: EvalConfig) -> None:
    """One output, written anew: what was done, and how many questions were answered."""
    run_evaluation(config)
    lines = cell.shown[-1].splitlines()
    assert lines[0] == f"· checking {config.rag_server_url}"
    assert "· asking 7 questions" in lines
    assert any(f"{'█' * 30} 7/7, " in line for line in lines)
    assert "· scoring" in lines


def test_who_is_told_of_the_progress_is_told_instead_of_the_cell(cell: Cell, config: EvalConfig) -> None:
    """An observer of one's own takes the place of the cell."""
    run_evaluation(config, Observer())
    assert cell.shown == []


def test_a_script_stays_quiet(config: EvalConfig, capsys: pytest.CaptureFixture[str]) -> None:
    """A library writes nothing that nobody asked for."""
    run_evaluation(config)
    assert capsys.readouterr() == ("", "")


@pytest.fixture
def drawn() -> tuple[Notebook, list[str], Callable[[float], None]]:
    """A notebook, what it shows, and what moves its clock."""
    shown: list[str] = []
    now = [100.0]

    def wait(seconds: float) -> None:
        now[0] += seconds

    return Notebook(shown.append, lambda: now[0]), shown, wait


def test_the_bar_says_how_fast_it_goes_and_what_failed(drawn: Any) -> None:
    """Half of four questions in two seconds, one of them without an answer."""
    notebook, shown, wait = drawn
    notebook.begin(4, 0)
    for response in (EvalResponse(answer="a"), FAILED):
        wait(1.0)
        notebook.answered(QUESTION, response)
    assert shown[-1] == f"· asking 4 questions\n  {'█' * 15}{'░' * 15} 2/4, 1.0/s, 2 s left 1 failed"


def test_the_bar_is_drawn_a_few_times_a_second(drawn: Any) -> None:
    """A thousand answers a second are no thousand messages to a browser; the last state is always shown."""
    notebook, shown, wait = drawn
    notebook.begin(1000, 0)
    for _ in range(1000):
        wait(0.001)
        notebook.answered(QUESTION, EvalResponse(answer="a"))
    notebook.end()
    assert len(shown) < 10
    assert "1000/1000" in shown[-1]


def test_a_note_stays_above_the_bar(drawn: Any) -> None:
    """What a reader of the numbers must know is not overwritten, and steers no terminal."""
    notebook, shown, wait = drawn
    notebook.begin(2, 0)
    wait(1.0)
    notebook.answered(QUESTION, EvalResponse(answer="a"))
    notebook.note("the server \x1b[31mchanged")
    assert shown[-1].splitlines()[1:] == [
        "! the server \ufffd[31mchanged",
        f"  {'█' * 15}{'░' * 15} 1/2, 1.0/s, 1 s left",
    ]


def test_scoring_tells_how_far_it_has_come(config: EvalConfig) -> None:
    """Record by record; that the last is done is told by the end."""
    heard: list[object] = []

    class Listening(Observer):
        def phase(self, message: str) -> None:
            heard.append(message)

        def progress(self, done: int, total: int) -> None:
            heard.append((done, total))

    run_evaluation(config, Listening())
    assert heard[heard.index("scoring") + 1 :] == [(number, 7) for number in range(1, 7)]
