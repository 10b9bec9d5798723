"""Whether a quotation really stands where it is said to stand.

Its words must be those of the text, in the same order (`words.py` says what makes no difference). Left out may be what
"…" stands for, articles, and asides in brackets. Several quotations may be joined: by ";", " / ", a new line, or as
"one" and "other". A heading may stand before what is below it, and a row of a table may be given by some of its cells.

Not by the fuzzy matching of `rapidfuzz`: a long quotation that lost its "not" is nearly the same text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, permutations

from evals.judges.replies.layout import is_row, under_heading
from evals.judges.replies.negation import hides_negation, restricts
from evals.judges.replies.words import WordSequence, words_of

FEWEST_WORDS, FEWEST_CHARACTERS = 4, 15
"""What proves something has one of them."""
_LINK_OR_TAG = re.compile(r"(?<=\])\([^()\s]*\)|</?[a-zA-Z][^<>]*>")
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-‐]\s*\n\s*(?=[^\W\d_])")
_LEFT_OUT = re.compile(r"[\[(]?(?:…|\.{3,}|\. \. \.)[\])]?")
_REFERENCE = re.compile(r"(?<=[.,;:!?\"”’)])\[\d{1,3}\]")
"""A mark that points to a source, right behind the sentence."""
_ASIDE = re.compile(r"\(([^()]{1,200})\)")
_JOINTS = tuple(
    map(
        re.compile,
        (
            r"[\"'”’“»]\s{0,3}[,;]?\s{0,3}(?:(?:and|und|et|y|or|&)\s{1,3})?[\"'“‘„«»]",
            r"[\])]\s{0,3}[,;]?\s{0,3}(?:(?:and|und|et|y|&)\s{1,3})?[\[(]",
            r"\s/\s",
            r"\n",
            r";",
            r"[;\n]|\s/\s",
        ),
    )
)
"""What several quotations are joined by, each kind by itself: a ";" may belong to one of two quotations."""
_Parts = Sequence[Sequence[str]]
"""The words of a piece, in parts where it says that something is left out."""
_MOST_PIECES = 12
_AT_JOINT = 3
"""So many words on either side of a joint are looked for in the text: they may not stand around a negation there."""
_LONGEST_GAP = 80
"""Characters; longer ones hold no few words."""
_EMPTY_WORDS = frozenset(
    [
        *("a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "for", "from", "had", "has", "have", "he"),
        *("her", "his", "i", "if", "in", "into", "is", "it", "its", "of", "on", "or", "our", "she", "so", "that"),
        *("the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "was", "we", "were"),
        *("which", "who", "will", "with", "would", "you", "your"),
    ]
)
"""A quotation of nothing but these proves nothing, unless it is the whole text."""


def is_quoted(quote: str, texts: Iterable[str]) -> bool:
    """Whether the texts hold the quotation: one of them, or several where it is joined of several.

    Args:
        quote: What is said to be copied; one without a word that says something is in no text, unless it is all of it.
        texts: Where it may stand.
    """
    texts = list(texts)
    return _stands_in(quote, texts) or _is_joined(quote, texts)


def is_evidence(quote: str, texts: Iterable[str]) -> bool:
    """Whether a quotation is long enough to prove something: four words or 15 characters, unless a text is shorter."""
    return _is_long(words_of(quote).plain) or not all(_is_long(words_of(text).plain) for text in texts)


def _is_long(words: str) -> bool:
    return len(words.split()) >= FEWEST_WORDS or len(words.strip()) >= FEWEST_CHARACTERS


def _stands_in(quote: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts holds the quotation as one piece."""
    whole, parts = words_of(quote).plain, _parts_of(quote)
    if not parts:
        return False
    ways = [way for way in ([whole], parts) if all(map(_says_something, way))]
    if len(parts) > 1 and _hide_negation(list(pairwise([part.split()] for part in parts)), texts):
        ways = [way for way in ways if way is not parts]
    return any(_holds(text, whole, ways) for text in texts)


def _holds(text: str, whole: str, ways: Sequence[Sequence[str]]) -> bool:
    if any(_is_in(held, whole, ways) for held in _readings(text, whole)):
        return True
    return bool(ways) and (under_heading(whole, text, _proves) or is_row(whole, text))


def _proves(words: str, text: str) -> bool:
    """Whether words stand in a text, and are long enough to be a quotation by themselves."""
    return _is_long(words) and any(held.find(words) >= 0 for held in _readings(text))


def _is_joined(quote: str, texts: Sequence[str]) -> bool:
    """Whether the quotation is several that each stand in a text, with nothing left out between them that matters."""
    for joint in _JOINTS:
        pieces = [piece for piece in joint.split(quote) if words_of(piece).plain.strip()]
        if 1 < len(pieces) <= _MOST_PIECES and all(_proves_alone(piece, texts) for piece in pieces):
            parts = [[part.split() for part in _parts_of(piece)] for piece in pieces]
            return not _hide_negation(list(permutations(parts, 2)), texts)
    return False


def _proves_alone(piece: str, texts: Sequence[str]) -> bool:
    return _is_long(words_of(piece).plain) and _stands_in(piece, texts)


def _hide_negation(pairs: Sequence[tuple[_Parts, _Parts]], texts: Iterable[str]) -> bool:
    """Whether two pieces stand in a text with only a negation and a few words between: "did; approve", "did … approve".

    Wherever that is, though they may stand elsewhere too.
    """
    ends = [(_without_articles(one[-1])[-_AT_JOINT:], _without_articles(other[0])[:_AT_JOINT]) for one, other in pairs]
    held = [_spaced(_without_articles(reading.plain.split())) for text in texts for reading in _readings(text)]
    return any(_lost_between(_spaced(one), _spaced(other), text) for text in held for one, other in ends)


def _without_articles(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in {"a", "an", "the"}]


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def _lost_between(one: str, other: str, text: str) -> bool:
    at = text.find(one)
    while at >= 0:
        end = at + len(one) - 1
        following = text.find(other, end)
        if following < 0:
            return False
        if following - end < _LONGEST_GAP and hides_negation(text[end : following + 1]):
            return True
        at = text.find(one, at + 1)
    return False


def _parts_of(quote: str) -> list[str]:
    """The words before, between and behind signs that something is left out."""
    parts = (words_of(piece).plain for piece in _LEFT_OUT.split(quote))
    return [part for part in parts if part.strip()]


def _is_in(held: WordSequence, whole: str, ways: Iterable[Sequence[str]]) -> bool:
    """Whether a text is the quotation, or holds it in one of the ways to read it."""
    if held.plain == whole or any(_in_order(way, held) for way in ways):
        return True
    return any(len(way) == 1 and _is_long(way[0]) and held.holds_but_articles(way[0]) for way in ways)


def _in_order(parts: Iterable[str], held: WordSequence) -> bool:
    """Whether the parts of a quotation stand in the text, one after the other."""
    end: int | None = None
    for part in parts:
        at = held.find(part, 0 if end is None else end)
        if at < 0:
            return False
        end = at + len(part) - 1  # the blank after it may be the one before the next
    return True


def _says_something(words: str) -> bool:
    return any(
        word not in _EMPTY_WORDS and (len(word) > 1 or not word.isascii() or word.isdigit()) for word in words.split()
    )


def _readings(text: str, quoted: str = "") -> Iterator[WordSequence]:
    """The text as it is, and as it may be copied: without links, tags and broken words, without marks and asides.

    Args:
        text: To be read.
        quoted: The words of a quotation; an aside that stands in it is left in the text.
    """
    yield from _plain_readings(text)
    if "(" in text:
        whole = _unmarked(text)
        bare = _ASIDE.sub(lambda found: _without_aside(found, quoted), whole)
        if bare != whole:
            yield words_of(bare)


@lru_cache(maxsize=256)
def _plain_readings(text: str) -> tuple[WordSequence, ...]:
    read = _unlinked(text)
    return tuple(words_of(form) for form in dict.fromkeys([text, read, _REFERENCE.sub("", read)]))


def _unlinked(text: str) -> str:
    return _BROKEN_WORD.sub("", _LINK_OR_TAG.sub(" ", text))


@lru_cache(maxsize=256)
def _unmarked(text: str) -> str:
    return _REFERENCE.sub("", _unlinked(text))


def _without_aside(found: re.Match[str], quoted: str) -> str:
    """Nothing in place of words in brackets, unless they are quoted, take something back or are no words."""
    words = words_of(found[1]).plain
    says_little = re.search(r"[^\W\d_]{2}", words) is None
    return found[0] if says_little or restricts(words) or words in quoted else ""
