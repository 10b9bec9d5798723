"""A table for a narrow terminal: what has a long name takes two lines, and no cell is cut."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.text import Text

_GAP = 1
_LEAST_NAME = 16


class NarrowRow(NamedTuple):
    """A line of the table.

    Attributes:
        name: What stands first.
        cells: What follows; the last stands to the left.
        style: Its colour.
        apart: What it says below its name and its last cell, where its cells would take the room of all others; empty
            for a row without which there is no table.
    """

    name: str
    cells: Sequence[str]
    style: str = ""
    apart: str = ""


def narrow_lines(head: NarrowRow, rows: Sequence[NarrowRow], width: int) -> list[Text] | None:
    """The lines of a table, no wider than the width; None where the cells alone have no room.

    A name that is longer than what the cells leave stands on a line of its own, above them.
    """
    inside = rows
    widths, room = _measured(head, inside, width)
    if room < _LEAST_NAME:
        inside = [row for row in rows if not row.apart]
        widths, room = _measured(head, inside, width)
    if room < _LEAST_NAME:
        return None
    names = max((len(row.name) for row in (head, *inside) if len(row.name) <= room), default=_LEAST_NAME)
    lines = list(_in_columns(head, names, widths))
    for row in rows:
        lines += _in_columns(row, names, widths) if row in inside else _apart(row)
    return lines


def _in_columns(row: NarrowRow, names: int, widths: Sequence[int]) -> Iterator[Text]:
    is_long = len(row.name) > names
    if is_long:
        yield Text(row.name, style=row.style)
    *numbers, last = row.cells
    cells = [cell.rjust(size) for cell, size in zip(numbers, widths, strict=False)]
    name = "" if is_long else row.name
    yield Text((" " * _GAP).join([name.ljust(names), *cells, last]).rstrip(), style=row.style)


def _apart(row: NarrowRow) -> Iterator[Text]:
    yield Text(f"{row.name}  {row.cells[-1]}".rstrip(), style=row.style)
    yield Text(f"  {row.apart}", style=row.style)


def _measured(head: NarrowRow, rows: Sequence[NarrowRow], width: int) -> tuple[list[int], int]:
    """How wide each column of cells is, and the room that they leave for names."""
    widths = [max(map(len, column)) for column in zip(head.cells, *(row.cells for row in rows), strict=True)]
    return widths, width - sum(widths) - _GAP * len(widths)
