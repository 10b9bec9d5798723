"""Word tokens as NLTK's word tokenizer gives them, sentence by sentence; many times faster where words recur.

NLTK's rules look at a word and at the white space around it, and, at the end of a sentence, at what follows the last
word. So a word inside a sentence can be tokenized alone, once, and needs no rules where it is letters and digits only;
what the tests hold is that the tokens are the same. Only words are kept in memory, for passages are large.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import cast

from evals.text.sentences import sentences

_MARK = ",;"
"""NLTK splits these off wherever they end a word inside a sentence."""
_ENDS = frozenset(".?!")
"""One of these NLTK splits off the last word of a sentence, where nothing follows it."""
_SPLIT = frozenset({"cannot", "gimme", "gonna", "gotta", "lemme", "wanna"})
"""What NLTK splits although it is letters only."""
_LONGEST = 64
"""Characters of a word that is worth remembering."""


def word_set(text: str) -> frozenset[str]:
    """Return the text's distinct word tokens: NLTK's, lower-cased, kept where all characters are alphanumeric."""
    words: set[str] = set()
    for sentence in sentences(text):
        end = _last_word(sentence)
        for chunk in sentence[:end].split():
            word = chunk.rstrip(_MARK).lower()
            if word.isascii() and word.isalnum() and word not in _SPLIT:
                words.add(word)
            else:
                words.update(_within(chunk) if len(chunk) <= _LONGEST else _within.__wrapped__(chunk))
        words.update(_last(sentence[end:]))
    return frozenset(words)


def _last(chunk: str) -> tuple[str, ...]:
    """The tokens of the last word of a sentence, with what follows it."""
    word = (chunk[:-1] if chunk[-1:] in _ENDS else chunk).lower()
    if word.isascii() and word.isalnum() and word not in _SPLIT:
        return (word,)
    return _at_end(chunk) if len(chunk) <= _LONGEST else _at_end.__wrapped__(chunk)


def _last_word(sentence: str) -> int:
    """Where the last characters between white space begin that hold a letter or digit; 0 where none do."""
    place = len(sentence)
    while place and not sentence[place - 1].isalnum():
        place -= 1
    while place and not sentence[place - 1].isspace():
        place -= 1
    return place


@lru_cache(maxsize=65536)
def _within(chunk: str) -> tuple[str, ...]:
    """The tokens of characters between white space, inside a sentence."""
    return _alphanumeric(_tokenize()(f"x {chunk} x")[1:-1])


@lru_cache(maxsize=65536)
def _at_end(chunk: str) -> tuple[str, ...]:
    """The same of the last word of a sentence, with what follows it."""
    return _alphanumeric(_tokenize()(f"x {chunk}")[1:])


def _alphanumeric(tokens: list[str]) -> tuple[str, ...]:
    return tuple(token.lower() for token in tokens if token.isalnum())


@cache
def _tokenize() -> Callable[[str], list[str]]:
    from nltk.tokenize import NLTKWordTokenizer  # noqa: PLC0415 - a second, for metrics that need tokens only

    return cast("Callable[[str], list[str]]", NLTKWordTokenizer().tokenize)
