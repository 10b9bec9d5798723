"""A saved run as a file for something else: a spreadsheet, a program, a pull request, a reader.

A new format is one function from a measured run to the pieces of a text, and one line in `FORMATS`.
"""

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from evals.errors import UnknownNameError
from evals.export.json_format import to_json
from evals.export.junit import to_junit
from evals.export.markdown import to_markdown
from evals.export.review import to_review
from evals.export.table import to_csv
from evals.schemas import EvalRecord, EvalRun
from evals.scoring.measured import Measured, measured
from evals.store.atomic import write_output

__all__ = ["FORMATS", "SPREADSHEETS", "export_pieces", "export_run", "write_export"]

FORMATS: dict[str, Callable[[Measured], Iterable[str]]] = {
    "csv": to_csv,
    "json": to_json,
    "junit": to_junit,
    "markdown": to_markdown,
    "review": to_review,
}

SPREADSHEETS = frozenset({"csv", "review"})
"""Formats whose files begin with a byte order mark, by which spreadsheets know UTF-8."""


def export_run(run: EvalRun, records: Sequence[EvalRecord], form: str) -> str:
    """A run in a format.

    Args:
        run: The run.
        records: Its records.
        form: The name of the format.

    Raises:
        UnknownNameError: There is no such format.
    """
    return "".join(export_pieces(run, records, form))


def export_pieces(run: EvalRun, records: Sequence[EvalRecord], form: str) -> Iterator[str]:
    """The same piece by piece; of records that are read from a file, none is held.

    Raises:
        UnknownNameError: There is no such format.
    """
    if form not in FORMATS:
        raise UnknownNameError("format", form, FORMATS)
    return iter(FORMATS[form](measured(run, records)))


def write_export(path: Path, text: str | Iterable[str], form: str) -> None:
    """Write an export, or its pieces, to a file, whole or not at all; a device or pipe is written as it is.

    Raises:
        StoreError: It cannot be written; the old file, if any, is as it was.
    """
    pieces = [text] if isinstance(text, str) else text
    mark = [codecs.BOM_UTF8] if form in SPREADSHEETS else []
    write_output(path, chain(mark, (piece.encode() for piece in pieces)))
