"""The rows of a file of questions, each with its place: JSON, JSONL, YAML, and tables of all kinds."""

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.errors import DatasetError
from evals.inputs.decoding import read_text, text_lines
from evals.inputs.delimited import Rows, delimited_rows
from evals.inputs.problems import nearest_hint
from evals.inputs.sheets import SPREADSHEETS, parquet_rows, spreadsheet_rows
from evals.inputs.strict_yaml import YamlTextError, load_yaml

TREES = frozenset({".json", ".yaml", ".yml"})
"""Endings of files that hold one value, in which rows stand somewhere."""
_DELIMITED = frozenset({".csv", ".tsv", ".tab", ".txt"})
TABLES = _DELIMITED | SPREADSHEETS | {".parquet"}
"""Endings of files that hold a header and cells."""
_PARTS = ("questions", "documents")
_ABOUT = frozenset({"name", "version", "description", "licence", "license", "metadata"})
"""Keys of an object that say what the file is; nothing reads them."""


@dataclass(frozen=True, slots=True)
class Table:
    """What a file holds.

    Attributes:
        rows: Each with its place, as messages name it.
        note: What a reader must know of how they were read.
    """

    rows: Rows
    note: str | None = None


def read_table(path: Path, is_known: Callable[[str], bool]) -> Table:
    """Read a file that holds a row after another.

    Args:
        path: Its ending says what it is.
        is_known: Whether a title is that of a known column: tells separators and sheets apart.

    Raises:
        DatasetError: It cannot be read, a row is not well formed, or the ending is unknown.
    """
    ending = path.suffix.lower()
    if ending == ".jsonl":
        return Table(list(jsonl_rows(path)))
    if ending == ".parquet":
        return Table(parquet_rows(path))
    if ending in SPREADSHEETS:
        return Table(*spreadsheet_rows(path, is_known))
    if ending in _DELIMITED:
        text, note = read_text(path, windows=True)
        return Table(delimited_rows(path.name, text, is_known), note)
    raise DatasetError(
        f"{path.name}: the file must end with .json, .jsonl, .csv, .tsv, .xlsx, .parquet or .yaml",
        "a folder of queries.jsonl, corpus.jsonl and qrels will do too",
    )


def read_tree(path: Path) -> Any:
    """Read a JSON or YAML file as one value.

    Raises:
        DatasetError: It cannot be read, or is neither.
    """
    text, _ = read_text(path)
    if path.suffix.lower() == ".json":
        return loads(text, path.name)
    try:
        return load_yaml(text)
    except YamlTextError as error:
        raise DatasetError(f"{path.name}: not valid YAML ({error})") from None


def listed_rows(name: str, data: Any) -> Iterator[tuple[str, Any]]:
    """Questions of one value: a list, or `questions` of an object.

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


def listed_documents(name: str, data: Any) -> Iterator[tuple[str, Any]]:
    """Documents of one value, where it is an object that has some.

    Raises:
        DatasetError: They are no list.
    """
    rows = (data.get("documents") if isinstance(data, dict) else None) or []
    if not isinstance(rows, list):
        raise DatasetError(f"{name}: `documents` must be a list, not {type(rows).__name__}")
    for number, row in enumerate(rows, start=1):
        yield f"{name}, document {number}", row


def jsonl_rows(path: Path) -> Iterator[tuple[str, Any]]:
    """The values of a JSONL file, one a line; none is held.

    Raises:
        DatasetError: The file cannot be read, or a line is no JSON; while they are read.
    """
    for number, line in enumerate(text_lines(path), start=1):
        if line.strip():
            where = f"{path.name}, line {number}"
            yield where, loads(line, where)


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
            raise DatasetError(f"{name}: unknown key {key!r} beside the questions", nearest_hint(str(key), _PARTS))
