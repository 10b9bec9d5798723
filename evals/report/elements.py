"""Lines and tables that are shown of a run; terminal, Markdown and pages draw them in their own way."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Tone = Literal["", "strong", "faint", "good", "doubtful", "bad"]


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text.

    Attributes:
        text: What it says; foreign text too.
        tone: How it is meant.
        limit: Characters after which it is cut; None for all of it.
        whole: Whether no line break may be put into it, such as into a command.
    """

    text: str
    tone: Tone = ""
    limit: int | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table; one of a single cell is a heading."""

    cells: Sequence[str]
    tone: Tone = ""
    remark: str = ""
    """Shown below the first cell."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table; all columns but the first hold numbers, unless they are among `words`.

    Attributes:
        columns: Their titles.
        rows: The rows.
        title: Of the table.
        words: Columns of text, which may be folded.
        spare: Columns that a narrow terminal leaves out, the first one first.
        stacked: A column, and the next one, whose cells a narrow terminal puts below those of the first.
    """

    columns: Sequence[str]
    rows: Sequence[TableRow]
    title: str = ""
    words: Sequence[str] = ()
    spare: Sequence[str] = ()
    stacked: str = ""


ShownPart = TextLine | TextTable
EMPTY = TextLine("")


def grid(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[str] = ()) -> TextTable:
    """A table whose rows are nothing but cells."""
    return TextTable(columns, [TableRow(cells) for cells in rows], title, words)
