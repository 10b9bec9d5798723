"""What texts have in common: words, not meaning."""

import re
from collections.abc import Iterable

SHARE = 0.6
"""Of a text's words: so many elsewhere are support."""
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n+")
_CITATION = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]")
_STOP_WORDS = """a an and are as at be been but by can did do does for from had has have he her his if in into is it its
may not of on or our she so such than that the their them then there these they this to was we were what when where
which who will with would you your"""


def sentences(text: str) -> list[str]:
    """The sentences of a text, each verbatim."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def content_words(text: str) -> set[str]:
    """The words that carry meaning, in lower case, without citation marks."""
    return set(re.findall(r"\w+", _CITATION.sub(" ", text).lower())) - set(_STOP_WORDS.split())


def share(text: str, *others: str) -> float:
    """How much of a text's words stand in the others together; 0 for a text without words."""
    words = content_words(text)
    held = set().union(*map(content_words, others))
    return len(words & held) / len(words) if words else 0.0


def best_sentence(text: str, like: Iterable[str]) -> str:
    """The sentence of a text that has most words in common with others, verbatim; empty where none has any."""
    wanted = set().union(*map(content_words, like))
    found = max(sentences(text), key=lambda sentence: len(wanted & content_words(sentence)), default="")
    return found if wanted & content_words(found) else ""


def without_citations(text: str) -> str:
    """The text without its citation marks."""
    return " ".join(_CITATION.sub(" ", text).split())
