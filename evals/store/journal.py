"""`records.jsonl` of a run: an event log while it runs, one record a question at the end.

An event is a line of JSON, `{"type": "question" | "answer" | "verdict" | "record", "question_id": …, …}`; of a type,
the last event of a question counts (verdicts: of each request and repeat). Memory holds ids and offsets alone. A torn
last line is dropped. Events also say when they were written: `leg`, when the process opened the log (milliseconds since
1970), and `elapsed_s`, seconds since; so the duration of a killed process is known.
"""

import json
import os
import re
import shutil
import time
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import BinaryIO, Self
from zlib import crc32

from pydantic import BaseModel, TypeAdapter, ValidationError

from evals.errors import StoreError
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, MetricResult, RecordSum
from evals.schemas.verdicts import JudgeVerdict
from evals.store.atomic import make_folder, open_own, write_atomically, write_error
from evals.text.yaml_files import first_problem

_HEAD = re.compile(
    rb'\{\s*"type"\s*:\s*"(question|answer|verdict|record)"\s*,\s*"question_id"\s*:\s*("(?:[^"\\]|\\.)*")'
    rb'(?:\s*,\s*"leg"\s*:\s*(\d+)\s*,\s*"elapsed_s"\s*:\s*([\d.]+))?'
)
_NONE = 2**64 - 1
_BLOCK = 65_536


class Event(BaseModel):
    """A line of the log."""

    type: str
    question_id: str
    question: EvalQuestion | None = None
    answer: EvalResponse | None = None
    verdict: JudgeVerdict | None = None
    record: EvalRecord | None = None


class RecordLog:
    """The records of a run, each read when it is wanted, in the order of the questions.

    Args:
        path: The `records.jsonl`.
        ids: The ids of its questions, where `columns.npz` knows them; else the file is scanned.
        offsets: Where the record of each begins, likewise.

    Raises:
        StoreError: The file is missing, or a line before the last is damaged.
    """

    def __init__(self, path: Path, ids: list[str] | None = None, offsets: "array[int] | None" = None) -> None:
        self.path = path
        self.ids: list[str] = ids or []
        self.duration_s = 0.0
        """Seconds that its processes spent, by their last events."""
        self.checksum = 0
        """CRC-32 of the file; 0 where it was not scanned."""
        self.size = 0
        self.is_compact = ids is not None
        self.offsets = offsets if offsets is not None else array("Q")
        """Where the question or record of each row begins."""
        self._answers = array("Q", [_NONE]) * len(self.ids)
        self._verdicts: dict[int, list[int]] = {}
        if ids is None:
            self._scan()

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {key: row for row, key in enumerate(self.ids)}

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[EvalRecord]:
        try:
            with self.path.open("rb") as file:
                for row in range(len(self.ids)):
                    yield self._read(file, row)
        except OSError as error:
            raise self._unreadable(error) from error

    def row_of(self, question_id: str) -> int | None:
        """The place of a question; None if the run does not have it."""
        return self._rows.get(question_id)

    def has_answer(self, question_id: str) -> bool:
        """Whether an exchange of the question was logged."""
        row = self._rows.get(question_id)
        return row is not None and self._answers[row] != _NONE

    def question(self, row: int) -> EvalQuestion:
        """Read a question.

        Raises:
            StoreError: Its line is damaged.
        """
        with self._opened() as file:
            event = self._event(file, self.offsets[row])
        question = event.record.question if event.record is not None else event.question
        if question is None:
            raise self._damage(self.offsets[row], "not an event of a question")
        return question

    def record(self, row: int) -> EvalRecord:
        """Read a question with its response, results and verdicts.

        Raises:
            StoreError: A line of it is damaged, or the file was changed.
        """
        with self._opened() as file:
            return self._read(file, row)

    def _read(self, file: BinaryIO, row: int) -> EvalRecord:
        event = self._event(file, self.offsets[row])
        if event.question_id != self.ids[row]:
            raise self._damage(self.offsets[row], f"about {event.question_id}, not {self.ids[row]}")
        record = event.record or EvalRecord(question=event.question or self.question(row))
        response, verdicts = record.response, {(each.request, each.repeat): each for each in record.verdicts}
        if self._answers[row] not in (_NONE, self.offsets[row]):
            response = self._event(file, self._answers[row]).answer
        for offset in self._verdicts.get(row, ()):
            if (verdict := self._event(file, offset).verdict) is not None:
                verdicts[verdict.request, verdict.repeat] = verdict
        scores = record.scores if response is record.response else []
        return EvalRecord.model_construct(
            question=record.question, response=response, scores=scores, verdicts=list(verdicts.values())
        )

    def _scan(self) -> None:
        """Find where each event begins, without parsing what it holds."""
        legs: dict[bytes, float] = {}
        kinds = set()
        try:
            with self.path.open("rb") as file:
                for line in file:
                    head = _event_head(line)
                    if head is None:
                        if not file.peek(1):
                            break  # the last line, torn by a kill
                        raise self._damage(self.size, "not an event of a run")
                    kind, quoted, leg, elapsed = head.groups()
                    kinds.add(kind)
                    self.note(kind.decode(), json.loads(quoted), self.size)
                    if leg:
                        legs[leg] = float(elapsed)
                    self.checksum = crc32(line, self.checksum)
                    self.size += len(line)
        except OSError as error:
            raise self._unreadable(error) from error
        except KeyError as error:
            raise self._damage(self.size, f"an event of {error}, which was not planned") from error
        self.duration_s = sum(legs.values())
        self.is_compact = kinds == {b"record"}

    def note(self, kind: str, question_id: str, offset: int) -> None:
        """Take in where an event stands.

        Raises:
            KeyError: It is of a question that was not planned.
        """
        if kind in ("question", "record"):
            row = self._rows.setdefault(question_id, len(self.ids))
            if row == len(self.ids):
                self.ids.append(question_id)
                self.offsets.append(offset)
                self._answers.append(_NONE)
            self.offsets[row] = offset
            if kind == "record":
                self._answers[row] = offset
                self._verdicts.pop(row, None)
        elif kind == "answer":
            self._answers[self._rows[question_id]] = offset
        else:
            self._verdicts.setdefault(self._rows[question_id], []).append(offset)

    def _opened(self) -> BinaryIO:
        try:
            return self.path.open("rb")
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError) -> StoreError:
        return StoreError(f"cannot read {self.path}: {error.strerror}", "copy all files of the run")

    def _event(self, file: BinaryIO, offset: int) -> Event:
        try:
            if file.tell() != offset:
                file.seek(offset)
            return Event.model_validate_json(file.readline())
        except ValidationError as error:
            raise self._damage(offset, str(first_problem(error, Event))) from error

    def _damage(self, offset: int, why: str) -> StoreError:
        with self.path.open("rb") as file:
            number = file.read(offset).count(b"\n") + 1
        return StoreError(f"{self.path.name}, line {number}: {why}", "put the file back from a copy")


class Journal(RecordLog):
    """The log of a running evaluation, appended and flushed at each event; locked against other processes.

    It is not synced at each event: a power cut can lose the last seconds.

    Args:
        path: The file; it is made where it does not exist.
        way_on: What to do where it cannot be written any more.
        clock: Seconds that only grow.

    Raises:
        StoreError: It cannot be opened, or another process has it.
    """

    def __init__(self, path: Path, way_on: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._way_on = f"what was written before is complete; once there is room on the disk, {way_on}"
        self._clock, self._started = clock, clock()
        self._leg = time.time_ns() // 1_000_000
        self._lock = Lock()
        self._file = open_log(path, self._way_on, _event_head)
        super().__init__(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._file.close()  # writes what a full disk kept back, and fails again where it is still full
        except OSError as error:
            raise write_error(self.path, error, self._way_on) from error

    def total_s(self) -> float:
        """Seconds that this process and those before it spent on the run."""
        return self.duration_s + self._clock() - self._started

    def plan(self, questions: Iterable[EvalQuestion]) -> None:
        """Log what will be asked, so that the log is complete in itself."""
        self._append(("question", question.id, question) for question in questions if question.id not in self._rows)

    def copy(self, records: Iterable[EvalRecord]) -> None:
        """Log records of another run: questions, answers, verdicts, and results where they have some."""

        def events() -> Iterator[tuple[str, str, BaseModel]]:
            for record in records:
                key = record.question.id
                if record.scores:
                    yield "record", key, record
                    continue
                yield "question", key, record.question
                if record.response is not None:
                    yield "answer", key, record.response
                yield from (("verdict", key, verdict) for verdict in record.verdicts)

        self._append(events())

    def answer(self, question_id: str, response: EvalResponse) -> None:
        """Log an exchange the moment it ends."""
        self._append([("answer", question_id, response)])

    def verdict(self, question_id: str, verdict: JudgeVerdict) -> None:
        """Log a reply of the judge the moment it arrives."""
        self._append([("verdict", question_id, verdict)])

    def _append(self, events: Iterable[tuple[str, str, BaseModel]]) -> None:
        with self._lock:
            try:
                for kind, key, payload in events:
                    line = b'{"type":"%b","question_id":%b,"leg":%d,"elapsed_s":%.3f,"%b":%b}\n' % (
                        kind.encode(),
                        json.dumps(key).encode(),
                        self._leg,
                        self._clock() - self._started,
                        kind.encode(),
                        payload.model_dump_json().encode(),
                    )
                    self._file.write(line)
                    self.note(kind, key, self.size)
                    self.size += len(line)
                self._file.flush()
            except OSError as error:
                raise write_error(self.path, error, self._way_on) from error
            if os.fstat(self._file.fileno()).st_nlink == 0:
                self._write_again()

    def _write_again(self) -> None:
        """Put a deleted log back: it is whole as long as this process has it open.

        Raises:
            StoreError: Always, as the run was deleted on purpose or by mistake.
        """
        deleted = f"{self.path} was deleted during the run"
        try:
            make_folder(self.path.parent)
            self._file.seek(0)
            with open_own(self.path, "xb") as file:
                shutil.copyfileobj(self._file, file)
        except OSError as error:
            hint = "its answers are lost: begin a new run"
            raise StoreError(f"{deleted}, and cannot be written again: {error.strerror}", hint) from error
        raise StoreError(f"{deleted}; all answers until then were written there again", self._way_on)


def ends(line: bytes) -> bool:
    """Whether a line was written to its end."""
    return line.endswith(b"}\n")


def open_log(path: Path, way_on: str, is_whole: Callable[[bytes], object] = ends) -> BinaryIO:
    """Open a log for appending, locked, and with a torn last line cut off; its folder is made where it is missing.

    Raises:
        StoreError: It cannot be opened, or another process has it.
    """
    try:
        make_folder(path.parent)
        file = open_own(path, "a+b")
        try:
            _lock(file, path)
            file.seek(start := _start_of_last_line(file))
            if not is_whole(file.read()):
                file.truncate(start)
        except BaseException:
            file.close()
            raise
    except OSError as error:
        raise write_error(path, error, way_on) from error
    return file


def _lock(file: BinaryIO, path: Path) -> None:
    """Lock the log itself, so that the lock goes with the file."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StoreError(f"another process is writing {path.name}", "wait until it has ended") from error


def _start_of_last_line(file: BinaryIO) -> int:
    """Where the last line begins, ended or not."""
    end = file.seek(0, os.SEEK_END) - 1  # a newline at the end belongs to the last line
    while end > 0:
        start = max(0, end - _BLOCK)
        file.seek(start)
        place = file.read(end - start).rfind(b"\n")
        if place >= 0:
            return start + place + 1
        end = start
    return 0


def _event_head(line: bytes) -> "re.Match[bytes] | None":
    """The type and question of a line that is an event and was written to its end; None for any other."""
    return _HEAD.match(line) if ends(line) else None


_SCORES: TypeAdapter[list[MetricResult]] = TypeAdapter(list[MetricResult])
_VERDICTS: TypeAdapter[list[JudgeVerdict]] = TypeAdapter(list[JudgeVerdict])


def record_line(record: EvalRecord) -> bytes:
    """The line that holds all that is known of a question."""
    response = b"null" if record.response is None else record.response.model_dump_json().encode()
    return b'{"type":"record","question_id":%b,"record":{"question":%b,"response":%b,"scores":%b,"verdicts":%b}}\n' % (
        json.dumps(record.question.id).encode(),
        record.question.model_dump_json().encode(),
        response,
        _SCORES.dump_json(record.scores),
        _VERDICTS.dump_json(record.verdicts),
    )


def write_records(path: Path, lines: Iterable[bytes], *, hint: str | None = None) -> tuple[RecordSum, "array[int]"]:
    """Replace a log by lines of records, whole or not at all.

    Returns:
        Count, size and checksum for the run's file, and where each line begins.

    Raises:
        StoreError: It could not be written; the log is as it was.
    """
    offsets, checksum = array("Q", [0]), 0

    def follow() -> Iterator[bytes]:
        nonlocal checksum
        for line in lines:
            checksum = crc32(line, checksum)
            offsets.append(offsets[-1] + len(line))
            yield line

    write_atomically(path, follow(), hint=hint)
    size = offsets.pop()
    return RecordSum(count=len(offsets), size=size, crc32=checksum), offsets
