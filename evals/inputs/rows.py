"""The rows of a file of questions, each with its place: JSON, JSONL and CSV."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from evals.errors import DatasetError
from evals.inputs.problems import nearest_hint

_PARTS = ("questions", "documents")
_ABOUT = frozenset({"name", "version", "description", "licence", "license", "metadata"})
"""Keys of an object that say what the file is; nothing reads them."""
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}

Rows = Iterator[tuple[str, Any]]


def json_rows(name: str, data: Any) -> Rows:
    """Questions of what a JSON file holds: a list, or `questions` of an object.

    Raises:
        DatasetError: It holds something else.
    """
    if isinstance(data, dict):
        _refuse_unknown_parts(name, data)
    rows = data.get("questions") if isinstance(data, dict) else data
    if not isinstance(rows, list):
        raise DatasetError(f"{name}: expected a list of questions, or an object with `questions`")
    for number, row in enumerate(rows, start=1):
        yield f"{name}, question {number}", row


def json_documents(name: str, data: Any) -> Rows:
    """Documents of what a JSON file holds, where it is an object that has some.

    Raises:
        DatasetError: They are no list.
    """
    rows = (data.get("documents") if isinstance(data, dict) else None) or []
    if not isinstance(rows, list):
        raise DatasetError(f"{name}: `documents` must be a list, not {type(rows).__name__}")
    for number, row in enumerate(rows, start=1):
        yield f"{name}, document {number}", row


def jsonl_rows(name: str, text: str) -> Rows:
    """Questions of a JSONL file: an object a line.

    Raises:
        DatasetError: A line is no JSON.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"{name}, line {number}"
            yield where, loads(line, where)


def csv_rows(columns: Mapping[str, bool]) -> Callable[[str, str], Rows]:
    """A reader of CSV files whose columns are known.

    Args:
        columns: By name, whether its cells are JSON.
    """

    def rows(name: str, text: str) -> Rows:
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        number = 0
        try:
            _check_header(name, reader.fieldnames or (), columns)
            for number, cells in enumerate(reader, start=1):
                where = f"{name}, row {number}"
                if None in cells:
                    raise DatasetError(f"{where}: more cells than the header has columns")
                yield (
                    where,
                    {key: _cell(key, cell, where, columns) for key, cell in cells.items() if cell not in (None, "")},
                )
        except csv.Error as error:
            where = f"{name}, row {number + 1} (line {reader.reader.line_num})"
            raise DatasetError(f"{where}: not valid CSV ({error})") from error

    return rows


def loads(text: str, where: str) -> Any:
    """Parse JSON.

    Raises:
        DatasetError: It is none; the message names the place.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{where}: not valid JSON ({error})") from error


def _refuse_unknown_parts(name: str, data: Collection[str]) -> None:
    for key in data:
        if key not in _PARTS and key not in _ABOUT:
            raise DatasetError(f"{name}: unknown key {key!r} beside the questions", nearest_hint(key, _PARTS))


def _check_header(name: str, header: Sequence[str], columns: Collection[str]) -> None:
    for sign, word in _SEPARATORS.items():
        if any(sign in title and set(columns) & set(title.split(sign)) for title in header):
            raise DatasetError(f"{name}: its columns are separated by {word} ({sign!r})", "save it with commas")
    twice = [title for title, times in Counter(header).items() if title and times > 1]
    if twice:
        raise DatasetError(f"{name}: the header holds the column {twice[0]!r} twice", "name each column once")


def _cell(name: str, cell: str, where: str, columns: Mapping[str, bool]) -> Any:
    if columns.get(name):
        return loads(cell, f"{where}, column {name}")
    if name == "is_unanswerable":
        if cell.strip().lower() not in _WORDS:
            raise DatasetError(f"{where}, column {name}: {cell!r} is not true or false")
        return _WORDS[cell.strip().lower()]
    return cell
