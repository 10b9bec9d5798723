"""Cells of a CSV sheet that a spreadsheet shows as they are, and never runs."""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
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
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([cell(title) for title in header])
    writer.writerows([cell(value) for value in row] for row in rows)
    return out.getvalue()
