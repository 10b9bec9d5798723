"""Output through an encoding that does not hold every character."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evals.cli.terminal import prepare_streams
from evals.store.runs import RunStore

NAME = "größer ✓ 😀"


@pytest.fixture
def saved(save: Callable[..., RunStore]) -> Path:
    """A folder with the run abcd1234, whose name and texts no small encoding holds."""
    texts = {"q1": {"question": "Wie groß… ist ✓?"}}
    return save("abcd1234", {"q1": {"mrr": 0.5}, "q2": "timeout"}, name=NAME, questions=texts).folder


def evals(encoding: str, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "evals.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding})


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1"])
def test_what_cannot_be_printed_has_something_in_its_place(saved: Path, encoding: str) -> None:
    """The report is whole otherwise, and the exit code tells nothing of it."""
    ended = evals(encoding, "show", "abcd1234", "--runs-dir", saved)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"mrr" in ended.stdout
    assert b"?" in ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_json_loses_nothing_in_any_encoding(saved: Path, encoding: str) -> None:
    """What the encoding does not hold is escaped: a program reads the same."""
    ended = evals(encoding, "show", "abcd1234", "--runs-dir", saved, "--json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout.decode(encoding))["name"] == NAME


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [["metrics"], ["metrics", "faithfulness"], ["datasets"], ["--help"], ["show", "x✓"]]
)
def test_no_command_is_a_bug_in_a_small_encoding(command: list[str]) -> None:
    """Catalogues, help and messages of errors."""
    ended = evals("ascii", *command)
    assert ended.returncode in {0, 2}
    assert b"Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("encoding", "errors", "after"),
    [
        ("cp1252", "strict", "replace"),
        ("ascii", "surrogateescape", "replace"),
        ("utf-8", "strict", "replace"),
        ("utf-8", "surrogateescape", "surrogateescape"),
        ("ascii", "backslashreplace", "backslashreplace"),
    ],
)
def test_a_stream_that_holds_all_or_was_told_how_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch, encoding: str, errors: str, after: str
) -> None:
    """Only where printing could fail something is changed; utf-8 fails on file names that are no text."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=errors)
    monkeypatch.setattr("sys.stdout", stream)
    monkeypatch.setattr("sys.stderr", io.StringIO())
    prepare_streams()
    assert (sys.stdout, stream.errors) == (stream, after)
