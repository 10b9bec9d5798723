"""Tables as text: cells separated by commas, semicolons, tabs or bars, below a header."""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

from evals.errors import DatasetError

_SEPARATORS = (",", ";", "\t", "|")
_NAMED = re.compile(r"sep=(.)\r?\n")
"""The first line by which Excel is told the separator."""
_LONGEST = 2**31 - 1
"""Characters of a cell: ten passages in one are more than the 131,072 that Python allows."""
_LIMIT = Lock()
"""The limit is one for the whole process, and the viewer reads sheets in several threads."""

Rows = Sequence[tuple[str, Any]]


@contextmanager
def long_cells() -> Iterator[None]:
    """Let `csv` read cells of any length meanwhile; one thread at a time."""
    with _LIMIT:
        limit = csv.field_size_limit(_LONGEST)
        try:
            yield
        finally:
            csv.field_size_limit(limit)


def delimited_rows(name: str, text: str, is_known: Callable[[str], bool]) -> Rows:
    """The rows of a table, each with its place; a cell that is not there is left out.

    Args:
        name: Of the file, for messages.
        text: All of it.
        is_known: Whether a title is that of a known column; the separator that gives most of them is taken.

    Raises:
        DatasetError: A row is not well formed; the message names it.
    """
    named = _NAMED.match(text)
    body = text[named.end() :] if named else text
    reader = csv.reader(
        io.StringIO(body, newline=""), delimiter=named[1] if named else separator(body, is_known), strict=True
    )
    rows: list[tuple[str, Any]] = []
    number = 0
    try:
        with long_cells():
            titles = titles_of(name, next(reader, []))
            for number, cells in enumerate(filter(None, reader), start=1):
                if any(cell.strip() for cell in cells[len(titles) :]):
                    raise DatasetError(f"{name}, row {number}: more cells than the header has columns")
                if any(cell.strip() for cell in cells):
                    rows.append((f"{name}, row {number}", titled(titles, cells)))
    except csv.Error as error:
        where = f"{name}, row {number + 1} (line {reader.line_num + (named is not None)})"
        raise DatasetError(f"{where}: not valid CSV ({error})") from error
    return rows


def separator(text: str, is_known: Callable[[str], bool]) -> str:
    """The separator by which the header has most known columns; of equals the one with most columns, then a comma."""

    def worth(sign: str) -> tuple[int, int]:
        titles = next(csv.reader(io.StringIO(text, newline=""), delimiter=sign), [])
        return sum(map(is_known, titles)), len(titles)

    return max(_SEPARATORS, key=worth)


def titles_of(name: str, header: Sequence[Any]) -> list[str]:
    """The titles of a header.

    Raises:
        DatasetError: Two columns have one title.
    """
    titles = [str(title).strip() for title in header]
    twice = next((title for title, times in Counter(titles).items() if title and times > 1), None)
    if twice:
        raise DatasetError(f"{name}: the header holds the column {twice!r} twice", "name each column once")
    return titles


def titled(titles: Sequence[str], cells: Sequence[Any]) -> dict[str, Any]:
    """The cells by their titles; those without a title are left out, as the row numbers of a data frame are."""
    return {title: cell for title, cell in zip(titles, cells, strict=False) if title}
