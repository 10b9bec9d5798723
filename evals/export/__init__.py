"""A saved run as a file for something else: a spreadsheet, a program, a pull request, a reader.

A new format is one function from a run and its records to text, and one line in `FORMATS`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from evals.errors import UnknownNameError
from evals.export.json_format import to_json
from evals.export.markdown import to_markdown
from evals.export.review import to_review
from evals.export.table import to_csv
from evals.schemas import EvalRecord, EvalRun
from evals.store.atomic import write_output

__all__ = ["FORMATS", "SPREADSHEETS", "export_run", "write_export"]

FORMATS: dict[str, Callable[[EvalRun, Sequence[EvalRecord]], str]] = {
    "csv": to_csv,
    "json": to_json,
    "markdown": to_markdown,
    "review": to_review,
}

SPREADSHEETS = frozenset({"csv", "review"})
"""Formats whose files begin with a byte order mark, by which spreadsheets know UTF-8."""


def export_run(run: EvalRun, records: Sequence[EvalRecord], form: str) -> str:
    """Write a run in a format.

    Args:
        run: The run.
        records: Its records.
        form: The name of the format.

    Raises:
        UnknownNameError: There is no such format.
    """
    if form not in FORMATS:
        raise UnknownNameError("format", form, FORMATS)
    return FORMATS[form](run, records)


def write_export(path: Path, text: str, form: str) -> None:
    """Write an export to a file, whole or not at all; a device or pipe is written as it is.

    Raises:
        StoreError: It cannot be written; the old file, if any, is as it was.
    """
    write_output(path, text.encode("utf-8-sig" if form in SPREADSHEETS else "utf-8"))
