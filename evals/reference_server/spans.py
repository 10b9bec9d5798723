"""Cut a text into spans (start, end): paragraphs, lines, sentences and groups of words.

A span never begins or ends with white space, and together the spans of one cut hold every
character that is not white space.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

Span = tuple[int, int]

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_WORD = re.compile(r"\S+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[^\W_a-z]|[\"'(\[])")


def lines(text: str, start: int, end: int) -> Iterator[Span]:
    """The lines between start and end, each with its line break."""
    return (match.span() for match in _LINE.finditer(text, start, end))


def count_words(text: str, span: Span) -> int:
    """How many runs of non-blank characters the span has."""
    return sum(1 for _ in _WORD.finditer(text, *span))


def trim(text: str, span: Span) -> Span | None:
    """The span without white space at its ends, or None when nothing is left."""
    piece = text[span[0] : span[1]]
    left = len(piece) - len(piece.lstrip())
    stripped = piece.strip()
    return (span[0] + left, span[0] + left + len(stripped)) if stripped else None


def _trimmed(text: str, spans: Iterable[Span]) -> list[Span]:
    return [kept for span in spans if (kept := trim(text, span)) is not None]


def paragraphs(text: str, span: Span) -> list[Span]:
    """The runs of lines between blank lines."""
    found: list[Span] = []
    open_at: int | None = None
    for start, end in lines(text, *span):
        blank = not text[start:end].strip()
        if blank and open_at is not None:
            found.append((open_at, start))
            open_at = None
        elif not blank and open_at is None:
            open_at = start
    if open_at is not None:
        found.append((open_at, span[1]))
    return _trimmed(text, found)


def line_spans(text: str, span: Span) -> list[Span]:
    """The lines that are not blank."""
    return _trimmed(text, lines(text, *span))


def sentences(text: str, span: Span) -> list[Span]:
    """The sentences: cut after . ! ? where a new sentence seems to begin."""
    cuts = [match.end() for match in _SENTENCE_END.finditer(text, *span)]
    edges = [span[0], *cuts, span[1]]
    return _trimmed(text, pairwise(edges))


def _word_groups(text: str, span: Span, limit: int) -> list[Span]:
    found = [match.span() for match in _WORD.finditer(text, *span)]
    groups = [found[i : i + limit] for i in range(0, len(found), limit)]
    return [(group[0][0], group[-1][1]) for group in groups]


_CUTS: tuple[Callable[[str, Span], list[Span]], ...] = (paragraphs, line_spans, sentences)


def fit(text: str, span: Span, limit: int, depth: int = 0) -> list[Span]:
    """Cut into paragraphs, and only where one is longer than the limit into ever smaller pieces."""
    if depth > 0 and count_words(text, span) <= limit:
        return [span]
    if depth == len(_CUTS):
        return _word_groups(text, span, limit)
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
