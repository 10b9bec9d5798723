"""Saved runs: one JSON file a run, and next to it an event log.

    {run_id}_{timestamp}.json            the EvalRun
    {run_id}_{timestamp}.records.jsonl   events while it runs (see `journal.py`); at the end one record a question
    {run_id}_{timestamp}.records.index   where each record stands (see `record_index.py`); made again if missing

`naming.py` says how a run is found.
"""

import errno
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from evals.errors import StoreError, UnwritableError
from evals.schemas.calibration import Calibration
from evals.schemas.results import SCHEMA_VERSION, EvalRecord, EvalRun, saved_definitions
from evals.schemas.run_parts import RecordSum
from evals.store.atomic import make_folder, write_atomically
from evals.store.journal import Journal, record_line, with_room
from evals.store.naming import CALIBRATION, find_run, way_on_of
from evals.store.record_index import IndexWriter
from evals.store.records import RecordFile, whole
from evals.text.decoding import parse_stored, read_whole
from evals.text.yaml_files import first_problem

# Calibrations of judges, a JSON file each, in a folder beside the runs: they can be copied to another.


FOLDER = "calibrations"

_UNFIT = re.compile(r"[^A-Za-z0-9.-]+")


def save_calibration(runs_dir: Path, calibration: Calibration) -> Path:
    """Write a calibration, whole or not at all; returns its file.

    Raises:
        StoreError: It cannot be written.
    """
    folder = runs_dir / FOLDER
    name = _UNFIT.sub("-", f"{calibration.metric}_{calibration.model}".replace("_", "-"))
    path = folder / f"{name}_{calibration.created_at:%Y%m%dT%H%M%SZ}.json"
    try:
        make_folder(folder)
    except OSError as error:
        raise StoreError(f"cannot make {folder}: {error.strerror or error}") from error
    write_atomically(path, [calibration.model_dump_json(indent=2).encode(), b"\n"])
    return path


def saved_calibrations(runs_dir: Path) -> list[Calibration]:
    """All calibrations of a folder of runs that can be read, in the order of their names."""
    found = []
    for path in sorted((runs_dir / FOLDER).glob("*.json")):
        with suppress(OSError, ValidationError):
            found.append(Calibration.model_validate_json(read_whole(path)))
    return found


_RECORDS = ".records.jsonl"

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_READ_ONLY = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class SavedRuns(NamedTuple):
    """The runs of a folder, and the files that cannot be read."""

    runs: list[EvalRun]
    """Oldest first."""
    unreadable: list[StoreError]
    """Why a file with the name of a run is none that can be read, in the order of the names."""

    def without_calibrations(self) -> "SavedRuns":
        """The same without the runs that `calibrate` made."""
        return self._replace(runs=[run for run in self.runs if not run.id.startswith(CALIBRATION)])


class RunStore:
    """The saved runs of one folder.

    Args:
        folder: Where the files are; made on the first write.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def prepare(self) -> None:
        """Create the folder and check that it can be written, before any question is asked.

        Raises:
            UnwritableError: No run can be written there.
            StoreError: The disk is full.
        """
        try:
            make_folder(self.folder)
            with tempfile.TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            kind = StoreError if error.errno in _FULL else UnwritableError
            why = "the folder is read-only" if error.errno in _READ_ONLY else error.strerror
            raise kind(f"cannot write runs to {self.folder}: {why}", "name another folder with --runs-dir") from error

    def run_path(self, run: EvalRun) -> Path:
        """The file of a run."""
        return self.folder / f"{run.stem}.json"

    def records_path(self, run: EvalRun) -> Path:
        """The event log of a run."""
        return self.folder / f"{run.stem}{_RECORDS}"

    def save(self, run: EvalRun) -> Path:
        """Write the run's file, whole or not at all.

        Raises:
            StoreError: The disk is full or the folder cannot be written.
        """
        path = self.run_path(run)
        write_atomically(path, [run.model_dump_json(indent=2).encode(), b"\n"], hint=self._hint(run))
        run.saved_as(path, partial(_whole_records, self.records_path(run)))
        return path

    def journal(self, run: EvalRun) -> Journal:
        """Open the run's event log for appending."""
        return Journal(self.records_path(run), way_on_of(run, self.folder))

    def restore(self, run: EvalRun) -> None:
        """Write the file of a run again that was deleted while its log was written, where the log is there."""
        if self.records_path(run).exists() and not self.run_path(run).exists():
            self.save(run)

    def compact(self, run: EvalRun, records: Iterable[EvalRecord]) -> RecordSum:
        """Replace the event log by one record a question, whole or not at all, and write its index.

        Returns:
            What the run's file is to say of it, as `record_sum`.
        """
        return self.compact_lines(run, ((record.question.id, record_line(record)) for record in records))

    def compact_lines(self, run: EvalRun, lines: Iterable[tuple[str, bytes]]) -> RecordSum:
        """The same of the lines of records, as `record_line` makes them, each with the id of its question."""
        self.prepare()  # somebody may have deleted the folder after the last event
        path = self.records_path(run)
        index = IndexWriter(path)
        write_atomically(path, index.follow(lines), hint=self._hint(run))
        index.write()
        return index.sum

    def records(self, run: EvalRun) -> list[EvalRecord]:
        """Read the run's records, in the order in which the questions were planned.

        Raises:
            StoreError: The log is missing or damaged before its last line, or, of a finished run, not as it was saved.
        """
        return list(whole(run, self.open_records(run)))

    def open_records(self, run: EvalRun) -> RecordFile:
        """The run's records, each read when it is wanted, and none held.

        Those of a finished run may not be as they were saved: `evals.store.records` tells.

        Raises:
            StoreError: The log is missing or damaged before its last line.
        """
        has_files = run.path is not None and run.path.stem == run.stem  # a copy under another id is not there
        return RecordFile(_records_beside(run.path) if has_files and run.path else self.records_path(run))

    def runs(self) -> list[EvalRun]:
        """All saved runs that can be read, oldest first."""
        return self.survey().runs

    def newest(self, most: int) -> Iterator[EvalRun]:
        """The newest runs that can be read, the newest first, each read when it is asked for."""
        for path in self._newest_files()[:most]:
            with suppress(StoreError):
                yield read_run(path)

    def survey(self) -> SavedRuns:
        """All saved runs, and what is wrong with those that cannot be read."""
        runs, unreadable = [], []
        for path in sorted(self.folder.glob("*_*Z.json")) if self.folder.is_dir() else []:
            try:
                runs.append(read_run(path))
            except StoreError as error:
                unreadable.append(error)
        return SavedRuns(sorted(runs, key=lambda run: run.created_at), unreadable)

    def load(self, run_id: str) -> EvalRun:
        """Read the run that is meant: by id, unique start of one, unique name, path of its file, or "last", the newest.

        Raises:
            RunNotFoundError: No run is meant, or several are.
            StoreError: Its file cannot be read.
        """
        return read_run(find_run(self.folder, run_id))

    def _hint(self, run: EvalRun) -> str:
        return with_room(way_on_of(run, self.folder))

    def _newest_files(self) -> list[Path]:
        files = list(self.folder.glob("*_*Z.json")) if self.folder.is_dir() else []
        return sorted(files, key=lambda path: path.stem.rpartition("_")[2], reverse=True)


def read_run(path: Path) -> EvalRun:
    """The run in a file.

    Raises:
        StoreError: It cannot be read, or holds no run.
    """
    try:
        data = parse_stored(read_whole(path))
    except (OSError, ValueError) as error:
        raise StoreError(f"cannot read {path}: {error}") from error
    version = data.get("schema_version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise StoreError(f"{path.name} was written by a newer version (schema {version})", "upgrade rag-evals")
    try:
        run = EvalRun.model_validate(data)
    except ValidationError as error:
        raise StoreError(f"{path.name} is not a run: {first_problem(error, EvalRun)}") from error
    saved_definitions.update((metric.name, metric) for metric in run.metric_definitions)
    return run.saved_as(path, partial(_whole_records, _records_beside(path)))


def _whole_records(path: Path, run: EvalRun) -> list[EvalRecord]:
    return list(whole(run, RecordFile(path)))


def _records_beside(path: Path) -> Path:
    return path.with_name(f"{path.stem}{_RECORDS}")
