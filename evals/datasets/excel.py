"""Spreadsheets: the rows of a sheet, each cell as the text that it shows."""

import re
import warnings
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from evals.errors import DatasetError
from evals.text.decoding import read_bytes

ENDINGS = frozenset({".xlsx", ".xlsm"})

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
