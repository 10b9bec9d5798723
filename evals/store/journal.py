"""The event log of a run, which is appended and flushed as things happen; reading it gives the run's records.

An event is a line of JSON, `{"type": "question" | "answer" | "verdict" | "record", "question_id": …, …}`. Of a type,
the last one of a question wins (verdicts: the last of each request and repeat). A torn last line is dropped on reading.
All but records say also when they happened: `leg`, milliseconds since 1970 when this process opened the log, and
`elapsed_s`, the seconds since; so that the time of a process that was killed is known up to its last event.
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeVar

from pydantic import TypeAdapter

from evals.errors import StoreError
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, MetricResult
from evals.schemas.verdicts import JudgeVerdict
from evals.store.atomic import make_folder, open_own, write_error
from evals.store.disk_buffer import LATEST_JSON
from evals.text.decoding import parse_stored

RESUME_HINT = "`evals eval --resume RUN` continues from there"

_Item = TypeVar("_Item", MetricResult, JudgeVerdict)


_BLOCK = 64 * 1024
"""Bytes that are read at a time from the end of a log."""


class Journal:
    """The event log of a running evaluation: appended and flushed, so that nothing paid for is lost when evals crashes.

    It is not synced to the disk at each event: what was written in the last seconds before a power cut can be lost.

    Args:
        path: The file; it is made where it does not exist.
        way_on: What to do where it cannot be written any more.
        clock: Seconds that only grow.
    """

    def __init__(self, path: Path, way_on: str = RESUME_HINT, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._way_on = way_on
        self._clock = clock
        self._leg = time.time_ns() // 1_000_000
        self._started = clock()
        self._file: BinaryIO | None = None

    def __enter__(self) -> "Journal":
        self._file = open_log(self.path, with_room(self._way_on))
        return self

    def __exit__(self, *_: object) -> None:
        file, self._file = self._file, None
        if file is None:
            return
        try:
            file.close()  # writes what a full disk kept back, and fails again where it is still full
        except OSError as error:
            raise write_error(self.path, error, with_room(self._way_on)) from error

    def restart_clock(self) -> None:
        """Count the time of this leg from now on: what was done before is no part of the run's duration."""
        self._started = self._clock()

    def questions(self, questions: Iterable[EvalQuestion]) -> None:
        """Log what will be asked, so that the log is complete in itself."""
        self._append(self._event("question", question.id, question) for question in questions)

    def answer(self, question_id: str, response: EvalResponse) -> None:
        """Log an exchange the moment it ends."""
        self._append([self._event("answer", question_id, response)])

    def verdict(self, question_id: str, verdict: JudgeVerdict) -> None:
        """Log a reply of the judge the moment it arrives."""
        self._append([self._event("verdict", question_id, verdict)])

    def _append(self, lines: Iterable[bytes]) -> None:
        if self._file is None:
            raise StoreError(f"{self.path} is not open")
        try:
            self._file.writelines(lines)
            self._file.flush()
        except OSError as error:
            raise write_error(self.path, error, with_room(self._way_on)) from error
        if os.fstat(self._file.fileno()).st_nlink == 0:
            self._write_again(self._file)

    def _write_again(self, deleted: BinaryIO) -> None:
        """Put a log that was deleted back: it is whole as long as this process has it open.

        Raises:
            StoreError: Always, as somebody wants the run gone, or made a mistake.
        """
        said = f"{self.path} was deleted while the run was going on"
        try:
            make_folder(self.path.parent)
            deleted.seek(0)
            with open_own(self.path, "xb") as file:
                shutil.copyfileobj(deleted, file)
        except OSError as error:
            raise StoreError(
                f"{said}, and cannot be written again: {error.strerror}", "its answers are lost: begin a new run"
            ) from error
        raise StoreError(f"{said}; all answers until then were written there again", self._way_on)

    def _event(self, kind: str, question_id: str, record: EvalQuestion | EvalResponse | JudgeVerdict) -> bytes:
        when = b'"leg":%d,"elapsed_s":%.3f' % (self._leg, self._clock() - self._started)
        named = kind.encode()
        return b'{"type":"%b","question_id":%b,%b,"%b":%b}\n' % (
            named,
            _quoted(question_id),
            when,
            named,
            _json(record),
        )


def with_room(way_on: str) -> str:
    """The hint for a full disk."""
    return f"what was written before is complete; once there is room on the disk, {way_on}"


def apply_event(event: dict[str, Any], records: dict[str, dict[str, Any]]) -> None:
    """Add what an event says to what is known of its question.

    Raises:
        KeyError: It is no event, or one of a question that was not planned.
        TypeError: It is no event.
        ValidationError: What it holds is not what its type says.
    """
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


def open_log(path: Path, way_on: str) -> BinaryIO:
    """Open a log for appending, locked and with its last line whole, in a folder that is made where it is missing.

    Raises:
        StoreError: It cannot be opened, or another process has it.
    """
    try:
        make_folder(path.parent)
        with ExitStack() as opened:
            file = opened.enter_context(open_own(path, "a+b"))
            lock_log(file, path)
            mend_last_line(path)
            opened.pop_all()
            return file
    except OSError as error:
        raise write_error(path, error, way_on) from error


def lock_log(file: BinaryIO, path: Path) -> None:
    """Keep a second process from writing the same run.

    The log itself is locked, so the lock goes with the file: `filelock` would leave a second file next to each run.

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


def mend_last_line(path: Path) -> None:
    """Cut a torn last line, and end one that lacks only its end, so that appending does not weld two lines into one."""
    with path.open("rb+") as file:
        start = _start_of_last_line(file)
        file.seek(start)
        line = file.read()
        try:
            parse_stored(line or b"{}")
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


def record_line(record: EvalRecord) -> bytes:
    """The event that holds all that is known of a question; it replaces its earlier events."""
    return b'{"type":"record","question_id":%b,"record":{"question":%b,"response":%b,"scores":%b,"verdicts":%b}}\n' % (
        _quoted(record.question.id),
        _json(record.question),
        b"null" if record.response is None else _json(record.response),
        _lists(MetricResult).dump_json(record.scores),
        _lists(JudgeVerdict).dump_json(record.verdicts),
    )


@cache
def _lists(kind: type[_Item]) -> TypeAdapter[list[_Item]]:
    """Writes lists; made when it is first needed, as that takes a while."""
    return TypeAdapter(list[kind])  # type: ignore[valid-type]


def _json(record: EvalQuestion | EvalResponse | JudgeVerdict) -> bytes:
    latest = LATEST_JSON.get(type(record))
    return record.model_dump_json().encode() if latest is None else latest.of(record)


def _quoted(text: str) -> bytes:
    return json.dumps(text).encode()


# What was uploaded to a server, so that nothing is uploaded twice: a line of JSON for each thing that happened.


UploadStage = Literal["sent", "taken", "ready"]

UploadEvent = Literal["sent", "taken", "refused", "ready", "finished"]

_WAY_ON = "make it writable and give the disk room, then upload again: uploaded documents are not sent twice"


@dataclass(slots=True)
class LoggedUpload:
    """What is known of a document.

    Attributes:
        sha256: Of what was sent.
        stage: How far it came; "sent" alone says that it is unknown whether the server took it.
        job: The server's job, "" where it has none.
        id: The server's own id of the document.
    """

    sha256: str
    stage: UploadStage
    job: str = ""
    id: str | None = None


def uploaded_ids(folder: Path, server: str) -> list[tuple[str, str]]:
    """The server's own ids of the documents that were uploaded to it, each with the document's name.

    Args:
        folder: Of runs.
        server: As for `UploadLog`.
    """
    log = UploadLog(folder, server)
    try:
        with log.path.open("rb") as file:
            log.read(file)
    except OSError:  # nothing was uploaded, or it cannot be seen: ids are an aid, and nothing is lost
        return []
    return [(one.id, name) for name, one in log.documents.items() if one.id]


class UploadLog:
    """The log of one server, in the folder of runs; use it as `with UploadLog(...) as log`.

    Args:
        folder: Of runs; None keeps nothing on disk.
        server: What tells this server and its way of uploading from others; only a hash of it is kept.
    """

    def __init__(self, folder: Path | None, server: str) -> None:
        self.path = (folder or Path()) / "uploads" / f"{sha256(server.encode()).hexdigest()[:16]}.jsonl"
        self.documents: dict[str, LoggedUpload] = {}
        """By the names of their files."""
        self.unfinished = False
        """Whether something was taken since what follows the last batch was done."""
        self._is_kept = folder is not None
        self._file: BinaryIO | None = None

    def __enter__(self) -> "UploadLog":
        """Open it, so that no other process uploads to the same server.

        Raises:
            StoreError: It cannot be opened, or another process has it.
        """
        if self._is_kept:
            self._file = open_log(self.path, _WAY_ON)
            self._file.seek(0)
            self.read(self._file)
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def read(self, lines: Iterable[bytes]) -> None:
        """Take in what happened before."""
        for line in lines:
            self._see(_parsed(line))

    def note(self, kind: UploadEvent, **what: Any) -> None:
        """Log what happened; synced to disk where a second upload could not be undone.

        Args:
            kind: `sent` before documents go, `taken` or `refused` as the server answered, `ready` when all is done
                that follows a batch, `finished` when that is done which follows all.
            what: Of `sent`: documents, as hashes by name. Of the others: names; of `taken` also job and ids.
        """
        event = {"type": kind, **what}
        self._see(event)
        if not self._is_kept:
            return
        if self._file is None:
            raise RuntimeError("the log is not open: use it as `with UploadLog(...) as log`")
        try:
            self._file.write(json.dumps(event).encode() + b"\n")
            self._file.flush()
            if kind in {"sent", "taken"}:
                os.fsync(self._file.fileno())
        except OSError as error:
            raise write_error(self.path, error, _WAY_ON) from error

    def _see(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind == "sent":
            for name, digest in event["documents"].items():
                self.documents[name] = LoggedUpload(digest, "sent")
        if kind == "finished":
            self.unfinished = False
        for name in event.get("names", ()):
            if kind == "refused":
                self.documents.pop(name, None)
            elif found := self.documents.get(name):
                found.stage = event["type"]
                if kind == "taken":
                    found.job, found.id, self.unfinished = event["job"], event["ids"].get(name), True


def _parsed(line: bytes) -> dict[str, Any]:
    """An event; {} for a line that a power cut has damaged: what it said is then found out from the server."""
    try:
        event = json.loads(line)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}
