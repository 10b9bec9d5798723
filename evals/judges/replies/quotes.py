"""Whether a quotation really stands where it is said to stand.

Its words must be those of the text, in the same order. What may differ is what copying changes without changing what is
said: case, white space, quotation marks, dashes, punctuation between words, Markdown and HTML, and Unicode forms. Signs
that belong to a number (-5, 1.5, 5%) are words. Something in the middle may be left out where "…" says so.

Not by the fuzzy matching of `rapidfuzz`: a long quotation that lost its "not" is nearly the same text.
"""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evals.text.folding import UNSPACED, fold

_WORD = re.compile(
    rf"[{UNSPACED}]"
    r"|(?:(?<![\w)\].])-)?(?:(?<![\w.])\.)?\d+(?:[.,:/]\d+)*"
    rf"|[^\W\d_{UNSPACED}]+"
    r"|[%‰°+<>≤≥≠±×÷€£¥₹&]|(?<!=)=(?!=)|\$(?=\s?\d)"
)
"""A run of letters, a number with its sign, or a sign that changes what is said; on folded text."""
_HYPHENS = re.compile("[‐‑‒–−]")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_LINE_MARK = re.compile(r"^[^\S\n]*(?:>[^\S\n]*)*(?:[-+][^\S\n]+)?", re.MULTILINE)
"""What Markdown puts at the beginning of a line: of a quoted paragraph, of a list."""
_LINK_OR_TAG = re.compile(r"(?<=\])\([^()\s]*\)|</?[a-zA-Z][^<>]*>")
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-‐]\s*\n\s*(?=[^\W\d_])")
_LEFT_OUT = re.compile(r"[\[(]?(?:…|\.{3,}|\. \. \.)[\])]?")
_NEGATIONS = frozenset({"no", "not", "never", "none", "nor", "neither", "cannot", "without", "t"})
_SHORT_GAP = 3
"""So few words left out may not hold a negation: "did … approve" is no quotation of "did not approve"."""
_EMPTY_WORDS = frozenset(
    [
        *("a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "for", "from", "had", "has", "have", "he"),
        *("her", "his", "i", "if", "in", "into", "is", "it", "its", "of", "on", "or", "our", "she", "so", "that"),
        *("the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "was", "we", "were"),
        *("which", "who", "will", "with", "would", "you", "your"),
    ]
)
"""A quotation of nothing but these proves nothing, unless it is the whole text."""


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a text, with a blank around each.

    Attributes:
        plain: As they are compared.
        marked: The same, with a hyphen for the blank inside a compound: `non-smokers` does not say `smokers`.
    """

    plain: str
    marked: str

    def find(self, wanted: str, start: int = 0) -> int:
        """Where words begin that neither begin nor end inside a compound; -1 where they are not."""
        while (start := self.plain.find(wanted, start)) >= 0:
            if self.marked[start] == " " == self.marked[start + len(wanted) - 1]:
                return start
            start += 1
        return -1


def is_quoted(quote: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts holds the quotation.

    Args:
        quote: What is said to be copied; one without a word that says something is in no text, unless it is all of it.
        texts: Where it may stand.
    """
    whole, parts = _words(quote).plain, _parts_of(quote)
    if not parts:
        return False
    ways = [way for way in ([whole], parts) if all(map(_says_something, way))]
    return any(_is_in(held, whole, ways) for text in texts for held in _readings(text))


def _parts_of(quote: str) -> list[str]:
    """The words before, between and behind signs that something is left out."""
    parts = (_words(piece).plain for piece in _LEFT_OUT.split(quote))
    return [part for part in parts if part.strip()]


def _is_in(held: _Words, whole: str, ways: Iterable[Sequence[str]]) -> bool:
    """Whether a text is the quotation, or holds it in one of the ways to read it."""
    return held.plain == whole or any(_in_order(way, held) for way in ways)


def _in_order(parts: Iterable[str], held: _Words) -> bool:
    """Whether the parts of a quotation stand in the text, one after the other."""
    end: int | None = None
    for part in parts:
        at = held.find(part, 0 if end is None else end)
        while at >= 0 and end is not None and _hides_negation(held.plain[end : at + 1]):
            at = held.find(part, at + 1)
        if at < 0:
            return False
        end = at + len(part) - 1  # the blank after it may be the one before the next
    return True


def _hides_negation(gap: str) -> bool:
    words = gap.split()
    return len(words) <= _SHORT_GAP and not _NEGATIONS.isdisjoint(words)


def _says_something(words: str) -> bool:
    return any(
        word not in _EMPTY_WORDS and (len(word) > 1 or not word.isascii() or word.isdigit()) for word in words.split()
    )


def _readings(text: str) -> Iterator[_Words]:
    """The text as it is, and as it may be copied: without targets of links and tags, with broken words joined."""
    yield _words(text)
    read = _BROKEN_WORD.sub("", _LINK_OR_TAG.sub(" ", text))
    if read != text:
        yield _words(read)


@lru_cache(maxsize=1024)
def _words(text: str) -> _Words:
    if "&" in text:
        text = html.unescape(text)
    text = _HYPHENS.sub("-", _LINE_MARK.sub(" ", _INVISIBLE.sub("", fold(text))))
    plain, marked, end = [" "], [" "], -1
    for found in _WORD.finditer(text):
        if end >= 0:
            plain.append(" ")
            marked.append("-" if text[end : found.start()] == "-" else " ")
        plain.append(found[0])
        marked.append(found[0])
        end = found.end()
    if end >= 0:
        plain.append(" ")
        marked.append(" ")
    return _Words("".join(plain), "".join(marked))
