"""The runs of a gold's tokens that a chunk holds, through misread words and fragments at its borders.

Both texts are laid side by side at each place where they share three tokens in a row: the run goes on from there as
long as their tokens are the same or alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from evals.text.matching.words import MOST_REPEATED, Words, are_alike

MIN_RUN = 4
"""A run of fewer tokens shared at a border is chance."""


_MOST_MISREAD = 2
"""Misread tokens in a row."""


_SHORT = 2
"""Letters of a word of which one that is misread leaves too little to compare."""


class Run(NamedTuple):
    """Neighbouring tokens of a gold, from `start` to before `stop`, that stand in a chunk.

    Attributes:
        start: The first of them.
        stop: One past the last of them.
        whole: Whether they are all that the chunk holds.
        is_cut: Whether each of its ends is an end of the gold or of the chunk.
    """

    start: int
    stop: int
    whole: bool
    is_cut: bool = False

    @property
    def length(self) -> int:
        """Number of tokens."""
        return self.stop - self.start


def shared_threes(chunk: Words, gold: Words) -> list[tuple[int, Sequence[int]]]:
    """Where three tokens in a row stand in the chunk that the gold says too, and where in the gold."""
    threes = gold.threes
    if threes.keys().isdisjoint(chunk.each_three()):
        return []
    shared = [(place, threes[three]) for place, three in enumerate(chunk.each_three()) if three in threes]
    return [(place, there) for place, there in shared if len(there) <= MOST_REPEATED]


def read_runs(chunk: Words, gold: Words) -> list[Run]:
    """The runs that the chunk shares with the gold, each as far as it goes through misread words."""
    found: list[Run] = []
    reached: dict[int, int] = {}
    for place, there in shared_threes(chunk, gold):
        for at in there:
            if place >= reached.get(place - at, 0):
                first = place - _read_on(chunk.tokens[:place][::-1], gold.tokens[:at][::-1], -1)
                last = place + _read_on(chunk.tokens[place:], gold.tokens[at:], 1)
                reached[place - at] = last
                start, stop = first + at - place, last + at - place
                begins, ends = first == 0, last == chunk.count
                is_cut = (begins or start == 0) and (ends or stop == gold.count)
                found.append(Run(start, stop, begins and ends, is_cut))
    return found


def _read_on(ours: tuple[str, ...], theirs: tuple[str, ...], step: int) -> int:
    """How many tokens of a chunk and a gold are the same or alike from the start; the chunk's last one may be cut."""
    misread = length = 0
    for length, (mine, yours) in enumerate(zip(ours, theirs, strict=False), 1):
        if mine == yours:
            misread = 0
            continue
        misread += 1
        part = yours if length < len(ours) else yours[: len(mine)] if step > 0 else yours[-len(mine) :]
        if misread > _MOST_MISREAD or not (_is_misread(mine, yours) or are_alike(mine, part)):
            return length - misread
    return length


def _is_misread(mine: str, yours: str) -> bool:
    """Whether a word may be the gold's: of two letters any other, for what they deny is looked at apart."""
    is_short = len(mine) == len(yours) <= _SHORT and mine.isalpha() and yours.isalpha()
    return is_short or are_alike(mine, yours)


def agreeing(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many tokens at the start of the two are the same."""
    shorter = min(len(one), len(other))
    if one[:shorter] == other[:shorter]:
        return shorter
    return next(place for place, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs)


# Text that many chunks begin or end with: the header, footer or context line that a pipeline puts on each of them.


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


# A heading that a chunk and a gold both begin with, such as the title of their article, is no passage of the gold.


_HEADINGS_LONGEST = 40
"""Tokens of a heading: text that is longer says something by itself."""


_SAME = 0.5
"""Where so many pairs of what follows in the chunk are the gold's, a word was misread and no heading ended."""


def shared_heading(chunk: tuple[str, ...], gold: Words, before: int, after: int) -> int:
    """How many tokens the two begin with before each goes on with something else; 0 where they do not.

    A chunk that was cut out of the gold goes on as the gold does, up to its own end.

    Args:
        chunk: The tokens of the chunk.
        gold: The words of the gold.
        before: At most so many tokens of the chunk stand before the heading, as many chunks begin with them.
        after: So many tokens many chunks end with: the chunk's own end is before them.
    """
    place = _start_of(gold, chunk, before)
    if place is None:
        return 0
    said, end = chunk[place:], len(chunk) - after
    length = _read_on(said, gold.tokens, 1)
    if not MIN_RUN <= length <= _HEADINGS_LONGEST or place + length >= end or length == gold.count:
        return 0
    return 0 if _goes_on(said[length:], gold) else length


def _start_of(gold: Words, chunk: tuple[str, ...], before: int) -> int | None:
    """At which of its first tokens the chunk begins as the gold does."""
    size = len(gold.first)
    return next((at for at in range(before + 1) if chunk[at : at + size] == gold.first), None)


def _goes_on(rest: tuple[str, ...], gold: Words) -> bool:
    """Whether the rest is text of the gold for the most part."""
    same = sum(pair in gold.pairs for pair in pairwise(rest))
    return same > 0 and same >= _SAME * (len(rest) - 1)
