"""Spreadsheets: the rows of their sheets, each cell as the text that it shows."""

import re
import warnings
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from evals.errors import DatasetError
from evals.text.decoding import read_bytes

ENDINGS = frozenset({".xlsx", ".xlsm"})
OTHER_ENDINGS = frozenset({".xls", ".xlsb", ".ods"})

_OF_COUNTRY = frozenset({"mm-dd-yy", "m/d/yy h:mm", "General"})
"""Formats of the reader's country, of which a file does not say how they look: their dates are read as ISO dates."""
_PERCENT = re.compile(r"[#,]*0+(?:\.([0#]+))?(\s?%)")
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
        import openpyxl  # noqa: PLC0415 - an extra
    except ImportError as error:
        what = f"{path.name} is a spreadsheet, and the package openpyxl is not installed"
        raise DatasetError(what, "pip install 'rag-evals[excel]', or save the sheet as CSV") from error
    data = BytesIO(read_bytes(path))
    sheets: dict[str, list[tuple[int, list[Any]]]] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of charts and styles that it does not read
            for sheet in openpyxl.load_workbook(data, read_only=True, data_only=True).worksheets:
                sheet.reset_dimensions()  # some writers state them wrongly
                rows = ([shown(cell.value, cell.number_format) for cell in row] for row in sheet.iter_rows())
                if filled := [row for row in enumerate(rows, start=1) if any(str(cell).strip() for cell in row[1])]:
                    sheets[sheet.title] = filled
    except (BadZipFile, SyntaxError, LookupError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise DatasetError(f"cannot read {path}: it is no spreadsheet ({error})") from error
    return sheets


def shown(value: Any, code: str) -> Any:
    """The text that a cell shows by the code of its format: a percentage, a date or a time; other values unchanged.

    An empty cell is an empty text.
    """
    if value is None or code in _OF_COUNTRY:
        return "" if value is None else value
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
