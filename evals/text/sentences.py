"""Sentences of a text, by the Punkt algorithm (Kiss & Strunk 2006) with a list of abbreviations of our own.

NLTK's implementation is used; its trained models would have to be downloaded, so what they would know of English
stands in `abbreviations.py`. Before Punkt sees a text it is cut where no sentence goes on: at empty lines, list items,
headings, table rows, and after the full stops of Chinese and Japanese.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import product
from typing import Any

from evals.text.abbreviations import ANYWHERE, BEFORE_NAMES, BEFORE_NUMBERS, STARTERS

_ITEM = re.compile(r"[ \t]*(?:(?:[-*+•‣◦·–>]|\(?\d{1,3}[.)]|#{1,6})[ \t]+)+|[ \t]*(?=\|)")
_ONE_LINE = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\|)")
_WIDE_STOP = re.compile(r"[。！？｡]+[」』”’）)\"']*(?:\s*\[\d+(?:\s*[,;–-]\s*\d+)*\])*")
_WORD = re.compile(r"\w")
_STOP_WITHIN = re.compile(r"[.?!](?=\s+\S|[^\w\s])")
"""A stop with more behind it than the rest of a word: Punkt ends a sentence nowhere else."""
# What belongs to the sentence that it follows: closing quotes and brackets, and citations such as [1] or [2, 3].
_REALIGNED = re.compile(r"(?:[\"')\]}‘’“”»]+|(?:\[\d+(?:\s*[,;–-]\s*\d+)*\]\s*)+)(?:\s+|(?=--)|$)", re.MULTILINE)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without the white space around them and without the marks of list items."""
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return where the sentences of a text stand: first and one-past-last character of each, in order.

    Spans do not overlap. White space, marks of list items and lines without any letter or digit are in none of them.
    """
    spans = []
    for start, end in _blocks(text):
        for first, last in _ended(text[start:end]):
            span = _stripped(text, start + first, start + last)
            if span is not None:
                spans.append(span)
    return spans


def _ended(block: str) -> Iterable[tuple[int, int]]:
    """Where Punkt says that the sentences of a block stand; it is imported only where there is a choice."""
    return _tokenizer().span_tokenize(block) if _STOP_WITHIN.search(block) else ((0, len(block)),)


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


@cache
def _tokenizer() -> Any:
    from nltk.tokenize import punkt  # noqa: PLC0415 - a second, for metrics that need sentences only

    class Marks(punkt.PunktLanguageVars):  # type: ignore[misc]
        re_boundary_realignment = _REALIGNED

    known = punkt.PunktParameters()
    known.abbrev_types = set(BEFORE_NAMES | ANYWHERE)
    known.collocations = {*product(BEFORE_NAMES, STARTERS), *product(BEFORE_NUMBERS, ["##number##"])}
    # A Counter, because looking a word up must not add it: the tokenizer lives as long as the process.
    known.ortho_context = Counter(dict.fromkeys(STARTERS, punkt._ORTHO_MID_LC))
    tokenizer = punkt.PunktSentenceTokenizer(known, lang_vars=Marks())
    # Nearly all the time goes into this decision, which looks at the two words around a full stop only.
    tokenizer.text_contains_sentbreak = lru_cache(maxsize=32768)(tokenizer.text_contains_sentbreak)
    return tokenizer
