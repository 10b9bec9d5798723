"""A finished run whose records file lost or changed something is partial in every command that reads it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals import EvalRun
from evals.store.runs import RunStore

Cli = Callable[..., Any]
COMMANDS = (
    ("show",),
    ("show", "--json"),
    ("show", "--by", "difficulty"),
    ("export", "--run-id"),
    ("export", "--format", "csv", "--run-id"),
    ("gate", "--gate", "recall_at_5>=0"),
    ("rescore", "--no-judge"),
)
DAMAGES = ("cut", "cut in a line", "emptied", "flipped")


@pytest.fixture
def saved(golden_run: EvalRun, tmp_path: Path) -> Path:
    """The records file of a run of twelve questions."""
    (path,) = (tmp_path / "runs").glob("*.records.jsonl")
    return path


def damage(path: Path, how: str) -> str:
    """Damage a records file; returns what a message says of it."""
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    place = data.index(b'"answer":"') + len(b'"answer":"')
    content, said = {
        "cut": (b"".join(lines[:7]), "7 of 12 records"),
        "cut in a line": (data[: -len(lines[-1]) // 2], "11 of 12 records"),
        "emptied": (b"", "0 of 12 records"),
        "flipped": (data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :], "another checksum"),
    }[how]
    path.write_bytes(content)
    return said


def call(evals_cli: Cli, way: tuple[str, ...], path: Path) -> Any:
    run_id = path.name.partition("_")[0]
    name, *flags = way
    ordered = [*flags, run_id] if name == "export" else [run_id, *flags]
    return evals_cli(name, *ordered, "--runs-dir", path.parent)


@pytest.mark.parametrize("how", DAMAGES)
def test_every_command_says_what_is_missing_and_ends_with_four(evals_cli: Cli, saved: Path, how: str) -> None:
    """The message names the file, and how many of how many records are there; with the index of before, and without."""
    said = damage(saved, how)
    for way in COMMANDS:
        result = call(evals_cli, way, saved)
        assert (result.code, saved.name in result.err) == (4, True), (way, result.err)
        assert said in result.err, way
    shutil.copytree(saved.parent, copied := saved.parent.parent / "copied", ignore=shutil.ignore_patterns("*.npz"))
    assert call(evals_cli, ("show",), copied / saved.name).code == 4


def test_a_damaged_run_is_partial_and_so_is_what_measures_the_rest(evals_cli: Cli, saved: Path) -> None:
    """JSON says it where programs look: the status, and a note; a rescore keeps saying what its source lacked."""
    said = damage(saved, "cut")
    shown = json.loads(call(evals_cli, ("show", "--json"), saved).out)
    assert call(evals_cli, ("rescore", "--no-judge"), saved).code == 4
    (again,) = (run for run in RunStore(saved.parent).runs() if run.rescored_from is not None)
    for status, notes in ((shown["status"], shown["notes"]), (again.status, again.notes)):
        assert status == "partial"
        assert any(said in note for note in notes)


def test_a_resume_asks_what_was_lost(evals_cli: Cli, saved: Path) -> None:
    """The way out that the message names: the run is complete again, and says what happened."""
    run_id = saved.name.partition("_")[0]
    damage(saved, "cut")
    url = RunStore(saved.parent).load(run_id).server.url
    assert evals_cli("eval", "--resume", run_id, "--rag-url", url, "--runs-dir", saved.parent).code == 0
    run = RunStore(saved.parent).load(run_id)
    assert (run.status, len(run.records())) == ("complete", 12)
    assert call(evals_cli, ("show",), saved).code == 0
