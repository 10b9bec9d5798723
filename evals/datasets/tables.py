"""The rows of a file of questions, each with its place: JSON, JSONL, YAML, and tables of all kinds."""

import ast
import csv
import io
import json
import math
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, BinaryIO

import ijson

from evals.errors import DatasetError
from evals.text.decoding import MAX_DEPTH, check_file, read_bytes, read_text, text_lines
from evals.text.yaml_files import YamlTextError, load_yaml, nearest_hint

Rows = Sequence[tuple[str, Any]]
"""Values of a file, each with its place, as messages name it."""


def first_line(error: Exception) -> str:
    """The first line of what an error says; its type where it says nothing."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


# What a cell of a table says: nothing, a text, or a list, in the many ways in which tools write each.


_NOTHING = frozenset({"", "nan", "null", "n/a", "#n/a", "<na>"})


_AS_CODE = re.compile(r"\s*(?:\[\s*[\[{\"']|\{\s*[\"'])")
"""How a list or object begins that is written as JSON or as a literal of Python, and no prose with a bracket."""

_BETWEEN = frozenset({tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.ENCODING})


_EXACT = 10**15
"""Below it a float holds every whole number."""


def is_nothing(value: Any) -> bool:
    """Whether it stands for no value: None, not a number, and texts such as "", "nan", "NULL" and "N/A"."""
    if isinstance(value, str):
        return value.strip().casefold() in _NOTHING
    return value is None or (isinstance(value, float) and math.isnan(value))


def as_text(value: Any) -> Any:
    """A number, a date or a word of truth as the text that a person would write; what is no such value as it is.

    True is "Yes". A whole number has no decimals: tables keep 96 as 96.0.
    """
    if value is None or isinstance(value, str | dict | list | tuple):
        return value
    if isinstance(value, bool):
        return ("No", "Yes")[value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    return value.isoformat() if isinstance(value, date | time) else str(value)


def as_list(value: Any) -> list[Any]:
    """The items of a list, or of a text that is one; anything else is one item. Items that say nothing are left out.

    Raises:
        ValueError: The text begins as a list or object and is none.
    """
    found = parsed(value) if isinstance(value, str) else value
    items = list(found) if isinstance(found, list | tuple) else [found]
    return [item for item in items if not is_nothing(item)]


def parsed(text: str) -> Any:
    """What a cell holds that is written as JSON, or as Python prints lists and objects; any other text as it is.

    Raises:
        ValueError: It begins as a list or object and is none.
    """
    if not _AS_CODE.match(text):
        return [] if text.strip() == "[]" else text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        try:
            return _strings(text) or ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            raise ValueError(f"not valid JSON ({error})") from error


def _strings(text: str) -> list[str]:
    """The strings of a list of Python, none where it holds others; numpy prints no commas between them."""
    items = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text.strip()).readline):
            if token.type == tokenize.STRING:
                items.append(ast.literal_eval(token.string))
            elif token.type not in _BETWEEN and token.string not in {"[", "]", ","}:
                return []
    except tokenize.TokenError:
        return []
    return items


# Tables as text: cells separated by commas, semicolons, tabs or bars, below a header.


_SEPARATORS = (",", ";", "\t", "|")


_LONGEST = 2**31 - 1
"""Characters of a cell: ten passages in one are more than the 131,072 that Python allows."""


def allow_long_cells() -> None:
    """Let `csv` read cells of any length in this process: it has one limit for all of it."""
    csv.field_size_limit(_LONGEST)


def delimited_rows(name: str, text: str, is_known: Callable[[str], bool]) -> Rows:
    """The rows of a table, each with its place; a cell that is not there is left out.

    Args:
        name: Of the file, for messages.
        text: All of it.
        is_known: Whether a title is that of a known column; the separator that gives most of them is taken.

    Raises:
        DatasetError: A row is not well formed; the message names it.
    """
    allow_long_cells()
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator(text, is_known), strict=True)
    rows: list[tuple[str, Any]] = []
    number = 0
    try:
        titles = titles_of(name, next(reader, []))
        for number, cells in enumerate(filter(None, reader), start=1):
            where = f"{name}, row {number} (line {reader.line_num})"
            if _filled(cells[len(titles) :]):
                raise DatasetError(f"{where}: more cells than the header has columns")
            if _filled(cells):
                rows.append((where, titled(titles, cells)))
    except csv.Error as error:
        where = f"{name}, row {number + 1} (line {reader.line_num})"
        raise DatasetError(f"{where}: not valid CSV ({error})") from error
    return rows


def separator(text: str, is_known: Callable[[str], bool]) -> str:
    """The separator by which the header has most known columns; of equals the one with most columns, then a comma."""

    def worth(sign: str) -> tuple[int, int]:
        titles = next(csv.reader(io.StringIO(text, newline=""), delimiter=sign), [])
        return sum(map(is_known, titles)), len(titles)

    return max(_SEPARATORS, key=worth)


def titles_of(name: str, header: Sequence[Any]) -> list[str]:
    """The titles of a header.

    Raises:
        DatasetError: Two columns have one title.
    """
    titles = [str(title).strip() for title in header]
    twice = next((title for title, times in Counter(titles).items() if title and times > 1), None)
    if twice:
        raise DatasetError(f"{name}: the header holds the column {twice!r} twice", "name each column once")
    return titles


def titled(titles: Sequence[str], cells: Sequence[Any]) -> dict[str, Any]:
    """The cells by their titles; those without a title are left out, as the row numbers of a data frame are."""
    return {title: cell for title, cell in zip(titles, cells, strict=False) if title}


def _filled(cells: Sequence[Any]) -> bool:
    return any(str(cell).strip() for cell in cells)


# Tables in files that are no text: spreadsheets and Parquet.


SPREADSHEETS = frozenset({".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"})


def spreadsheet_rows(path: Path, is_known: Callable[[str], bool]) -> tuple[Rows, str | None]:
    """The rows of the sheet that holds most known columns, the first of equals, and a note where there are others.

    Places count as the spreadsheet does. The first row that is not empty is the header.

    Raises:
        DatasetError: It is no spreadsheet, it cannot be opened, or the reader is not installed.
    """
    sheets = {name: rows for name, rows in _sheets(path).items() if rows}
    if not sheets:
        return [], None
    chosen = max(sheets, key=lambda name: sum(is_known(str(cell)) for cell in sheets[name][0][1]))
    (_, header), *below = sheets[chosen]
    titles = titles_of(path.name, header)
    others = ", ".join(repr(name) for name in sheets if name != chosen)
    note = f"read the sheet {chosen!r}, not {others}" if others else None
    return [(f"{path.name}, row {number}", titled(titles, cells)) for number, cells in below], note


def _sheets(path: Path) -> dict[str, list[tuple[int, list[Any]]]]:
    """The rows of each sheet that are not empty, with their numbers."""
    try:
        import python_calamine as calamine  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise DatasetError(
            f"{path.name} is a spreadsheet, and the package python-calamine is not installed",
            "pip install 'rag-evals[excel]', or save the sheet as CSV",
        ) from error
    read_bytes(path)
    try:
        book = calamine.CalamineWorkbook.from_path(path)
        sheets = {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in book.sheet_names}
    except calamine.CalamineError as error:
        raise DatasetError(f"cannot read {path}: it is no spreadsheet ({error})") from error
    return {name: [row for row in enumerate(rows, start=1) if _filled(row[1])] for name, rows in sheets.items()}


def read_arrow(path: Path) -> Any:
    """Read a Parquet file, or one of JSONL, as an Arrow table.

    Raises:
        DatasetError: It cannot be read.
    """
    import pyarrow as pa  # noqa: PLC0415 - 60 MB that only this needs
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        check_file(path, most=None)
        if path.suffix == ".parquet":
            return pq.read_table(path)
        with path.open(encoding="utf-8") as file:
            return pa.Table.from_pylist([json.loads(line) for line in file if line.strip()])
    except AttributeError as error:
        raise DatasetError(f"cannot read {path}: every line must be an object") from error
    except (OSError, pa.ArrowException, ValueError) as error:
        raise DatasetError(f"cannot read {path}: {first_line(error)}") from error


# Files that hold a row after another, and files that hold one value, in which rows stand somewhere.


TREES = frozenset({".json", ".yaml", ".yml"})

_DELIMITED = frozenset({".csv", ".tsv", ".tab", ".txt"})


TABLES = _DELIMITED | SPREADSHEETS | {".parquet"}
"""Endings of files that hold a header and cells."""

_PARTS = ("questions", "documents")


_ABOUT = frozenset({"name", "version", "description", "licence", "license", "metadata"})
"""Keys of an object that say what the file is; nothing reads them."""


def read_table(path: Path, is_known: Callable[[str], bool]) -> tuple[Rows, str | None]:
    """Read a file that holds a row after another.

    Args:
        path: Its ending says what it is.
        is_known: Whether a title is that of a known column: tells separators and sheets apart.

    Returns:
        The rows, and what a reader must know of how they were read.

    Raises:
        DatasetError: It cannot be read, a row is not well formed, or the ending is unknown.
    """
    ending = path.suffix.lower()
    if ending == ".jsonl":
        return list(jsonl_rows(path)), None
    if ending == ".parquet":
        rows = numbered(f"{path.name}, row", read_arrow(path).to_pylist())
        return [(where, row) for where, row in rows if any(value is not None for value in row.values())], None
    if ending in SPREADSHEETS:
        return spreadsheet_rows(path, is_known)
    if ending in _DELIMITED:
        text, note = read_text(path, windows=True)
        return delimited_rows(path.name, text, is_known), note
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


def listed(name: str, data: Any) -> tuple[Rows, Rows]:
    """Questions and documents of one value: a list, or an object with `questions` and maybe `documents`.

    Raises:
        DatasetError: It holds something else.
    """
    parts = data if isinstance(data, dict) else {"questions": data}
    unknown = next((key for key in parts if key not in _PARTS and key not in _ABOUT), None)
    if unknown is not None:
        raise DatasetError(f"{name}: unknown key {unknown!r} next to the questions", nearest_hint(str(unknown), _PARTS))
    documents, questions = parts.get("documents") or [], parts.get("questions")
    if not isinstance(documents, list):
        raise DatasetError(f"{name}: `documents` must be a list, not {type(documents).__name__}")
    if not isinstance(questions, list):
        raise DatasetError(f"{name}: expected a list of questions, or an object with `questions`")
    return numbered(f"{name}, question", questions), numbered(f"{name}, document", documents)


def numbered(name: str, values: Iterable[Any]) -> Rows:
    """The values with their places, such as "q.json, question 1"."""
    return [(f"{name} {number}", value) for number, value in enumerate(values, start=1)]


def jsonl_rows(path: Path, hint: str | None = None) -> Iterator[tuple[str, Any]]:
    """Read the values of a JSONL file, one a line; none is held.

    Args:
        path: The file.
        hint: What to do about a line that is no JSON.

    Raises:
        DatasetError: The file cannot be read, or a line is no JSON; while they are read.
    """
    for number, line in enumerate(text_lines(path), start=1):
        if line.strip():
            where = f"{path.name}, line {number}"
            yield where, loads(line, where, hint)


def loads(text: str, where: str, hint: str | None = None) -> Any:
    """Parse JSON.

    Raises:
        DatasetError: It is none; the message names the place.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{where}: not valid JSON ({error})", hint) from error


# Reading a JSON array element by element, so that a large file never stands in memory whole.


_BOM = b"\xef\xbb\xbf"

_DEEPER = {"start_array": 1, "start_map": 1, "end_array": -1, "end_map": -1}


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
        said = error.args[0] if isinstance(error, ijson.JSONError) and error.args else str(error)
        text = (
            said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        )  # yajl at times speaks in bytes
        problem = text.partition("\n")[0].strip()
        raise DatasetError(f"{path.name}, entry {number + 1}: not valid JSON ({problem})") from error


def _elements(file: BinaryIO, name: str) -> Iterator[Any]:
    # Events, for `ijson.items` keeps the way to each of them: of what is nested deeply that is gigabytes.
    depth, builder = 0, ijson.ObjectBuilder()
    for event, value in ijson.basic_parse(file):
        if depth == 0 and event != "start_array":
            raise DatasetError(f"{name}: expected a JSON list")
        outer, depth = depth, depth + _DEEPER.get(event, 0)
        if depth > MAX_DEPTH:
            raise ijson.JSONError("it is nested too deeply")
        if outer and depth:
            builder.event(event, value)
        if outer and depth == 1:
            yield builder.value
            builder = ijson.ObjectBuilder()
