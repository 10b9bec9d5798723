"""A text as the rules see it: its tokens, and what is derived of them once."""

from collections import Counter
from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import pairwise

from evals.text.folding import tokens

_SPELLED = frozenset(
    {
        *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
        *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty"),
        *("forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "thousand", "million", "billion"),
    }
)


class Words:
    """The tokens of a text, in order, and how many they are."""

    def __init__(self, tokens: tuple[str, ...]) -> None:
        self.tokens = tokens
        self.count = len(tokens)

    @cached_property
    def padded(self) -> str:
        """The tokens joined and framed by blanks, so that `in` compares whole words."""
        return f" {' '.join(self.tokens)} "

    @cached_property
    def joined(self) -> str:
        """The tokens joined and not framed, so that `in` takes a part of a word at either end."""
        return self.padded[1:-1]

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The distinct tokens."""
        return frozenset(self.tokens)

    @cached_property
    def bag(self) -> Mapping[str, int]:
        """How often each token occurs."""
        return Counter(self.tokens)

    @cached_property
    def pairs(self) -> Mapping[tuple[str, str], int]:
        """How often each pair of neighbouring tokens occurs."""
        return Counter(pairwise(self.tokens))

    @cached_property
    def fours(self) -> frozenset[tuple[str, str, str, str]]:
        """All runs of four tokens."""
        return frozenset(zip(self.tokens, self.tokens[1:], self.tokens[2:], self.tokens[3:], strict=False))

    @cached_property
    def numbers(self) -> list[int]:
        """Where the numbers stand, in digits or in words."""
        return [at for at, token in enumerate(self.tokens) if token[0].isdigit() or token in _SPELLED]


@lru_cache(maxsize=8192)
def words_of(text: str) -> Words:
    """The words of a text."""
    return Words(tokens(text))
