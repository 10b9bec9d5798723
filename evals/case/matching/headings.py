"""A heading that a chunk and a gold both begin with, such as the title of their article, is no passage of the gold."""

from evals.case.matching.runs import MIN_RUN, agreeing
from evals.case.matching.words import Words

_LONGEST = 40
"""Tokens of a heading: text that is longer says something by itself."""
_SAME = 0.5
"""Where so many pairs of what follows in the chunk are the gold's, a word was misread and no heading ended."""


def shared_heading(chunk: tuple[str, ...], gold: Words, before: int = 0) -> int:
    """How many tokens the two begin with before each goes on with something else; 0 where they do not.

    A chunk that was cut out of the gold goes on as the gold does, up to its own end.

    Args:
        chunk: The tokens of the chunk, without those that many chunks end with.
        gold: The words of the gold.
        before: At most so many tokens of the chunk stand before the heading, as many chunks begin with them.
    """
    place = _start_of(gold, chunk, before)
    if place is None:
        return 0
    said = chunk[place:]
    length = agreeing(said, gold.tokens)
    if not MIN_RUN <= length <= _LONGEST or length == gold.count or _is_cut_there(said, gold, length):
        return 0
    rest = Words(said[length:])
    same = sum(count for pair, count in rest.pairs.items() if pair in gold.pairs)
    return 0 if same and same >= _SAME * (rest.count - 1) else length


def _start_of(gold: Words, chunk: tuple[str, ...], before: int) -> int | None:
    """At which of its first tokens the chunk begins as the gold does."""
    size = len(gold.first)
    return next((at for at in range(before + 1) if chunk[at : at + size] == gold.first), None)


def _is_cut_there(said: tuple[str, ...], gold: Words, length: int) -> bool:
    """Whether the chunk ends where they differ, in the middle of a word or not."""
    last = len(said) - 1
    return length > last or (length == last and gold.tokens[length].startswith(said[last]))
