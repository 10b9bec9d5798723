"""Text that many chunks begin or end with: the header, footer or context line that a pipeline puts on each of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from evals.case.matching.words import Words

_LONGEST = 100
"""Tokens of a common beginning or end."""
_FEWEST = 3
"""So many texts at least must share it: of two, the one may be a part of the other."""

Line = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommonText:
    """What many texts begin and end with.

    Attributes:
        starts: The longest beginnings that so many texts share; any number stands for another, as on pages.
        ends: The longest endings, from the last token backwards.
    """

    starts: tuple[Line, ...] = ()
    ends: tuple[Line, ...] = ()

    def margins(self, words: Words) -> tuple[int, int]:
        """How many of the words are such a beginning, and how many such an end."""
        first = max((_shared(words, start, 1) for start in self.starts), default=0)
        last = max((_shared(words, end, -1) for end in self.ends), default=0)
        return first, last


def common_text(texts: Sequence[Words], share: float) -> CommonText:
    """What at least such a share of the texts begin with, and what they end with."""
    least = max(_FEWEST, share * len(texts))
    return CommonText(tuple(_common(texts, least, 1)), tuple(_common(texts, least, -1)))


def _common(texts: Sequence[Words], least: float, step: int) -> list[Line]:
    """The longest beginnings (or endings, where the step is -1) that at least so many texts share."""
    firsts = [words.tokens[0 if step > 0 else -1] for words in texts if words.count]
    if len({token if token.isalpha() else "#" for token in firsts}) > len(texts) - least + 1:
        return []  # so many differ that none can be that common
    found: list[Line] = []
    alive: list[tuple[Line, Sequence[Words]]] = [((), texts)]
    while alive:
        line, sharing = alive.pop()
        longer: dict[str, list[Words]] = {}
        for words in sharing if len(line) < _LONGEST else ():
            if words.count > len(line):
                longer.setdefault(_at(words, len(line), step), []).append(words)
        kept = [((*line, token), some) for token, some in longer.items() if len(some) >= least]
        alive += kept
        if line and not kept:
            found.append(line)
    return found


def _shared(words: Words, line: Line, step: int) -> int:
    """How many tokens of the line the words begin with."""
    for place, token in enumerate(line):
        if place == words.count or _at(words, place, step) != token:
            return place
    return len(line)


def _at(words: Words, place: int, step: int) -> str:
    """The token at a place counted from the one end or the other; `#` for a number."""
    token = words.tokens[place if step > 0 else -1 - place]
    return token if token.isalpha() else "#"
