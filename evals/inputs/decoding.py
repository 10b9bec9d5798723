"""The text of a file, whichever way it is encoded."""

import codecs
from collections.abc import Iterator
from pathlib import Path

from evals.errors import DatasetError
from evals.inputs.files import check_file, read_whole

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MOST_OF_LINE = 32 * 1024 * 1024
"""Characters; the longest answer that is taken from a server is half of it."""


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
    mark, encoding = _mark_of(data[:4])
    try:
        return _checked(data[len(mark) :].decode(encoding), path), None
    except UnicodeDecodeError as error:
        if not windows or mark:
            raise DatasetError(f"cannot read {path}: it is not {encoding.upper()} text") from error
    try:
        return _checked(data.decode("cp1252"), path), "read as Windows-1252, for it is not UTF-8"
    except UnicodeDecodeError as error:
        raise DatasetError(f"cannot read {path}: it is neither UTF-8 nor Windows-1252", "save it as UTF-8") from error


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a file that `read_text` can read, with their ends, one after the other; none is held.

    Raises:
        DatasetError: As of `read_text`; also while lines are read.
    """
    try:
        check_file(path, most=None)
        with path.open("rb") as file:
            mark, encoding = _mark_of(file.read(4))
        with path.open(encoding=encoding, newline="\n") as text:
            text.read(1 if mark else 0)
            while line := text.readline(_MOST_OF_LINE):
                if len(line) == _MOST_OF_LINE:
                    raise DatasetError(f"cannot read {path}: a line has over {_MOST_OF_LINE:,} characters")
                yield _checked(line, path)
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"cannot read {path}: it is not {encoding.upper()} text") from error


def _mark_of(start: bytes) -> tuple[bytes, str]:
    """The byte order mark that data begins with, and its encoding; UTF-8 where there is none."""
    return next(((mark, name) for mark, name in _MARKS if start.startswith(mark)), (b"", "utf-8"))


def read_bytes(path: Path) -> bytes:
    """Read a file.

    Raises:
        DatasetError: It cannot be read.
    """
    try:
        return read_whole(path)
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from error


def _checked(text: str, path: Path) -> str:
    if "\0" in text:
        raise DatasetError(f"cannot read {path}: it holds zero bytes and is no text", "save it as UTF-8")
    return text
