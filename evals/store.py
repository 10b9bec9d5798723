"""Saved runs: one JSON file a run, and beside it an event log that is appended and flushed as things happen.

    {run_id}_{timestamp}.json            the EvalRun
    {run_id}_{timestamp}.records.jsonl   events while it runs; at the end one record a question

An event is `{"type": "question" | "answer" | "verdict" | "scores" | "record", "question_id": …, …}`; of a type, the
last one of a question wins (verdicts: the last of each request and repeat). A torn last line is dropped on reading.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import ValidationError

from evals.errors import RunNotFoundError, StoreError
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun, JudgeVerdict, MetricResult
from evals.schemas.results import SCHEMA_VERSION

_ID = re.compile(r"[a-z0-9-]+")
_RECORDS = ".records.jsonl"


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
            StoreError: It cannot.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            raise StoreError(
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
        write_atomically(path, [run.model_dump_json(indent=2).encode(), b"\n"])
        return path

    def journal(self, run: EvalRun) -> "Journal":
        """Open the run's event log for appending."""
        return Journal(self.records_path(run))

    def compact(self, run: EvalRun, records: Iterable[EvalRecord]) -> None:
        """Replace the event log by one record a question, whole or not at all."""
        lines = (b'{"type":"record","question_id":%b,"record":%b}\n' % (_key(r), _json(r)) for r in records)
        write_atomically(self.records_path(run), lines)

    def records(self, run: EvalRun) -> list[EvalRecord]:
        """Read the run's records, in the order in which the questions were planned.

        Raises:
            StoreError: The log is missing or damaged before its last line.
        """
        return read_records(self.records_path(run))

    def list(self) -> list[EvalRun]:
        """All saved runs, oldest first; files that are no runs are passed over."""
        runs = []
        for path in sorted(self.folder.glob("*_*Z.json")) if self.folder.is_dir() else []:
            try:
                runs.append(EvalRun.model_validate_json(path.read_bytes()))
            except (OSError, ValidationError):
                continue
        return sorted(runs, key=lambda run: run.created_at)

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
    """The event log of a running evaluation: appended and flushed, so that a crash loses nothing paid for.

    Args:
        path: The file; it is made where it does not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def __enter__(self) -> "Journal":
        try:
            file = self.path.open("ab")
            _lock(file, self.path)
            _mend_last_line(self.path)
        except OSError as error:
            raise _write_error(self.path, error) from error
        self._file = file
        return self

    def __exit__(self, *_: object) -> None:
        file, self._file = self._file, None
        if file is None:
            return
        try:
            file.close()  # writes what a full disk kept back, and fails again where it is still full
        except OSError as error:
            raise _write_error(self.path, error) from error

    def questions(self, questions: Iterable[EvalQuestion]) -> None:
        """Log what will be asked, so that the log is complete in itself."""
        self._append(b"".join(_event("question", question.id, question) for question in questions))

    def answer(self, question_id: str, response: EvalResponse) -> None:
        """Log an exchange the moment it ends."""
        self._append(_event("answer", question_id, response))

    def scores(self, question_id: str, scores: Iterable[MetricResult]) -> None:
        """Log what was measured."""
        body = b"[%b]" % b",".join(_json(score) for score in scores)
        self._append(b'{"type":"scores","question_id":%b,"scores":%b}\n' % (_quoted(question_id), body))

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
            raise _write_error(self.path, error) from error


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
            raise StoreError(f"{path.name}, line {number}: not an event of a run ({error})") from error
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
    elif kind == "scores":
        record_of["scores"] = [MetricResult.model_validate(score) for score in event["scores"]]
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


def write_atomically(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file beside its place, sync it to disk and rename it into place.

    Raises:
        StoreError: It could not be written; the old file, if any, is as it was.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise _write_error(path, error) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _read_run(path: Path) -> EvalRun:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise StoreError(f"cannot read {path}: {error}") from error
    version = data.get("schema_version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise StoreError(f"{path.name} was written by a newer version (schema {version})", "upgrade rag-evals")
    try:
        return EvalRun.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise StoreError(f"{path.name} is not a run: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error


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
        file.close()
        raise StoreError(f"another process is writing {path.name}", "wait until it has ended") from error


def _mend_last_line(path: Path) -> None:
    """Cut a torn last line, and end one that lacks only its end, so that appending does not weld two lines into one."""
    if not path.exists():
        return
    data = path.read_bytes()
    start = data.rfind(b"\n", 0, -1) + 1
    try:
        json.loads(data[start:] or b"{}")
    except ValueError:
        os.truncate(path, start)
        return
    if data and not data.endswith(b"\n"):
        with path.open("ab") as file:
            file.write(b"\n")


def _event(kind: str, question_id: str, record: EvalQuestion | EvalResponse | JudgeVerdict) -> bytes:
    head = b'{"type":"%b","question_id":%b,"%b":' % (kind.encode(), _quoted(question_id), kind.encode())
    return b"%b%b}\n" % (head, _json(record))


def _json(record: EvalQuestion | EvalResponse | JudgeVerdict | MetricResult | EvalRecord) -> bytes:
    return record.model_dump_json().encode()


def _quoted(text: str) -> bytes:
    return json.dumps(text).encode()


def _key(record: EvalRecord) -> bytes:
    return _quoted(record.question.id)


def _write_error(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"cannot write {path}: {error.strerror or error}",
        "what was written before is whole; make room, then `evals eval --resume RUN` goes on from there",
    )
