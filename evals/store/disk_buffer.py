"""Keep questions, answers and verdicts of a run in progress on disk, and only ids and offsets in memory.

A spill is a file without a name, which the system removes with the process, however that ends. It is no log: what must
last is in the journal.
"""

import pickle
import sys
import tempfile
import weakref
from abc import abstractmethod
from array import array
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO, Any, Generic, TypeVar, cast, overload

from pydantic import BaseModel, TypeAdapter
from pydantic_core import from_json, to_json

from evals.errors import StoreError
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse

# Questions and answers as JSON, each written once: the same bytes go to the log, the disk buffer and the record.


class LatestJson:
    """The JSON of questions or answers; that of the latest one is known.

    Threads may use it at once: the worst is that one is written twice.
    """

    def __init__(self) -> None:
        self._latest: tuple[BaseModel | None, bytes] = None, b""

    def of(self, record: BaseModel) -> bytes:
        """The record as JSON."""
        known, data = self._latest
        if known is record:
            return data
        data = record.model_dump_json().encode()
        self.is_of(record, data)
        return data

    def is_of(self, record: BaseModel, data: bytes) -> None:
        """Note the JSON of a record that was just read."""
        self._latest = record, data


LATEST_JSON: dict[type, LatestJson] = {EvalQuestion: LatestJson(), EvalResponse: LatestJson()}


def is_json_safe(value: Any) -> bool:
    """Whether JSON gives back a value as it is: no tuples, dates, numbers that are none, keys that are no texts."""
    try:
        return not value or bool(from_json(to_json(value)) == value)
    except ValueError:  # of what cannot be written
        return False


T = TypeVar("T")


_PICKLED = b"\x80"
"""How a pickle begins, and no JSON does."""


_HELD = 1 << 20
"""Bytes of the first values of a list, as they are written, that are held in memory too: the sets that people write are
no larger, and are walked again and again. As objects they take three times as much."""


_AHEAD = 1 << 16
"""Bytes that are read at once where values are read in their order."""


class Sliced(Sequence[T]):
    """A sequence whose slices are read when they are looked at, like its values."""

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...

    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        places = range(len(self))[place]
        return self._at(places) if isinstance(places, int) else Chosen(self, places)

    @abstractmethod
    def _at(self, place: int) -> T:
        """The value at a place, counted from 0."""


class Packer(Generic[T]):
    """Writes values as bytes and reads them; each comes back equal, and of the same types.

    Records are written as JSON, which is the quickest for them. What JSON would change is pickled: a tuple or a date in
    the metadata of a question, and values of no declared type.

    Args:
        kind: Their type, which pydantic can write as JSON and read; None for values of Python's own types.
    """

    def __init__(self, kind: Any) -> None:
        self._adapter: TypeAdapter[T] | None = None if kind is None else TypeAdapter(kind)

    def pack(self, value: T) -> bytes:
        """The value as bytes."""
        if self._adapter is None or not is_json_safe(getattr(value, "metadata", None)):
            return pickle.dumps(value)
        latest = LATEST_JSON.get(type(value))
        return self._adapter.dump_json(value) if latest is None else latest.of(cast("BaseModel", value))

    def unpack(self, data: bytes) -> T:
        """The value that was packed, by this process or one of its own."""
        if self._adapter is None or data.startswith(_PICKLED):
            value: T = pickle.loads(data)  # noqa: S301 - our own
            return value
        value = self._adapter.validate_json(data)
        if latest := LATEST_JSON.get(type(value)):
            latest.is_of(cast("BaseModel", value), data)
        return value


class DiskBuffer(Sliced[T]):
    """Values on disk, by the number of their coming, as `Packer` writes them. Only this process can reach the file.

    Args:
        kind: Their type, which pydantic can write as JSON and read; None for values of Python's own types.
        folder: Where the file is; None for the system's folder of temporary files.
        most_held: This many bytes of the first values are held in memory too.

    Raises:
        StoreError: The disk is full; also while values are written.
    """

    def __init__(self, kind: Any, folder: Path | None = None, *, most_held: int = 0) -> None:
        self._packer: Packer[T] = Packer(kind)
        self._ends = array("Q", [0])
        self._most_held = most_held
        self._held: list[T] = []
        self._ahead, self._ahead_from, self._next = b"", 0, -1
        self._is_at_end = True
        self._lock = Lock()  # asking and judging run in two threads
        self._folder = folder if folder and folder.is_dir() else None
        try:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
        except OSError as error:
            raise self._write_error(error) from error
        self.close = weakref.finalize(self, _close, self._file)
        """Gives back the room on the disk; the values are gone."""

    def __len__(self) -> int:
        return len(self._ends) - 1

    def append(self, value: T) -> int:
        """Write a value; returns its number."""
        data = self._packer.pack(value)
        with self._lock:
            try:
                if not self._is_at_end:  # seeking writes what waits in the buffer, however little that is
                    self._file.seek(self._ends[-1])
                    self._is_at_end = True
                self._file.write(data)
            except OSError as error:
                raise self._write_error(error) from error
            self._ends.append(self._ends[-1] + len(data))
            if self._ends[-1] <= self._most_held:
                self._held.append(value)
            return len(self._ends) - 2

    def read(self, number: int) -> T:
        """Read a value."""
        return self._held[number] if number < len(self._held) else self._packer.unpack(self.packed(number))

    def packed(self, number: int) -> bytes:
        """Read a value as it was written."""
        start, end = self._ends[number], self._ends[number + 1]
        with self._lock:
            first = start - self._ahead_from
            if first < 0 or end > self._ahead_from + len(self._ahead):
                self._read_ahead(start, end)
                first = 0
            data = self._ahead[first : first + end - start]
            self._next = end
        return data

    def _at(self, place: int) -> T:
        return self.read(place)

    def _read_ahead(self, start: int, end: int) -> None:
        """Read a value, and some of those behind it where it follows the one that was read last."""
        self._is_at_end = False
        try:
            self._file.seek(start)  # writes what waits in the buffer first
            self._ahead = self._file.read(max(end - start, _AHEAD) if start == self._next else end - start)
        except OSError as error:
            raise self._write_error(error) from error
        self._ahead_from = start

    def _write_error(self, error: OSError) -> StoreError:
        why = error.strerror or str(error)
        if self._folder is not None:
            return StoreError(f"cannot write to {self._folder}: {why}", "make room there")
        hint = "make room, or name another folder by the environment variable TMPDIR"
        return StoreError(f"cannot write to the folder of temporary files: {why}", hint)


class DiskList(DiskBuffer[T]):
    """A sequence of values on disk, of which the first are given.

    Args:
        kind: As of `DiskBuffer`.
        values: The first of them.
        folder: As of `DiskBuffer`.
        most_held: As of `DiskBuffer`.
    """

    def __init__(
        self, kind: Any, values: Iterable[T] = (), folder: Path | None = None, *, most_held: int = _HELD
    ) -> None:
        super().__init__(kind, folder, most_held=most_held)
        for value in values:
            self.append(value)


class SpilledMapping(MutableMapping[str, T]):
    """Values on disk by id, in the order in which the ids came first.

    Args:
        kind: As of `DiskBuffer`.
        folder: As of `DiskBuffer`.
    """

    def __init__(self, kind: Any, folder: Path | None = None) -> None:
        self._spill: DiskBuffer[T] = DiskBuffer(kind, folder)
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def __getitem__(self, key: str) -> T:
        return self._spill.read(self._numbers[key])

    def packed(self, key: str) -> bytes:
        """The value as it was written."""
        return self._spill.packed(self._numbers[key])

    def __setitem__(self, key: str, value: T) -> None:
        self._numbers[sys.intern(key)] = self._spill.append(value)

    def __delitem__(self, key: str) -> None:
        del self._numbers[key]


class Chosen(Sliced[T]):
    """Some of the values of a sequence, which is read when they are asked for.

    Args:
        base: The sequence.
        places: Of those chosen, in their order.
    """

    def __init__(self, base: Sequence[T], places: Iterable[int]) -> None:
        self._base = base
        self._places = array("L", places)

    def __len__(self) -> int:
        return len(self._places)

    def _at(self, place: int) -> T:
        return self._base[self._places[place]]


def _close(file: IO[bytes]) -> None:
    with suppress(OSError):  # what a full disk kept back is of no use any more
        file.close()
