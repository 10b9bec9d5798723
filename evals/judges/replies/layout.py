"""What stands apart in a text and belongs together: a heading and what is below it, the cells of a row of a table."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evals.judges.replies.negation import hides_negation
from evals.judges.replies.words import words_of

_HEADING = re.compile(
    r"^ {0,3}(#{1,6})[ \t](.{1,200}?)[ \t#]{0,9}$|^[ \t]{0,9}(\*\*|__)([^*_\n]{1,120})\3:?[ \t]{0,9}$", re.M
)
_ALONE = re.compile(r"(?:\A|\n[ \t]{0,9}\n)([^\W\d_][^\n|]{1,80}[^\s.!?;,|])[ \t]{0,9}(?=\n[ \t]{0,9}\n)")
"""A short line between empty ones that ends as no sentence does."""
_BOLD_LEVEL, _ALONE_LEVEL = 7, 8
_MOST_WORDS = 10
_ROW = re.compile(r"^(?:.*\|.*|[^\n\t]+(?:\t[^\n\t]*)+)$", re.MULTILINE)
_RULE = re.compile(r"[\s|:+=-]+")
_MOST_HEADINGS = 200
_PATH = " >"
"""Between a heading and what is below it: "Leave > Sick leave > ..."."""


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading's words, and the text below it up to the next heading that is as high."""

    heading: str
    body: str


def under_heading(words: str, text: str, is_in: Callable[[str, str], bool]) -> bool:
    """Whether words are a whole heading of the text, or several, and words that stand below it.

    Args:
        words: A quotation's, with a blank around each.
        text: Where it may stand.
        is_in: Whether the words behind the heading stand in a text.
    """
    for section in _sections(text):
        if words.startswith(section.heading) and len(words) > len(section.heading):
            rest = words[len(section.heading) - 1 :].removeprefix(_PATH)
            if is_in(rest, section.body) or under_heading(rest, section.body, is_in):
                return True
    return False


@lru_cache(maxsize=64)
def _sections(text: str) -> tuple[_Section, ...]:
    found = list(_headings(text))[:_MOST_HEADINGS]
    sections = []
    for n, (_, end, level, heading) in enumerate(found):
        close = next((start for start, _, other, _ in found[n + 1 :] if other <= level), len(text))
        words = words_of(heading).plain
        if words.strip():
            sections.append(_Section(words, text[end:close]))
    return tuple(sections)


def _headings(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Where each heading begins and ends, its level, and what it says."""
    found = []
    for match in _HEADING.finditer(text):
        level = len(match[1]) if match[1] else _BOLD_LEVEL
        found.append((match.start(), match.end(), level, match[2] or match[4]))
    taken = {end for _, end, _, _ in found}
    found += [
        (match.start(1), match.end(1), _ALONE_LEVEL, match[1])
        for match in _ALONE.finditer(text)
        if match.end(1) not in taken and len(match[1].split()) <= _MOST_WORDS
    ]
    yield from sorted(found)


def is_row(words: str, text: str) -> bool:
    """Whether words are several whole cells of one row of a table, in their order, each with its column's name or not.

    A cell that is left out must not hide that something is not so: after "no" a "yes" needs its column's name.
    """
    return any(_of_cells(words, cells, names) for names, cells in _rows(text))


@lru_cache(maxsize=64)
def _rows(text: str) -> tuple[tuple[Sequence[str], Sequence[str]], ...]:
    """Each row of a table with the names of its columns; these are empty where the table has none."""
    rows: list[tuple[Sequence[str], Sequence[str]]] = []
    names: Sequence[str] = ()
    end = -2
    for match in _ROW.finditer(text):
        if match.start() > end + 1:  # another table begins
            names = ()
        end = match.end()
        if _RULE.fullmatch(match[0]):
            continue
        cells = [words_of(cell).plain for cell in re.split(r"\||\t", match[0].strip().strip("|"))]
        if not names:
            names = cells
        else:
            rows.append((names if len(names) == len(cells) else (), cells))
    return tuple(rows)


def _of_cells(words: str, cells: Sequence[str], names: Sequence[str]) -> bool:
    """Whether the words are cells, as sets of states: how many words are read, up to which cell, and of how many."""
    states = {(0, -1, 0)}
    while states:
        following = set()
        for at, last, count in states:
            if at == len(words) - 1 and count > 1:
                return True
            following |= set(_next_cells(words, cells, names, (at, last, count)))
        states = following
    return False


def _next_cells(
    words: str, cells: Sequence[str], names: Sequence[str], state: tuple[int, int, int]
) -> Iterator[tuple[int, int, int]]:
    at, last, count = state
    for n in range(last + 1, len(cells)):
        cell = cells[n]
        if not cell.strip():
            continue
        skipped = "".join(cells[last + 1 : n]) if count else ""
        if words.startswith(cell, at) and not hides_negation(skipped):
            yield at + len(cell) - 1, n, min(count + 1, 2)
        named = names[n][:-1] + cell if names else cell
        if names and words.startswith(named, at):
            yield at + len(named) - 1, n, min(count + 1, 2)
