"""The rows of a file of questions, each with its place: JSON, JSONL, YAML, and tables of all kinds."""

import ast
import csv
import io
import json
import math
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, Protocol, cast

import ijson

from evals.errors import DatasetError
from evals.text.decoding import MAX_DEPTH, check_file, read_bytes, read_text, text_lines
from evals.text.yaml_files import YamlTextError, load_yaml, nearest_hint

# Rows of a dataset, wherever they come from: a folder of Parquet or JSONL files, or the hub.


class DatasetRows(Protocol):
    """A table that is read by column or by place, without holding all rows as objects."""

    @property
    def source(self) -> str:
        """Where the rows came from, as it is recorded."""

    def column(self, name: str) -> list[Any]:
        """All values of one column."""

    def take(self, places: Sequence[int]) -> list[dict[str, Any]]:
        """The rows at these places, in this order."""


@dataclass(frozen=True)
class ArrowRows:
    """Rows of an Arrow table."""

    table: Any
    source: str

    def column(self, name: str) -> list[Any]:
        """All values of one column.

        Raises:
            DatasetError: There is no such column.
        """
        if name not in self.table.column_names:
            raise DatasetError(f"{self.source} has no column {name!r}", f"it has: {', '.join(self.table.column_names)}")
        return cast("list[Any]", self.table.column(name).to_pylist())

    def take(self, places: Sequence[int]) -> list[dict[str, Any]]:
        """The rows at these places, in this order."""
        return cast("list[dict[str, Any]]", self.table.take(list(places)).to_pylist())


def local_rows(folder: Path, name: str, config: str | None, default_config: str, split: str) -> tuple[DatasetRows, str]:
    """Read rows from `folder/name/config/split*.parquet` (or .jsonl).

    Args:
        folder: The data directory.
        name: Our name of the dataset.
        config: The config asked for; None takes the default one, or the only one there is.
        default_config: The dataset's default config.
        split: Start of the files' names.

    Returns:
        The rows and the config that was read.

    Raises:
        DatasetError: There are no such files, or one cannot be read.
    """
    home = folder / name
    chosen = config or only_folder(home) or default_config
    files = sorted(path for path in (home / chosen).glob(f"{split}*") if path.suffix in {".parquet", ".jsonl"})
    if not files:
        raise DatasetError(
            f"no rows of {name} in {folder}",
            f"expected {home / chosen / split}*.parquet or .jsonl; without --data-dir they come from the hub",
        )
    return ArrowRows(_read(files), source=f"{name}/{chosen}/{split} (local files)"), chosen


def only_folder(home: Path) -> str | None:
    """The name of the one folder, hidden ones aside, that a folder holds; None where it is not one, or not there."""
    inside = home.iterdir() if home.is_dir() else ()
    names = [path.name for path in inside if path.is_dir() and not path.name.startswith(".")]
    return names[0] if len(names) == 1 else None


def _read(files: Sequence[Path]) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - 60 MB that only this needs
    import pyarrow.parquet as pq  # noqa: PLC0415

    tables = []
    for path in files:
        try:
            tables.append(pq.read_table(path) if path.suffix == ".parquet" else _read_jsonl(path))
        except (OSError, pa.ArrowException, ValueError) as error:
            raise DatasetError(f"cannot read {path}: {str(error).splitlines()[0]}") from error
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise DatasetError(f"the columns of {', '.join(path.name for path in files)} differ: {error}") from error


def _read_jsonl(path: Path) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    with path.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("every line must be an object")
    return pa.Table.from_pylist(rows)


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
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    return value if isinstance(value, str | dict | list | tuple) or value is None else str(value)


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
        found = _strings(text) or _literal(text)
        if found is None:
            raise ValueError(f"not valid JSON ({error})") from error
        return found


def _strings(text: str) -> list[str] | None:
    """The strings of a Python list; numpy prints no commas, and Python would take neighbours for one string."""
    items = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text.strip()).readline):
            if token.type == tokenize.STRING:
                items.append(ast.literal_eval(token.string))
            elif token.type not in _BETWEEN and token.string not in {"[", "]", ","}:
                return None
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    return items


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


# Tables as text: cells separated by commas, semicolons, tabs or bars, below a header.


_SEPARATORS = (",", ";", "\t", "|")


_NAMED = re.compile(r"sep=(.)\r?\n")
"""The first line by which Excel is told the separator."""


_LONGEST = 2**31 - 1
"""Characters of a cell: ten passages in one are more than the 131,072 that Python allows."""


_LIMIT = Lock()
"""The limit is one for the whole process, and the viewer reads sheets in several threads."""

Rows = Sequence[tuple[str, Any]]


@contextmanager
def long_cells() -> Iterator[None]:
    """Let `csv` read cells of any length meanwhile; one thread at a time."""
    with _LIMIT:
        limit = csv.field_size_limit(_LONGEST)
        try:
            yield
        finally:
            csv.field_size_limit(limit)


def delimited_rows(name: str, text: str, is_known: Callable[[str], bool]) -> Rows:
    """The rows of a table, each with its place; a cell that is not there is left out.

    Args:
        name: Of the file, for messages.
        text: All of it.
        is_known: Whether a title is that of a known column; the separator that gives most of them is taken.

    Raises:
        DatasetError: A row is not well formed; the message names it.
    """
    named = _NAMED.match(text)
    body = text[named.end() :] if named else text
    reader = csv.reader(
        io.StringIO(body, newline=""), delimiter=named[1] if named else separator(body, is_known), strict=True
    )
    rows: list[tuple[str, Any]] = []
    number = 0
    try:
        with long_cells():
            titles = titles_of(name, next(reader, []))
            for number, cells in enumerate(filter(None, reader), start=1):
                if any(cell.strip() for cell in cells[len(titles) :]):
                    raise DatasetError(f"{name}, row {number}: more cells than the header has columns")
                if any(cell.strip() for cell in cells):
                    rows.append((f"{name}, row {number}", titled(titles, cells)))
    except csv.Error as error:
        where = f"{name}, row {number + 1} (line {reader.line_num + (named is not None)})"
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


# Reading a JSON array element by element, so that a large file never stands in memory whole.


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


# Tables in files that are no text: spreadsheets and Parquet.


SPREADSHEETS = frozenset({".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"})


def spreadsheet_rows(path: Path, is_known: Callable[[str], bool]) -> tuple[Rows, str | None]:
    """The rows of the sheet that holds most known columns, the first of equals, and a note where there are others.

    Places count as the spreadsheet does. The first row that is not empty is the header.

    Raises:
        DatasetError: It is no spreadsheet, it cannot be opened, or the reader is not installed.
    """
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
        cells = {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in book.sheet_names}
    except calamine.CalamineError as error:
        raise DatasetError(f"cannot read {path}: it is no spreadsheet ({error})") from error
    sheets = {name: rows for name, rows in cells.items() if any(map(_filled, rows))}
    if not sheets:
        return [], None
    chosen = max(sheets, key=lambda name: sum(is_known(str(cell)) for cell in next(filter(_filled, sheets[name]))))
    others = ", ".join(repr(name) for name in sheets if name != chosen)
    return _below_header(path.name, sheets[chosen]), f"read the sheet {chosen!r}, not {others}" if others else None


def _below_header(name: str, sheet: Sequence[Sequence[Any]]) -> Rows:
    numbered = [(number, cells) for number, cells in enumerate(sheet, start=1) if _filled(cells)]
    (_, header), *below = numbered
    titles = titles_of(name, header)
    return [(f"{name}, row {number}", titled(titles, cells)) for number, cells in below]


def _filled(cells: Sequence[Any]) -> bool:
    return any(str(cell).strip() for cell in cells)


def parquet_rows(path: Path) -> Rows:
    """The rows of a Parquet file.

    Raises:
        DatasetError: It cannot be read.
    """
    import pyarrow as pa  # noqa: PLC0415 - 60 MB that only this needs
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        check_file(path)
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"cannot read {path}: {str(error).splitlines()[0]}") from error
    rows = enumerate(table.to_pylist(), start=1)
    return [(f"{path.name}, row {number}", row) for number, row in rows if any(v is not None for v in row.values())]


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
    for key in data if isinstance(data, dict) else ():
        if key not in _PARTS and key not in _ABOUT:
            raise DatasetError(f"{name}: unknown key {key!r} beside the questions", nearest_hint(str(key), _PARTS))
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
