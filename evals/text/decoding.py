"""Files as texts, by their byte order mark and within limits; JSON bodies as values that can be written again."""

import codecs
import errno
import io
import json
import math
import stat
from collections.abc import Iterator
from contextlib import contextmanager
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


def check_file(path: Path) -> None:
    """See that a file can be read to its end; a pipe of the shell, such as /dev/stdin, is one.

    Raises:
        OSError: It is not there, or is a folder, a device or a named pipe, which may never end.
    """
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "Is a directory")
    of_shell = stat.S_ISFIFO(mode) and str(path).startswith(("/dev/", "/proc/"))
    if not (stat.S_ISREG(mode) or of_shell):
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a file")


def read_whole(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        OSError: As of `check_file`, or it is larger than `MOST_BYTES`.
    """
    check_file(path)
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {MOST_BYTES // 1024**2} MiB")
    return data


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Name the file in what is wrong with reading it."""
    try:
        yield
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        kind = "UTF-16" if error.encoding.startswith("utf-16") else "UTF-8"
        why = "neither UTF-8 nor Windows-1252" if error.encoding == "charmap" else f"not {kind} text"
        raise DatasetError(f"cannot read {path}: it is {why}", "save it as UTF-8") from error


def read_bytes(path: Path) -> bytes:
    """Read a file.

    Raises:
        DatasetError: It cannot be read.
    """
    with _reading(path):
        return read_whole(path)


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
    with _reading(path):
        data = read_whole(path)
        try:
            return _checked(data.decode(name := _encoding_of(data)), path), None
        except UnicodeDecodeError:
            if name == "utf-16" or not windows:
                raise
        return _checked(data.decode("cp1252"), path), "read as Windows-1252, for it is not UTF-8"


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a file that `read_text` can read, with their ends, one after the other; none is held.

    Raises:
        DatasetError: As of `read_text`; also while lines are read.
    """
    with _reading(path):
        check_file(path)
        with path.open("rb") as file, io.TextIOWrapper(file, _encoding_of(file.peek(2)), newline="\n") as text:
            while line := text.readline(_MOST_OF_LINE):
                if len(line) == _MOST_OF_LINE:
                    raise DatasetError(f"cannot read {path}: a line has over {_MOST_OF_LINE:,} characters")
                yield _checked(line, path)


def _encoding_of(start: bytes) -> str:
    """The encoding of a text, by its byte order mark, which decoding takes off."""
    return "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"


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
    return _parsed(body, _DECODER, MAX_DEPTH)


def parse_stored(data: bytes) -> Any:
    """Parse JSON that evals wrote itself, which somebody may have edited since; numbers are left as they are.

    Raises:
        ValueError: It is no JSON, or it is nested beyond reason.
    """
    return _parsed(data, _STORED)


def _parsed(data: bytes, decoder: json.JSONDecoder, most_levels: float = math.inf) -> Any:
    try:
        value = decoder.decode(data.decode(json.detect_encoding(data), "surrogatepass"))
        is_deep = data.count(b"[") + data.count(b"{") > most_levels
        may_be_broken = b"\\ud" in data or b"\\uD" in data or b"\xed" in data or b"\x00" in data
        return without_surrogates(value, most_levels) if is_deep or may_be_broken else value
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


_DECODER = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_finite)
_STORED = json.JSONDecoder()


def without_surrogates(value: Any, most_levels: float = math.inf) -> Any:
    """A parsed JSON value with a question mark in the place of each lone surrogate, also in the names of fields.

    Raises:
        RecursionError: It is nested deeper than this, or than can be walked.
    """
    if most_levels < 0:
        raise RecursionError
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [without_surrogates(item, most_levels - 1) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item, most_levels - 1) for key, item in value.items()}
    return value
