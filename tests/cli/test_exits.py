"""How the command line ends: by what was done, whether its output is read, can be written, or is cut short."""

import errno
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from servers import PATIENCE_S

from evals.cli.measuring import Terminal
from evals.cli.terminal import run
from evals.errors import EvalsError
from evals.store.runs import RunStore

Cli = Callable[..., Any]
Ended = Callable[[Exception], tuple[int, str]]
PROGRAM = [sys.executable, "-m", "evals.cli"]


def unread(*arguments: object) -> tuple[int, str]:
    """Run a command whose standard output nobody reads; its exit code, and what it said on stderr."""
    command = [*PROGRAM, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        err = child.stderr.read()
        return child.wait(timeout=PATIENCE_S), err


@pytest.fixture
def runs(save: Callable[..., RunStore]) -> Path:
    """A folder with the run good, and the run bad that is worse than it."""
    save("good", {f"q{n}": {"mrr": 1.0} for n in range(30)})
    return save("bad", {f"q{n}": {"mrr": 0.0} for n in range(30)}).folder


def test_a_regression_is_one_however_much_of_it_is_read(runs: Path) -> None:
    """`evals compare … --fail-on-regression | head -1` ends with 1, and says why."""
    code, err = unread("compare", "good", "bad", "--fail-on-regression", "--runs-dir", runs)
    assert code == 1
    assert "bad is worse than good" in err
    assert unread("compare", "good", "bad", "--runs-dir", runs) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_behind_stdout_ends_with_4() -> None:
    """The message says that the output could not be written."""
    with open("/dev/full", "w") as full:
        ended = subprocess.run([*PROGRAM, "metrics"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (ended.returncode, ended.stderr) == (4, "error: cannot write the output: No space left on device\n")


def test_the_version_is_printed() -> None:
    """`evals --version` names the distribution."""
    out = subprocess.run([sys.executable, "-m", "evals.cli", "--version"], capture_output=True, text=True, check=True)
    assert out.stdout.startswith("rag-evals ")


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ended:
    """How a command ends that raises: its exit code, and what it said."""
    monkeypatch.setattr("sys.argv", ["evals"])

    def end(error: Exception) -> tuple[int, str]:
        def command() -> None:
            raise error

        app = typer.Typer()
        app.command()(command)
        return run(app), capsys.readouterr().err

    return end


def test_no_message_steers_the_terminal(ended: Ended) -> None:
    """A server may say anything, and errors and notes quote it: titles, colours and rewritten lines stay text."""
    evil = "\x1b]0;owned\x07 \x9b2J \u202egnp over\rwritten"
    for error in (EvalsError(evil, evil), ValueError(evil)):
        said = ended(error)[1]
        assert "]0;owned" in said
        assert not set("\x1b\x07\x9b\u202e\r") & set(said)


def test_neither_do_notes_and_phases(capsys: pytest.CaptureFixture[str]) -> None:
    """The progress of a run quotes the server too."""
    terminal = Terminal()
    terminal.note("a \x1b[31mnote")
    terminal.phase("a \x07phase")
    assert capsys.readouterr().err == "! a \ufffd[31mnote\n· a \ufffdphase\n"


def test_a_long_message_is_wrapped_on_a_terminal_alone(ended: Ended, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lines are as wide as the terminal and indented; a pipe gets one line, which programs search."""
    monkeypatch.setenv("COLUMNS", "60")
    error = EvalsError("word " * 20 + "end", "hint " * 20 + "end")
    assert [len(line) for line in ended(error)[1].splitlines()] == [110, 105]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    lines = ended(error)[1].splitlines()
    assert [line[: len(line) - len(line.lstrip())] for line in lines] == ["", "       ", "  ", "    "]
    assert max(map(len, lines)) <= 60


@pytest.mark.parametrize(
    ("sign", "ignored", "ended"),
    [
        *((sign, "SIGINT", (130, "error: interrupted\n")) for sign in ("SIGTERM", "SIGHUP", "SIGQUIT")),
        ("SIGTERM", "SIGTERM", (130, "error: interrupted\n")),
        ("SIGHUP", "SIGHUP", (0, "")),
    ],
)
def test_a_time_limit_ends_like_ctrl_c(sign: str, ignored: str, ended: tuple[int, str]) -> None:
    """With 130 and a message, also where Ctrl-C is ignored, as in the background of a shell; under nohup it goes on."""
    code = (
        "import os, signal, sys, typer\n"
        "from evals.cli.terminal import end_like_ctrl_c, run\n"
        "app = typer.Typer()\n"
        "@app.command()\n"
        "def command():\n"
        f"    os.kill(os.getpid(), signal.{sign})\n"
        f"    {sign == ignored == 'SIGHUP'} or signal.pause()\n"
        "end_like_ctrl_c()\n"
        "sys.exit(run(app))\n"
    )
    child = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        preexec_fn=lambda: signal.signal(getattr(signal, ignored), signal.SIG_IGN),
    )
    assert (child.returncode, child.stderr) == ended


def test_a_disk_that_is_full_is_no_wrong_usage(evals_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of runs that cannot be written ends with 2, one on a full disk with 4."""

    def full(**_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    questions, answers = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"
    questions.write_text('{"id": "q1", "question": "Why?"}')
    answers.write_text(json.dumps({"question_id": "q1", "answer": "So."}))
    command = ("score", answers, "--dataset-file", questions, "--no-judge", "--runs-dir")
    assert evals_cli(*command, questions / "runs").code == 2
    monkeypatch.setattr("evals.store.runs.tempfile.TemporaryFile", full)
    result = evals_cli(*command, tmp_path / "runs")
    assert (result.code, "No space left on device" in result.err) == (4, True)
