"""Cells of a CSV sheet that a spreadsheet shows as they are, and never runs."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from evals.views.formatting import printable

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""What a spreadsheet may take for the start of a formula, full-width forms too (OWASP, CSV injection)."""
_BREAKS = ("\t", "\r", "\n")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def cell(value: Any) -> str:
    """A value as the text of a cell: nothing for None, the shortest exact form of a number, JSON for what has parts.

    Text that could be a formula gets an apostrophe before it; a number, in whatever form, stays one. Control characters
    are replaced.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = printable(text)
    return f"'{text}" if _may_run(text) and not _NUMBER.fullmatch(text) else text


def _may_run(text: str) -> bool:
    """Whether it begins as a formula, or may after what a spreadsheet cuts off."""
    return text.startswith(_BREAKS) or text.lstrip().startswith(_FORMULA)


def sheet(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A CSV document (RFC 4180) of a header and rows; line breaks inside cells are kept."""
    return "".join(sheet_lines(header, rows))


def sheet_lines(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """The same, row by row."""
    for row in chain([header], rows):
        out = io.StringIO()
        csv.writer(out).writerow([cell(value) for value in row])
        yield out.getvalue()
