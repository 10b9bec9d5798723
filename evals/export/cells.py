"""Cells of a CSV sheet that a spreadsheet shows as they are, and never runs."""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a spreadsheet may take for the start of a formula, full-width forms too (OWASP, CSV injection)."""
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def cell(value: Any) -> str:
    """A value as the text of a cell: nothing for None, the shortest exact form of a number, JSON for what has parts.

    Text that could be a formula gets an apostrophe before it; a number, in whatever form, stays one.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def sheet(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A CSV document (RFC 4180) of a header and rows; line breaks inside cells are kept."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([cell(title) for title in header])
    writer.writerows([cell(value) for value in row] for row in rows)
    return out.getvalue()
