"""Split a document into chunks that are verbatim slices of it and never cross a heading."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from .spans import Span, fit, lines, pack

_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<text>.*))?")
_CLOSING_MARKS = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<rest>.*)")


@dataclass(frozen=True, slots=True)
class Heading:
    """One Markdown heading line: its span in the document, its level and its text."""

    span: Span
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Piece:
    """One chunk before it gets its identity: a slice of the text and its section heading."""

    start: int
    end: int
    section: str | None


def is_markdown(file_name: str) -> bool:
    """Whether the file name says that the file is Markdown."""
    return PurePath(file_name).suffix.lower() == ".md"


def _fence_after(line: str, fence: str | None) -> str | None:
    """The open code fence after this line, given the one that was open before it."""
    match = _FENCE.fullmatch(line)
    if match is None:
        return fence
    mark = match["mark"]
    if fence is None:
        return None if mark[0] == "`" and "`" in match["rest"] else mark
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and not match["rest"].strip()
    return None if closes else fence


def headings(text: str) -> Iterator[Heading]:
    """The ``#`` headings of a Markdown text, those in code fences left out."""
    fence: str | None = None
    for start, end in lines(text, 0, len(text)):
        line = text[start:end].rstrip("\r\n")
        match = _HEADING.fullmatch(line) if fence is None else None
        if match:
            title = _CLOSING_MARKS.sub("", match["text"] or "").strip()
            yield Heading((start, end), len(match["marks"]), title)
        else:
            fence = _fence_after(line, fence)


def title_of(text: str, file_name: str) -> str:
    """The first top-level heading of a Markdown file, else the file name made readable."""
    if is_markdown(file_name):
        for heading in headings(text):
            if heading.level == 1 and heading.text:
                return heading.text
    return re.sub(r"[-_]+", " ", PurePath(file_name).stem).strip()


def _sections(text: str, file_name: str) -> Iterator[tuple[str | None, Span]]:
    """The bodies between the headings, each with the heading above it."""
    section: str | None = None
    begin = 0
    for heading in headings(text) if is_markdown(file_name) else ():
        yield section, (begin, heading.span[0])
        section, begin = heading.text or None, heading.span[1]
    yield section, (begin, len(text))


def split(text: str, file_name: str, max_words: int) -> list[Piece]:
    """All chunks of the document in order, each at most ``max_words`` words long."""
    return [
        Piece(start, end, section)
        for section, span in _sections(text, file_name)
        for start, end in pack(text, fit(text, span, max_words), max_words)
    ]
