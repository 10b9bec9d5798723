"""The run of a gold's tokens that a chunk holds. A chunk's first and last token may be fragments, where it was cut.

Everything takes time linear in the two lengths: texts are searched by `str.find`, a bounded number of times.
"""

from collections.abc import Iterator
from typing import NamedTuple

from evals.case.matching.words import Words

MIN_RUN = 4
"""A run of fewer tokens shared at a border is chance."""
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
    if chunk.count > gold.count or not gold.vocabulary.issuperset(chunk.first[1:]):
        return None
    at = gold.joined.find(chunk.joined)
    if at < 0:
        return None
    start = gold.joined.count(" ", 0, at)
    return Run(start, start + chunk.count, whole=True)


def large_run(chunk: Words, gold: Words, fewest: int, share: float) -> Run | None:
    """A run of at least so many tokens that is at least such a share of the chunk."""
    least, probes = chunk.probes(fewest, share)
    if gold.count < least:
        return None
    for place, probe in probes:
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
    back = agreeing(ours[:place][::-1], theirs[:start][::-1])
    ahead = agreeing(ours[place:], theirs[start:])
    first, stop = place - back, place + ahead
    begin, end = start - back, start + ahead
    if first == 1 and begin > 0 and theirs[begin - 1].endswith(ours[0]):
        first, begin = 0, begin - 1
    if stop == len(ours) - 1 and end < len(theirs) and theirs[end].startswith(ours[-1]):
        stop, end = stop + 1, end + 1
    return Run(begin, end, whole=first == 0 and stop == len(ours))


def agreeing(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many tokens at the start of the two are the same."""
    shorter = min(len(one), len(other))
    if one[:shorter] == other[:shorter]:
        return shorter
    return next(place for place, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs)


def border_run(chunk: Words, gold: Words) -> Run | None:
    """The longer one of two runs: the gold's start, with which the chunk ends, and its end, with which it begins."""
    begun, ended = _ends_as_gold_begins(chunk, gold), _begins_as_gold_ends(chunk, gold)
    if max(begun, ended) < MIN_RUN:
        return None
    return Run(0, begun, whole=False) if begun >= ended else Run(gold.count - ended, gold.count, whole=False)


def _ends_as_gold_begins(chunk: Words, gold: Words) -> int:
    """How many tokens at the end of the chunk are those at the start of the gold."""
    if not chunk.vocabulary.issuperset(gold.first):
        return 0
    framed, at = f" {' '.join(gold.first)} ", -1
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
    if not chunk.vocabulary.issuperset(gold.last):
        return 0
    framed, at = f" {' '.join(gold.last)} ", len(chunk.padded)
    for _ in range(_TRIES):
        at = chunk.padded.rfind(framed, 0, at + len(framed) - 1)
        if at < 0:
            return 0
        head = chunk.padded[1 : at + len(framed) - 1]
        if gold.joined.endswith(head):
            return head.count(" ") + 1
    return 0
