"""The words of a clause as the parts that they play: a group of letters for each word, which the grammar reads."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache, reduce
from itertools import chain, repeat
from operator import or_
from pathlib import Path
from typing import Any

from evals.text.folding import fold
from evals.text.refusals.lexicon import LANGUAGES, ROLES, Language, pattern

# The words of six languages by the part that they play where an answer declines.


WORD = re.compile(r"[^\W_]+|,")
"""A word, or the comma that no rule goes over."""

CONTENT = "_"


DECLINING = frozenset("nkuxNlOW")
"""Parts of which one is in whatever declines by rule."""


BITS = {name: 1 << place for place, name in enumerate([*ROLES, *LANGUAGES[0].signs])}
"""A bit for each part and each sign, by its name."""


_PARTS = {letter: BITS[part] for part, letters in ROLES.items() for letter in letters[-1]}
"""The bit of the part that a letter stands for."""


_LONGEST = 40
"""Characters of a word that a lexicon may know."""


_EMPTY = frozenset("nkijmbwdeyUPVY,")
"""Parts of words that say nothing about what is spoken of."""

_FUNCTION = "."

_COMMA = ","


_TOLD_APART = {
    "sé": "se1",
    "è": "e1",
    "é": "e1",
    "dà": "da1",
    "dá": "da1",
    "né": "ne1",
    "où": "ou1",
    "está": "esta1",
    "há": "ha1",
    "può": "puo1",
}
"""Words that only an accent tells from another one, and how they are spelt here."""

_ACCENTED = re.compile(rf"\b(?:{'|'.join(_TOLD_APART)})\b")


def without_accents(text: str) -> str:
    """The folded text without accents: whoever leaves them out is understood too."""
    if text.isascii():
        return text
    text = _ACCENTED.sub(lambda found: _TOLD_APART[found[0]], text)
    bare = "".join(sign for sign in unicodedata.normalize("NFD", text) if not "\u0300" <= sign <= "\u036f")
    return unicodedata.normalize("NFC", bare)


def _any(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns) or r"(?!)")


class Heads:
    """The first letters of a list of beginnings, as many as the shortest of them has.

    Args:
        beginnings: Of words.
    """

    def __init__(self, beginnings: Iterable[str]) -> None:
        every = list(beginnings)
        self._size = min(map(len, every), default=0)
        self._heads = frozenset(one[: self._size] for one in every)

    def may_begin(self, word: str) -> bool:
        """Whether the word may begin as one of the list."""
        return word[: self._size] in self._heads


class Lexicon:
    """The words of a language, by which a clause is tagged."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.function = frozenset([*language.function.split(), *_TOLD_APART.values()])
        self.declines, self.courtesy, self.guesses = map(_any, (language.declines, language.courtesy, language.guesses))
        self.maybe, self.reports = map(_any, (language.maybe, language.reports))
        self.referrals = _any(language.referrals)
        but, however, hence, although = (
            _any(part).pattern for part in (language.but, language.however, language.hence, language.although)
        )
        self.although = re.compile(rf"^(?:{although})\b")
        self.apart = re.compile(rf"^(?:{_any(language.apart).pattern})\b")
        self.conditions = re.compile(rf"^(?:{_any(language.conditions).pattern})\b")
        self.because = re.compile(rf"\w (?:{_any(language.because).pattern})(?=\W|$)")
        self.reasons = re.compile(rf"^(?:{_any(language.reasons).pattern})\b")
        self.contrasts = re.compile(rf"\b(?:{but}|{however})\b")
        self.hence = re.compile(rf"^,\s+(?:{hence})\b")
        relative = _any(language.relative).pattern
        self.parenthesis = re.compile(rf",\s+(?:(?:{however})|(?:{relative})\b[^,.;:]{{1,80}}),")
        self.joint = re.compile(
            rf"(;|:\s|\(|\)|\s[–—-]\s|,?\s+(?:{but})\b,?\s*|,\s+(?:{however}|{hence})\b,?\s*|"
            rf",?\s+(?=(?:{although}|{_any(language.apart).pattern})\b))"
        )
        self.goes_on = re.compile(rf"[;:–—-]|\b(?:{but}|{however})\b")
        self.openers = re.compile(f"^(?:{_any(language.openers).pattern})+")
        self.quantity = _any(language.quantity)
        self.numbers = frozenset(language.numbers.split())
        self._asked = [
            (re.compile(pattern), stems.replace("DOERS", language.doers).split())
            for pattern, stems in language.asked.items()
        ]
        self.hints = frozenset(language.hints.split())
        self.doers = tuple(language.doers.split())
        self._exact: dict[str, str] = {}
        self._begins: dict[str, str] = {}
        self._ends: dict[str, str] = {}
        for part, words in language.words.items():
            for word in words.split():
                known = self._begins if word.endswith("*") else self._ends if word.startswith("*") else self._exact
                key = word.strip("*")
                known[key] = known.get(key, "") + ROLES[part]
        self._sign_words, self._sign_beginnings = _signs(language.signs)
        # Few words begin or end as any in the lists: most are known by that not to.
        self._heads, self._tails = Heads(self._begins), Heads(key[::-1] for key in self._ends)
        self._sign_heads = Heads(self._sign_beginnings)
        self.letters = lru_cache(maxsize=1024)(self._letters)
        self._word_shows = lru_cache(maxsize=1024)(self._shown)
        self.denies = lru_cache(maxsize=1024)(self._denies)

    def _letters(self, word: str) -> str:
        """The parts that a word can play, or the sign of a function word or of any other word."""
        found = self._told(word) if len(word) <= _LONGEST else ""
        if found:
            return found
        if word == ",":
            return _COMMA
        return _FUNCTION if word in self.function else CONTENT

    def _told(self, word: str) -> str:
        """The parts of a word as it is in the list, then by what it begins and ends with."""
        found = self._exact.get(word, "")
        if not (self._heads.may_begin(word) or self._tails.may_begin(word[::-1])):
            return found
        cuts = range(len(word) + 1)
        return found + "".join(self._begins.get(word[:cut], "") + self._ends.get(word[cut:], "") for cut in cuts)

    def _denies(self, word: str) -> bool:
        return not DECLINING.isdisjoint(self.letters(word))

    def may_decline(self, words: Collection[str]) -> bool:
        """Whether any of the words of a text can decline: a quick look before any rule is tried."""
        return not self.hints.isdisjoint(words) or any(map(self.denies, words))

    def tagged(self, words: list[str]) -> str:
        """The words as groups of letters, each with a blank before it."""
        return "".join(" " + self.letters(word) for word in words)

    def _shown(self, word: str) -> int:
        """The parts that a word can play, and the signs that it gives, as bits."""
        if len(word) > _LONGEST:
            return 0
        heads = range(len(word) + 1) if self._sign_heads.may_begin(word) else ()
        begun = (self._sign_beginnings.get(word[:cut], 0) for cut in heads)
        parts = (_PARTS.get(letter, 0) for letter in self.letters(word))
        return reduce(or_, chain(parts, begun), self._sign_words.get(word, 0))

    def shown(self, words: Iterable[str]) -> int:
        """The parts and the signs of the words of a clause, as bits of `BITS`."""
        return reduce(or_, map(self._word_shows, words), 0)

    def content(self, words: list[str]) -> list[str]:
        """The distinct words that tell what is spoken of."""
        return [word for word in dict.fromkeys(words) if self._tells(word)]

    def _tells(self, word: str) -> bool:
        if word in self.function or (len(word) == 1 and not word.isdecimal()):
            return False
        return not set(self.letters(word)) & _EMPTY

    def asked_for(self, question: str) -> tuple[str, ...]:
        """The beginnings of nouns for what the question words of a question ask for."""
        return tuple(stem for pattern, stems in self._asked if pattern.search(question) for stem in stems)


def _signs(signs: Mapping[str, str]) -> tuple[dict[str, int], dict[str, int]]:
    """Bits of the signs of a language, by whole word and by the beginning of a word."""
    exact: dict[str, int] = {}
    beginnings: dict[str, int] = {}
    for sign, words in signs.items():
        for word in words.split():
            known = beginnings if word.endswith("*") else exact
            known[word.rstrip("*")] = known.get(word.rstrip("*"), 0) | BITS[sign]
    return exact, beginnings


_FEW = 3
"""Function words below which a text may be in any language."""


_ENOUGH = 200
"""Words by which the language of a text is known."""


@cache
def every_lexicon() -> tuple[Lexicon, ...]:
    """A lexicon a language, made when the first text is read: their patterns take a tenth of a second."""
    return tuple(Lexicon(language) for language in LANGUAGES)


def lexicons_of(text: str) -> tuple[Lexicon, ...]:
    """The lexicons of the languages that a text may be in, the likeliest first; all where nothing tells."""
    words = WORD.findall(text[:4000])[:_ENOUGH]
    counts = Counter(chain.from_iterable(map(_lexicons_by_word().get, words, repeat(()))))
    most = max(counts.values(), default=0)
    ranked = sorted(every_lexicon(), key=lambda lexicon: -counts[lexicon])
    return tuple(lexicon for lexicon in ranked if most < _FEW or 2 * counts[lexicon] >= most)


@cache
def _lexicons_by_word() -> Mapping[str, Sequence[Lexicon]]:
    """By function word, the lexicons that have it."""
    found: dict[str, list[Lexicon]] = {}
    for lexicon in every_lexicon():
        for word in lexicon.function:
            found.setdefault(word, []).append(lexicon)
    return found


# What is declined, and was it asked? Compared by the beginnings of words, and by what a question word asks for.


_STEM = 4

_SHORTEST = 3


_ANY, _BRIEF = "*", "."
"""Behind three letters: of a word of any length, and of one of at most four."""


_NEEDED = pattern("needed")


TELLING = pattern("asks_what_was_said")


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


# What each piece of evidence weighs, as benchmarks/abstention_weights.py fitted it to labelled answers.


_FILE = Path(__file__).with_name("weights.json")

_WRITTEN: Mapping[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))


def _by_bits(written: Mapping[str, float]) -> dict[int, float]:
    """The weights of signs and of pairs of signs, by the bits of their names, which blanks separate."""
    return {sum(BITS[name] for name in names.split()): weight for names, weight in written.items()}


BIAS: float = _WRITTEN["bias"]
"""The weight of no evidence at all."""


CIRCUMSTANCES: Mapping[str, float] = _WRITTEN["circumstances"]
"""The weights of `evidence.circumstances`, for each 1 that they measure."""


TOGETHER: Mapping[str, Mapping[str, float]] = _WRITTEN["together"]
"""The weights of two circumstances by name, for each 1 of their product; the one first in the alphabet comes first."""


SIGN_WEIGHTS: Mapping[str, Mapping[int, float]] = {
    place: _by_bits(written) for place, written in _WRITTEN["signs"].items()
}
"""The weights of `evidence.signs` by place: of a part or sign in a clause there, or of two in one clause."""
