"""Rows as tables: for pandas, and for notebooks."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def frame(rows: Iterable[Mapping[str, Any]], index: str) -> "pd.DataFrame":
    """A table of rows that may have different keys, indexed by one of them; what a row does not have is missing.

    Args:
        rows: Of values by column.
        index: The column that names the rows.
    """
    import pandas as pd  # noqa: PLC0415 - half a second, and only who wants a table needs it

    given = list(rows)
    columns = list(dict.fromkeys(key for row in given for key in row)) or [index]
    return pd.DataFrame(given, columns=columns).set_index(index)


def html_table(header: Sequence[str], rows: Iterable[Sequence[object]], caption: str) -> str:
    """A plain HTML table, in which nothing but text is left of what was given."""
    head = "".join(f"<th>{escape(title)}</th>" for title in header)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
