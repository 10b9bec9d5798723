"""Split a document into chunks that are verbatim slices of it and never cross a heading."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePath
from re import Pattern
from typing import NamedTuple

# Cut a text into spans (start, end): paragraphs, lines, sentences and groups of words.


Span = tuple[int, int]

_PARAGRAPH = re.compile(r"(?:^[^\n]*\S[^\n]*\n?)+", re.MULTILINE)

_LINE = re.compile(r"[^\n]*\n|[^\n]+")

_WORD = re.compile(r"\S+")

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[^\W_a-z]|[\"'(\[])")


def _trimmed(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """The spans without white space at their ends, those left out of which nothing remains."""
    for start, end in spans:
        piece = text[start:end]
        if stripped := piece.strip():
            left = start + len(piece) - len(piece.lstrip())
            yield left, left + len(stripped)


def _matches(pattern: Pattern[str]) -> Callable[[str, Span], Iterator[Span]]:
    return lambda text, span: _trimmed(text, (match.span() for match in pattern.finditer(text, *span)))


def sentences(text: str, span: Span) -> Iterator[Span]:
    """The sentences: cut after . ! ? where a new sentence seems to begin."""
    cuts = [match.end() for match in _SENTENCE_END.finditer(text, *span)]
    return _trimmed(text, pairwise([span[0], *cuts, span[1]]))


_CUTS: tuple[Callable[[str, Span], Iterable[Span]], ...] = (_matches(_PARAGRAPH), _matches(_LINE), sentences)


def count_words(text: str, span: Span) -> int:
    """How many runs of non-blank characters the span has."""
    return sum(1 for _ in _WORD.finditer(text, *span))


def fit(text: str, span: Span, limit: int, depth: int = 0) -> list[Span]:
    """Cut into paragraphs, and only where one is longer than the limit into ever smaller pieces."""
    if depth > 0 and count_words(text, span) <= limit:
        return [span]
    if depth == len(_CUTS):
        found = [match.span() for match in _WORD.finditer(text, *span)]
        groups = (found[i : i + limit] for i in range(0, len(found), limit))
        return [(group[0][0], group[-1][1]) for group in groups]
    return [piece for part in _CUTS[depth](text, span) for piece in fit(text, part, limit, depth + 1)]


def pack(text: str, pieces: Iterable[Span], limit: int) -> list[Span]:
    """Join neighbouring pieces as long as the joined span has at most ``limit`` words."""
    packed: list[Span] = []
    held = 0
    for piece in pieces:
        size = count_words(text, piece)
        if packed and held + size <= limit:
            packed[-1] = (packed[-1][0], piece[1])
            held += size
        else:
            packed.append(piece)
            held = size
    return packed


# Turn text into index tokens: lower-case words and numbers, lightly stemmed, without stopwords.


_TOKEN = re.compile(r"\w*\d(?:[.,]\d+)+|\w+")

_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")

_VOWEL = re.compile(r"[aeiouy]")

_DOUBLED = re.compile(r"([bdgmnprt])\1$")


_STOPWORD_LINES = """
    a about also am an and any are as at be been being but by can could did do does doing don for from
    get gets got had has have having he her here hers him his how i if in into is isn it its itself
    just many may me might much must my no nor not of on or our ours shall she should so some such t s
    than that the their theirs them then there these they this those to too us very was we were what
    when where which while who whom whose why will with would you your yours
    """

STOPWORDS = frozenset(_STOPWORD_LINES.split())


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Cut plural, -ing and -ed endings so that close forms of a word become one token."""
    if len(word) <= 3 or not word.isalpha():
        return word
    word = _cut_verb_ending(_cut_plural(word))
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def _cut_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _cut_verb_ending(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= 3 and _VOWEL.search(base) and not word.endswith("eed"):
            return _DOUBLED.sub(r"\1", base)
    return word


def words(text: str) -> list[str]:
    """All lower-case words and numbers of the text, in order; ``1,234`` becomes ``1234``."""
    lowered = unicodedata.normalize("NFKC", text).lower()
    found: list[str] = _TOKEN.findall(lowered)
    return [w.replace(",", "") if "," in w and _THOUSANDS.fullmatch(w) else w for w in found]


def tokenize(text: str) -> list[str]:
    """The index tokens of the text: stopwords left out, the rest stemmed."""
    return [stem(word) for word in words(text) if word not in STOPWORDS]


# Cut the text of a chunk into the smallest things an answer can quote: sentences, list items, rows.


_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+\S")

_UNITS_FENCE = re.compile(r"\s*(?:```|~~~)")

_WORDLESS = re.compile(r"[\W_]*")


class Unit(NamedTuple):
    """A sentence, or an item of a list or table; ``header`` is the header row above a table row."""

    text: str
    is_item: bool = False
    header: str = ""


class _Builder:
    """Collects units line by line."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self._prose: list[str] = []
        self._item: list[str] = []
        self._header = ""
        self._in_fence = False

    def add(self, line: str) -> None:
        """Take the next line of the chunk."""
        if _UNITS_FENCE.match(line):
            self.flush()
            self._in_fence = not self._in_fence
        elif self._in_fence:
            self._add_item(line)
        elif not line.strip():
            self.flush()
            self._header = ""
        elif line.lstrip().startswith("|"):
            self._add_row(line)
        elif _WORDLESS.fullmatch(line):
            self.flush()
        elif _ITEM.match(line):
            self.flush()
            self._item = [line]
        else:
            (self._item or self._prose).append(line)

    def flush(self) -> None:
        """Turn what is collected into units."""
        if self._item:
            self.units.append(Unit(_one_line(self._item), is_item=True))
        if self._prose:
            text = _one_line(self._prose)
            self.units += [Unit(text[a:b]) for a, b in sentences(text, (0, len(text)))]
        self._item, self._prose = [], []

    def _add_item(self, line: str) -> None:
        if not _WORDLESS.fullmatch(line):
            self.units.append(Unit(_one_line([line]), is_item=True, header=self._header))

    def _add_row(self, line: str) -> None:
        self.flush()
        if _WORDLESS.fullmatch(line) and "-" in line and self.units and not self._header:
            if self.units[-1].is_item and self.units[-1].text.startswith("|"):
                self._header = self.units.pop().text
        else:
            self._add_item(line)


def _one_line(parts: list[str]) -> str:
    return " ".join(" ".join(parts).split())


def split_units(text: str) -> list[Unit]:
    """All units of the text in order; rules, code fences and table headers are not units."""
    builder = _Builder()
    for line in text.splitlines():
        builder.add(line)
    builder.flush()
    return builder.units


_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<text>.*))?")

_CLOSING_MARKS = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")

_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<rest>.*)")


class Heading(NamedTuple):
    """One Markdown heading line: its span in the document, its level and its text."""

    span: Span
    level: int
    text: str


class Piece(NamedTuple):
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
    for found in _LINE.finditer(text):
        line = found[0].rstrip("\r\n")
        match = _HEADING.fullmatch(line) if fence is None else None
        if match:
            title = _CLOSING_MARKS.sub("", match["text"] or "").strip()
            yield Heading(found.span(), len(match["marks"]), title)
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
