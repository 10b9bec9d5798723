"""The citation marks of an answer, which are no part of its text: `[1]`, `[1, 2]`, `[2-4]`, `[^1]`, `【1†source】`."""

import re
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import NamedTuple

from evals.text.folding import UNSPACED

_NUMBER = r"\d{1,4}"
_MARK = re.compile(
    r"```.*?```|`[^`\n]*+`"  # code is text, whatever brackets it holds
    rf"|(?P<mark>\[\^?(?P<numbers>{_NUMBER}(?:\s*+[,;–-]\s*+{_NUMBER})*+)\]"
    rf"|【(?P<source>{_NUMBER})(?:†[^】\n]*+)?】|【\d+:\d+†[^】\n]*+】)",
    re.DOTALL,
)
MARKS_OPEN = "[【"
"""The signs that a mark begins with: a text without any of them holds none."""
_DIGITS = re.compile(r"\d+")
_MOST = 100
"""Numbers of a range such as [1-999] that are looked at."""
_WORD_END = re.compile(rf"[^\W{UNSPACED}]")


class CitationMark(NamedTuple):
    """Where a mark stands, from the blanks before it on, and the numbers that it names, as written."""

    start: int
    opens: int
    end: int
    numbers: str


def citation_marks(text: str, possible: AbstractSet[int], cited: AbstractSet[int]) -> Iterator[CitationMark]:
    """The marks that count; the arguments are those of `without_citation_marks`."""
    stays_to = 0
    for found in _MARK.finditer(text):
        if found["mark"] is None:
            continue
        opens = found.start()
        start = _before_blanks(text, opens)
        numbers = found["numbers"] or found["source"] or ""
        behind = found["numbers"] is not None and opens == start > 0
        glued = behind and (_WORD_END.match(text, start - 1) or start == stays_to)
        if set(map(int, _DIGITS.findall(numbers))) <= (cited if glued else possible):
            yield CitationMark(start, opens, found.end(), numbers)
        else:
            stays_to = found.end()


def _before_blanks(text: str, place: int) -> int:
    """Where the blanks begin that stand before a place; the place itself where there are none."""
    while place and text[place - 1].isspace():
        place -= 1
    return place


def numbers_of(mark: str) -> tuple[int, ...]:
    """The numbers of a mark such as "1", "1, 3" or "2-4", each once."""
    parts = [list(map(int, _DIGITS.findall(part))) for part in re.split(r"[,;]", mark)]
    ranges = [range(ends[0], min(ends[-1], ends[0] + _MOST) + 1) for ends in parts if ends]
    return tuple(dict.fromkeys(chain.from_iterable(ranges)))


def without_citation_marks(text: str, possible: AbstractSet[int], cited: AbstractSet[int]) -> str:
    """The text without its citation marks, and without the blank before each.

    A mark counts where all its numbers are possible: "[1998]" stays. One that is glued to a word ("array[1]", but
    "96 hours[1]" too) counts only where the response cites its numbers, and brackets in code never do.

    Args:
        text: The answer.
        possible: The numbers that a chunk or a citation of the response can have; nothing is taken off without any.
        cited: Those that the response's list of citations holds.
    """
    return with_other_marks(text, possible, cited, lambda _numbers: "")


def with_other_marks(
    text: str, possible: AbstractSet[int], cited: AbstractSet[int], other: Callable[[str], str]
) -> str:
    """The text with something else for each of its citation marks.

    Args:
        text: The answer.
        possible: As of `without_citation_marks`.
        cited: As there.
        other: What stands for a mark with these numbers; where it is empty, the blank before the mark goes too.
    """
    if not possible:
        return text
    pieces: list[str] = []
    end = 0
    for mark in citation_marks(text, possible, cited):
        said = other(mark.numbers)
        pieces += [text[end : mark.opens if said else mark.start], said]
        end = mark.end
        if not said and mark.start and _WORD_END.match(text, end):
            pieces.append(" ")
    return "".join([*pieces, text[end:]])
