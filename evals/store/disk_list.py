"""Lists and mappings on disk: what large files of questions and answers hold, without holding it in memory."""

import pickle
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeVar, overload

from evals.errors import StoreError

T = TypeVar("T")


class DiskList(Sequence[T]):
    """Values in a file without a name, which the system removes with the process; only offsets are in memory.

    Args:
        values: The first values.
        folder: Where the file is; None for the system's folder of temporary files.

    Raises:
        StoreError: The disk is full; also while values are appended.
    """

    def __init__(self, values: Iterable[T] = (), folder: Path | None = None) -> None:
        self._ends = array("Q", [0])
        self._folder = folder if folder is not None and folder.is_dir() else None
        self._position = 0
        try:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
        except OSError as error:
            raise self._full(error) from error
        weakref.finalize(self, _close, self._file)
        for value in values:
            self.append(value)

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> list[T]: ...

    def __getitem__(self, place: int | slice) -> T | list[T]:
        places = range(len(self))[place]
        return self._read(places) if isinstance(places, int) else [self._read(each) for each in places]

    def append(self, value: T) -> None:
        """Write a value behind the others."""
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        try:
            self._move_to(self._ends[-1])
            self._file.write(data)
        except OSError as error:
            raise self._full(error) from error
        self._position += len(data)
        self._ends.append(self._position)

    def _read(self, place: int) -> T:
        start, end = self._ends[place], self._ends[place + 1]
        try:
            self._move_to(start)
            value: T = pickle.loads(self._file.read(end - start))  # noqa: S301 - written by this process
        except OSError as error:
            raise self._full(error) from error
        self._position = end
        return value

    def _move_to(self, position: int) -> None:
        """Move in the file if that is needed: to ask where it stands takes longer than to read."""
        if position != self._position:
            self._file.seek(position)
            self._position = position

    def _full(self, error: OSError) -> StoreError:
        where = self._folder or "the folder of temporary files"
        hint = "make room there" if self._folder else "make room, or name another folder by the variable TMPDIR"
        return StoreError(f"cannot write to {where}: {error.strerror or error}", hint)


def _close(file: IO[bytes]) -> None:
    """Close a file that is done with; on a full disk its rest cannot be written, and need not be."""
    with suppress(OSError):
        file.close()


class DiskMap(Mapping[str, T]):
    """Values by key, in the order in which the keys came first; the last value of a key counts.

    Args:
        items: Keys with their values.
        folder: As of `DiskList`.
    """

    def __init__(self, items: Iterable[tuple[str, T]], folder: Path | None = None) -> None:
        self._values: DiskList[T] = DiskList(folder=folder)
        self._places: dict[str, int] = {}
        for key, value in items:
            self._places[key] = len(self._values)
            self._values.append(value)

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __getitem__(self, key: str) -> T:
        return self._values[self._places[key]]
