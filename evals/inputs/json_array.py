"""Reading a JSON array element by element, so that a large file never stands in memory whole."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import ijson

from evals.errors import DatasetError
from evals.inputs.files import check_file
from evals.inputs.json_body import MAX_DEPTH

_BOM = b"\xef\xbb\xbf"
_BEGINS, _ENDS = frozenset({"start_array", "start_map"}), frozenset({"end_array", "end_map"})


def elements(path: Path) -> Iterator[Any]:
    """Yield the elements of the array that a file holds; a number that is not whole is a `Decimal`.

    Raises:
        DatasetError: The file cannot be read or holds no JSON array; the message names the entry.
    """
    number = 0
    try:
        check_file(path, most=None)
        with path.open("rb") as file:
            if file.read(len(_BOM)) != _BOM:
                file.seek(0)
            for element in _elements(file, path.name):
                number += 1
                yield element
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from error
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path.name}, entry {number + 1}: not valid JSON ({_first_line(error)})") from error


def _elements(file: BinaryIO, name: str) -> Iterator[Any]:
    # Events, for `ijson.items` keeps the way to each of them: of what is nested deeply that is gigabytes.
    depth, builder = 0, ijson.ObjectBuilder()
    for event, value in ijson.basic_parse(file):
        depth -= event in _ENDS
        if depth > MAX_DEPTH:
            raise ijson.JSONError("it is nested too deeply")
        if depth:
            builder.event(event, value)
        elif event not in {"start_array", "end_array"}:
            raise DatasetError(f"{name}: expected a JSON list")
        if depth == 1 and event not in _BEGINS:
            yield builder.value
            builder = ijson.ObjectBuilder()
        depth += event in _BEGINS


def _first_line(error: Exception) -> str:
    said = error.args[0] if isinstance(error, ijson.JSONError) and error.args else error
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)  # yajl speaks in bytes at times
    return text.partition("\n")[0].strip()
