"""Lines and tables, of which every output is made. Commands that show nothing else import this alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Tone = Literal["", "good", "doubtful", "bad", "faint", "strong"]
"""How a line or a row looks; it says nothing that no word says."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text, foreign text too.

    Attributes:
        text: What it says.
        tone: How it looks.
        limit: Longer text is cut; None keeps all of it, with its line breaks.
        whole: Whether a terminal must not fold it, as a command that is copied.
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
        spare: Columns that a narrow terminal may leave out, the first one first.
        is_labelled: Whether a narrow terminal may move the words of the second column to the first.
        whole: Whether it must not fold what is in the first column.
    """

    columns: Sequence[str]
    rows: Sequence[TableRow]
    title: str = ""
    words: Sequence[str] = ()
    spare: Sequence[str] = ()
    is_labelled: bool = False
    whole: bool = False

    def without(self, left_out: Sequence[str]) -> "TextTable":
        """The table without some columns."""
        kept = [place for place, column in enumerate(self.columns) if column not in left_out]
        rows = [replace(row, cells=[row.cells[place] for place in kept if place < len(row.cells)]) for row in self.rows]
        return replace(self, columns=[self.columns[place] for place in kept], rows=rows)


ShownPart = TextLine | TextTable


def grid(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[str] = ()) -> TextTable:
    """A table whose rows are nothing but cells."""
    return TextTable(columns, [TableRow(cells) for cells in rows], title, words)


def words_first(table: TextTable) -> TextTable:
    """The table of a page: words next to the names, where a phone shows them without scrolling, nothing padded."""
    order = sorted(range(len(table.columns)), key=lambda place: (place > 0, table.columns[place] not in table.words))
    rows = [replace(row, cells=[row.cells[place].strip() for place in order]) for row in table.rows]
    return replace(table, columns=[table.columns[place].strip() for place in order], rows=rows)
