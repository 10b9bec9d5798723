"""The rows of a file, each with its place: JSON, JSONL, YAML, CSV, Parquet and spreadsheets; and what a cell says."""

import ast
import csv
import io
import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from pydantic import BaseModel, ValidationError

from evals.errors import DatasetError
from evals.text.decoding import check_file, read_bytes, read_text, text_lines, without_surrogates
from evals.text.yaml_files import YamlTextError, first_problem, load_yaml

Row = tuple[str, Any]
"""A value of a file with its place, as messages name it."""
IsKnown = Callable[[str], bool]
"""Whether a title is that of a known column."""

_SHEETS = frozenset({".xlsx", ".xlsm"})
TABLES = frozenset({".csv", ".tsv", ".tab", ".txt", ".parquet", *_SHEETS})
"""Endings of files that hold a header and cells."""
_GUARDED = re.compile(r"'(?=\s*[=+\-@＝＋－＠]|[\t\r\n])")
"""The apostrophe that exported tables put before what a spreadsheet would take for a formula."""
csv.field_size_limit(2**31 - 1)  # ten passages in a cell are more than the 131,072 characters that Python allows


def entries(name: str, tree: Any) -> Iterable[Row]:
    """The rows of a value of JSON or YAML that is a list, or the one row that it is."""
    return numbered(f"{name}, entry", tree if isinstance(tree, list) else [tree])


def read_rows(
    path: Path, is_known: IsKnown, needs: str, unwrap: Callable[[str, Any], Iterable[Row]] = entries
) -> tuple[Iterator[tuple[str, dict[str, Any]]], str | None]:
    """Read the rows of any file as objects; of JSONL and Parquet no more than a few rows are in memory.

    Args:
        path: Its ending says what it is.
        is_known: Whether a title is that of a known column: tells separators and sheets apart.
        needs: What a row holds, for messages.
        unwrap: The rows in the one value of JSON or YAML, by the name of the file.

    Returns:
        The rows with their places, and what a reader must know of how they were read.

    Raises:
        DatasetError: The file cannot be read, a row is not well formed or no object, or the ending is unknown; also
            while rows are read.
    """
    rows: Iterable[Row]
    ending, note = path.suffix.lower(), None
    if ending in {".json", ".yaml", ".yml"}:
        rows = unwrap(path.name, _read_tree(path))
    elif ending in {".jsonl", ".ndjson", ".log"}:
        rows = jsonl_rows(path)
    elif ending == ".parquet":
        rows = _parquet_rows(path)
    elif ending in _SHEETS:
        sheet, note = read_sheet(path, is_known)
        rows = _rows_with_header(path.name, ((f"{path.name}, row {number}", cells) for number, cells in sheet))
    elif ending in TABLES:
        text, note = read_text(path, windows=True)
        rows = csv_rows(path.name, text, is_known)
    elif not path.exists():
        raise DatasetError(f"cannot read {path.name}: no such file")
    else:
        hint = "save a sheet as .xlsx or CSV; a folder of queries.jsonl, corpus.jsonl and qrels will do too"
        raise DatasetError(
            f"{path.name}: the file must end with .json, .jsonl, .csv, .tsv, .xlsx, .parquet or .yaml", hint
        )
    return _objects(rows, needs), note


def _objects(rows: Iterable[Row], needs: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for where, row in rows:
        if not isinstance(row, dict):
            raise DatasetError(f"{where}: expected an object with {needs}, not {type(row).__name__}")
        yield where, {str(title): cell for title, cell in row.items()}


def numbered(name: str, values: Iterable[Any]) -> Iterator[Row]:
    """The values with their places, such as "q.json, question 1"."""
    return ((f"{name} {number}", value) for number, value in enumerate(values, start=1))


def jsonl_rows(path: Path) -> Iterator[Row]:
    """Read the values of a JSONL file, one a line; none is held.

    Raises:
        DatasetError: The file cannot be read, or a line is no JSON; while they are read.
    """
    for where, line in numbered(f"{path.name}, line", text_lines(path)):
        if line.strip():
            yield where, _parse_json(line.rstrip(), where)


def _read_tree(path: Path) -> Any:
    """The one value of a JSON or YAML file."""
    text, _ = read_text(path)
    if path.suffix.lower() == ".json":
        return _parse_json(text, path.name)
    try:
        return load_yaml(text)
    except YamlTextError as error:
        raise DatasetError(f"{path.name}: not valid YAML ({error})") from None


def _parse_json(text: str, where: str) -> Any:
    """Parse JSON, in which no object has two values under one key."""
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        what = str(error).replace("line 1 column", "column")  # a row of JSON lines has its own number
        raise DatasetError(f"{where}: not valid JSON ({what})") from error


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {key!r} stands twice, at the end with the value {str(members[key])[:40]!r}")
    return members


def csv_rows(name: str, text: str, is_known: IsKnown) -> Iterator[Row]:
    """The rows of a table as text; a cell that is not there is left out. A .txt without columns has a question a line.

    The separator is the comma, semicolon, tab or bar by which the header has most known columns, else most columns.

    Raises:
        DatasetError: A row is not well formed, or two columns have one title; the message names it.
    """
    headers = {sign: next(csv.reader(io.StringIO(text, newline=""), delimiter=sign), []) for sign in ",;\t|"}
    known = {sign: sum(map(is_known, titles)) for sign, titles in headers.items()}
    if name.lower().endswith(".txt") and not any(known.values()) and len(headers["\t"]) < 2:
        lines_of_text = numbered(f"{name}, line", map(str.strip, text.splitlines()))
        yield from ((where, {"question": line}) for where, line in lines_of_text if line)
        return
    sign = max(headers, key=lambda sign: (known[sign], len(headers[sign])))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True)
    lines = ((f"{name}, row {n} (line {reader.line_num})", cells) for n, cells in enumerate(filter(None, reader)))
    try:
        for where, row in _rows_with_header(name, lines):
            yield where, {title: cell[1:] if _GUARDED.match(cell) else cell for title, cell in row.items()}
    except csv.Error as error:
        raise DatasetError(f"{name}, line {reader.line_num}: not valid CSV ({error})") from error


def _rows_with_header(name: str, lines: Iterator[tuple[str, Sequence[Any]]]) -> Iterator[Row]:
    """The cells of each line by the titles of the first; those without a title are left out, as an index has none."""
    titles = [str(title).strip() for title in next(lines, ("", ()))[1]]
    if twice := [title for title, times in Counter(titles).items() if title and times > 1]:
        raise DatasetError(f"{name}: the header holds the column {twice[0]!r} twice", "name each column once")
    for where, cells in lines:
        if any(str(cell).strip() for cell in cells[len(titles) :]):
            raise DatasetError(f"{where}: more cells than the header has columns")
        if any(str(cell).strip() for cell in cells):
            yield where, {title: cell for title, cell in zip(titles, cells, strict=False) if title}


def _parquet_rows(path: Path) -> Iterator[Row]:
    import pyarrow as pa  # noqa: PLC0415 - 60 MB that only this needs
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        check_file(path)
        with pq.ParquetFile(path) as file:
            rows = (row for batch in file.iter_batches(batch_size=1000) for row in batch.to_pylist())
            for where, row in numbered(f"{path.name}, row", rows):
                if any(cell is not None for cell in row.values()):
                    yield where, row
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"cannot read {path}: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """The first line of what an error says; its type where it says nothing."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


class PlacedError(DatasetError):
    """An error that begins with its place: "q.json, question 1, column answers: it is no list"."""


@contextmanager
def located(
    place: str, model: type[BaseModel] = BaseModel, columns: Mapping[str, str] | None = None, *, kind: str = "column "
) -> Iterator[None]:
    """Put a place before what is wrong within it, which may begin with a place of its own.

    Args:
        place: Such as a row, or a column of it.
        model: What values are checked by.
        columns: By field of the model, the column that holds it.
        kind: What stands before the name of a field.

    Raises:
        PlacedError: A value is wrong.
    """
    try:
        yield
    except DatasetError as error:
        sign = ", " if isinstance(error, PlacedError) else ": "
        raise PlacedError(f"{place}{sign}{error.message}", error.hint) from error
    except ValidationError as error:
        problem = first_problem(error, model)
        key, dot, rest = problem.key.partition(".")
        column = f", {kind}{(columns or {}).get(key, key)}{dot}{rest}" if key else ""
        hint = "write the question there, or delete the row" if key == "question" else None
        raise PlacedError(f"{place}{column}: {problem.what}", problem.hint or hint) from error


# Spreadsheets: the rows of a sheet, each cell as the text that it shows.


_OF_COUNTRY = frozenset({"mm-dd-yy", "m/d/yy h:mm", "General"})
"""Formats of the reader's country, of which a file does not say how they look: their dates are read as ISO dates."""
_NUMBER = re.compile(r"(?:#,##)?(0+)(?:\.([0#]+))?(\s?%)?")
"""How many digits a number shows at least, how many decimals, and the sign of a percentage."""
_FIRST = re.compile(r"\[[^\]]*\]|;.*")
"""What says of a format how it is coloured, and how a number is shown that is negative, 0, or none."""
_EPOCH = datetime(1, 1, 1)  # noqa: DTZ001 - cells have no zone
_MINUTES = re.compile(r"(?<=h)(\W*)(m+)|(m+)(?=\W*s)", re.IGNORECASE)
_PART = re.compile(r'"[^"]*"|\\.|\[h+\]|\[[^\]]*\]|AM/PM|y+|m+|n+|d+|h+|s+', re.IGNORECASE)
"""A piece of a format: a text, the hours that have passed, a country or colour, or a unit; n is a minute."""
_UNITS = {"yy": "%y", "yyyy": "%Y", "mm": "%m", "mmm": "%b", "mmmm": "%B", "dd": "%d", "ddd": "%a", "dddd": "%A"}
_UNITS |= {"hh": "%H", "nn": "%M", "ss": "%S", "am/pm": "%p"}


def read_sheet(path: Path, is_known: Callable[[str], bool]) -> tuple[list[tuple[int, list[Any]]], str | None]:
    """Read the sheet whose header holds most known columns, the first of equals.

    Args:
        path: The file.
        is_known: Whether a title is that of a known column.

    Returns:
        Its rows that are not empty, with their numbers, and a note on what was not read.

    Raises:
        DatasetError: It is no spreadsheet, it cannot be opened, or the reader is not installed.
    """
    try:
        import openpyxl  # noqa: PLC0415 - an extra
    except ImportError as error:
        what = f"{path.name} is a spreadsheet, and the package openpyxl is not installed"
        raise DatasetError(what, "pip install 'rag-evals[excel]', or save the sheet as CSV") from error
    data = read_bytes(path)
    try:
        with warnings.catch_warnings(action="ignore"):  # of charts and styles that it does not read
            values, formulas = (openpyxl.load_workbook(BytesIO(data), True, data_only=only) for only in (True, False))
            sheets = {sheet.title: _filled(sheet, formulas[sheet.title]) for sheet in values.worksheets}
    except (BadZipFile, SyntaxError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
        raise DatasetError(f"cannot read {path}: it is no spreadsheet ({error})") from error
    known = {title: sum(is_known(str(cell)) for cell in rows[0][1]) for title, (rows, _) in sheets.items() if rows}
    if not known:
        return [], None
    chosen = max(known, key=known.__getitem__)
    (rows, lacking), unread = sheets[chosen], ", ".join(repr(title) for title in known if title != chosen)
    notes = [f"read the sheet {chosen!r}, not {unread}"] if unread else []
    if titles := ", ".join(str(title) for column, title in enumerate(rows[0][1]) if column in lacking):
        notes.append(f"formulas without a value in {titles}: open the file in Excel and save it")
    return rows, "; ".join(notes) or None


def _filled(values: Any, formulas: Any) -> tuple[list[tuple[int, list[Any]]], set[int]]:
    """The rows that are not empty, and the places of columns with a formula that no spreadsheet has computed yet."""
    rows, lacking = [], set[int]()
    for sheet in (values, formulas):
        sheet.reset_dimensions()  # some writers state them wrongly
    for number, (cells, sources) in enumerate(zip(values.iter_rows(), formulas.iter_rows(), strict=False), start=1):
        texts = [shown(cell.value, cell.number_format) for cell in cells]
        if any(str(text).strip() for text in texts):
            rows.append((number, texts))
        for column, (cell, source) in enumerate(zip(cells, sources, strict=False)):
            if source.data_type == "f" and cell.value is None and cell.data_type != "str":  # that is an empty text
                lacking.add(column)
    return rows, lacking


def shown(value: Any, code: str) -> Any:
    """The text that a cell shows by the code of its format: a number, a date or a time; other values unchanged.

    Thousands are not grouped, for the sign that groups them is that of the reader's country. An empty cell is an empty
    text.
    """
    if value is None or code in _OF_COUNTRY:
        return "" if value is None else value
    if isinstance(value, timedelta):
        return _written(_EPOCH + value, code, passed=value)
    if isinstance(value, date | time):
        return _written(value, code)
    number = _NUMBER.fullmatch(_FIRST.sub("", code))
    if number is None or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    whole, decimals, percent = number.groups(default="")
    scaled = Decimal(repr(value)) * (100 if percent else 1)
    rounded = scaled.quantize(Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP)
    width = len(whole) + len(decimals) + bool(decimals) + (rounded < 0)
    return f"{rounded:0{width}f}{percent}"


def _written(moment: date | time, code: str, passed: timedelta = timedelta()) -> str:
    """The moment in the form of a code such as `dd.mm.yyyy` or `h:mm`."""
    hour = "%I" if "am/pm" in code.casefold() else "%H"

    def text(part: re.Match[str]) -> str:
        name = part[0].casefold()
        if name[0] in '"\\':
            return part[0].strip('"').removeprefix("\\")
        if name[0] == "[":
            return str(passed // timedelta(hours=1)) if name[1] == "h" else ""
        written = moment.strftime(_UNITS[name if name in _UNITS else 2 * name[0]].replace("%H", hour))
        return written if len(name) > 1 else written.lstrip("0") or "0"

    minutes = _MINUTES.sub(lambda match: f"{match[1] or ''}{'n' * len(match[2] or match[3])}", code.partition(";")[0])
    return _PART.sub(text, minutes)


# What a cell of a table, or a value of JSON, says: nothing, a text, a list.


_NOTHING = frozenset({"", "nan", "null", "n/a", "#n/a", "<na>"})
_DASH = re.compile(r"\s*(?:[-–—]+|none\.?|n/?a)\s*", re.IGNORECASE)
_AS_CODE = re.compile(r"\s*(?:\[\s*[\[{\"'\]]|\{\s*[\"'])")
"""How a list or object begins that is written as JSON or as a literal of Python, and no prose with a bracket."""
_QUOTE = re.compile("['\"]")
_EXACT = 10**15
"""Below it a float holds every whole number."""


def is_nothing(value: Any) -> bool:
    """Whether it stands for no value: None, not a number, and texts such as "", "nan", "NULL" and "N/A"."""
    return value is None or (isinstance(value, str | float) and str(value).strip().casefold() in _NOTHING)


def is_dash(value: Any) -> bool:
    """Whether it is how people write into a cell that there is no answer: "-", "–", "none", "n/a"."""
    return isinstance(value, str) and _DASH.fullmatch(value) is not None


def as_text(value: Any) -> Any:
    """A number, a date or a boolean as the text that a person would write; any other value unchanged.

    True is "Yes". A whole number has no decimals, for tables keep 96 as 96.0; a date has no time where it is midnight.
    """
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, date):
        return value.isoformat()
    return value if value is None or isinstance(value, str | dict | list | tuple) else str(value)


def parsed(value: Any, *, or_text: bool = False) -> Any:
    """The list or object that a text writes as JSON, or as Python prints it; any other value unchanged.

    Args:
        value: Any.
        or_text: Whether a text that only begins as one is a text.

    Raises:
        DatasetError: The text begins as a list or object and is none.
    """
    if not isinstance(value, str) or not _AS_CODE.match(value):
        return value
    text = value.strip()
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        literal = ast.literal_eval(text)
        if len(_QUOTE.findall(repr(literal))) >= len(_QUOTE.findall(text)):  # else texts without commas were joined
            return literal
    if or_text:
        return value
    raise DatasetError(f"not valid JSON: {text[:40]!r}", 'write a list as ["a", "b"]')


def as_list(value: Any) -> list[Any]:
    """The items of a list, or of a text that is one; anything else is one item. Items that say nothing are left out.

    Raises:
        DatasetError: The text begins as a list or object and is none.
    """
    value = parsed(value)
    return [item for item in (value if isinstance(value, list | tuple) else [value]) if not is_nothing(item)]


def as_texts(value: Any) -> list[Any]:
    """The items of `as_list`, each as a text; SQuAD has its answers in `text` of objects, Hugging Face of one object.

    Raises:
        DatasetError: As of `as_list`.
    """
    value = parsed(value)
    items = as_list(value.get("text", value) if isinstance(value, Mapping) else value)
    return [as_text(item.get("text", item) if isinstance(item, Mapping) else item) for item in items]


def storable(value: Any) -> Any:
    """The value as JSON can hold it: dates as texts, no NaN, and no half of a surrogate pair."""
    if isinstance(value, Mapping):
        return {without_surrogates(str(key)): storable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [storable(inner) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, int) else without_surrogates(as_text(value))
