"""The runs of a gold's tokens that a chunk holds, through misread words and fragments at its borders.

Both texts are laid side by side at each place where they share three tokens in a row: the run goes on from there as
long as their tokens are the same or alike.
"""

from collections.abc import Sequence
from typing import NamedTuple

from evals.case.matching.values import are_alike
from evals.case.matching.words import MOST_REPEATED, Words

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
            return length - 1
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
