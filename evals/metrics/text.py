"""How texts are compared: one normalisation and one tokenisation for all rules."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

_QUOTES = str.maketrans({"‘": "'", "’": "'", "‛": "'", "′": "'", "`": "'", "“": '"', "”": '"', "„": '"'})
# Scripts written without spaces count one character as one token; all others one run of word characters.
UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
_MARKDOWN = re.compile(r"[*_#>|~]+|^[^\S\n]*+[-+]\s+", re.MULTILINE)
_CACHE = 8192


def fold(text: str) -> str:
    """Lower-case the text, unify Unicode forms, straighten apostrophes and quotation marks."""
    if text.isascii():
        return text.lower().replace("`", "'")
    return unicodedata.normalize("NFKC", text).casefold().translate(_QUOTES)


def plain(text: str) -> str:
    """Fold the text, drop Markdown marks and collapse white space."""
    return " ".join(_MARKDOWN.sub(" ", fold(text)).split())


@lru_cache(maxsize=_CACHE)
def tokens(text: str) -> tuple[str, ...]:
    """Return the text's word tokens, folded; punctuation and white space do not count."""
    words = _TOKEN.findall(fold(text))
    if "_" in text:  # inside a word it belongs to it, at its ends it is Markdown's emphasis
        words = [word for word in (word.strip("_") for word in words) if word]
    return tuple(words)


@lru_cache(maxsize=_CACHE)
def padded(text: str) -> str:
    """Return the tokens joined and framed by blanks, so that `in` compares whole words."""
    return f" {' '.join(tokens(text))} "


@lru_cache(maxsize=_CACHE)
def bag(text: str) -> Mapping[str, int]:
    """Count the text's tokens."""
    return Counter(tokens(text))


@lru_cache(maxsize=_CACHE)
def pairs(text: str) -> Mapping[tuple[str, str], int]:
    """Count the text's pairs of neighbouring tokens."""
    return Counter(pairwise(tokens(text)))
