"""The runs of one folder, read again where their files changed; nothing outside of it is ever opened."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from evals.errors import RunNotFoundError, StoreError
from evals.schemas import EvalRun
from evals.scoring.calibration.corrections import with_cards
from evals.scoring.measured import Measured, measured
from evals.store.calibrations import FOLDER, saved_calibrations
from evals.store.record_check import as_found
from evals.store.runs import RunStore, SavedRuns, read_run

_HELD = 24
"""Runs whose records are held open, with what was derived of them: those that somebody looks at."""
_RUNS = "*_*Z.json"
_Stamp = tuple[int, int]


class HeldRun(NamedTuple):
    """A run with its records, and a lock: what is derived of records is derived by one request at a time."""

    measured: Measured
    lock: Lock


class RunsFolder:
    """Saved runs as the pages need them.

    A run is found by its whole id. Files that a link brings from elsewhere are not there, as a folder that somebody
    else can write would else lead anywhere.

    Args:
        folder: Where the runs are.
    """

    def __init__(self, folder: Path) -> None:
        self.store = RunStore(folder)
        self._runs: dict[Path, tuple[_Stamp, EvalRun]] = {}
        self._held: dict[tuple[Path, _Stamp, _Stamp | None, _Stamp | None], HeldRun] = {}
        self._lock = Lock()

    def survey(self) -> SavedRuns:
        """All runs that can be read, oldest first, and what is wrong with the others."""
        runs, unreadable = [], []
        for path in self._files():
            try:
                runs.append(self._read(path))
            except StoreError as error:
                unreadable.append(error)
        return SavedRuns(sorted(runs, key=lambda run: run.created_at), unreadable)

    def run(self, run_id: str) -> EvalRun:
        """A run.

        Raises:
            RunNotFoundError: The folder has no run of this id, or several.
            StoreError: Its file cannot be read.
        """
        return self._read(self._path(run_id))

    def records_path(self, run_id: str) -> Path:
        """The records of a run, or the log of one that is not finished.

        Raises:
            RunNotFoundError: The folder has no such run, or its records are elsewhere.
        """
        path = self._path(run_id)
        records = path.with_name(f"{path.stem}.records.jsonl")
        if not self._is_inside(records):
            raise RunNotFoundError(f"the records of run {run_id} are not in the folder")
        return records

    def measured(self, run_id: str) -> HeldRun:
        """A run with its records and what calibrations say of its judge.

        Raises:
            RunNotFoundError: The folder has no such run.
            StoreError: It cannot be read.
        """
        path, records = self._path(run_id), self.records_path(run_id)
        beside = self.store.folder / FOLDER  # its time changes with each calibration that comes or goes
        key = (path, _stamp(path), _stamp_if_there(records), _stamp_if_there(beside))
        with self._lock:
            if key not in self._held:
                self._held[key] = HeldRun(self._measure(path), Lock())
                for stale in list(self._held)[:-_HELD]:
                    del self._held[stale]
            return self._held[key]

    def _measure(self, path: Path) -> Measured:
        run = read_run(path)
        records = self.store.open_records(run)
        return measured(with_cards(as_found(run, records), records, saved_calibrations(self.store.folder)), records)

    def _read(self, path: Path) -> EvalRun:
        """The run in a file; read once for each state of the file."""
        stamp = _stamp(path)
        known = self._runs.get(path)
        if known is None or known[0] != stamp:
            known = self._runs[path] = (stamp, read_run(path))
        return known[1]

    def _path(self, run_id: str) -> Path:
        found = [path for path in self._files() if path.name.partition("_")[0] == run_id]
        if len(found) != 1:
            said = f"there are {len(found)} runs {run_id}" if found else "there is no such run"
            raise RunNotFoundError(said, "`evals runs` lists what there is")
        return found[0]

    def _files(self) -> Sequence[Path]:
        folder = self.store.folder
        return [path for path in sorted(folder.glob(_RUNS)) if self._is_inside(path)] if folder.is_dir() else []

    def _is_inside(self, path: Path) -> bool:
        try:
            return path.resolve().parent == self.store.folder.resolve()
        except (OSError, RuntimeError):  # a link that leads to itself leads nowhere; before Python 3.13 it raises
            return False


def _stamp(path: Path) -> _Stamp:
    """By which it is known whether a file changed.

    Raises:
        StoreError: It is gone.
    """
    try:
        state = path.stat()
    except OSError as error:
        raise StoreError(f"cannot read {path.name}: {error.strerror}") from error
    return state.st_mtime_ns, state.st_size


def _stamp_if_there(path: Path) -> _Stamp | None:
    return _stamp(path) if path.exists() else None
