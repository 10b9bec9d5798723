"""Whether a chunk that holds most of a gold says something else in a value, a name or a negation: 90 days for 60.

The two are laid side by side where they share three tokens in a row and more. Between two such runs either may say a
few tokens of its own: where both say values, and other ones, or only one of them denies, they contradict each other.
"""

from bisect import bisect_left, bisect_right

from evals.case.matching.runs import read_runs, shared_threes
from evals.case.matching.values import are_alike, are_opposites, denies, read_alike, value_of
from evals.case.matching.words import Words

_SHARED = 3
"""Tokens in a row by which the two are laid side by side."""
_MOST = 8
"""Tokens that either says of its own in one place: more are another text."""
_MOST_INSERTED = 2
"""Tokens that one may say more than the other: with more it is a line of the page that says so."""
_MOST_AT_END = 3

Place = tuple[int, int]
"""A place in the gold, and one in the chunk, by tokens."""


def contradicts(chunk: Words, gold: Words) -> bool:
    """Whether the chunk has another value in the place of one of the gold's, or has or lacks a negation there.

    What the chunk does not hold at all is no contradiction, nor is what either says elsewhere in the same words.
    """
    runs = _shared_runs(chunk, gold)
    starts, stops = sorted(runs), sorted(runs.values())
    return any(_differ_after(stop, starts, chunk, gold) for stop in stops) or any(
        _differ_before(start, chunk, gold) for start in starts if start[0] <= _MOST_AT_END
    )


def _shared_runs(chunk: Words, gold: Words) -> dict[Place, Place]:
    """Where runs that both say start, and where they stop."""
    last: dict[Place, Place] = {}
    for place, there in shared_threes(chunk, gold):
        for at in there:
            last[at, place] = last.pop((at - 1, place - 1), (at, place))
    return {start: (at + _SHARED, place + _SHARED) for (at, place), start in last.items()}


def _differ_after(stop: Place, starts: list[Place], chunk: Words, gold: Words) -> bool:
    """Whether the two contradict each other between the stop of a run and the next one, or the end of the gold."""
    ahead, left = _next_run(stop, starts), gold.count - stop[0]
    if ahead is None and 1 < left <= _MOST_AT_END:
        near = range(stop[1], stop[1] + _MOST)
        ahead = next(((gold.count - 2, at) for at in near if chunk.tokens[at : at + 2] == gold.tokens[-2:]), None)
    if ahead is not None:
        return _differ_between(stop, ahead, chunk, gold)
    return left <= _MOST_AT_END and _differ_at_end(stop, chunk, gold)


def _differ_before(start: Place, chunk: Words, gold: Words) -> bool:
    """The same before a run that is near the start of the gold."""
    near = range(max(0, start[1] - _MOST), start[1] - 1) if start[0] > 1 else ()
    stop = next(((2, at + 2) for at in near if chunk.tokens[at : at + 2] == gold.tokens[:2]), None)
    if stop is not None:
        return _differ_between(stop, start, chunk, gold)
    return _differ_at_start(start, chunk, gold)


def _differ_at_start(start: Place, chunk: Words, gold: Words) -> bool:
    """The same before the first run, where nothing more is shared."""
    ours, theirs = gold.tokens[: start[0]][::-1], chunk.tokens[max(0, start[1] - _MOST_AT_END) : start[1]][::-1]
    size = _differing_at_end(ours, theirs)
    cut = 0 < size == len(theirs) == start[1] and ours[size - 1].endswith(theirs[-1])
    if not size or cut or _is_cut(chunk, gold):
        return False
    return not _is_said(chunk.tokens[start[1] - size : start[1] + _SHARED], gold)


def _differ_at_end(stop: Place, chunk: Words, gold: Words) -> bool:
    """The same after the last run, where nothing more is shared."""
    ours, theirs = gold.tokens[stop[0] :], chunk.tokens[stop[1] : stop[1] + _MOST_AT_END]
    size = _differing_at_end(ours, theirs)
    cut = 0 < size == len(theirs) and stop[1] + size == chunk.count and ours[size - 1].startswith(theirs[-1])
    if not size or cut or _is_cut(chunk, gold):
        return False
    return not _is_said(chunk.tokens[stop[1] - _SHARED : stop[1] + size], gold)


def _is_cut(chunk: Words, gold: Words) -> bool:
    """Whether a border of the chunk has cut the gold: it is beside another item."""
    return any(run.is_cut and not run.whole for run in read_runs(chunk, gold))


def _next_run(stop: Place, starts: list[Place]) -> Place | None:
    """The nearest run that begins in both texts where another one stops, or a few tokens later."""
    at, place = stop
    first, last = bisect_left(starts, (at - 2, 0)), bisect_right(starts, (at + _MOST + 1, 0))
    near = [one for one in starts[first:last] if place - 2 <= one[1] <= place + _MOST]
    return min(near, key=sum, default=None)


def _differ_between(stop: Place, ahead: Place, chunk: Words, gold: Words) -> bool:
    """Whether the two contradict each other between two runs, and neither says elsewhere what the other does."""
    shared = max(0, stop[0] - ahead[0], stop[1] - ahead[1])
    first, second = stop[0] - shared, stop[1] - shared
    ours, theirs = gold.tokens[first : ahead[0]], chunk.tokens[second : ahead[1]]
    before, after = gold.tokens[max(0, first - 2) : first], gold.tokens[ahead[0] : ahead[0] + 2]
    if not _contradict(ours, theirs, after[0], chunk.names | gold.names):
        return False
    return not (_is_said((*before, *ours, *after), chunk) or _is_said((*before, *theirs, *after), gold))


def _is_said(tokens: tuple[str, ...], words: Words) -> bool:
    return f" {' '.join(tokens)} " in words.padded


def _contradict(ours: tuple[str, ...], theirs: tuple[str, ...], after: str, names: frozenset[str]) -> bool:
    """Whether two texts of a few tokens say other values or names, or one of them denies."""
    if not (_say_other_values(ours, theirs, names) or denies(ours, after) != denies(theirs, after)):
        return len(ours) == len(theirs) and any(map(are_opposites, ours, theirs))
    if read_alike(ours) == read_alike(theirs):
        return False
    mine, yours = _without(ours, theirs), _without(theirs, ours)
    if _say_other_values(mine, yours, names) and abs(len(mine) - len(yours)) <= _MOST_INSERTED:
        return True
    fewer, more = sorted((len(mine), len(yours)))
    in_place = fewer <= _MOST_INSERTED and more <= _MOST_INSERTED + bool(fewer)
    return in_place and denies(mine, after) != denies(yours, after)


def _say_other_values(ours: tuple[str, ...], theirs: tuple[str, ...], names: frozenset[str] = frozenset()) -> bool:
    """Whether both say values or names, and each one that the other does not."""
    mine, yours = ([value_of(one) or one for one in some if value_of(one) or one in names] for some in (ours, theirs))
    return not (set(mine) <= set(yours) or set(yours) <= set(mine) or "".join(mine) == "".join(yours))


def _without(some: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    """The tokens that are not among the others, rightly or wrongly read."""
    return tuple(one for one in some if not any(are_alike(one, other) for other in others))


def _differing_at_end(ours: tuple[str, ...], theirs: tuple[str, ...]) -> int:
    """How many tokens it takes from a run towards an end of the gold to come to another value; 0 where there is none.

    What stands beyond it must be the same, as else the chunk has something else there: the number of a page.
    """
    found = others = 0
    for place, (mine, yours) in enumerate(zip(ours, theirs, strict=False), 1):
        if mine not in theirs and _say_other_values((mine,), (yours,)):  # it may stand behind the number of a page
            found = found or place
        elif found:
            return found if mine == yours else 0
        elif mine != yours:
            others += 1
        if others > 1:
            return 0
    return found
