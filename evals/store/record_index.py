"""Index of a records file: the offset of each question, so that one can be read alone.

    {run_id}_{timestamp}.records.index   next to the records: ids, places, and what was derived of the records

It is made whenever a records file is written, and made anew where it is missing or does not fit the file. All that it
holds can be made from the records again: it can be deleted at any time. A log of a run in progress has none on disk.

Its first line is JSON, {"version", "size", "mtime_ns", "crc32", "stamp", "parts": {name: [start, length, crc32]}}; the
parts follow, and their places are counted from the end of that line.
"""

import json
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any
from zlib import crc32

from evals.errors import StoreError
from evals.schemas.run_parts import RecordSum
from evals.store.atomic import write_atomically
from evals.text.decoding import parse_stored

SUFFIX = ".records.index"

VERSION = 1

_BLOCK = 1 << 20


PUT_BACK = "put back the file as it was saved"
"""What helps where the records of a run are gone, or are not those that were saved."""

_IDS, _PLACES = "ids", "places"


@dataclass(slots=True)
class RecordIndex:
    """The offsets of the events of each question in a log.

    Attributes:
        ids: Of the questions, in the order in which they were planned.
        places: Of the events, in bytes from the begin of the file, question by question.
        firsts: Where the events of each question begin in `places`; None where each has exactly one, its record.
        checksum: CRC-32 of the whole file.
        size: Of the file, in bytes.
        elapsed_s: How long the processes took that wrote the events, each up to its last one; 0 of records alone.
    """

    ids: list[str] = field(default_factory=list)
    places: "array[int]" = field(default_factory=lambda: array("Q"))
    firsts: "array[int] | None" = None
    checksum: int = 0
    size: int = 0
    elapsed_s: float = 0.0

    @property
    def is_compact(self) -> bool:
        """Whether the file holds one record a question and nothing else."""
        return self.firsts is None

    def events_of(self, number: int) -> "array[int]":
        """Where the events of a question begin, in their order."""
        if self.firsts is None:
            return self.places[number : number + 1]
        end = self.firsts[number + 1] if number + 1 < len(self.firsts) else len(self.places)
        return self.places[self.firsts[number] : end]


@dataclass(frozen=True, slots=True)
class Parts:
    """What an index file holds apart from the places: named blobs, each read when it is asked for.

    Attributes:
        path: The index file.
        start: Where the parts begin in it.
        found: By name, begin, length and CRC-32.
        stamp: What they were derived by; of another stamp they are not used.
    """

    path: Path
    start: int
    found: Mapping[str, tuple[int, int, int]]
    stamp: str = ""

    @property
    def derived(self) -> list[str]:
        """The names of the parts that were derived of the records."""
        return [name for name in self.found if name not in {_IDS, _PLACES}]

    def read(self, name: str) -> bytes | None:
        """A part as it was written; None where there is none, or it is damaged."""
        if name not in self.found:
            return None
        begin, length, checksum = self.found[name]
        try:
            with self.path.open("rb") as file:
                file.seek(self.start + begin)
                data = file.read(length)
        except OSError:
            return None
        return data if len(data) == length and crc32(data) == checksum else None


class IndexWriter:
    """Follows a records file while it is written, and then writes its index.

    Args:
        path: The records file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._index = RecordIndex()

    def follow(self, lines: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
        """The lines of the file, each with the id of its question, as they are written."""
        index = self._index
        for question_id, line in lines:
            index.ids.append(question_id)
            index.places.append(index.size)
            index.size += len(line)
            index.checksum = crc32(line, index.checksum)
            yield line

    @property
    def sum(self) -> RecordSum:
        """The file that was written, as the run's own file shall know it."""
        return RecordSum(count=len(self._index.ids), size=self._index.size, crc32=self._index.checksum)

    def write(self) -> None:
        """Write the index of the file that was written; nothing is lost where that cannot be."""
        if len(set(self._index.ids)) == len(self._index.ids):
            save_index(self._path, self._index)


def index_path(records: Path) -> Path:
    """The index file of a records file."""
    return records.with_name(f"{records.name.removesuffix('.jsonl').removesuffix('.records')}{SUFFIX}")


def save_index(records: Path, index: RecordIndex, stamp: str = "", derived: Mapping[str, bytes] | None = None) -> bool:
    """Write the index of a records file with what was derived of it; returns whether it could be written.

    Args:
        records: The records file, as it is now.
        index: Of this file; that of a log in progress is not written.
        stamp: What `derived` depends on apart from the records.
        derived: Named blobs.
    """
    if not index.is_compact:
        return False
    blobs = {_IDS: json.dumps(index.ids).encode(), _PLACES: little_endian(index.places).tobytes(), **(derived or {})}
    parts, start = {}, 0
    for name, blob in blobs.items():
        parts[name] = (start, len(blob), crc32(blob))
        start += len(blob)
    try:
        state = records.stat()
        if state.st_size != index.size:
            return False
        head = {"version": VERSION, "size": state.st_size, "mtime_ns": state.st_mtime_ns, "crc32": index.checksum}
        line = json.dumps({**head, "stamp": stamp, "parts": parts}).encode()
        write_atomically(index_path(records), [line, b"\n", *blobs.values()])
    except (OSError, StoreError):  # a folder that cannot be written, or a full disk: all works without it
        return False
    return True


def load_index(records: Path) -> tuple[RecordIndex, Parts] | None:
    """The index of a records file; None where there is none, or it does not fit the file.

    It fits where size and time of the file are those that it names, or its size and checksum, as after copying.
    """
    found = _read_head(index_path(records))
    if found is None:
        return None
    head, parts = found
    ids, places = parts.read(_IDS), parts.read(_PLACES)
    if ids is None or places is None or not _fits(records, head):
        return None
    starts = array("Q")
    starts.frombytes(places)
    index = RecordIndex(json.loads(ids), little_endian(starts), None, head["crc32"], head["size"])
    return (index, parts) if _stands_there(records, index) else None


def make_index(records: Path) -> RecordIndex:
    """Read a records file, or a log in progress.

    Raises:
        StoreError: It cannot be read, or is damaged before its last line; a torn last line is dropped.
    """
    try:
        with records.open("rb") as file:
            return _of_lines(records.name, file)
    except OSError as error:
        raise StoreError(f"cannot read {records}: {error.strerror}", PUT_BACK) from error


def _of_lines(name: str, lines: Iterable[bytes]) -> RecordIndex:
    """The index of a file of events, of which a torn last line is dropped."""
    events: dict[str, array[int]] = {}
    kinds, legs = Counter[str](), dict[int, float]()
    index, torn = RecordIndex(), 0
    for number, line in enumerate(lines, start=1):
        if torn:
            raise StoreError(f"{name}, line {torn}: damaged")
        try:
            event = parse_stored(line)
        except ValueError:
            torn = number
            continue
        events.setdefault(_question_of(event, f"{name}, line {number}"), array("Q")).append(index.size)
        kinds[event["type"]] += 1
        _note_time(event, legs)
        index.checksum, index.size = crc32(line, index.checksum), index.size + len(line)
    index.ids, index.elapsed_s = list(events), sum(legs.values())
    firsts = array("Q")
    for places in events.values():
        firsts.append(len(index.places))
        index.places.extend(places)
    # What is torn goes at the next writing: nothing is kept beside it.
    has_only_records = not torn and kinds["record"] == kinds.total() == len(events)
    index.firsts = None if has_only_records else firsts
    return index


def _note_time(event: Mapping[str, Any], legs: dict[int, float]) -> None:
    leg, elapsed = event.get("leg"), event.get("elapsed_s")
    if isinstance(leg, int) and isinstance(elapsed, float) and isfinite(elapsed):
        legs[leg] = max(elapsed, legs.get(leg, 0.0))


def _question_of(event: Any, where: str) -> str:
    try:
        key, _ = event["question_id"], event["type"]
    except (KeyError, TypeError) as error:
        raise StoreError(f"{where}: not an event of a run ({error})") from error
    if not isinstance(key, str):
        raise StoreError(f"{where}: not an event of a run (question_id is no text)")
    return key


def _read_head(path: Path) -> tuple[dict[str, Any], Parts] | None:
    """What the first line says; None where it is not as `save_index` writes it."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError), path.open("rb") as file:
        head = parse_stored(file.readline())
        room = path.stat().st_size - file.tell()
        numbers = [head["size"], head["mtime_ns"], head["crc32"], *(n for part in head["parts"].values() for n in part)]
        found = {name: (start, length, check) for name, (start, length, check) in head["parts"].items()}
        fits = all(start + length <= room for start, length, _ in found.values())
        if head["version"] == VERSION and fits and all(type(number) is int and number >= 0 for number in numbers):
            return head, Parts(path, file.tell(), found, str(head["stamp"]))
    return None


def _fits(records: Path, head: Mapping[str, Any]) -> bool:
    try:
        state = records.stat()
    except OSError:
        return False
    if state.st_size != head["size"]:
        return False
    return bool(state.st_mtime_ns == head["mtime_ns"] or checksum_of(records, head["size"]) == head["crc32"])


def checksum_of(path: Path, size: int) -> int | None:
    """CRC-32 of the first bytes of a file; None where it has fewer, or cannot be read."""
    found = 0
    try:
        with path.open("rb") as file:
            while size and (block := file.read(min(_BLOCK, size))):
                found, size = crc32(block, found), size - len(block)
    except OSError:
        return None
    return None if size else found


def _stands_there(records: Path, index: RecordIndex) -> bool:
    """Whether the first, the middle and the last record are where the index has them."""
    count = len(index.ids)
    with suppress(OSError, ValueError, LookupError, TypeError), records.open("rb") as file:
        for number in {0, count // 2, count - 1} if count else ():
            file.seek(index.places[number])
            if parse_stored(file.readline())["question_id"] != index.ids[number]:
                return False
        return count == len(index.places)
    return False


def little_endian(numbers: "array[Any]") -> "array[Any]":
    """The same, or with swapped bytes where this machine keeps them the other way: the file is the same everywhere."""
    if sys.byteorder == "little":
        return numbers
    swapped = array(numbers.typecode, numbers)
    swapped.byteswap()
    return swapped
