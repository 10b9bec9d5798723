"""Saved runs: one JSON file a run, and beside it an event log that is appended and flushed as things happen.

    {run_id}_{timestamp}.json            the EvalRun
    {run_id}_{timestamp}.records.jsonl   events while it runs; at the end one record a question

An event is `{"type": "question" | "answer" | "verdict" | "record", "question_id": …, …}`; of a type, the last one of a
question wins (verdicts: the last of each request and repeat). A torn last line is dropped on reading.
"""

import errno
import json
import os
import re
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pydantic import ValidationError

from evals.errors import RunNotFoundError, StoreError, UnwritableError
from evals.inputs.problems import first_problem
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun, JudgeVerdict
from evals.schemas.results import SCHEMA_VERSION

_ID = re.compile(r"[a-z0-9-]+")
_RECORDS = ".records.jsonl"
_RESUME = "what was written before is whole; make room, then `evals eval --resume RUN` goes on from there"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_BLOCK = 64 * 1024
"""Bytes that are read at a time from the end of a log."""


class SavedRuns(NamedTuple):
    """What a folder of runs holds."""

    runs: list[EvalRun]
    """Oldest first."""
    unreadable: list[StoreError]
    """Why a file with the name of a run is none that can be read, in the order of the names."""


class RunStore:
    """The saved runs of one folder.

    Args:
        folder: Where the files are; made on the first write.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def prepare(self) -> None:
        """Make the folder and see that it can be written, before anything is asked.

        Raises:
            UnwritableError: No run can be written there.
            StoreError: The disk is full.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            kind = StoreError if error.errno in _FULL else UnwritableError
            raise kind(
                f"cannot write runs to {self.folder}: {error.strerror}", "name another folder with --runs-dir"
            ) from error

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
        write_atomically(path, [run.model_dump_json(indent=2).encode(), b"\n"], hint=_RESUME)
        return path

    def journal(self, run: EvalRun) -> "Journal":
        """Open the run's event log for appending."""
        return Journal(self.records_path(run))

    def compact(self, run: EvalRun, records: Iterable[EvalRecord]) -> None:
        """Replace the event log by one record a question, whole or not at all."""
        lines = (b'{"type":"record","question_id":%b,"record":%b}\n' % (_key(r), _json(r)) for r in records)
        write_atomically(self.records_path(run), lines, hint=_RESUME)

    def records(self, run: EvalRun) -> list[EvalRecord]:
        """Read the run's records, in the order in which the questions were planned.

        Raises:
            StoreError: The log is missing or damaged before its last line.
        """
        return read_records(self.records_path(run))

    def runs(self) -> list[EvalRun]:
        """All saved runs that can be read, oldest first."""
        return self.survey().runs

    def survey(self) -> SavedRuns:
        """All saved runs, and what is wrong with those that cannot be read."""
        runs, unreadable = [], []
        for path in sorted(self.folder.glob("*_*Z.json")) if self.folder.is_dir() else []:
            try:
                runs.append(_read_run(path))
            except StoreError as error:
                unreadable.append(error)
        return SavedRuns(sorted(runs, key=lambda run: run.created_at), unreadable)

    def load(self, run_id: str) -> EvalRun:
        """Read the run with this id or unique prefix of an id.

        Raises:
            RunNotFoundError: No run has it, or several have.
            StoreError: Its file cannot be read.
        """
        if not _ID.fullmatch(run_id):
            raise RunNotFoundError(f"{run_id!r} is not a run id", "run ids have the letters a-z, digits and hyphens")
        found = sorted(self.folder.glob(f"{run_id}*_*Z.json")) if self.folder.is_dir() else []
        exact = [path for path in found if path.name.startswith(f"{run_id}_")]
        found = exact or found
        if not found:
            raise RunNotFoundError(f"no run {run_id!r} in {self.folder}", "`evals runs` lists what there is")
        if len(found) > 1:
            ids = ", ".join(path.name.partition("_")[0] for path in found[:8])
            raise RunNotFoundError(f"{run_id!r} is the start of {len(found)} runs: {ids}", "give more of the id")
        return _read_run(found[0])


class Journal:
    """The event log of a running evaluation: appended and flushed, so that nothing paid for is lost when evals crashes.

    It is not synced to the disk at each event: what was written in the last seconds before a power cut can be lost.

    Args:
        path: The file; it is made where it does not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def __enter__(self) -> "Journal":
        try:
            with ExitStack() as opened:
                file = opened.enter_context(self.path.open("ab"))
                _lock(file, self.path)
                _mend_last_line(self.path)
                opened.pop_all()  # from here on `__exit__` closes it
        except OSError as error:
            raise _write_error(self.path, error, _RESUME) from error
        self._file = file
        return self

    def __exit__(self, *_: object) -> None:
        file, self._file = self._file, None
        if file is None:
            return
        try:
            file.close()  # writes what a full disk kept back, and fails again where it is still full
        except OSError as error:
            raise _write_error(self.path, error, _RESUME) from error

    def questions(self, questions: Iterable[EvalQuestion]) -> None:
        """Log what will be asked, so that the log is complete in itself."""
        self._append(b"".join(_event("question", question.id, question) for question in questions))

    def answer(self, question_id: str, response: EvalResponse) -> None:
        """Log an exchange the moment it ends."""
        self._append(_event("answer", question_id, response))

    def verdict(self, question_id: str, verdict: JudgeVerdict) -> None:
        """Log a reply of the judge the moment it arrives."""
        self._append(_event("verdict", question_id, verdict))

    def _append(self, line: bytes) -> None:
        if self._file is None:
            raise StoreError(f"{self.path} is not open")
        try:
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            raise _write_error(self.path, error, _RESUME) from error


def read_records(path: Path) -> list[EvalRecord]:
    """Fold an event log into records.

    Raises:
        StoreError: The file is missing, or damaged before its last line.
    """
    records: dict[str, dict[str, Any]] = {}
    for number, event in _events(path):
        try:
            _apply(event, records)
        except (KeyError, TypeError, ValidationError) as error:
            reason = first_problem(error, EvalRecord) if isinstance(error, ValidationError) else error
            raise StoreError(f"{path.name}, line {number}: not an event of a run ({reason})") from error
    return [EvalRecord.model_construct(**record) for record in records.values()]


def _apply(event: dict[str, Any], records: dict[str, dict[str, Any]]) -> None:
    key, kind = event["question_id"], event["type"]
    if kind == "record":
        record = EvalRecord.model_validate(event["record"])
        records[key] = {name: getattr(record, name) for name in EvalRecord.model_fields}
        return
    if kind == "question":
        question = EvalQuestion.model_validate(event["question"])
        records.setdefault(key, {"response": None, "scores": [], "verdicts": []})["question"] = question
        return
    record_of = records[key]
    if kind == "answer":
        record_of["response"] = EvalResponse.model_validate(event["answer"])
    elif kind == "verdict":
        verdict = JudgeVerdict.model_validate(event["verdict"])
        same = (verdict.request, verdict.repeat)
        record_of["verdicts"] = [v for v in record_of["verdicts"] if (v.request, v.repeat) != same] + [verdict]


def _events(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The events of a log, with their line numbers; a torn last line is dropped."""
    try:
        with path.open("rb") as file:
            torn: tuple[int, bytes] | None = None
            for number, line in enumerate(file, start=1):
                if torn:
                    raise StoreError(f"{path.name}, line {torn[0]}: damaged")
                try:
                    yield number, json.loads(line)
                except ValueError:
                    torn = (number, line)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error


def write_atomically(path: Path, parts: Iterable[bytes], *, hint: str | None = None) -> None:
    """Write a file beside its place, sync it to disk and rename it into place.

    Args:
        path: The file; a link is replaced.
        parts: What it shall hold.
        hint: The way out where it cannot be written.

    Raises:
        StoreError: It could not be written; the old file, if any, is as it was.
    """
    # Two threads and two processes, also on two machines that share the folder, may write the same file at once.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise _write_error(path, error, hint) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def write_output(path: Path, data: bytes) -> None:
    """Write the file that a user named with --output.

    A file is written whole or not at all. A link stays, and what it points to is written; a pipe or a device is written
    as it is.

    Raises:
        StoreError: It could not be written; the old file, if any, is as it was.
    """
    hint = "name another file with --output, or leave it out to print"
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        target = Path(os.path.realpath(path))
    except OSError as error:
        raise _write_error(path, error, hint) from error
    write_atomically(target, [data], hint=hint)


def _sync_folder(folder: Path) -> None:
    """Make a renaming last through a power cut, where the system can sync a folder."""
    with suppress(OSError):  # not every system can; the file itself is synced and in its place
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _read_run(path: Path) -> EvalRun:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"cannot read {path}: {error}") from error
    version = data.get("schema_version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise StoreError(f"{path.name} was written by a newer version (schema {version})", "upgrade rag-evals")
    try:
        return EvalRun.model_validate(data)
    except ValidationError as error:
        raise StoreError(f"{path.name} is not a run: {first_problem(error, EvalRun)}") from error


def _lock(file: BinaryIO, path: Path) -> None:
    """Keep a second process from writing the same run; the lock goes with the file.

    Raises:
        StoreError: Another process has it.
    """
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StoreError(f"another process is writing {path.name}", "wait until it has ended") from error


def _mend_last_line(path: Path) -> None:
    """Cut a torn last line, and end one that lacks only its end, so that appending does not weld two lines into one."""
    with path.open("rb+") as file:
        start = _start_of_last_line(file)
        file.seek(start)
        line = file.read()
        try:
            json.loads(line or b"{}")
        except ValueError:
            file.truncate(start)
            return
        if line and not line.endswith(b"\n"):
            file.write(b"\n")


def _start_of_last_line(file: BinaryIO) -> int:
    """Where the last line begins, ended or not; read from the end, for a log may be larger than the memory."""
    end = max(0, file.seek(0, os.SEEK_END) - 1)  # a line's own end begins no other line
    while end > 0:
        start = max(0, end - _BLOCK)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _event(kind: str, question_id: str, record: EvalQuestion | EvalResponse | JudgeVerdict) -> bytes:
    head = b'{"type":"%b","question_id":%b,"%b":' % (kind.encode(), _quoted(question_id), kind.encode())
    return b"%b%b}\n" % (head, _json(record))


def _json(record: EvalQuestion | EvalResponse | JudgeVerdict | EvalRecord) -> bytes:
    return record.model_dump_json().encode()


def _quoted(text: str) -> bytes:
    return json.dumps(text).encode()


def _key(record: EvalRecord) -> bytes:
    return _quoted(record.question.id)


def _write_error(path: Path, error: OSError, hint: str | None) -> StoreError:
    return StoreError(f"cannot write {path}: {error.strerror or error}", hint)
