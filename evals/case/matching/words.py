"""A text as the rules see it: its tokens, and what is derived of them once."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, pairwise

from evals.case.derived import derived
from evals.text.folding import tokens
from evals.text.remembered import remembered

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
        """The words that are capitalised within a sentence."""
        return frozenset(name.lower() for name in _NAME.findall(self.text))

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

    def each_three(self) -> Iterator[tuple[str, str, str]]:
        """Each three tokens in a row."""
        return zip(self.tokens, self.tokens[1:], self.tokens[2:], strict=False)

    @derived
    def threes(self) -> Mapping[tuple[str, str, str], Sequence[int]]:
        """Where each three tokens in a row stand: of more places than `MOST_REPEATED` only some."""
        found: dict[tuple[str, str, str], tuple[int, ...]] = dict(zip(self.each_three(), zip(count()), strict=False))
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
