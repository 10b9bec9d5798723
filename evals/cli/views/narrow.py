"""A table for a narrow terminal: what has a long name takes two lines, and no cell is cut."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.text import Text

_GAP = 1
_LEAST_NAME = 16


class NarrowRow(NamedTuple):
    """A line of the table: its name, its cells of which the last stands to the left, and its colour."""

    name: str
    cells: Sequence[str]
    style: str = ""


def narrow_lines(head: NarrowRow, rows: Sequence[NarrowRow], width: int) -> list[Text] | None:
    """The lines of a table, no wider than the width; None where the cells alone have no room.

    A name that is longer than what the cells leave stands on a line of its own, above them.
    """
    widths = [max(map(len, column)) for column in zip(head.cells, *(row.cells for row in rows), strict=True)]
    room = width - sum(widths) - _GAP * len(widths)
    if room < _LEAST_NAME:
        return None
    names = max((len(row.name) for row in (head, *rows) if len(row.name) <= room), default=_LEAST_NAME)
    lines = []
    for row in (head, *rows):
        is_long = len(row.name) > names
        lines += [Text(row.name, style=row.style)] if is_long else []
        *numbers, last = row.cells
        cells = [cell.rjust(size) for cell, size in zip(numbers, widths, strict=False)]
        name = "" if is_long else row.name
        lines.append(Text((" " * _GAP).join([name.ljust(names), *cells, last]).rstrip(), style=row.style))
    return lines
