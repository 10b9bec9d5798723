"""What is declined, and was it asked? Compared by the beginnings of words, and by what a question word asks for."""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from itertools import chain

from evals.case.abstention.roles import WORD, lexicons_of, without_accents
from evals.text.folding import fold

_STEM = 4
_SHORTEST = 3
_ANY, _BRIEF = "*", "."
"""Behind three letters: of a word of any length, and of one of at most four."""

_NEEDED = re.compile(r"\b(?:hace|hacen|haga|hara|faz|fazem|fara) falta\b")
"""What is needed is not missing."""
TELLING = re.compile(
    r"\b(?:said|say|says|answer(?:ed)?|repl(?:y|ied)|respon[ds]\w*|conclu\w+|comment(?:ed)?|told|declare\w*|claim\w*|"
    r"sagt\w*|antwortet\w*|erklart\w*|ausser\w*|reagiert\w*|begrund\w*|dit|repond\w*|declar\w*|dijo|dice|dicen|"
    r"contest\w*|respond\w*|disse|dissero|diz|rispos\w*|rispond\w*|dichiar\w*|comment\w*|concl\w+)\b"
)
"""Of a question that asks what somebody said."""


def shared(words: Iterable[str], others: Iterable[str]) -> list[str]:
    """The words that are likely forms of one of the others: these share four letters, of short words three."""
    return _with_stem(words, _stems(others))


def _stems(words: Iterable[str]) -> frozenset[str]:
    """The beginnings by which forms of words are known; those of three letters with the length of the word."""
    return frozenset(chain.from_iterable(map(_beginnings, words)))


@lru_cache(maxsize=1024)
def _beginnings(word: str) -> tuple[str, ...]:
    if len(word) < _SHORTEST:
        return (word,)
    start = word[:_SHORTEST]
    return (start + _ANY, start + _BRIEF) if len(word) <= _STEM else (start + _ANY, word[:_STEM])


def _with_stem(words: Iterable[str], stems: frozenset[str]) -> list[str]:
    return [word for word in words if not stems.isdisjoint(_sought(word))]


@lru_cache(maxsize=1024)
def _sought(word: str) -> tuple[str, ...]:
    """What of the beginnings of other words makes a word their form."""
    if len(word) < _SHORTEST:
        return (word,)
    start = word[:_SHORTEST]
    return (start + _ANY,) if len(word) <= _STEM else (start + _BRIEF, word[:_STEM])


class Topic:
    """What a question asks for.

    Attributes:
        text: Folded, without accents.
        words: Its content words.
        lacks: Whether it asks what is not so, or missing.
        told: Whether it asks what somebody said: that he would not tell is the answer.
        whether: Whether it wants yes or no: no question word begins it.
        wants_number: Whether only a number answers it.
        kinds: The beginnings of nouns for what its question words ask for: "date" and "year" for "when".
    """

    def __init__(self, question: str) -> None:
        self.text = text = without_accents(fold(question))
        lexicon = lexicons_of(text)[0]
        self.words = lexicon.content(WORD.findall(text))
        letters = lexicon.tagged(WORD.findall(_NEEDED.sub(" ", text)))
        self.told = "s" not in letters and bool(TELLING.search(text))
        self.lacks = bool(set(letters) & set("nl"))
        self.whether = not any("w" in group for group in letters.split()[:6])
        self.wants_number = bool(lexicon.quantity.search(text))
        self.kinds = lexicon.asked_for(text)
        self._doers = lexicon.doers
        self._stems = _stems(self.words)

    def named(self, words: Iterable[str]) -> list[str]:
        """The words that name what is asked for: words of the question, or nouns for what it asks for."""
        found = list(words)
        named = set(_with_stem(found, self._stems))
        return [word for word in found if word in named or self.is_kind(word)]

    def is_general(self, word: str) -> bool:
        """Whether a word only names the kind of what is asked for ("the name"), and not who did it ("the author")."""
        return self.is_kind(word) and not any(doer in word for doer in self._doers)

    def is_kind(self, word: str) -> bool:
        """Whether a word is a noun for what the question asks for."""
        return any(kind in word for kind in self.kinds)

    def covered(self, said: Collection[str]) -> list[str]:
        """The words of the question that are taken up in what is said."""
        return shared(self.words, said)
