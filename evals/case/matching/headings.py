"""A heading that a chunk and a gold both begin with, such as the title of their article, is no passage of the gold."""

from itertools import pairwise

from evals.case.matching.runs import MIN_RUN, agreeing
from evals.case.matching.words import Words

_LONGEST = 40
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
    length = agreeing(said, gold.tokens)
    if not MIN_RUN <= length <= _LONGEST or place + length >= end or length == gold.count:
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
