"""Spreadsheets: the rows of their sheets, each cell as the text that it shows."""

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import reduce
from pathlib import Path
from typing import Any
from xml.etree import ElementTree  # expat refuses entities that grow beyond reason
from zipfile import BadZipFile, ZipFile

from evals.errors import DatasetError
from evals.text.decoding import read_bytes

ENDINGS = frozenset({".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"})

_FORMATS = {9: "0%", 10: "0.00%", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM"}
_FORMATS |= {20: "h:mm", 21: "h:mm:ss", 45: "mm:ss", 46: "[h]:mm:ss"}
"""The formats that a file names by a number alone. Of 14 and 22, the date of the reader's country, the file does not
say how they look: they are read as ISO dates."""
_PERCENT = re.compile(r"[#,]*0+(?:\.([0#]+))?(\s?%)")
_PLACE = re.compile(r"([A-Z]+)(\d+)")
_EPOCH = datetime(1, 1, 1)  # noqa: DTZ001 - cells have no zone
_MINUTES = re.compile(r"(?<=h)(\W*)(m+)|(m+)(?=\W*s)", re.IGNORECASE)
_PART = re.compile(r'"[^"]*"|\\.|\[h+\]|\[[^\]]*\]|AM/PM|y+|m+|n+|d+|h+|s+', re.IGNORECASE)
"""A piece of a format: a text, the hours that have passed, a country or colour, or a unit; n is a minute."""
_UNITS = {"yy": "%y", "yyyy": "%Y", "mm": "%m", "mmm": "%b", "mmmm": "%B", "dd": "%d", "ddd": "%a", "dddd": "%A"}
_UNITS |= {"hh": "%H", "nn": "%M", "ss": "%S", "am/pm": "%p"}


def read_sheets(path: Path) -> dict[str, list[tuple[int, list[Any]]]]:
    """The rows of each sheet that are not empty, with their numbers; sheets without any are left out.

    Raises:
        DatasetError: It is no spreadsheet, it cannot be opened, or the reader is not installed.
    """
    try:
        import python_calamine as calamine  # noqa: PLC0415 - an extra
    except ImportError as error:
        what = f"{path.name} is a spreadsheet, and the package python-calamine is not installed"
        raise DatasetError(what, "pip install 'rag-evals[excel]', or save the sheet as CSV") from error
    read_bytes(path)
    try:
        book = calamine.CalamineWorkbook.from_path(path)
        sheets = {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in book.sheet_names}
        for name, row, column, code in _formats(path) if path.suffix.lower() in {".xlsx", ".xlsm"} else ():
            if row < len(sheets.get(name, ())) and column < len(sheets[name][row]):
                sheets[name][row][column] = shown(sheets[name][row][column], code)
    except (calamine.CalamineError, BadZipFile, SyntaxError, LookupError, ValueError, OverflowError) as error:
        raise DatasetError(f"cannot read {path}: it is no spreadsheet ({error})") from error
    numbered = {name: [row for row in enumerate(rows, start=1) if _is_filled(row[1])] for name, rows in sheets.items()}
    return {name: rows for name, rows in numbered.items() if rows}


def _is_filled(cells: Iterable[Any]) -> bool:
    return any(str(cell).strip() for cell in cells)


def _formats(path: Path) -> Iterator[tuple[str, int, int, str]]:
    """Sheet, row and column (from 0) of the cells whose format says how they look, with its code."""
    with ZipFile(path) as file:
        if "xl/styles.xml" not in file.namelist():
            return
        styles, book, links = (
            ElementTree.fromstring(file.read(f"xl/{name}"))  # noqa: S314
            for name in ("styles.xml", "workbook.xml", "_rels/workbook.xml.rels")
        )
        own = {int(form.get("numFmtId", 0)): form.get("formatCode", "") for form in styles.iterfind(".//{*}numFmt")}
        codes = _FORMATS | own
        by_style = [codes.get(int(style.get("numFmtId", 0))) for style in styles.iterfind("{*}cellXfs/{*}xf")]
        targets = {link.get("Id"): link.get("Target", "").removeprefix("/xl/") for link in links}
        for sheet in book.iterfind(".//{*}sheet"):
            target = targets[next(value for key, value in sheet.items() if key.endswith("}id"))]
            with file.open(f"xl/{target}") as cells:
                for _, cell in ElementTree.iterparse(cells):  # noqa: S314
                    place, style = _PLACE.fullmatch(cell.get("r", "")), int(cell.get("s", 0))
                    if place and style < len(by_style) and (code := by_style[style]):
                        column = reduce(lambda number, letter: 26 * number + ord(letter) - 64, place[1], 0)
                        yield sheet.get("name", ""), int(place[2]) - 1, column - 1, code
                    cell.clear()


def shown(value: Any, code: str) -> Any:
    """The text that a cell shows by the code of its format: a percentage, a date or a time; other values unchanged."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        percent = _PERCENT.fullmatch(code)
        if percent is None:
            return value
        digits = Decimal(1).scaleb(-len(percent[1] or ""))
        return f"{(Decimal(repr(value)) * 100).quantize(digits, ROUND_HALF_UP)}{percent[2]}"
    if isinstance(value, timedelta):
        return _written(_EPOCH + value, code, passed=value)
    if isinstance(value, time):
        return _written(datetime.combine(_EPOCH, value), code)
    if isinstance(value, date):
        return _written(value if isinstance(value, datetime) else datetime.combine(value, time()), code)
    return value


def _written(moment: datetime, code: str, passed: timedelta = timedelta()) -> str:
    """The moment in the form of a code such as `dd.mm.yyyy` or `h:mm`."""
    half = "am/pm" in code.casefold()

    def text(part: re.Match[str]) -> str:
        name = part[0].casefold()
        if name[0] in '"\\':
            return part[0].strip('"').removeprefix("\\")
        if name[0] == "[":
            return str(passed // timedelta(hours=1)) if name[1] == "h" else ""
        written = moment.strftime(_UNITS[name if name in _UNITS else 2 * name[0]].replace("%H", "%I" if half else "%H"))
        return written if len(name) > 1 else written.lstrip("0") or "0"

    minutes = _MINUTES.sub(lambda match: f"{match[1] or ''}{'n' * len(match[2] or match[3])}", code.partition(";")[0])
    return _PART.sub(text, minutes)
