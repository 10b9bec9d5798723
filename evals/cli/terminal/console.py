"""How things are printed: results to stdout, progress to stderr, colour only on a terminal."""

import io
import os
import sys
from typing import IO

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.text import Text

from evals.views.formatting import one_line, plain

GOOD, DOUBTFUL, BAD = "cyan", "yellow", "red"
"""Colours that are told apart without telling red from green; no colour says what no word says."""

_PIPED_WIDTH = 110
_UNBOUNDED = 10_000


def console(stream: IO[str] | None = None) -> Console:
    """A console for the stream: as wide as the terminal, or as a log line where there is none."""
    stream = stream or sys.stdout or io.StringIO()  # a closed stdout is None
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return Console(file=stream, width=width, highlight=False, emoji=False, markup=False)


def draws(out: Console) -> bool:
    """Whether pictures of characters go to the stream: to a terminal that has the characters, not to a file."""
    return out.is_terminal and out.encoding.startswith("utf")


def clean(text: str, limit: int | None = None) -> Text:
    """Foreign text made harmless: no control or direction characters, no markup, cut at a limit."""
    return Text(plain(text) if limit is None else one_line(text, limit))


def fits(out: Console, table: RenderableType) -> bool:
    """Whether the table has room without a cell being cut or folded."""
    return Measurement.get(out, out.options.update_width(_UNBOUNDED), table).maximum <= out.width
