"""Files as texts, by their byte order mark and within limits; JSON bodies as values that can be written again."""

import codecs
import errno
import json
import math
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evals.errors import DatasetError

MOST_BYTES = 128 * 1024 * 1024
"""Of a file that is read whole."""
MAX_DEPTH = 100
"""Of JSON: deeper than any answer, and well below what can be written again."""
MAX_VALUES = 500_000
"""Of JSON: in memory each takes a hundred bytes and more, whatever it takes in the body."""

_MOST_OF_LINE = 32 * 1024 * 1024
"""Characters; the longest answer that is taken from a server is half of it."""


def check_file(path: Path, most: int | None = MOST_BYTES) -> None:
    """See that a file can be read to its end.

    Args:
        path: The file; a pipe of the shell, such as /dev/stdin, is one.
        most: Its size in bytes, where it is read whole; None where it is not.

    Raises:
        OSError: It is not there, or is a folder, a device or a named pipe, which may never end, or it is too large.
    """
    found = path.stat()
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "Is a directory")
    of_shell = stat.S_ISFIFO(found.st_mode) and str(path).startswith(("/dev/", "/proc/"))
    if not (stat.S_ISREG(found.st_mode) or of_shell):
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a file")
    if most is not None and found.st_size > most:
        raise OSError(errno.EFBIG, f"it is larger than {most // 1024**2} MiB")


def read_whole(path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file.

    Raises:
        OSError: As of `check_file`.
    """
    check_file(path, most)
    data = bytearray()
    with path.open("rb") as file:
        while block := file.read(1024 * 1024):  # a pipe does not say how long it is, and no buffer is for all
            data += block
            if len(data) > most:
                raise OSError(errno.EFBIG, f"it is larger than {most // 1024**2} MiB")
    return bytes(data)


def read_bytes(path: Path) -> bytes:
    """Read a file.

    Raises:
        DatasetError: It cannot be read.
    """
    try:
        return read_whole(path)
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from error


def read_text(path: Path, *, windows: bool = False) -> tuple[str, str | None]:
    """Read a file by its byte order mark, or as UTF-8 where it has none.

    Args:
        path: The file.
        windows: Whether what is not UTF-8 may be Windows-1252, as spreadsheets of Western Europe save it.

    Returns:
        The text, and what a reader must know of how it was decoded.

    Raises:
        DatasetError: The file cannot be read, or is no text.
    """
    data = read_bytes(path)
    name = _encoding_of(data)
    try:
        return _checked(data.decode(name), path), None
    except UnicodeDecodeError as error:
        if name == "utf-16" or not windows:
            raise _not_text(path, name) from error
    try:
        return _checked(data.decode("cp1252"), path), "read as Windows-1252, for it is not UTF-8"
    except UnicodeDecodeError as error:
        raise DatasetError(f"cannot read {path}: it is neither UTF-8 nor Windows-1252", "save it as UTF-8") from error


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a file that `read_text` can read, with their ends, one after the other; none is held.

    Raises:
        DatasetError: As of `read_text`; also while lines are read.
    """
    name = "utf-8-sig"
    try:
        check_file(path, most=None)
        with path.open("rb") as file:
            name = _encoding_of(file.read(2))
        with path.open(encoding=name, newline="\n") as text:
            while line := text.readline(_MOST_OF_LINE):
                if len(line) == _MOST_OF_LINE:
                    raise DatasetError(f"cannot read {path}: a line has over {_MOST_OF_LINE:,} characters")
                yield _checked(line, path)
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _not_text(path, name) from error


def _encoding_of(start: bytes) -> str:
    """The encoding of a text, by its byte order mark, which decoding takes off."""
    return "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"


def _not_text(path: Path, encoding: str) -> DatasetError:
    name = encoding.removesuffix("-sig").upper()
    return DatasetError(f"cannot read {path}: it is not {name} text", "save it as UTF-8")


def _checked(text: str, path: Path) -> str:
    if "\0" in text:
        raise DatasetError(f"cannot read {path}: it holds zero bytes and is no text", "save it as UTF-8")
    return text


class TooManyValuesError(ValueError):
    """A body holds more values than any answer does."""


def parse_json(body: bytes) -> Any:
    """Parse a JSON body into values that can be written as JSON again.

    NaN and infinities, which JSON does not know, become None; a lone surrogate, which no encoding can hold, becomes a
    question mark.

    Raises:
        TooManyValuesError: It holds over `MAX_VALUES`.
        ValueError: It is no JSON, or it is nested beyond reason.
    """
    # Each value follows one of these signs; signs within texts are counted too, and no answer has this many.
    if len(body) > MAX_VALUES and sum(map(body.count, (b",", b"[", b"{", b":"))) > MAX_VALUES:
        raise TooManyValuesError(f"the JSON holds over {MAX_VALUES:,} values")
    value = _parsed(body, _DECODER)
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH:
        level, depth = [value], 0
        while level := [item for parent in level for item in _children(parent)]:
            depth += 1
            if depth > MAX_DEPTH:
                raise ValueError("the JSON is nested too deeply")
    return value


def parse_stored(data: bytes) -> Any:
    """Parse JSON that evals wrote itself, which somebody may have edited since; numbers are left as they are.

    Raises:
        ValueError: It is no JSON, or it is nested beyond reason.
    """
    return _parsed(data, _STORED)


def _parsed(data: bytes, decoder: json.JSONDecoder) -> Any:
    try:
        value = decoder.decode(data.decode(json.detect_encoding(data), "surrogatepass"))
        escaped = b"\\u" in data and (b"\\ud" in data or b"\\uD" in data)
        return without_surrogates(value) if escaped or b"\xed" in data or b"\x00" in data else value
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


_DECODER = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_finite)
_STORED = json.JSONDecoder()


def _children(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def without_surrogates(value: Any) -> Any:
    """A parsed JSON value with a question mark in the place of each lone surrogate, also in the names of fields."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    return value
