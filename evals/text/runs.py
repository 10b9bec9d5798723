"""Runs of tokens that chunks and golds share.

Each word of the golds is a letter, and a text is a string of such letters, with a blank for any other word. Where a
chunk says three words in a row that a gold says too, their places are paired; pairs that follow one another are a run.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import NamedTuple

from evals.text.markup import plain
from evals.text.tokens import framed, tokens

FREE = 7
"""Tokens of a run that counts wherever it stands."""

_SHINGLE, _MOST_REPEATED = 3, 4
"""Tokens that are looked up together; places of a gold that say the same three which are followed."""
_AT_END, _BRIDGE = 4, 2
"""Tokens of a run that counts at an end of the gold; tokens misread between two runs of one row."""
_BLANK = "\0"
_LETTERS = re.compile(r"[^\0]{3,}")

_PARTED = re.compile(r"(?<=\w)-\s+(?=\w)")
_LINE_ENDS = ("- ", "-\n", "-\r", "-\t")

Tokens = tuple[str, ...]


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
    count = 0
    for ours, theirs in zip(mine, yours, strict=False):
        if ours != theirs and not (ours.isdigit() and theirs.isdigit()):
            break
        count += 1
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
    shared, runs = _SharedRuns([gold.tokens for gold in golds]), dict[tuple[int, int], list[Run]]()
    for chunk in chunks:
        for number, start, stop, place, end in shared.runs_in(chunk.tokens):
            gold = golds[number]
            at_start, at_end = start <= 1, stop >= gold.count - 1
            is_cut = (at_start or place <= chunk.begin + 1) and (at_end or end >= chunk.end - 1)
            counts = stop - start >= FREE or is_cut or (stop - start >= _AT_END and (at_start or at_end))
            runs.setdefault((chunk.place, gold.place), []).append(Run(start, stop, place, end, is_cut, counts))
    return {places: pair for places, pair in runs.items() if any(run.counts for run in pair)}


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
    runs = [Run(start, stop, place, end) for _, start, stop, place, end in _SharedRuns([wanted]).runs_in(given)]
    return sum(run.size for run in untangled(runs)) / max(1, len(wanted))


class _SharedRuns:
    """The runs that texts share with golds, which it knows by each three tokens in a row."""

    def __init__(self, golds: Sequence[Tokens]) -> None:
        self._letters = {token: chr(n) for n, token in enumerate(set(chain.from_iterable(golds)), start=1)}
        self._places: dict[str, list[tuple[int, int]]] = {}
        """By three letters, the golds that hold them, and where."""
        for number, gold in enumerate(golds):
            row = self._row(gold)
            for start in range(len(row) - _SHINGLE + 1):
                places = self._places.setdefault(row[start : start + _SHINGLE], [])
                if len(places) >= _MOST_REPEATED and places[-_MOST_REPEATED][0] == number:
                    del places[-_MOST_REPEATED]
                places.append((number, start))

    def _row(self, text: Tokens) -> str:
        return "".join(map(self._letters.get, text, repeat(_BLANK)))

    def runs_in(self, text: Tokens) -> list[tuple[int, int, int, int, int]]:
        """Each run: its gold, start and stop in the gold, place and end in the text.

        Where at most two misread tokens lie between two pairs of places, both are of one run.
        """
        row, runs = self._row(text), list[tuple[int, int, list[int]]]()
        latest: dict[tuple[int, int], list[int]] = {}
        for stretch in _LETTERS.finditer(row):
            for place in range(stretch.start(), stretch.end() - _SHINGLE + 1):
                for gold, start in self._places.get(row[place : place + _SHINGLE], ()):
                    shift = start - place
                    pairs = latest.get((gold, shift))
                    if pairs is None or place - pairs[1] > _SHINGLE + _BRIDGE:
                        pairs = latest[gold, shift] = [place, place]
                        runs.append((gold, shift, pairs))
                    pairs[1] = place
        ends = ((gold, shift, first, last + _SHINGLE) for gold, shift, (first, last) in runs)
        return [(gold, place + shift, end + shift, place, end) for gold, shift, place, end in ends]
