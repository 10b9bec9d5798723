"""Saved runs: three files each, with one stem.

    {run_id}_{timestamp}.json            the EvalRun
    {run_id}_{timestamp}.records.jsonl   events while it runs (`journal.py`); at the end one record a question
    {run_id}_{timestamp}.columns.npz     values by metric (`scoring/results.py`); made anew where it is missing

A run is found by its id or a prefix of it, its name, its path, or "last".
"""

import errno
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from pydantic import ValidationError

from evals.errors import RunIncompleteError, RunNotFoundError, StoreError, UnwritableError
from evals.schemas.results import SAVED_ANSWERS, SCHEMA_VERSION, EvalRecord, EvalRun, saved_definitions
from evals.schemas.verdicts import Calibration
from evals.store.atomic import make_folder, write_atomically
from evals.store.journal import Journal, RecordLog
from evals.text.decoding import parse_stored, read_whole
from evals.text.numbers import share
from evals.text.yaml_files import first_problem

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
    paths = sorted(folder.glob(_RUNS)) if folder.is_dir() else []
    if wanted == LAST:
        return _newest(paths, folder)
    whole = next((path for path in paths if _id_of(path) == wanted), None)
    match = whole or _by_start_or_name(paths, wanted) or _by_path(wanted)
    if match is None:
        lists = command("runs", folder)
        raise RunNotFoundError(f"no run {wanted!r} in {folder}", f"`{lists}` lists the saved runs")
    return match


def _by_start_or_name(paths: Sequence[Path], wanted: str) -> Path | None:
    started = [path for path in paths if _ID.fullmatch(wanted) and path.name.startswith(wanted)]
    named = [path for path in paths if _name_of(path, wanted) == wanted]
    if started and named and started != named:
        ids = ", ".join(map(_id_of, started[:_LISTED]))
        message = f"{wanted!r} is the name of run {_id_of(named[0])}, and an id starts with it: {ids}"
        raise RunNotFoundError(message, "give its id")
    if started:
        return _only(started, f"{wanted!r} is the start of {len(started)} runs", "give more of the id")
    return _only(named, f"{wanted!r} is the name of {len(named)} runs", "give the id of one")


def _by_path(wanted: str) -> Path | None:
    path = Path(wanted)
    return path if wanted.endswith(".json") and path.is_file() else None


def _newest(paths: Sequence[Path], folder: Path) -> Path:
    runs = [path for path in paths if not path.name.startswith(CALIBRATION)]
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


def _only(matches: Sequence[Path], message: str, hint: str) -> Path | None:
    if len(matches) > 1:
        raise RunNotFoundError(f"{message}: {', '.join(map(_id_of, matches[:_LISTED]))}", hint)
    return matches[0] if matches else None


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
    calibrations = []
    for path in sorted((runs_dir / FOLDER).glob("*.json")):
        with suppress(OSError, ValidationError):
            calibrations.append(Calibration.model_validate_json(read_whole(path)))
    return calibrations


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


class SavedRuns(NamedTuple):
    """The runs of a folder, and the files that cannot be read."""

    runs: list[EvalRun]
    """Oldest first."""
    unreadable: list[StoreError]

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
        """The records of a run: where it was read, else in this folder."""
        own = run.path if run.path is not None and run.path.stem == run.stem else self.run_path(run)
        return records_beside(own)

    def columns_path(self, run: EvalRun) -> Path:
        """The values of a run as columns."""
        path = self.records_path(run)
        return path.with_name(path.name.removesuffix(".records.jsonl") + ".columns.npz")

    def save(self, run: EvalRun) -> Path:
        """Write the run's file, whole or not at all.

        Raises:
            StoreError: The disk is full or the folder cannot be written.
        """
        path = self.run_path(run)
        write_atomically(path, [run.model_dump_json(indent=2).encode(), b"\n"], hint=self.hint(run))
        run.saved_as(path, partial(_whole_records, records_beside(path)))
        return path

    def delete(self, run: EvalRun) -> None:
        """Delete the files of a run, as far as they are there."""
        for path in (self.columns_path(run), self.records_path(run), self.run_path(run)):
            path.unlink(missing_ok=True)

    def journal(self, run: EvalRun) -> Journal:
        """Open the run's log for appending, locked.

        Raises:
            StoreError: Another process has it, or it cannot be written.
        """
        return Journal(records_beside(self.run_path(run)), way_on_of(run, self.folder))

    def hint(self, run: EvalRun) -> str:
        """The way out of a full disk."""
        return f"what was written before is complete; once there is room on the disk, {way_on_of(run, self.folder)}"

    def log(self, run: EvalRun) -> RecordLog:
        """The records of a run, each read when it is wanted.

        Raises:
            StoreError: They are missing, or damaged before the last line.
        """
        return RecordLog(self.records_path(run))

    def records(self, run: EvalRun) -> list[EvalRecord]:
        """The records of a run, all in memory.

        Raises:
            StoreError: They are missing, or damaged before the last line.
        """
        return list(self.log(run))

    def runs(self) -> list[EvalRun]:
        """All saved runs that can be read, oldest first."""
        return self.survey().runs

    def newest(self, most: int) -> Iterator[EvalRun]:
        """The newest runs that can be read, the newest first."""
        for path in sorted(self._files(), key=saved_at, reverse=True)[:most]:
            with suppress(StoreError):
                yield read_run(path)

    def survey(self) -> SavedRuns:
        """All saved runs, and why others cannot be read."""
        runs, unreadable = [], []
        for path in sorted(self._files(), key=saved_at):
            try:
                runs.append(read_run(path))
            except StoreError as error:
                unreadable.append(error)
        return SavedRuns(sorted(runs, key=lambda run: run.created_at), unreadable)

    def load(self, run_id: str) -> EvalRun:
        """Read a run by its id, a unique start of it, a unique name, the path of its file, or "last" (the newest).

        Raises:
            RunNotFoundError: No run is meant, or several are.
            StoreError: Its file cannot be read.
        """
        return read_run(find_run(self.folder, run_id))

    def _files(self) -> list[Path]:
        return list(self.folder.glob("*_*Z.json")) if self.folder.is_dir() else []


def read_run(path: Path) -> EvalRun:
    """The run in a file.

    Raises:
        StoreError: It cannot be read, holds no run, or one of another version.
    """
    try:
        data = parse_stored(read_whole(path))
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"cannot read {path}: {error}", "put the file back from a copy") from error
    version = data.get("schema_version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise StoreError(f"{path.name} was written by a newer version (schema {version})", "upgrade rag-evals")
    if isinstance(version, int) and version < SCHEMA_VERSION:
        raise StoreError(f"{path.name} was saved by a version before 0.1.0", "run it again")
    try:
        run = EvalRun.model_validate(data)
    except ValidationError as error:
        raise StoreError(f"{path.name} is not a run: {first_problem(error, EvalRun)}") from error
    saved_definitions.update((metric.name, metric) for metric in run.metric_definitions)
    return run.saved_as(path, partial(_whole_records, records_beside(path)))


def records_beside(path: Path) -> Path:
    """The records of the run in this file."""
    return path.with_name(f"{path.stem}.records.jsonl")


def _whole_records(path: Path, run: EvalRun) -> list[EvalRecord]:
    log = RecordLog(path)
    if (damage := damage_of(run, log)) is not None:
        raise StoreError(damage.said, way_back(run, damage))
    return list(log)


# Whether the records of a finished run are as they were when it was saved.


class Damage(NamedTuple):
    """What is wrong with the records of a run."""

    said: str
    lost: int
    """This many records are missing; 0 where all are there and some changed."""


def damage_of(run: EvalRun, log: RecordLog) -> Damage | None:
    """Damage to the records since the run was saved; None if there is none, or the run was never finished.

    A log that a resume appends to is whole where it holds all questions.
    """
    if run.completed_at is None or run.record_sum is None:
        return None
    saved, name = run.record_sum, log.path.name
    if (lost := saved.count - len(log)) > 0:
        return Damage(f"{name} holds {share(len(log), saved.count, 'record')}: the rest was lost since", lost)
    if log.is_compact and (log.size, log.checksum) != (saved.size, saved.crc32):
        return Damage(f"{name} is not as it was saved: all records are there, but another checksum", 0)
    return None


def as_found(run: EvalRun, damage: Damage | None) -> EvalRun:
    """The run as its records are now: partial, and saying why, where some were lost or changed."""
    if damage is None:
        return run
    outcomes = run.outcomes.model_copy(update={"stopped": damage.said})
    notes = [*run.notes, damage.said]
    return run.model_copy(update={"status": "partial", "notes": notes, "outcomes": outcomes, "gates": []})


def refuse_damaged(run: EvalRun, damage: Damage | None) -> None:
    """Raise an error if records were lost or changed.

    Raises:
        RunIncompleteError: They were; the message names the file and how many are there.
    """
    if damage is not None:
        raise RunIncompleteError(f"run {run.id} counts as partial: {damage.said}", way_back(run, damage))


def way_back(run: EvalRun, damage: Damage) -> str:
    """What to do about damaged records."""
    again = None
    if run.rescored_from is not None:
        again = f"measure again: {command(f'rescore {run.rescored_from}', folder_of(run))}"
    elif damage.lost and run.server.profile != SAVED_ANSWERS:
        again = f"ask again what is missing: {command(f'eval --resume {run.id}', folder_of(run))}"
    put_back = "put the file back from a copy"
    return f"{put_back}; or {again}" if again else put_back
