"""Output through an encoding that does not hold every character."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evals.cli import app, terminal
from evals.cli.terminal import prepare_streams
from evals.store.runs import RunStore

NAME = "größer ✓ 😀"
Run = Callable[..., tuple[int, bytes, bytes]]


@pytest.fixture
def saved(save: Callable[..., RunStore]) -> Path:
    """A folder with the run abcd1234, whose name and texts no small encoding holds."""
    texts = {"q1": {"question": "Wie groß… ist ✓?"}}
    return save("abcd1234", {"q1": {"mrr": 0.5}, "q2": "timeout"}, name=NAME, questions=texts).folder


@pytest.fixture
def evals(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command whose streams have an encoding: its exit code, and what it wrote."""

    def call(encoding: str, *arguments: object) -> tuple[int, bytes, bytes]:
        out, err = io.BytesIO(), io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding, write_through=True))
        monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(err, encoding, write_through=True))
        monkeypatch.setattr(sys, "argv", ["evals", *map(str, arguments)])
        prepare_streams()
        return terminal.run(app), out.getvalue(), err.getvalue()

    return call


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_what_an_encoding_does_not_hold_is_replaced_or_escaped(evals: Run, saved: Path, encoding: str) -> None:
    """The report is whole otherwise; a program reads the same JSON in any encoding."""
    code, out, err = evals(encoding, "show", "abcd1234", "--runs-dir", saved)
    assert (code, err) == (0, b"")
    assert b"mrr" in out
    assert ("größer ✓ 😀".encode() in out) == (encoding == "utf-8")
    code, out, _ = evals(encoding, "show", "abcd1234", "--runs-dir", saved, "--json")
    assert (code, json.loads(out.decode(encoding))["name"]) == (0, NAME)


@pytest.mark.parametrize(
    "command", [["metrics"], ["metrics", "faithfulness"], ["datasets"], ["--help"], ["show", "x✓"]]
)
def test_no_command_is_a_bug_in_a_small_encoding(evals: Run, command: list[str]) -> None:
    """Catalogues, help and messages of errors."""
    code, _, err = evals("ascii", *command)
    assert code in {0, 2}
    assert b"Traceback" not in err


@pytest.mark.parametrize(
    ("errors", "after"),
    [("surrogateescape", "replace"), ("strict", "replace"), ("backslashreplace", "backslashreplace")],
)
def test_a_stream_that_can_print_all_stays_as_it_is(monkeypatch: pytest.MonkeyPatch, errors: str, after: str) -> None:
    """Only where printing could fail something is changed."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors=errors)
    monkeypatch.setattr("sys.stdout", stream)
    monkeypatch.setattr("sys.stderr", io.StringIO())
    prepare_streams()
    assert (sys.stdout, stream.errors) == (stream, after)
