"""Whether a quotation stands in a text: its words in the same order, after folding what makes no difference.

Not by fuzzy matching: a long quotation that lost its "not" is nearly the same text.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

FEWEST_WORDS, FEWEST_CHARACTERS = 4, 15
"""What proves something has one of them."""

_NEGATIONS = """
no not never none nor neither cannot without t nicht kein keine keinen keiner nie ohne weder pas jamais aucun aucune
sans ne ni sin nunca non mai senza não nem sem niet geen nooit zonder 不 没 無 无 未
"""
"""Words that turn what is said into its opposite."""

_MARKUP = re.compile(r"(?<=\])\([^()\s]*\)|</?[a-zA-Z][^<>]*>|\[\d{1,3}\]|[\u00ad\u200b-\u200d\u2060\ufeff]")

_LETTER = re.compile(r"\[([^\W\d_])\](?=[^\W\d_])")
"""A letter that was changed to fit: [t]he."""

_BROKEN = re.compile(r"(?<=[^\W\d_])[-‐]\s*\n\s*(?=[^\W\d_])")

_PERCENT = re.compile(r"(?<=\d)\s*(?:%|per\s?cent\b(?! points?\b))")

_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"

_WORD = re.compile(
    rf"[{_UNSPACED}]|(?:(?<![\w)\].])-)?\d+(?:[.,:/]\d+)*%?|[^\W\d_{_UNSPACED}]+(?:-[^\W\d_{_UNSPACED}]+)*"
    r"|[‰°+<>≤≥≠±×÷€£¥$]"
)

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")

_GAP = re.compile(r"[\[(]?(?:…|\.{3,})[\])]?")

_JOINT = re.compile(r"[;\n]|\s/\s|[\"”“]\s*(?:,|and|und|et|y)?\s*[\"“„]")

_MOST_PIECES, _SHORT_GAP = 12, 3


@lru_cache(maxsize=2048)
def words(text: str) -> str:
    """The words of a text between blanks: case, marks, markup, articles and the writing of numbers folded."""
    text = unicodedata.normalize(
        "NFKC", _MARKUP.sub("", html.unescape(_BROKEN.sub("", _LETTER.sub(r"\1", text))))
    ).casefold()
    text = _PERCENT.sub("%", re.sub("[‐‑‒–−]", "-", text))
    found = (_THOUSANDS.sub("", word) for word in _WORD.findall(text))
    return f" {' '.join(word for word in found if word not in {'a', 'an', 'the'})} "


def is_quoted(quote: str, texts: Iterable[str]) -> bool:
    """Whether a quotation stands in one of the texts, or in several where it is joined of several.

    Args:
        quote: What is said to be copied. "…" may stand for words left out, unless that hides a negation; ";", " / " and
            line ends may join quotations, each of which proves something by itself.
        texts: Where it may stand.
    """
    held = list(map(words, texts))
    if _stands_in(quote, held):
        return True
    pieces = [piece for piece in _JOINT.split(quote) if words(piece).strip()]
    joined = 1 < len(pieces) <= _MOST_PIECES and all(_is_long(piece) and _stands_in(piece, held) for piece in pieces)
    return joined and not any(_hides_negation(one, other, held) for one, other in pairwise(map(words, pieces)))


def is_evidence(quote: str, texts: Iterable[str]) -> bool:
    """Whether a quotation is long enough to prove something: four words or 15 characters, unless a text is shorter."""
    return _is_long(quote) or not all(map(_is_long, texts))


def _is_long(text: str) -> bool:
    found = words(text)
    return len(found.split()) >= FEWEST_WORDS or len(found.strip()) >= FEWEST_CHARACTERS


def _stands_in(quote: str, held: Sequence[str]) -> bool:
    """Whether one text holds the quotation as one piece, or its parts around "…" in their order."""
    if not (whole := words(quote)).strip():
        return False
    if any(whole in text for text in held):
        return True
    parts = [part for part in map(words, _GAP.split(quote)) if part.strip()]
    if len(parts) < 2 or any(_hides_negation(one, other, held) for one, other in pairwise(parts)):
        return False
    return any(_in_order(parts, text) for text in held)


def _in_order(parts: Iterable[str], text: str) -> bool:
    end = 0
    for part in parts:
        found = text.find(part, end)
        if found < 0:
            return False
        end = found + len(part) - 1
    return True


def _hides_negation(one: str, other: str, held: Iterable[str]) -> bool:
    """Whether a text has a negation, and few words with it, between two pieces: "did … approve" says not "did not"."""
    for text in held:
        end = text.find(one)
        while end >= 0:
            start = text.find(other, end + len(one) - 1)
            between = text[end + len(one) - 1 : start].split() if start >= 0 else []
            if len(between) <= _SHORT_GAP and not set(_NEGATIONS.split()).isdisjoint(between):
                return True
            end = text.find(one, end + 1)
    return False
