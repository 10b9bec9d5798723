"""Sentences of a text, by the Punkt algorithm (Kiss & Strunk 2006) with a list of abbreviations of our own.

A trained model would have to be downloaded, so what it would know of English stands in `abbreviations.py`. Before Punkt
sees a text it is cut where no sentence goes on: at empty lines, list items, headings, table rows, and after the full
stops of Chinese and Japanese.
"""

import re
from collections.abc import Iterator
from itertools import product

from evals.text.abbreviations import ANYWHERE, BEFORE_NAMES, BEFORE_NUMBERS, STARTERS
from evals.text.punkt import NUMBER, Punkt

_ITEM = re.compile(r"[ \t]*(?:(?:[-*+•‣◦·–>]|\(?\d{1,3}[.)]|#{1,6})[ \t]+)+|[ \t]*(?=\|)")
_ONE_LINE = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\|)")
_WIDE_STOP = re.compile(r"[。！？｡]+[」』”’）)\"']*(?:\s*\[\d+(?:\s*[,;–-]\s*\d+)*\])*")
_WORD = re.compile(r"\w")
# What belongs to the sentence that it follows: closing quotes and brackets, and citations such as [1] or [2, 3].
_REALIGNED = re.compile(r"(?:[\"')\]}‘’“”»]+|(?:\[\d+(?:\s*[,;–-]\s*\d+)*\]\s*)+)(?:\s+|(?=--)|$)", re.MULTILINE)
_PUNKT = Punkt(
    BEFORE_NAMES | ANYWHERE,
    frozenset({*product(BEFORE_NAMES, STARTERS), *product(BEFORE_NUMBERS, [NUMBER])}),
    STARTERS,
    _REALIGNED,
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without the white space around them and without the marks of list items."""
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return where the sentences of a text stand: first and one-past-last character of each, in order.

    Spans do not overlap. White space, marks of list items and lines without any letter or digit are in none of them.
    """
    spans = []
    for start, end in _blocks(text):
        for first, last in _PUNKT.spans(text[start:end]):
            span = _stripped(text, start + first, start + last)
            if span is not None:
                spans.append(span)
    return spans


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """The parts of a text over whose borders no sentence goes."""
    for start, end in _paragraphs(text):
        place = start
        for stop in _WIDE_STOP.finditer(text, start, end):
            yield place, stop.end()
            place = stop.end()
        if place < end:
            yield place, end


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Paragraphs, list items, headings and table rows, without the marks at their start."""
    begin = place = 0
    closed = True
    for line in text.splitlines(keepends=True):
        mark = _ITEM.match(line)
        empty = not _WORD.search(line)
        if closed or mark or empty:
            if begin < place:
                yield begin, place
            begin = place + (mark.end() if mark else 0)
        closed = empty or bool(_ONE_LINE.match(line))
        place += len(line)
    if begin < place:
        yield begin, place


def _stripped(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span without white space at its ends; None where it says nothing."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return (start, end) if _WORD.search(text, start, end) else None
