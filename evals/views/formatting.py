"""Numbers, names and foreign text as people read them, the same wherever they are shown."""

import re
from math import floor, inf, log10
from typing import TYPE_CHECKING

from evals.text.counts import counted

if TYPE_CHECKING:  # the command line prints errors by this module, and loads no schemas for --help
    from evals.schemas import MetricSummary, RetrievedChunk

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""What steers a terminal, turns the direction of text or hides in it; tabs and line breaks do not."""
_BREAKS = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
"""Line breaks of other systems and of pages, which move the cursor of a terminal elsewhere."""
_DIGITS = re.compile(r"([0-9]+)")
_MOST_DIGITS = 1000
"""Python reads no number of several thousand; those that are the same so far are sorted as texts."""
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]+)?")


def printable(text: str) -> str:
    """Foreign text without control, direction and invisible characters; a replacement character stands for each."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def plain(text: str) -> str:
    """Foreign text for a terminal: printable, on as many lines as it has."""
    return printable(_BREAKS.sub("\n", text))


def shortened(text: str, limit: int) -> str:
    """The text cut to so many characters, the last of them an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def one_line(text: str, limit: int) -> str:
    """Foreign text made printable, on one line and cut to so many characters."""
    return shortened(" ".join(printable(" ".join(text.split())).split()), limit)


_SIGNS = {"percent": " %", "tokens/s": "/s"}
"""What follows a number with one decimal, by its unit."""


_MONEY_DIGITS = 4
_DIFFERENCE_DIGITS = 2
"""Significant digits that money below ten cents has at least. A question may cost a thousandth of a cent: with decimals
of a fixed number, two costs would look the same, their difference and the ends of its interval like nothing."""
_LEAST_DECIMALS = 5
_MOST_DECIMALS = 10
"""What is less than these can show is the noise of arithmetic."""


def number(value: float | None, unit: str) -> str:
    """A value with its unit; a dash for none."""
    if value is None:
        return "–"
    if unit == "ms":
        return f"{value / 1000:.2f} s" if value >= 10_000 else f"{value:.1f} ms"
    if unit == "USD":
        return _money(value, _MONEY_DIGITS)
    if unit in _SIGNS:
        return f"{value:.1f}{_SIGNS[unit]}"
    if unit == "answers":
        return f"{value:.0f}" if value == round(value) else f"{value:.1f}"
    return f"{value:.3f}"


def _money(value: float, digits: int) -> str:
    """US dollars, those below ten cents with so many significant digits."""
    size = abs(value)
    if size >= 0.1:
        return f"${value:.3f}"
    if size < 0.5 * 10**-_MOST_DECIMALS:
        return "$0"
    decimals = min(_MOST_DECIMALS, max(_LEAST_DECIMALS, digits - 1 - floor(log10(size))))
    return f"${value:.{decimals}f}"


def size_of_difference(value: float, unit: str) -> str:
    """How great a difference is, without its sign."""
    return _money(value, _DIFFERENCE_DIGITS) if unit == "USD" else number(value, unit)


def difference_end(value: float, unit: str) -> str:
    """One end of the interval of a difference, without its sign."""
    return size_of_difference(value, unit) if unit == "USD" else interval_end(value, unit)


def level(share: float) -> str:
    """A level that somebody set, such as a confidence, in percent with the decimals that it has: 95%, 99.5%."""
    return f"{100 * share:.10g}%"


def interval_end(value: float, unit: str) -> str:
    """One end of an interval: of counts with a decimal, as no interval ends at whole answers."""
    return f"{value:.1f}" if unit == "answers" else number(value, unit)


def bounded(value: float | None, unit: str, *, at_least: bool) -> str:
    """A value with its unit; with ≥ where it is a lower bound, and a dash for none."""
    return f"{'≥ ' if at_least and value is not None else ''}{number(value, unit)}"


def value(summary: "MetricSummary") -> str:
    """The value of a metric with its unit; with ≥ where it is a lower bound, and a dash for none."""
    return bounded(summary.value, summary.unit, at_least=summary.at_least)


def interval(summary: "MetricSummary") -> str:
    """The interval of a metric, with ≥ where nobody knows how far above it ends; a dash for none."""
    if summary.ci is None:
        return "–"
    low, high = (interval_end(end, summary.unit) for end in summary.ci)
    return f"{low} … {'≥ ' if summary.interval and summary.interval.open_above else ''}{high}"


def sampling(summary: "MetricSummary") -> list[str]:
    """What to know of the questions that the interval stands on: how many clusters, and what to mind."""
    found = summary.interval
    if found is None:
        return []
    few = "few clusters" in found.marks
    clusters = [f"{counted(found.clusters, 'cluster')}"] if found.clusters != found.n and not few else []
    return [*clusters, *([found.note] if found.note else [])]


def score_range(ends: tuple[float, float]) -> str:
    """Two ends of the weighted score, from low to high."""
    return " … ".join(number(end, "ratio") for end in sorted(ends))


def bounds(summary: "MetricSummary") -> str | None:
    """What a metric would be with the questions lost to failures, from low to high; None where none is lost."""
    if summary.bounds is None:
        return None
    return " … ".join(number(end, summary.unit) for end in sorted(summary.bounds))


def lost(summary: "MetricSummary") -> str | None:
    """How many questions failures took and the judge flags, with a count estimated for them; None for none."""
    flagged = summary.counts.injection
    told = {"lost": summary.counts.lost - flagged, "flagged as injection": flagged}
    counted = ", ".join(f"{count} {what}" for what, count in told.items() if count)
    about = f", about {summary.estimate:.1f} with them" if summary.estimate is not None else ""
    return f"{counted}{about}" if counted else None


def arrow(higher_is_better: bool | None) -> str:
    """Which way is better; nothing where neither is."""
    return {True: "↑", False: "↓", None: ""}[higher_is_better]


def place_of(chunk: "RetrievedChunk") -> str:
    """Where a chunk is from: `document § section`, as far as the server says."""
    name = chunk.document_name or chunk.document_id or chunk.chunk_id or "?"
    return f"{name} § {chunk.section}" if chunk.section else name


def natural_order(text: str) -> tuple[float, list[tuple[bool, int, str]]]:
    """A key that sorts numbers by their size, then other texts by the numbers in them: q2 before q10."""
    if _NUMBER.fullmatch(text):
        return float(text), []
    parts = enumerate(_DIGITS.split(text))
    return inf, [(place % 2 == 0, int(part[:_MOST_DIGITS]) if place % 2 else 0, part) for place, part in parts if part]
