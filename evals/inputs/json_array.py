"""Reading a JSON array element by element, so that a large file never stands in memory whole."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from evals.errors import DatasetError

_SIZE = 1 << 18
_SEPARATORS = frozenset(", \t\r\n]")


def elements(path: Path) -> Iterator[Any]:
    """Yield the elements of the array that a file holds.

    Raises:
        DatasetError: The file cannot be read or holds no JSON array; the message names the entry and the line.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield from _elements(_Source(file, path.name))
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"cannot read {path}: it is not UTF-8 text") from error


def _elements(source: "_Source") -> Iterator[Any]:
    if source.take() != "[":
        raise DatasetError(f"{source.name}: expected a JSON list")
    if source.peek() == "]":
        source.take()
    else:
        mark = ","
        while mark == ",":
            yield source.value()
            mark = source.take()
        if mark != "]":
            raise source.problem(f"expected , or ] after it, not {mark!r}" if mark else "the list does not end")
    if source.peek():
        raise DatasetError(f"{source.name}: there is something after the end of the list")


class _Source:
    """The text of a file, of which only what is being read is held.

    Args:
        file: Open for reading.
        name: For messages.
    """

    def __init__(self, file: TextIO, name: str) -> None:
        self.name = name
        self._file = file
        self._text = ""
        self._place = 0
        self._line = 1
        """The line on which the text held begins."""
        self._entry = 0
        self._decoder = json.JSONDecoder()

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            while self._place < len(self._text) and self._text[self._place].isspace():
                self._place += 1
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._more():
                return ""

    def take(self) -> str:
        """The same, and go past it."""
        char = self.peek()
        self._place += len(char)
        return char

    def value(self) -> Any:
        """The next JSON value.

        Raises:
            DatasetError: There is none.
        """
        self.peek()
        self._entry += 1
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._place)
            except json.JSONDecodeError as error:
                if not self._more():
                    raise self.problem(f"not valid JSON ({error.msg})", error.pos) from error
                continue
            except (ValueError, RecursionError) as error:
                raise self.problem(f"not valid JSON ({error})") from error
            # What is not followed by a separator may be a number of which only a part is read.
            if self._text[end : end + 1] in _SEPARATORS or not self._more():
                self._place = end
                return value

    def problem(self, message: str, place: int | None = None) -> DatasetError:
        """An error at a place of the text held."""
        line = self._line + self._text.count("\n", 0, self._place if place is None else place)
        return DatasetError(f"{self.name}, entry {self._entry} (line {line}): {message}")

    def _more(self) -> bool:
        """Read on, and let go of what is behind; the more, the longer the value is that is being read."""
        self._line += self._text.count("\n", 0, self._place)
        self._text = self._text[self._place :]
        self._place = 0
        read = self._file.read(max(_SIZE, len(self._text)))
        self._text += read
        return bool(read)
