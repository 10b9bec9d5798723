"""Turn text into index tokens: lower-case words and numbers, lightly stemmed, without stopwords."""

import re
import unicodedata
from functools import lru_cache

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
