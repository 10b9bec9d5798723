"""Which file a user means: by a run's id, the start of one, its name, the path of its file, or "last"."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from evals.errors import RunNotFoundError
from evals.inputs.files import read_whole

LAST = "last"
"""Stands for the newest run of a folder."""
_ID = re.compile(r"[a-z0-9-]+")
_RUNS = "*_*Z.json"
_LISTED = 8


def find_run(folder: Path, wanted: str) -> Path:
    """The file of the run that is meant.

    An id goes before the start of one, that before a name, and that before a path: to look for a name, all files of the
    folder are read.

    Args:
        folder: Of saved runs; it need not exist.
        wanted: What a user wrote.

    Raises:
        RunNotFoundError: No run is meant, or several are.
    """
    there = sorted(folder.glob(_RUNS)) if folder.is_dir() else []
    if wanted == LAST:
        return _newest(there, folder)
    found = _by_id(there, wanted) or _by_name(there, wanted) or _by_path(wanted)
    if found is None:
        raise RunNotFoundError(f"no run {wanted!r} in {folder}", "`evals runs` lists what there is")
    return found


def _by_id(there: Sequence[Path], wanted: str) -> Path | None:
    if not _ID.fullmatch(wanted):
        return None
    found = [path for path in there if path.name.startswith(wanted)]
    whole = [path for path in found if _id_of(path) == wanted]
    return _only(whole or found, f"{wanted!r} is the start of {len(found)} runs", "give more of the id")


def _by_name(there: Sequence[Path], wanted: str) -> Path | None:
    found = [path for path in there if _name_of(path) == wanted]
    return _only(found, f"{wanted!r} is the name of {len(found)} runs", "give the id of one")


def _by_path(wanted: str) -> Path | None:
    path = Path(wanted)
    return path if wanted.endswith(".json") and path.is_file() else None


def _newest(there: Sequence[Path], folder: Path) -> Path:
    if not there:
        raise RunNotFoundError(f"there is no run in {folder}", "`evals eval` makes one")
    return max(there, key=lambda path: path.stem.rpartition("_")[2])


def _only(found: Sequence[Path], said: str, hint: str) -> Path | None:
    if len(found) > 1:
        raise RunNotFoundError(f"{said}: {', '.join(map(_id_of, found[:_LISTED]))}", hint)
    return found[0] if found else None


def _id_of(path: Path) -> str:
    return path.name.partition("_")[0]


def _name_of(path: Path) -> str | None:
    """The name in a run's file; None where it cannot be read."""
    try:
        data = json.loads(read_whole(path))
    except (OSError, ValueError, RecursionError):
        return None
    return data.get("name") if isinstance(data, dict) else None
