"""Whether a chunk that holds most of a gold says something else in a number or a negation: 90 days for 60."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from evals.case.matching.words import Words

_CANNOT = "cannot"
_NEGATIONS = frozenset({"not", "never", "no", "without", _CANNOT})
_SIDES = {"before": (-2, -1, 1), "after": (-1, 1, 2), "first": (1, 2, 3), "last": (-3, -2, -1)}
"""The neighbours by which a number is known to stand in the place of another: of one side only at the gold's ends."""

Place = tuple[str, str, str, str]
"""The name of the side, and the three neighbours."""


def contradicts(chunk: Words, gold: Words) -> bool:
    """Whether the chunk has another number in the place of one of the gold's, or has or lacks a negation there.

    What the chunk does not hold at all is no contradiction, nor is what the gold itself says in such a place.
    """
    return _another_number(chunk, gold) or _negates(chunk, gold) or _negates(gold, chunk)


def _another_number(chunk: Words, gold: Words) -> bool:
    wanted = _numbers_by_place(gold)
    said: dict[Place, set[str]] = {}
    for at in chunk.numbers if wanted else ():
        for place in _places(chunk, at):
            if place in wanted:
                said.setdefault(place, set()).add(chunk.tokens[at])
    return any(
        not all(_may_be_fragment(other, number, chunk) for other in said[place] - wanted[place])
        for place, number in _numbers_in_place(gold)
        if place in said and number not in said[place]
    )


def _may_be_fragment(found: str, number: str, chunk: Words) -> bool:
    """Whether the border of the chunk may have cut the number."""
    starts, ends = found == chunk.tokens[0], found == chunk.tokens[-1]
    return (starts and number.endswith(found)) or (ends and number.startswith(found))


def _numbers_in_place(gold: Words) -> Iterator[tuple[Place, str]]:
    """Each number of the gold with the places by which it is looked for."""
    for at in gold.numbers:
        inner = {"first": at > 0, "last": at < gold.count - 1}
        yield from ((place, gold.tokens[at]) for place in _places(gold, at) if not inner.get(place[0]))


@lru_cache(maxsize=128)
def _numbers_by_place(gold: Words) -> Mapping[Place, set[str]]:
    """Which numbers of the gold stand in a place."""
    found: dict[Place, set[str]] = {}
    for at in gold.numbers:
        for place in _places(gold, at):
            found.setdefault(place, set()).add(gold.tokens[at])
    return found


def _places(words: Words, at: int) -> Iterator[Place]:
    tokens = words.tokens
    for side, (first, second, third) in _SIDES.items():
        if at + first >= 0 and at + third < words.count:
            yield side, tokens[at + first], tokens[at + second], tokens[at + third]


def _negates(one: Words, other: Words) -> bool:
    """Whether the one text negates something that the other says in the same words without the negation."""
    if one.vocabulary.isdisjoint(_NEGATIONS):
        return False
    for at, token in enumerate(one.tokens):
        if token in _NEGATIONS and 2 <= at < one.count - 2:
            earlier, before, _, after, later = one.tokens[at - 2 : at + 3]
            affirmed = (before, "can", after, later) if token == _CANNOT else (earlier, before, after, later)
            denied = (before, token, after, later)
            if affirmed in other.fours and denied not in other.fours and affirmed not in one.fours:
                return True
    return False
