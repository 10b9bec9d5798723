"""The tokens of a text, and values derived from them once."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Self, TypeVar, overload

from evals.text.folding import lists_of, remembered, tokens

# What is derived once of the thing it belongs to.


T = TypeVar("T")


class derived(cached_property[T]):  # noqa: N801 - it is used as `cached_property` is
    """`functools.cached_property` without its lock, which takes longer than most of what is derived.

    Python has none there from 3.12 on. Where two threads are the first to ask, it is derived twice.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        if instance is None:
            return self
        value = self.func(instance)
        instance.__dict__[self.func.__name__] = value
        return value


# Tokens that say a value - a number, a month, a day of the week - and tokens that deny, in seven languages.


_DATA = lists_of("values")

_NEGATIONS = frozenset(" ".join(_DATA["negations"]).split())


_READ_AS_LETTERS = str.maketrans("oilszb", "011528")

_DIGIT = re.compile(r"\d")


_ALIKE = 0.65
"""The likeness from which on a word is another one that was read wrongly."""


def _in_turn(lists: Iterable[str], first: int, form: str = "{}") -> dict[str, str]:
    """The words of lists with what they stand for, counted from a first one."""
    return {name: form.format(at) for names in lists for at, name in enumerate(names.split(), first)}


_KNOWN = (  # of a word that is two, as `sept` is, the number counts
    _in_turn(_DATA["months"], 1, "month {}")
    | _in_turn(_DATA["days"], 1, "day {}")
    | _in_turn(_DATA["tens"], 3, "{}0")
    | {name: value for value, names in _DATA["large"].items() for name in names.split()}
    | dict.fromkeys(_DATA["one"].split(), "1")
    | _in_turn([_DATA["ordinals"]], 1)
    | _in_turn(_DATA["counted"], 0)
)
"""Each spelt value as it is compared."""


@lru_cache(maxsize=8192)
def value_of(token: str) -> str | None:
    """What value a token says, as it is compared; None where it says none.

    A number within a word counts (s23), and so does the name of a variable. Letters that are easily read for digits
    are taken for them there.
    """
    if _DIGIT.search(token):
        return (token if token.isdigit() else read_alike((token,))).lstrip("0") or "0"
    return read_alike((token,)) if "_" in token else _KNOWN.get(token)


def read_alike(tokens: Iterable[str]) -> str:
    """The tokens without what is easily read wrongly: blanks, and letters for digits."""
    return "".join(tokens).translate(_READ_AS_LETTERS)


@lru_cache(maxsize=8192)
def are_alike(one: str, other: str) -> bool:
    """Whether two words are one, of which letters may be misread: a value is none that was misread for another."""
    if one == other or read_alike((one,)) == read_alike((other,)):
        return True
    if (one[0] != other[0] and one[-1] != other[-1]) or one in other or other in one:
        return False
    if value_of(one) and value_of(other):
        return False
    return SequenceMatcher(None, one, other).ratio() >= _ALIKE


def denies(tokens: Iterable[str]) -> bool:
    """Whether some of the tokens deny."""
    return not _NEGATIONS.isdisjoint(tokens)


Three = tuple[str, str, str]

EDGE = 3
"""Tokens at an end of a text by which it is looked for in another."""


MOST_REPEATED = 4
"""How often a gold may say the three tokens by which it is laid side by side with a chunk."""

_BREAK = re.compile(r"(?<=[^\W\d_])[-\u2010]\s+(?=[^\W\d_])")

_NAME = re.compile(r"(?<=[\w,] )[A-Z][^\W\d_]{2,}")

_LETTERS_BEFORE, _LETTERS_AFTER = re.compile(r"[^\W\d_]+$"), re.compile(r"[^\W\d_]+")


_LONGEST = 40
"""Letters of a part of a word."""


_REMEMBERED = 100_000
"""Characters of the texts that are remembered: their words take some forty times as many bytes."""


class Words:
    """The tokens of a text, in order, and how many they are.

    Attributes:
        tokens: The tokens.
        count: How many they are.
        first: The first few of them.
        text: The text.
    """

    def __init__(self, tokens: tuple[str, ...], text: str = "") -> None:
        self.tokens = tokens
        self.count = len(tokens)
        self.text = text
        self.first = tokens[:EDGE]

    @derived
    def is_broken(self) -> bool:
        """Whether the ends of lines may have cut words."""
        text = self.text
        return ("-\n" in text or "- " in text or "-\r" in text or "\u2010" in text) and bool(_BREAK.search(text))

    @derived
    def names(self) -> frozenset[str]:
        """The words that are capitalised within a sentence, in lower case."""
        return frozenset(map(str.lower, _NAME.findall(self.text)))

    @derived
    def shapes(self) -> tuple[str, ...]:
        """The tokens, with `#` for each that is no plain word, as numbers of pages are."""
        return tuple(token if token.isalpha() else "#" for token in self.tokens)

    @derived
    def shapes_from_end(self) -> tuple[str, ...]:
        """The same, from the last one backwards."""
        return self.shapes[::-1]

    @derived
    def padded(self) -> str:
        """The tokens joined and framed by blanks, so that `in` compares whole words."""
        return f" {' '.join(self.tokens)} "

    @derived
    def vocabulary(self) -> frozenset[str]:
        """The distinct tokens."""
        return frozenset(self.tokens)

    @derived
    def bag(self) -> Mapping[str, int]:
        """How often each token occurs."""
        return Counter(self.tokens)

    @derived
    def pairs(self) -> Mapping[tuple[str, str], int]:
        """How often each pair of neighbouring tokens occurs."""
        return Counter(pairwise(self.tokens))

    def each_three(self) -> Iterator[Three]:
        """Each three tokens in a row."""
        return zip(self.tokens, self.tokens[1:], self.tokens[2:], strict=False)

    @derived
    def threes(self) -> Mapping[Three, Sequence[int]]:
        """Where each three tokens in a row stand: of more places than `MOST_REPEATED` only some."""
        found: dict[tuple[str, str, str], tuple[int, ...]] = {
            three: (at,) for at, three in enumerate(self.each_three())
        }
        if len(found) < self.count - 2:
            for at, three in enumerate(self.each_three()):
                if at != found[three][-1] and len(found[three]) <= MOST_REPEATED:
                    found[three] = (at, *found[three])
        return found


@remembered(_REMEMBERED)
def words_of(text: str) -> Words:
    """The words of a text."""
    return Words(tokens(text), text)


def mended(words: Words, others: Iterable[Words]) -> Words:
    """The words with those put together that the end of a line has cut, where other texts have them whole.

    The one hyphen is of the line, insur- ance, the other of the word, well- known: only other texts can tell.
    """
    if not words.is_broken:
        return words
    text = words.text
    known = frozenset[str]().union(*(other.vocabulary for other in others))

    def join(cut: re.Match[str]) -> str:
        before = _LETTERS_BEFORE.search(text[max(0, cut.start() - _LONGEST) : cut.start()])
        after = _LETTERS_AFTER.match(text[cut.end() : cut.end() + _LONGEST])
        whole = f"{before[0] if before else ''}{after[0] if after else ''}"
        return "" if known.issuperset(tokens(whole)) else cut[0]

    return words_of(_BREAK.sub(join, text))
