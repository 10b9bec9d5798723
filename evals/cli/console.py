"""How things are printed: results to stdout, progress to stderr, colour only on a terminal."""

import io
import os
import re
import sys
from typing import IO

from rich.console import Console
from rich.text import Text

from evals.formatting import arrow, interval, number

__all__ = ["arrow", "clean", "console", "interval", "number"]

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PIPED_WIDTH = 110


class _Console(Console):
    """A console that leaves a broken pipe to the command line, which knows its exit code."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console(stream: IO[str] | None = None) -> Console:
    """A console for the stream: as wide as the terminal, or as a log line where there is none."""
    stream = stream or sys.stdout or io.StringIO()  # a closed stdout is None
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return _Console(file=stream, width=width, highlight=False, emoji=False, markup=False)


def clean(text: str, limit: int | None = None) -> Text:
    """Foreign text made harmless: no control or direction characters, no markup, cut at a limit."""
    plain = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
    if limit is not None:
        plain = " ".join(plain.split())
        plain = plain if len(plain) <= limit else f"{plain[: limit - 1]}…"
    return Text(plain)
