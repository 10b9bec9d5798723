"""Tables in files that are no text: spreadsheets and Parquet."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evals.errors import DatasetError
from evals.inputs.decoding import read_bytes
from evals.inputs.delimited import Rows, titled, titles_of
from evals.inputs.files import check_file

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
