"""Find the file of a run by its id or a prefix of it, its name, its path, or "last"."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from evals.errors import RunNotFoundError
from evals.schemas.results import SAVED_ANSWERS, EvalRun
from evals.text.decoding import read_whole

# Commands that a message advises, such that they can be run as they stand.


DEFAULT_RUNS_DIR = "data/eval_runs"
"""Where runs are saved unless told otherwise."""


def command(words: str, runs_dir: Path | None) -> str:
    """An `evals` command for runs of a folder: `evals show a1b2 --runs-dir elsewhere`.

    Args:
        words: The command without its program: `show a1b2`.
        runs_dir: Where the run is; None for the default.
    """
    elsewhere = runs_dir is not None and runs_dir != Path(DEFAULT_RUNS_DIR)
    return f"evals {words} --runs-dir {quote(str(runs_dir))}" if elsewhere else f"evals {words}"


def folder_of(run: EvalRun) -> Path | None:
    """Where a run is that was saved or loaded, for `command`; None for one that was not."""
    return run.path.parent if run.path is not None else None


def way_on_of(run: EvalRun, folder: Path | None) -> str:
    """How to resume a run that ended before all of it was saved.

    Args:
        run: The run.
        folder: Where it is saved.
    """
    if run.rescored_from is not None:
        again = command(f"rescore {run.rescored_from}", folder)
        return f"begin again: saved verdicts are not paid for twice: {again}"
    if run.server.profile == SAVED_ANSWERS:
        return "score the same answers again: saved verdicts are not paid for twice"
    return f"continue with: {command(f'eval --resume {run.id}', folder)}"


LAST = "last"
"""Stands for the newest run of a folder, calibrations left out."""


CALIBRATION = "calibration-"
"""How the id of a run begins that `calibrate` made: it holds labelled answers, and lists leave it out."""

_ID = re.compile(r"[a-z0-9-]+")

_RUNS = "*_*Z.json"

_LISTED = 8


def find_run(folder: Path, wanted: str) -> Path:
    """Find the file of a run.

    An id goes before everything else; the start of one and a name before a path. What is the start of one run's id and
    the name of another means neither.

    Args:
        folder: Of saved runs; it need not exist.
        wanted: What a user wrote.

    Raises:
        RunNotFoundError: No run is meant, or several are.
    """
    there = sorted(folder.glob(_RUNS)) if folder.is_dir() else []
    if wanted == LAST:
        return _newest(there, folder)
    whole = next((path for path in there if _id_of(path) == wanted), None)
    found = whole or _by_start_or_name(there, wanted) or _by_path(wanted)
    if found is None:
        lists = command("runs", folder)
        raise RunNotFoundError(f"no run {wanted!r} in {folder}", f"`{lists}` lists the saved runs")
    return found


def _by_start_or_name(there: Sequence[Path], wanted: str) -> Path | None:
    started = [path for path in there if _ID.fullmatch(wanted) and path.name.startswith(wanted)]
    named = [path for path in there if _name_of(path, wanted) == wanted]
    if started and named and started != named:
        ids = ", ".join(map(_id_of, started[:_LISTED]))
        said = f"{wanted!r} is the name of run {_id_of(named[0])}, and an id starts with it: {ids}"
        raise RunNotFoundError(said, "give its id")
    if started:
        return _only(started, f"{wanted!r} is the start of {len(started)} runs", "give more of the id")
    return _only(named, f"{wanted!r} is the name of {len(named)} runs", "give the id of one")


def _by_path(wanted: str) -> Path | None:
    path = Path(wanted)
    return path if wanted.endswith(".json") and path.is_file() else None


def _newest(there: Sequence[Path], folder: Path) -> Path:
    runs = [path for path in there if not path.name.startswith(CALIBRATION)]
    if not runs:
        raise RunNotFoundError(f"there is no run in {folder}", "`evals eval` makes one")
    return max(runs, key=saved_at)


def saved_at(path: Path) -> tuple[str, int]:
    """When the run of a file began, and when the file was written: of two runs of one second the later one is newer."""
    try:
        written_ns = path.stat().st_mtime_ns
    except OSError:
        written_ns = 0
    return path.stem.rpartition("_")[2], written_ns


def _only(found: Sequence[Path], said: str, hint: str) -> Path | None:
    if len(found) > 1:
        raise RunNotFoundError(f"{said}: {', '.join(map(_id_of, found[:_LISTED]))}", hint)
    return found[0] if found else None


def _id_of(path: Path) -> str:
    return path.name.partition("_")[0]


def _name_of(path: Path, wanted: str) -> str | None:
    """The name in a run's file; None where it cannot be read, or cannot be the one that is wanted."""
    try:
        content = read_whole(path)
        if wanted.isascii() and wanted.isalnum() and wanted.encode() not in content:
            return None  # most files are read no further
        data = json.loads(content)
    except (OSError, ValueError, RecursionError):
        return None
    return data.get("name") if isinstance(data, dict) else None
