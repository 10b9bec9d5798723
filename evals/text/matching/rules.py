"""The rules by which one chunk is recognised as one gold, each alone."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from evals.schemas.dataset import GoldPassage
from evals.schemas.response import RetrievedChunk
from evals.text.matching.documents import MatchSettings, Rule, RunEvidence
from evals.text.matching.runs import MIN_RUN, Run, read_runs, shared_heading, shared_threes
from evals.text.matching.words import Words, are_alike, are_opposites, denies, derived, read_alike, value_of

# Whether a chunk that holds most of a gold says something else in a value, a name or a negation: 90 days for 60.


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


T = TypeVar("T")

AUTO: tuple[Rule, ...] = ("chunk_id", "span", "text", "inside", "overlap")


OF_TEXT: frozenset[str] = frozenset({"text", "inside", "overlap"})
"""Rules that look at nothing but the texts."""


class Seen(NamedTuple):
    """A distinct chunk of a response.

    Attributes:
        place: In the response.
        chunk: The chunk.
        words: Of its text; None where it has none.
        core: Its words without those at its ends that are common to many chunks; None where nothing is.
        margins: With how many words that are common to many chunks it begins, and with how many it ends.
        ids: Its id, and those of the chunks that repeat it.
    """

    place: int
    chunk: RetrievedChunk
    words: Words | None
    core: Words | None
    margins: tuple[int, int]
    ids: Sequence[str]


@dataclass
class Wanted:
    """A gold, with what decides whether a chunk is it; each chunk is compared with it once."""

    gold: GoldPassage
    words: Words
    settings: MatchSettings
    evidence: RunEvidence
    _ruled: dict[int, tuple[Rule | None, Run | None]] = field(default_factory=dict, init=False)
    _runs: dict[int, Sequence[tuple[Words, Sequence[Run]]]] = field(default_factory=dict, init=False)

    @derived
    def rules(self) -> list[Rule]:
        """The rules to try, in their order: not those for which it says too little."""
        rule, gold, length, settings = self.settings.rule, self.gold, self.words.count, self.settings
        lacking = {
            "chunk_id": gold.chunk_id is None,
            "span": gold.span is None,
            "inside": length < settings.inside_min_tokens,
            "overlap": length < settings.overlap_min_tokens,
        }
        return [name for name in (AUTO if rule == "auto" else (rule,)) if not lacking.get(name)]

    def first_rule(self, one: Seen) -> tuple[Rule | None, Run | None]:
        """The first rule that holds, and the run of the gold that the chunk holds where a rule has looked for it."""
        if one.place not in self._ruled:
            self._ruled[one.place] = self._first_rule(one)
        return self._ruled[one.place]

    def _first_rule(self, one: Seen) -> tuple[Rule | None, Run | None]:
        run = None
        for rule in self.rules:
            if rule == "inside":
                run = self.run_inside(one)
                if run is not None and run.length >= self.settings.inside_gold_share * self.words.count:
                    return rule, run
            elif _HOLDS[rule](self, one):
                return rule, run
        if self.settings.rule == "auto" and self._only_documents_tell(one) and _is_its_document(self, one):
            return "document", None
        return None, run

    def _only_documents_tell(self, one: Seen) -> bool:
        """Whether nothing finer could be compared: a text is lacking, and the gold names no chunk or characters."""
        gold = self.gold
        return one.words is None or not (gold.text or gold.chunk_id or (gold.span and one.chunk.span))

    def run_inside(self, one: Seen) -> Run | None:
        """The one run of the gold that the chunk is, but for what was added to it."""
        fewest, share = self.settings.inside_min_tokens, self.settings.inside_chunk_share
        for words, runs in self._read(one):
            run = max(runs, key=lambda run: run.length, default=None)
            if run is not None and run.length >= max(fewest, share * words.count):
                return None if self._is_heading(run, one) or contradicts(words, self.words) else run
        return None

    def _read(self, one: Seen) -> Sequence[tuple[Words, Sequence[Run]]]:
        """The words of the chunk, with and without those common to many chunks, each with the runs of the gold."""
        if one.place not in self._runs:
            read = [words for words in (one.words, one.core) if words is not None]
            self._runs[one.place] = [(words, read_runs(words, self.words)) for words in read]
        return self._runs[one.place]

    def _is_heading(self, run: Run, one: Seen) -> bool:
        """Whether the run is what gold and chunk begin with before each goes on by itself."""
        return run.start == 0 and not run.whole and self.heading_of(one) == run.stop

    def heading_of(self, one: Seen) -> int:
        """How many tokens of a heading the gold and the chunk have in common.

        A response alone says too little of headers: a chunk that comes after must not take a hit away.
        """
        before, after = one.margins
        tokens = one.words.tokens if one.words else ()
        return shared_heading(tokens, self.words, before if self.evidence.of_run else 0, after)

    def is_refused(self, one: Seen, *, at_home: bool) -> bool:
        """Whether a hit by its text alone is none, as the chunk is of another document.

        Args:
            one: The chunk.
            at_home: Whether an earlier chunk holds the gold and names its document: without a run, that is how names
                are known to be comparable.
        """
        names = self.evidence.names
        if self.settings.count_other_documents or names.comparable is False or not (names.comparable or at_home):
            return False
        return names.is_other(one.chunk, self.gold.document_id)

    def is_elsewhere(self, chunk: RetrievedChunk) -> bool:
        """Whether the chunk is of another document, as far as the names can tell."""
        names = self.evidence.names
        return names.comparable is not False and names.is_other(chunk, self.gold.document_id)

    def part(self, one: Seen, rule: str | None, runs: Mapping[int, Run | None]) -> Run | None:
        """What the chunk holds of the gold: all of it by most rules; None for nothing that counts.

        Args:
            one: The chunk.
            rule: By which it was recognised, if by any.
            runs: Of chunks, by place, as far as they are known.
        """
        if rule is not None and rule not in {"inside", "overlap"}:
            return self._everything
        run = runs[one.place] if one.place in runs else self.piece(one)
        if rule == "overlap":  # loose words may be more than the run that the chunk happens to end with
            enough = run is not None and run.length >= self.settings.overlap_threshold * self.words.count
            return run if enough else self._everything
        return None if run is None or (rule is None and self.is_elsewhere(one.chunk)) else run

    @derived
    def _everything(self) -> Run:
        return Run(0, self.words.count, whole=False)

    def piece(self, one: Seen) -> Run | None:
        """What the chunk holds of a gold that chunk borders have cut.

        Only running text counts: the start of the gold if the chunk ends with it, the end of the gold if it begins with
        it, all of the chunk if it stands in the gold. Loose words of many chunks never add up to a gold.
        """
        for words, runs in self._read(one):
            run = max((run for run in runs if run.is_cut), key=lambda run: run.length, default=None)
            if run is not None and run.length >= MIN_RUN:
                return None if contradicts(words, self.words) else run
        return None


def _has_its_id(wanted: Wanted, one: Seen) -> bool:
    """Whether the ids are equal, and say that it is the chunk: one that each document has does not by itself."""
    if wanted.gold.chunk_id not in one.ids:
        return False
    evidence, document = wanted.evidence, wanted.gold.document_id
    if evidence.repeated_ids and not document:
        return one.words is None
    bound = evidence.repeated_ids or evidence.names.comparable
    return not (bound and evidence.names.is_other(one.chunk, document))


def _covers_its_span(wanted: Wanted, one: Seen) -> bool:
    ours, theirs = one.chunk.span, wanted.gold.span
    if ours is None or theirs is None or not _is_its_document(wanted, one):
        return False
    covered = min(ours[1], theirs[1]) - max(ours[0], theirs[0])
    return covered >= wanted.settings.overlap_threshold * (theirs[1] - theirs[0])


def _is_its_document(wanted: Wanted, one: Seen) -> bool:
    return wanted.evidence.names.is_same(one.chunk, wanted.gold.document_id) is True


def _holds_it(wanted: Wanted, one: Seen) -> bool:
    gold = wanted.words
    if one.words is None or not gold.count or not one.words.vocabulary.issuperset(gold.first):
        return False
    if gold.padded not in one.words.padded:
        return False
    return gold.count >= wanted.settings.short_gold_tokens or not wanted.is_elsewhere(one.chunk)


def _overlaps_it(wanted: Wanted, one: Seen) -> bool:
    """Whether the chunk holds enough of the gold's tokens, enough of them as running text, and no other number."""
    gold, words, least = wanted.words, one.words, wanted.settings.overlap_threshold
    if words is None or words.count < least * gold.count:
        return False
    if len(gold.vocabulary & words.vocabulary) < len(gold.vocabulary) - (1 - least) * gold.count:
        return False
    if not _holds_enough(words, gold, wanted.settings) or contradicts(words, gold):
        return False
    heading = wanted.heading_of(one)
    return not heading or _holds_enough(words, Words(gold.tokens[heading:]), wanted.settings)


def _holds_enough(words: Words, gold: Words, settings: MatchSettings) -> bool:
    """Whether enough of the gold's tokens and of its pairs of neighbouring tokens are there."""
    least, least_pairs = settings.overlap_threshold, settings.overlap_pairs_threshold
    if gold.count > 1 and not _may_hold_pairs(words, gold, least_pairs):
        return False
    if _share(gold.bag, words.bag, gold.count) < least:
        return False
    return gold.count < 2 or _share(gold.pairs, words.pairs, gold.count - 1) >= least_pairs


def _may_hold_pairs(words: Words, gold: Words, least: float) -> bool:
    """Whether enough of the gold's pairs are there at all: counting all those of a chunk takes longer."""
    total, lost, text = gold.count - 1, 0, words.padded
    for (one, other), count in gold.pairs.items():
        if f" {one} {other} " not in text:
            lost += count
            if (total - lost) / total < least:
                return False
    return True


def _share(wanted: Mapping[T, int], held: Mapping[T, int], total: int) -> float:
    """The share of what is wanted, counted with repetition, that is held."""
    found = 0
    for item, count in wanted.items():
        there = held.get(item, 0)
        found += count if count < there else there  # as `min` does, in a third of its time
    return found / total


_HOLDS: Mapping[str, Callable[[Wanted, Seen], bool]] = {
    "chunk_id": _has_its_id,
    "span": _covers_its_span,
    "text": _holds_it,
    "overlap": _overlaps_it,
    "document": _is_its_document,
}
