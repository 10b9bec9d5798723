"""How things are printed: results to stdout, progress to stderr, colour only on a terminal."""

import os
import re
import sys
from typing import IO

from rich.console import Console
from rich.text import Text

from evals.schemas import MetricSummary

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PIPED_WIDTH = 110


def console(stream: IO[str] | None = None) -> Console:
    """A console for the stream: as wide as the terminal, or as a log line where there is none."""
    stream = stream or sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return Console(file=stream, width=width, highlight=False, emoji=False, markup=False)


def clean(text: str, limit: int | None = None) -> Text:
    """Foreign text made harmless: no control or direction characters, no markup, cut at a limit."""
    plain = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
    if limit is not None:
        plain = " ".join(plain.split())
        plain = plain if len(plain) <= limit else f"{plain[: limit - 1]}…"
    return Text(plain)


def number(value: float | None, unit: str) -> str:
    """A value with its unit, as people read it; a dash for none."""
    if value is None:
        return "–"
    if unit == "ms":
        return f"{value / 1000:.2f} s" if value >= 10_000 else f"{value:.1f} ms"
    if unit == "USD":
        if value == 0:
            return "$0"
        return f"${value:.5f}" if value < 0.1 else f"${value:.3f}"
    return f"{value:.3f}"


def interval(summary: MetricSummary) -> str:
    """The interval of a metric; a dash for none."""
    if summary.ci is None:
        return "–"
    low, high = (number(end, summary.unit) for end in summary.ci)
    return f"{low} … {high}"


def arrow(summary: MetricSummary) -> str:
    """Which way is better."""
    return {True: "↑", False: "↓", None: " "}[summary.higher_is_better]
