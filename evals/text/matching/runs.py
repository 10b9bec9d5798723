"""The runs of a gold's tokens that a chunk holds, through misread words and fragments at its borders.

Both texts are laid side by side at each place where they share three tokens in a row: the run continues from there as
long as their tokens are the same or alike.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from evals.text.matching.words import EDGE, MOST_REPEATED, Words, are_alike, denies, read_alike, value_of

Line = tuple[str, ...]

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


# Whether a chunk that holds most of a gold says another value in a place, or denies what it says: 90 days for 60.


_MOST_APART = 8
"""Tokens that either says of its own between two runs that both say: more are another text."""


_MOST_INSERTED = 2
"""Tokens that one may say more than the other: with more it is a line of the page that says so."""


_AT_AN_END = 3
"""Tokens of the gold before the first run, or behind the last one, that are compared with those of the chunk."""


Place = tuple[int, int]
"""A place in the gold, and one in the chunk, by tokens."""


def contradicts(chunk: Words, gold: Words) -> bool:
    """Whether the chunk has another value in the place of one of the gold's, or has or lacks a negation there.

    What the chunk does not hold at all is no contradiction, nor is what either says elsewhere in the same words.
    """
    shared = _shared(chunk, gold)
    starts = sorted(shared)
    inner = ((stop, _next(stop, starts)) for stop in shared.values())
    if any(ahead and _differ_between(stop, ahead, chunk, gold) for stop, ahead in inner):
        return True
    if not any(_differ_between(stop, ahead, chunk, gold) for stop, ahead in _ends(shared, chunk, gold)):
        return False
    # Beyond the border of a chunk that has cut the gold stands another item.
    return not any(run.is_cut and not run.whole for run in read_runs(chunk, gold))


def _shared(chunk: Words, gold: Words) -> dict[Place, Place]:
    """Where runs that both say start, and where they stop."""
    last: dict[Place, Place] = {}
    for place, there in shared_threes(chunk, gold):
        for at in there:
            last[at, place] = last.pop((at - 1, place - 1), (at, place))
    return {start: (at + EDGE, place + EDGE) for (at, place), start in last.items()}


def _next(stop: Place, starts: Sequence[Place]) -> Place | None:
    """Where the nearest run starts in both texts behind the stop of another one."""
    at, place = stop
    first, last = bisect_left(starts, (at - 2, 0)), bisect_right(starts, (at + _MOST_APART + 1, 0))
    return min((one for one in starts[first:last] if place - 2 <= one[1] <= place + _MOST_APART), key=sum, default=None)


def _ends(shared: Mapping[Place, Place], chunk: Words, gold: Words) -> Iterator[tuple[Place, Place]]:
    """Where few tokens of the gold are before a run, or behind one, and those of the chunk differ in values only.

    Names count as values where the outermost tokens are the same: else the chunk continues with other text.
    """
    for (at, place), (stop, behind) in shared.items():
        left = gold.count - stop
        sides = (
            ((0, place - at), (at, place), at <= place, 0),
            ((stop, behind), (gold.count, behind + left), behind + left <= chunk.count, -1),
        )
        for (first, second), (last, end), is_there, outermost in sides:
            if not 0 < last - first <= _AT_AN_END or not is_there:
                continue
            pairs = list(zip(gold.tokens[first:last], chunk.tokens[second:end], strict=True))
            names = chunk.names | gold.names if pairs[outermost][0] == pairs[outermost][1] else frozenset()
            if all(one == other or denies((one, other)) or _is_said_by_both(one, other, names) for one, other in pairs):
                yield (first, second), (last, end)


def _is_said_by_both(one: str, other: str, names: frozenset[str]) -> bool:
    return bool((value_of(one) or one in names) and (value_of(other) or other in names))


def _differ_between(stop: Place, ahead: Place, chunk: Words, gold: Words) -> bool:
    """Whether the two contradict each other between the stop of a run and the start of the next one."""
    back = max(0, stop[0] - ahead[0], stop[1] - ahead[1])
    first, second = stop[0] - back, stop[1] - back
    ours, theirs = gold.tokens[first : ahead[0]], chunk.tokens[second : ahead[1]]
    if not _contradict(ours, theirs, chunk.names | gold.names):
        return False
    before, after = gold.tokens[max(0, first - 2) : first], gold.tokens[ahead[0] : ahead[0] + 2]
    return not (_is_said((*before, *ours, *after), chunk) or _is_said((*before, *theirs, *after), gold))


def _contradict(ours: Line, theirs: Line, names: frozenset[str]) -> bool:
    """Whether two texts of a few tokens each have a value or name that the other lacks, or only one has a negation."""
    if abs(len(ours) - len(theirs)) > _MOST_INSERTED or read_alike(ours) == read_alike(theirs):
        return False
    mine, yours = _only_in(ours, theirs), _only_in(theirs, ours)
    have_values = all(any(value_of(one) or one in names for one in some) for some in (mine, yours))
    return have_values or denies(mine) != denies(yours)


def _only_in(some: Line, others: Line) -> Line:
    """The tokens that are not among the others, rightly or wrongly read."""
    values = {value_of(other) for other in others} - {None}
    return tuple(
        one for one in some if value_of(one) not in values and not any(are_alike(one, other) for other in others)
    )


def _is_said(tokens: Line, words: Words) -> bool:
    return f" {' '.join(tokens)} " in words.padded


# Text that many chunks begin or end with: the header, footer or context line that a pipeline puts on each of them.


_LONGEST = 100
"""Tokens of a common beginning or end."""


_FEWEST = 3
"""This many texts at least must share it: of two, the one may be a part of the other."""


@dataclass(frozen=True, slots=True)
class CommonText:
    """What many texts begin and end with.

    Attributes:
        starts: The longest beginnings that this many texts share; any number stands for another, as on pages.
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
    starts, ends = [words.shapes for words in texts], [words.shapes_from_end for words in texts]
    return CommonText(_longest_common(starts, least), _longest_common(ends, least))


def _longest_common(lines: Sequence[Line], least: float) -> tuple[Line, ...]:
    """The longest beginnings that at least this many lines share."""
    if not any(count >= least for count in Counter(line[:1] for line in lines).values()):
        return ()
    counts = Counter(line[:size] for line in lines for size in range(1, min(len(line), _LONGEST) + 1))
    common = {line for line, count in counts.items() if count >= least}
    return tuple(sorted(common - {line[:-1] for line in common}))


# A heading that a chunk and a gold both begin with, such as the title of their article, is no passage of the gold.


_HEADINGS_LONGEST = 40
"""Tokens of a heading: text that is longer says something by itself."""


_SAME = 0.5
"""Where this many pairs of what follows in the chunk are the gold's, a word was misread and no heading ended."""


def shared_heading(chunk: tuple[str, ...], gold: Words, before: int, after: int) -> int:
    """How many tokens the two begin with before they differ; 0 where they do not.

    A chunk that was cut out of the gold continues as the gold does, up to its own end.

    Args:
        chunk: The tokens of the chunk.
        gold: The words of the gold.
        before: At most this many tokens of the chunk stand before the heading, as many chunks begin with them.
        after: This many tokens many chunks end with: the chunk's own end is before them.
    """
    size = len(gold.first)
    place = next((at for at in range(before + 1) if chunk[at : at + size] == gold.first), None)
    if place is None:
        return 0
    said, end = chunk[place:], len(chunk) - after
    length = _read_on(said, gold.tokens, 1)
    if not MIN_RUN <= length <= _HEADINGS_LONGEST or place + length >= end or length == gold.count:
        return 0
    return 0 if _goes_on(said[length:], gold) else length


def _goes_on(rest: tuple[str, ...], gold: Words) -> bool:
    """Whether the rest is text of the gold for the most part."""
    same = sum(pair in gold.pairs for pair in pairwise(rest))
    return same > 0 and same >= _SAME * (len(rest) - 1)
