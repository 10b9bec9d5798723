"""Whether a quotation stands in a text: its words in the same order, after folding what makes no difference.

Not by fuzzy matching: a long quotation that lost its "not" is nearly the same text.
"""

import html
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from evals.text.tokens import NEGATORS, UNSPACED

FEWEST_WORDS, FEWEST_CHARACTERS = 4, 15
"""What proves something has one of them."""

_MARKUP = re.compile(r"(?<=\])\([^()\s]*\)|</?[a-zA-Z][^<>]*>|\[\d{1,3}\]|[\u00ad\u200b-\u200d\u2060\ufeff]")

_LETTER = re.compile(r"\[([^\W\d_])\](?=[^\W\d_])")
"""A letter that was changed to fit: [t]he."""

_BROKEN = re.compile(r"(?<=[^\W\d_])[-‐]\s*\n\s*(?=[^\W\d_])")

_PERCENT = re.compile(r"(?<=\d)\s*(?:%|per\s?cent\b(?! points?\b))")

_WORD = re.compile(
    rf"[{UNSPACED}]|(?:(?<![\w)\].])-)?\d+(?:[.,:/]\d+)*%?|[^\W\d_{UNSPACED}]+(?:-[^\W\d_{UNSPACED}]+)*"
    r"|[‰°+<>≤≥≠±×÷€£¥$]"
)

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")

_GAP = re.compile(r"[\[(]?(?:…|\.{3,})[\])]?")


@lru_cache(maxsize=2048)
def words(text: str) -> str:
    """The words of a text between blanks: case, marks, markup, articles and the writing of numbers folded."""
    text = _MARKUP.sub("", html.unescape(_BROKEN.sub("", _LETTER.sub(r"\1", text))))
    text = re.sub("[‐‑‒–−]", "-", unicodedata.normalize("NFKC", text).casefold())
    text = _PERCENT.sub("%", text)
    found = (_THOUSANDS.sub("", word) for word in _WORD.findall(text))
    return f" {' '.join(word for word in found if word not in {'a', 'an', 'the'})} "


def is_quoted(quote: str, texts: Iterable[str]) -> bool:
    """Whether a quotation stands in one of the texts.

    Args:
        quote: What is said to be copied. "…" may stand for words left out, unless a negation is among them.
        texts: Where it may stand.
    """
    parts = [part for part in map(words, _GAP.split(quote)) if part.strip()]
    return bool(parts) and any(_stand_in_order(parts, text) for text in map(words, texts))


def is_evidence(quote: str, texts: Iterable[str]) -> bool:
    """Whether a quotation is long enough to prove something: four words or 15 characters, unless a text is shorter."""
    return _is_long(quote) or not all(map(_is_long, texts))


def _is_long(text: str) -> bool:
    found = words(text)
    return len(found.split()) >= FEWEST_WORDS or len(found.strip()) >= FEWEST_CHARACTERS


def _stand_in_order(parts: Iterable[str], text: str) -> bool:
    """Whether a text holds the parts one after the other, with no negation between: "did … approve" says not "did not".

    Parts and text have a blank at either end; one blank may be the end of a part and the start of the next.
    """
    end = 0
    for number, part in enumerate(parts):
        start = text.find(part, max(end - 1, 0))
        if start < 0 or (number and not NEGATORS.isdisjoint(text[end:start].split())):
            return False
        end = start + len(part)
    return True
