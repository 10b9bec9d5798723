"""The run of a gold's tokens that a chunk holds. A chunk's first and last token may be fragments, where it was cut.

Everything takes time linear in the two lengths: texts are searched by `str.find`, a bounded number of times.
"""

from collections.abc import Iterator
from math import ceil
from typing import NamedTuple

from evals.case.matching.words import Words

MIN_RUN = 4
"""A run of fewer tokens shared at a border is chance."""
_PROBE = 8
"""Tokens by which a run is looked for."""
_EDGE = MIN_RUN - 1
"""Tokens by which a run at a border is looked for: the last one of it may be a fragment."""
_TRIES = 16
"""How many places are tried where a text repeats what it is looked for by."""


class Run(NamedTuple):
    """Neighbouring tokens of a gold, from `start` to before `stop`, that stand in a chunk.

    Attributes:
        start: The first of them.
        stop: One past the last of them.
        whole: Whether they are all that the chunk holds.
    """

    start: int
    stop: int
    whole: bool

    @property
    def length(self) -> int:
        """Number of tokens."""
        return self.stop - self.start


def whole_run(chunk: Words, gold: Words) -> Run | None:
    """The run that is the whole chunk, where the chunk stands in the gold."""
    if chunk.count > gold.count or not gold.vocabulary.issuperset(chunk.tokens[1:_EDGE]):
        return None
    at = gold.joined.find(chunk.joined)
    if at < 0:
        return None
    start = gold.joined.count(" ", 0, at)
    return Run(start, start + chunk.count, whole=True)


def large_run(chunk: Words, gold: Words, least: int, share: float) -> Run | None:
    """A run of at least so many tokens that is at least such a share of the chunk.

    A run of twice the distance between two probes holds one of them whole, wherever it begins.
    """
    least = max(least, ceil(share * chunk.count))
    if min(chunk.count, gold.count) < least:
        return None
    step = max(1, least // 2)
    size = min(step, _PROBE)
    for place in range(0, chunk.count - size + 1, step):
        probe = chunk.tokens[place : place + size]
        if gold.vocabulary.issuperset(probe):
            for start in _places(probe, gold):
                run = _grown(chunk, place, gold, start)
                if run.length >= least:
                    return run
    return None


def _places(probe: tuple[str, ...], gold: Words) -> Iterator[int]:
    """At which tokens of the gold the probe stands, the first few of them."""
    framed = f" {' '.join(probe)} "
    at, token = -1, 0
    for _ in range(_TRIES):
        found = gold.padded.find(framed, at + 1)
        if found < 0:
            return
        token += gold.padded.count(" ", max(at, 0), found)
        at = found
        yield token


def _grown(chunk: Words, place: int, gold: Words, start: int) -> Run:
    """The run around a token that chunk and gold share, as far as it goes."""
    ours, theirs = chunk.tokens, gold.tokens
    back = 0
    for mine, other in zip(reversed(ours[:place]), reversed(theirs[:start]), strict=False):
        if mine != other:
            break
        back += 1
    ahead = 0
    for mine, other in zip(ours[place:], theirs[start:], strict=False):
        if mine != other:
            break
        ahead += 1
    first, stop = place - back, place + ahead
    begin, end = start - back, start + ahead
    if first == 1 and begin > 0 and theirs[begin - 1].endswith(ours[0]):
        first, begin = 0, begin - 1
    if stop == len(ours) - 1 and end < len(theirs) and theirs[end].startswith(ours[-1]):
        stop, end = stop + 1, end + 1
    return Run(begin, end, whole=first == 0 and stop == len(ours))


def border_run(chunk: Words, gold: Words) -> Run | None:
    """The longer one of two runs: the gold's start, with which the chunk ends, and its end, with which it begins."""
    begun, ended = _ends_as_gold_begins(chunk, gold), _begins_as_gold_ends(chunk, gold)
    if max(begun, ended) < MIN_RUN:
        return None
    return Run(0, begun, whole=False) if begun >= ended else Run(gold.count - ended, gold.count, whole=False)


def _ends_as_gold_begins(chunk: Words, gold: Words) -> int:
    """How many tokens at the end of the chunk are those at the start of the gold."""
    head = gold.tokens[:_EDGE]
    if not chunk.vocabulary.issuperset(head):
        return 0
    framed, at = f" {' '.join(head)} ", -1
    for _ in range(_TRIES):
        at = chunk.padded.find(framed, at + 1)
        if at < 0:
            return 0
        tail = chunk.padded[at:-1]
        if gold.padded.startswith(tail):
            return tail.count(" ")
    return 0


def _begins_as_gold_ends(chunk: Words, gold: Words) -> int:
    """How many tokens at the start of the chunk are those at the end of the gold."""
    last = gold.tokens[-_EDGE:]
    if not chunk.vocabulary.issuperset(last):
        return 0
    framed, at = f" {' '.join(last)} ", len(chunk.padded)
    for _ in range(_TRIES):
        at = chunk.padded.rfind(framed, 0, at + len(framed) - 1)
        if at < 0:
            return 0
        head = chunk.padded[1 : at + len(framed) - 1]
        if gold.joined.endswith(head):
            return head.count(" ") + 1
    return 0
