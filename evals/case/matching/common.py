"""Text that many chunks begin or end with: the header, footer or context line that a pipeline puts on each of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from evals.case.matching.runs import agreeing
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
        if not (self.starts or self.ends):  # as in most runs
            return 0, 0
        first = max((agreeing(words.shapes, start) for start in self.starts), default=0)
        last = max((agreeing(words.shapes_from_end, end) for end in self.ends), default=0)
        return first, last


def common_text(texts: Sequence[Words], share: float) -> CommonText:
    """What at least such a share of the texts begin with, and what they end with."""
    least = max(_FEWEST, share * len(texts))
    return CommonText(tuple(_common(texts, least, 1)), tuple(_common(texts, least, -1)))


def _common(texts: Sequence[Words], least: float, step: int) -> list[Line]:
    """The longest beginnings (or endings, where the step is -1) that at least so many texts share."""
    if len({_seen_from(words, step)[0] for words in texts if words.count}) > len(texts) - least + 1:
        return []  # so many differ that none can be that common
    found: list[Line] = []
    alive: list[tuple[Line, Sequence[Words]]] = [((), texts)]
    while alive:
        line, sharing = alive.pop()
        longer: dict[str, list[Words]] = {}
        for words in sharing if len(line) < _LONGEST else ():
            if words.count > len(line):
                longer.setdefault(_seen_from(words, step)[len(line)], []).append(words)
        kept = [((*line, token), some) for token, some in longer.items() if len(some) >= least]
        alive += kept
        if line and not kept:
            found.append(line)
    return found


def _seen_from(words: Words, step: int) -> Line:
    """The shapes of the tokens, from the one end or the other."""
    return words.shapes if step > 0 else words.shapes_from_end
