"""Runs of tokens that chunks and golds share.

All chunks of a response stand behind one another in one row of numbers, all golds of its question in another. Where
three numbers of both rows are the same, their places are paired; pairs that follow one another are a run.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, repeat, takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.text.markup import plain
from evals.text.tokens import framed, tokens

FREE = 7
"""Tokens of a run that counts wherever it stands."""

_SHINGLE, _MOST_REPEATED = 3, 4
"""Tokens that are looked up together; places of a gold that say the same three which are followed."""
_AT_END, _BRIDGE = 4, 2
"""Tokens of a run that counts at an end of the gold; tokens misread between two runs of one row."""
_APART = (0,) * (_SHINGLE + _BRIDGE + 1)
"""What stands behind each text in a row, so that no run goes over its end. 0 is a token of no gold."""

_PARTED = re.compile(r"(?<=\w)-\s+(?=\w)")
_LINE_ENDS = ("- ", "-\n", "-\r", "-\t")

Tokens = tuple[str, ...]
Numbers = NDArray[np.int64]


class ComparedText:
    """The tokens of a chunk or of a gold, with its place in its list."""

    def __init__(self, place: int, text: str) -> None:
        self.place, self.text = place, plain(text)
        self.tokens: Tokens = tokens(self.text)
        self.count = len(self.tokens)
        self.begin, self.end = 0, self.count
        """Where its own text begins and ends: a header and a footer that its neighbours have too stand outside."""

    @cached_property
    def framed(self) -> str:
        """The tokens framed by blanks, so that `in` compares whole words."""
        return f" {' '.join(self.tokens)} "

    @cached_property
    def joined(self) -> str:
        """The same, with the words joined that the ends of lines part; empty where none may be parted."""
        joined = _PARTED.sub("", self.text) if any(map(self.text.__contains__, _LINE_ENDS)) else self.text
        return "" if joined == self.text else framed(joined)

    def holds(self, gold: "ComparedText") -> bool:
        """Whether a gold stands in it as whole words."""
        if gold.framed in self.framed:
            return True
        if not self.joined and not gold.joined:
            return False
        parted = (gold.joined, self.framed), (gold.framed, self.joined), (gold.joined, self.joined)
        return any(mine and mine in yours for mine, yours in parted)


def set_margins(texts: Sequence[ComparedText]) -> None:
    """Find with what each text begins and ends as the next one does, numbers aside."""
    for text, neighbour in zip(texts, [*texts[1:], *texts[:1]], strict=True):
        if text is not neighbour:
            text.begin = _agreeing(text.tokens, neighbour.tokens)
            text.end = text.count - _agreeing(text.tokens[: text.begin : -1], neighbour.tokens[::-1])


def _agreeing(mine: Tokens, yours: Tokens) -> int:
    """How many tokens the two have in common from the start; 0 for a few, which are chance."""
    alike = (ours == theirs or (ours.isdigit() and theirs.isdigit()) for ours, theirs in zip(mine, yours, strict=False))
    count = sum(takewhile(bool, alike))
    return count if _AT_END <= count < len(mine) else 0


class Run(NamedTuple):
    """Tokens of a gold, from `start` to before `stop`, that stand in a chunk from `place` to before `end`.

    Attributes:
        start: In the gold.
        stop: In the gold.
        place: In the chunk.
        end: In the chunk.
        is_cut: Whether each end of it is an end of the gold or of the chunk's own text, where a word may be cut.
        counts: Whether it is long, cut, or at an end of the gold: others are chance.
    """

    start: int
    stop: int
    place: int
    end: int
    is_cut: bool = False
    counts: bool = False

    @property
    def size(self) -> int:
        """Number of tokens."""
        return self.stop - self.start


def runs_of(chunks: Sequence[ComparedText], golds: Sequence[ComparedText]) -> dict[tuple[int, int], list[Run]]:
    """The runs that a chunk and a gold share, by their places; without pairs that share none that counts."""
    chunk, gold, start, stop, place, end = _shared([text.tokens for text in chunks], [text.tokens for text in golds])
    counts_of_golds = np.array([text.count for text in golds])
    margins = np.array([(text.begin, text.end) for text in chunks])[chunk]
    at_start, at_end = start <= 1, stop >= counts_of_golds[gold] - 1
    is_cut = (at_start | (place <= margins[:, 0] + 1)) & (at_end | (end >= margins[:, 1] - 1))
    counts = (stop - start >= FREE) | is_cut | ((stop - start >= _AT_END) & (at_start | at_end))
    counting = np.zeros((len(chunks), len(golds)), dtype=bool)
    counting[chunk[counts], gold[counts]] = True
    kept = counting[chunk, gold]
    columns = (column[kept].tolist() for column in (chunk, gold, start, stop, place, end, is_cut, counts))
    runs: dict[tuple[int, int], list[Run]] = {}
    for in_chunk, in_gold, *run in zip(*columns, strict=True):
        runs.setdefault((chunks[in_chunk].place, golds[in_gold].place), []).append(Run(*run))
    return runs


def untangled(runs: Iterable[Run]) -> list[Run]:
    """The runs that stand in the same order in gold and chunk, longer ones before shorter ones: phrases repeat."""
    kept: list[Run] = []
    for run in sorted(runs, key=lambda run: (-run.size, run.place)):
        if all(
            (run.stop <= other.start and run.end <= other.place) or (run.start >= other.stop and run.place >= other.end)
            for other in kept
        ):
            kept.append(run)
    return sorted(kept)


def covered(wanted: Tokens, given: Tokens) -> float:
    """The share of the wanted tokens that stand in the given ones in runs, in their order; 0 to 1."""
    _, _, *runs = (column.tolist() for column in _shared([given], [wanted]))
    return sum(run.size for run in untangled(map(Run, *runs))) / max(1, len(wanted))


def _shared(chunks: Sequence[Tokens], golds: Sequence[Tokens]) -> tuple[Numbers, ...]:
    """All runs: their chunks and golds, by place in the lists; start and stop in the gold; place and end in the chunk.

    Three tokens in a row are looked up together; where at most two misread tokens lie between two pairs of places, both
    are of one run.
    """
    numbers = {token: n for n, token in enumerate(set(chain.from_iterable(golds)), start=1)}
    given, given_starts = _in_a_row(chunks, numbers)
    wanted, wanted_starts = _in_a_row(golds, numbers)
    at, place = _pairs(_threes(given, len(numbers)), _threes(wanted, len(numbers)), wanted_starts)
    order = np.lexsort((place, at - place))
    at, place = at[order], place[order]
    begins = np.ones(len(at), dtype=bool)
    begins[1:] = (np.diff(at - place) != 0) | (np.diff(at) > _SHINGLE + _BRIDGE)
    first, last = np.flatnonzero(begins), np.flatnonzero(np.append(begins[1:], len(at) > 0))
    chunk = np.searchsorted(given_starts, place[first], side="right") - 1
    gold = np.searchsorted(wanted_starts, at[first], side="right") - 1
    in_gold, in_chunk = wanted_starts[gold], given_starts[chunk]
    ends = at[last] + _SHINGLE - in_gold, place[last] + _SHINGLE - in_chunk
    return chunk, gold, at[first] - in_gold, ends[0], place[first] - in_chunk, ends[1]


def _in_a_row(texts: Sequence[Tokens], numbers: dict[str, int]) -> tuple[Numbers, Numbers]:
    """The tokens of all texts as numbers, and where each text begins among them."""
    parts = ((map(numbers.get, text, repeat(0)), _APART) for text in texts)
    sizes = [len(text) + len(_APART) for text in texts]
    row = np.fromiter(chain.from_iterable(chain.from_iterable(parts)), dtype=np.int64, count=sum(sizes))
    return row, np.cumsum([0, *sizes[:-1]])


def _threes(row: Numbers, most: int) -> Numbers:
    """Each three neighbours as one number; 0 where one of them is 0."""
    first, second, third = row[:-2], row[1:-1], row[2:]
    return ((first * (most + 1) + second) * (most + 1) + third) * ((first > 0) & (second > 0) & (third > 0))


def _pairs(given: Numbers, wanted: Numbers, wanted_starts: Numbers) -> tuple[Numbers, Numbers]:
    """Where golds and chunks say the same three: the places in the row of golds, and those in the row of chunks."""
    at = np.flatnonzero(wanted)
    at = at[np.argsort(wanted[at], kind="stable")]
    gold = np.searchsorted(wanted_starts, at, side="right")
    n = _MOST_REPEATED
    repeated = np.zeros(len(at), dtype=bool)  # more often in the same gold behind it
    repeated[:-n] = (wanted[at[:-n]] == wanted[at[n:]]) & (gold[:-n] == gold[n:])
    at = at[~repeated]
    place = np.flatnonzero(given)
    low, high = (np.searchsorted(wanted[at], given[place], side=side) for side in ("left", "right"))
    count = high - low
    before = np.cumsum(count) - count
    return at[np.repeat(low - before, count) + np.arange(count.sum())], np.repeat(place, count)
