"""The records of an event log, one at a time: in memory are places in the file, and no records.

The events of a question may lie apart (asked, answered, judged). What is held of an event is where it lies and which
event of the same question came before it: some twenty bytes, and the ids.
"""

import json
import re
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import ValidationError

from evals.errors import StoreError
from evals.inputs.problems import first_problem
from evals.schemas import EvalRecord
from evals.store.journal import apply_event

_HEAD = re.compile(rb'\{"type":"(\w+)","question_id":("(?:[^"\\]|\\.)*"),')
_NONE = -1


class LogRecords(Sequence[EvalRecord]):
    """The records of a log, in the order in which its questions were planned; each is read when it is asked for.

    Args:
        path: The log. A torn last line is passed over.

    Raises:
        StoreError: It is missing or damaged before its last line; also while records are read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._places: dict[str, int] = {}
        self._last = array("q")
        """By question, its last event."""
        self._offsets, self._lengths, self._before = array("Q"), array("L"), array("q")
        try:
            with path.open("rb") as file:
                self._scan(file)
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror}") from error

    def _scan(self, file: BinaryIO) -> None:
        offset, torn = 0, None
        for number, line in enumerate(file, start=1):
            if torn:
                raise StoreError(f"{self.path.name}, line {torn}: damaged")
            found = _kind_and_id(line)
            if found is None:
                torn = number
            else:
                self._note(*found, offset, len(line), number)
            offset += len(line)
        if offset and not torn:
            self._drop_torn(file)

    def _note(self, kind: str, key: str, offset: int, length: int, number: int) -> None:
        place = self._places.get(key)
        if place is None:
            if kind not in {"question", "record"}:
                raise StoreError(f"{self.path.name}, line {number}: not an event of a run ({key!r} was not planned)")
            place = self._places[key] = len(self._last)
            self._last.append(_NONE)
        self._before.append(self._last[place])
        self._last[place] = len(self._offsets)
        self._offsets.append(offset)
        self._lengths.append(length)

    def _drop_torn(self, file: BinaryIO) -> None:
        """Forget the last event where its line is not whole."""
        file.seek(self._offsets[-1])
        try:
            json.loads(file.read(self._lengths[-1]))
        except ValueError:
            last = len(self._offsets) - 1
            place = next(place for place in range(len(self._last) - 1, -1, -1) if self._last[place] == last)
            self._last[place] = self._before[last]
            if self._last[place] == _NONE:
                self._last.pop()
                self._places.popitem()

    def __len__(self) -> int:
        return len(self._last)

    def __iter__(self) -> Iterator[EvalRecord]:
        with self.path.open("rb") as file:
            for place in range(len(self)):
                yield self._read(file, place)

    def __getitem__(self, place: int) -> EvalRecord:  # type: ignore[override]  # no slices
        with self.path.open("rb") as file:
            return self._read(file, range(len(self))[place])

    @property
    def ids(self) -> Sequence[str]:
        """Of the questions, in their order."""
        return list(self._places)

    def find(self, question_id: str) -> EvalRecord | None:
        """The record of a question; None where the log has none."""
        place = self._places.get(question_id)
        return None if place is None else self[place]

    def _read(self, file: BinaryIO, place: int) -> EvalRecord:
        parts: dict[str, dict[str, Any]] = {}
        try:
            for event in self._events(file, place):
                apply_event(event, parts)
            (record,) = parts.values()
            return EvalRecord.model_construct(**record)
        except (KeyError, TypeError, ValueError) as error:
            reason = first_problem(error, EvalRecord) if isinstance(error, ValidationError) else error
            raise StoreError(f"{self.path.name}, question {place + 1}: not a record ({reason})") from error

    def _events(self, file: BinaryIO, place: int) -> list[dict[str, Any]]:
        """The events of a question, oldest first."""
        lines, event = list[dict[str, Any]](), self._last[place]
        while event != _NONE:
            file.seek(self._offsets[event])
            lines.append(json.loads(file.read(self._lengths[event])))
            event = self._before[event]
        return lines[::-1]


def _kind_and_id(line: bytes) -> tuple[str, str] | None:
    """What a line is, and of which question; None where it is no event."""
    head = _HEAD.match(line)
    try:
        if head is not None:
            return head[1].decode(), json.loads(head[2])
        event = json.loads(line)
        return event["type"], event["question_id"]
    except (ValueError, KeyError, TypeError):
        return None
