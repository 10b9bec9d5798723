"""The rows of a file, each with its place: JSON, JSONL, YAML, CSV, Parquet and spreadsheets; and what a cell says."""

import ast
import csv
import io
import json
import math
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from evals.datasets import excel
from evals.errors import DatasetError
from evals.text.decoding import check_file, read_text, text_lines, without_surrogates
from evals.text.yaml_files import YamlTextError, first_problem, load_yaml, nearest_hint

Row = tuple[str, Any]
"""A value of a file with its place, as messages name it."""
IsKnown = Callable[[str], bool]
"""Whether a title is that of a known column: tells separators and sheets apart."""

TREES = frozenset({".json", ".yaml", ".yml"})
"""Endings of files that hold one value, in which rows stand."""
_DELIMITED = frozenset({".csv", ".tsv", ".tab", ".txt"})
TABLES = _DELIMITED | excel.ENDINGS | {".parquet"}
"""Endings of files that hold a header and cells."""
_GUARDED = re.compile(r"'(?=\s*[=+\-@＝＋－＠]|[\t\r\n])")
"""The apostrophe that exported tables put before what a spreadsheet would take for a formula."""
_PARTS = ("questions", "documents")
_ABOUT = frozenset({"name", "version", "description", "licence", "license", "metadata"})
"""Keys of an object that say what the file is; nothing reads them."""
csv.field_size_limit(2**31 - 1)  # ten passages in a cell are more than the 131,072 characters that Python allows


def read_table(path: Path, is_known: IsKnown) -> tuple[Iterable[Row], str | None]:
    """Read a file that holds a row after another; of JSONL and Parquet no more than a few rows are in memory.

    Args:
        path: Its ending says what it is.
        is_known: Whether a title is that of a known column.

    Returns:
        The rows, and what a reader must know of how they were read.

    Raises:
        DatasetError: It cannot be read, a row is not well formed, or the ending is unknown; also while rows are read.
    """
    ending = path.suffix.lower()
    if ending == ".jsonl":
        return jsonl_rows(path), None
    if ending == ".parquet":
        return _parquet_rows(path), None
    if ending in excel.ENDINGS:
        return _sheet_rows(path, is_known)
    if ending in _DELIMITED:
        text, note = read_text(path, windows=True)
        headers = _headers(text)
        has_columns = len(headers["\t"]) > 1 or any(map(is_known, chain.from_iterable(headers.values())))
        if ending != ".txt" or has_columns:
            return csv_rows(path.name, text, is_known), note
        lines = numbered(f"{path.name}, line", map(str.strip, text.splitlines()))
        return [(where, {"question": line}) for where, line in lines if line], note
    if not path.exists():
        raise DatasetError(f"cannot read {path.name}: no such file")
    if ending in excel.OTHER_ENDINGS:
        raise DatasetError(f"{path.name}: files of this kind are not read any more", "save the sheet as .xlsx or CSV")
    endings = ".json, .jsonl, .csv, .tsv, .xlsx, .parquet or .yaml"
    hint = "a folder of queries.jsonl, corpus.jsonl and qrels will do too"
    raise DatasetError(f"{path.name}: the file must end with {endings}", hint)


def jsonl_rows(path: Path, hint: str | None = None) -> Iterator[Row]:
    """Read the values of a JSONL file, one a line; none is held.

    Args:
        path: The file.
        hint: What to do about a line that is no JSON.

    Raises:
        DatasetError: The file cannot be read, or a line is no JSON; while they are read.
    """
    for where, line in numbered(f"{path.name}, line", text_lines(path)):
        if line.strip():
            yield where, parse_json(line, where, hint)


def parse_json(text: str, where: str, hint: str | None = None) -> Any:
    """Parse JSON.

    Raises:
        DatasetError: It is none; the message names the place.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{where}: not valid JSON ({error})", hint) from error


def _headers(text: str) -> dict[str, list[str]]:
    """The first row as each separator cuts it."""
    return {sign: next(csv.reader(io.StringIO(text, newline=""), delimiter=sign), []) for sign in ",;\t|"}


def csv_rows(name: str, text: str, is_known: IsKnown) -> Iterator[Row]:
    """The rows of a table as text; a cell that is not there is left out.

    The separator is the comma, semicolon, tab or bar by which the header has most known columns, else most columns.

    Raises:
        DatasetError: A row is not well formed, or two columns have one title; the message names it.
    """
    headers = _headers(text)
    sign = max(headers, key=lambda sign: (sum(map(is_known, headers[sign])), len(headers[sign])))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True)
    lines = ((f"{name}, row {n} (line {reader.line_num})", cells) for n, cells in enumerate(filter(None, reader)))
    try:
        for where, row in _titled(name, lines):
            yield where, {title: cell[1:] if _GUARDED.match(cell) else cell for title, cell in row.items()}
    except csv.Error as error:
        raise DatasetError(f"{name}, line {reader.line_num}: not valid CSV ({error})") from error


def _sheet_rows(path: Path, is_known: IsKnown) -> tuple[Iterable[Row], str | None]:
    """The rows of the sheet that holds most known columns, the first of equals, and a note where there are others."""
    sheets = excel.read_sheets(path)
    if not sheets:
        return [], None
    chosen = max(sheets, key=lambda name: sum(is_known(str(cell)) for cell in sheets[name][0][1]))
    unread = ", ".join(repr(name) for name in sheets if name != chosen)
    note = f"read the sheet {chosen!r}, not {unread}" if unread else None
    return _titled(path.name, ((f"{path.name}, row {number}", cells) for number, cells in sheets[chosen])), note


def _titled(name: str, lines: Iterator[tuple[str, Sequence[Any]]]) -> Iterator[Row]:
    """The cells of each line by the titles of the first; those without a title are left out, as an index has none."""
    titles = [str(title).strip() for title in next(lines, ("", ()))[1]]
    twice = next((title for title, times in Counter(titles).items() if title and times > 1), None)
    if twice:
        raise DatasetError(f"{name}: the header holds the column {twice!r} twice", "name each column once")
    for where, cells in lines:
        if any(str(cell).strip() for cell in cells[len(titles) :]):
            raise DatasetError(f"{where}: more cells than the header has columns")
        if any(str(cell).strip() for cell in cells):
            yield where, {title: cell for title, cell in zip(titles, cells, strict=False) if title}


def _parquet_rows(path: Path) -> Iterator[Row]:
    import pyarrow as pa  # noqa: PLC0415 - 60 MB that only this needs
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        check_file(path, most=None)
        with pq.ParquetFile(path) as file:
            rows = (row for batch in file.iter_batches(batch_size=1000) for row in batch.to_pylist())
            for where, row in numbered(f"{path.name}, row", rows):
                if any(value is not None for value in row.values()):
                    yield where, row
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"cannot read {path}: {first_line(error)}") from error


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
    except PlacedError as error:
        raise PlacedError(f"{place}, {error.message}", error.hint) from error
    except DatasetError as error:
        raise PlacedError(f"{place}: {error.message}", error.hint) from error
    except ValidationError as error:
        problem = first_problem(error, model)
        key, dot, rest = problem.key.partition(".")
        place = f"{place}, {kind}{(columns or {}).get(key, key)}{dot}{rest}" if key else place
        hint = "write the question there, or delete the row" if key == "question" else None
        raise PlacedError(f"{place}: {problem.what}", problem.hint or hint) from error
    except ValueError as error:
        raise PlacedError(f"{place}: {error}") from error


def first_line(error: Exception) -> str:
    """The first line of what an error says; its type where it says nothing."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


def read_tree(path: Path) -> Any:
    """Read a JSON or YAML file as one value.

    Raises:
        DatasetError: It cannot be read, or is neither.
    """
    text, _ = read_text(path)
    if path.suffix.lower() == ".json":
        return parse_json(text, path.name)
    try:
        return load_yaml(text)
    except YamlTextError as error:
        raise DatasetError(f"{path.name}: not valid YAML ({error})") from None


def rows_in(name: str, data: Any) -> tuple[Iterator[Row], Iterator[Row]]:
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


def numbered(name: str, values: Iterable[Any]) -> Iterator[Row]:
    """The values with their places, such as "q.json, question 1"."""
    return ((f"{name} {number}", value) for number, value in enumerate(values, start=1))


# What a cell of a table, or a value of JSON, says: nothing, a text, a list.


_NOTHING = frozenset({"", "nan", "null", "n/a", "#n/a", "<na>"})
_DASH = re.compile(r"\s*(?:[-–—]+|none\.?|n/?a)\s*", re.IGNORECASE)
_AS_CODE = re.compile(r"\s*(?:\[\s*[\[{\"']|\{\s*[\"'])")
"""How a list or object begins that is written as JSON or as a literal of Python, and no prose with a bracket."""
_LAYOUT = frozenset({tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER})
_EXACT = 10**15
"""Below it a float holds every whole number."""


def is_nothing(value: Any) -> bool:
    """Whether it stands for no value: None, not a number, and texts such as "", "nan", "NULL" and "N/A"."""
    if isinstance(value, str):
        return value.strip().casefold() in _NOTHING
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_dash(value: Any) -> bool:
    """Whether it is how people write into a cell that there is no answer: "-", "–", "none", "n/a"."""
    return isinstance(value, str) and _DASH.fullmatch(value) is not None


def as_text(value: Any) -> Any:
    """A number, a date or a boolean as the text that a person would write; any other value unchanged.

    True is "Yes". A whole number has no decimals, for tables keep 96 as 96.0; a time has no seconds where they are 0.
    """
    if value is None or isinstance(value, str | dict | list | tuple):
        return value
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, time):
        return value.isoformat("auto" if value.second or value.microsecond else "minutes")
    return value.isoformat() if isinstance(value, date) else str(value)


def as_list(value: Any) -> list[Any]:
    """The items of a list, or of a text that is one; anything else is one item. Items that say nothing are left out.

    Raises:
        ValueError: The text begins as a list or object and is none.
    """
    value = parsed(value)
    return [item for item in (value if isinstance(value, list | tuple) else [value]) if not is_nothing(item)]


def as_texts(value: Any) -> list[Any]:
    """The items of `as_list`, each as a text; the form in which Hugging Face keeps SQuAD's answers has them in `text`.

    Raises:
        ValueError: As of `as_list`.
    """
    value = parsed(value)
    return [as_text(item) for item in as_list(value.get("text", value) if isinstance(value, Mapping) else value)]


def parsed(value: Any) -> Any:
    """The list or object that a text writes as JSON, or as Python prints it; any other value unchanged.

    Raises:
        ValueError: The text begins as a list or object and is none.
    """
    if not isinstance(value, str) or not _AS_CODE.match(value):
        return [] if isinstance(value, str) and value.strip() == "[]" else value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        try:
            return _printed_by_numpy(value.strip()) or ast.literal_eval(value.strip())
        except (ValueError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError):
            raise ValueError(f"not valid JSON ({error})") from error


def parsed_or_text(value: Any) -> Any:
    """The list or object that a text writes; any other value unchanged, also a text that only begins as one."""
    try:
        return parsed(value)
    except ValueError:
        return value


def _printed_by_numpy(text: str) -> list[str]:
    """The strings of a list without commas, which Python would read as one string; none where it holds others."""
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type not in _LAYOUT]
    if any(token.type != tokenize.STRING and token.string not in {"[", "]", ","} for token in tokens):
        return []
    return [ast.literal_eval(token.string) for token in tokens if token.type == tokenize.STRING]


def storable(value: Any) -> Any:
    """The value as JSON can hold it: dates as texts, no NaN, and no half of a surrogate pair."""
    if isinstance(value, Mapping):
        return {without_surrogates(str(key)): storable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [storable(inner) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, int) else without_surrogates(as_text(value))
