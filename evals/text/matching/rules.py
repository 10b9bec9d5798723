"""The matching rules, each for one chunk and one gold passage."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from evals.schemas.dataset import GoldPassage
from evals.schemas.response import RetrievedChunk
from evals.text.matching.documents import MatchSettings, Rule, RunEvidence
from evals.text.matching.runs import MIN_RUN, Run, contradicts, read_runs, shared_heading
from evals.text.matching.words import Words, derived

T = TypeVar("T")

AUTO: tuple[Rule, ...] = ("chunk_id", "span", "text", "inside", "overlap")

OF_TEXT: frozenset[str] = frozenset({"text", "inside", "overlap"})
"""Rules that look at nothing but the texts."""


@dataclass
class Candidate:
    """A distinct chunk of a response.

    Attributes:
        place: In the response.
        chunk: The chunk.
        words: Of its text; None where it has none.
        margins: With how many words that are common to many chunks it begins, and with how many it ends.
        ids: Its id, and those of the chunks that repeat it.
    """

    place: int
    chunk: RetrievedChunk
    words: Words | None
    margins: tuple[int, int]
    ids: Sequence[str]

    @derived
    def readings(self) -> Sequence[Words]:
        """Its words, and where they begin or end with words common to many chunks, also those without."""
        first, last = self.margins
        if self.words is None or not (first or last):
            return [self.words] if self.words else []
        return [self.words, Words(self.words.tokens[first : self.words.count - last], self.words.text)]


@dataclass
class Wanted:
    """A gold passage with the rules that apply to it."""

    gold: GoldPassage
    words: Words
    settings: MatchSettings
    evidence: RunEvidence
    refused: set[int] = field(default_factory=set, init=False)
    """Places of chunks that hold its text and do not count, as they are of another document."""
    _inside: dict[int, Run | None] = field(default_factory=dict, init=False)
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

    def first_rule(self, one: Candidate) -> Rule | None:
        """The first rule that holds; the document's where nothing finer could be compared."""
        rule = next((rule for rule in self.rules if _HOLDS[rule](self, one)), None)
        if rule or self.settings.rule != "auto" or self._is_compared(one):
            return rule
        return "document" if _is_its_document(self, one) else None

    def _is_compared(self, one: Candidate) -> bool:
        gold = self.gold
        return one.words is not None and bool(gold.text or gold.chunk_id or (gold.span and one.chunk.span))

    def note_inside(self, one: Candidate) -> Run | None:
        """The one run of the gold that the chunk is, but for what was added to it; remembered as a piece."""
        self._inside[one.place] = run = self._run_inside(one)
        return run

    def _run_inside(self, one: Candidate) -> Run | None:
        fewest, share = self.settings.inside_min_tokens, self.settings.inside_chunk_share
        for words, runs in self._read(one):
            run = max(runs, key=lambda run: run.length, default=None)
            if run is not None and run.length >= max(fewest, share * words.count):
                return None if self._is_heading(run, one) or contradicts(words, self.words) else run
        return None

    def _read(self, one: Candidate) -> Sequence[tuple[Words, Sequence[Run]]]:
        """The readings of the chunk, each with the runs of the gold in it."""
        if one.place not in self._runs:
            self._runs[one.place] = [(words, read_runs(words, self.words)) for words in one.readings]
        return self._runs[one.place]

    def _is_heading(self, run: Run, one: Candidate) -> bool:
        """Whether the run is what gold and chunk begin with before they differ."""
        return run.start == 0 and not run.whole and self.heading_of(one) == run.stop

    def heading_of(self, one: Candidate) -> int:
        """How many tokens of a heading the gold and the chunk have in common.

        A response alone says too little of headers: a chunk that comes after must not take a hit away.
        """
        before, after = one.margins
        tokens = one.words.tokens if one.words else ()
        return shared_heading(tokens, self.words, before if self.evidence.of_run else 0, after)

    def is_refused(self, one: Candidate, *, at_home: bool) -> bool:
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

    def part(self, one: Candidate, rule: str | None) -> Run | None:
        """What the chunk holds of the gold: all of it by most rules; None for nothing that counts."""
        everything = Run(0, self.words.count, whole=False)
        if rule not in {None, "inside", "overlap"}:
            return everything
        run = self._inside.get(one.place) or self.piece(one)
        if rule == "overlap":  # loose words may be more than the run that the chunk happens to end with
            enough = run is not None and run.length >= self.settings.overlap_threshold * self.words.count
            return run if enough else everything
        if run is None or one.place in self.refused or (rule is None and self.is_elsewhere(one.chunk)):
            return None
        return run

    def piece(self, one: Candidate) -> Run | None:
        """What the chunk holds of a gold that chunk borders have cut.

        Only running text counts: the start of the gold if the chunk ends with it, the end of the gold if it begins with
        it, all of the chunk if it stands in the gold. Loose words of many chunks never add up to a gold.
        """
        for words, runs in self._read(one):
            run = max((run for run in runs if run.is_cut), key=lambda run: run.length, default=None)
            if run is not None and run.length >= MIN_RUN:
                return None if contradicts(words, self.words) else run
        return None


def _has_its_id(wanted: Wanted, one: Candidate) -> bool:
    """Whether the ids are equal, and say that it is the chunk: one that each document has does not by itself."""
    if wanted.gold.chunk_id not in one.ids:
        return False
    evidence, document = wanted.evidence, wanted.gold.document_id
    if evidence.repeated_ids and not document:
        return one.words is None
    bound = evidence.repeated_ids or evidence.names.comparable
    return not (bound and evidence.names.is_other(one.chunk, document))


def _covers_its_span(wanted: Wanted, one: Candidate) -> bool:
    ours, theirs = one.chunk.span, wanted.gold.span
    if ours is None or theirs is None or not _is_its_document(wanted, one):
        return False
    covered = min(ours[1], theirs[1]) - max(ours[0], theirs[0])
    return covered >= wanted.settings.overlap_threshold * (theirs[1] - theirs[0])


def _is_its_document(wanted: Wanted, one: Candidate) -> bool:
    return wanted.evidence.names.is_same(one.chunk, wanted.gold.document_id) is True


def _holds_it(wanted: Wanted, one: Candidate) -> bool:
    gold = wanted.words
    if one.words is None or not gold.count or not one.words.vocabulary.issuperset(gold.first):
        return False
    if gold.padded not in one.words.padded:
        return False
    return gold.count >= wanted.settings.short_gold_tokens or not wanted.is_elsewhere(one.chunk)


def _is_inside_it(wanted: Wanted, one: Candidate) -> bool:
    run = wanted.note_inside(one)
    return run is not None and run.length >= wanted.settings.inside_gold_share * wanted.words.count


def _overlaps_it(wanted: Wanted, one: Candidate) -> bool:
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


_HOLDS: Mapping[str, Callable[[Wanted, Candidate], bool]] = {
    "chunk_id": _has_its_id,
    "span": _covers_its_span,
    "text": _holds_it,
    "inside": _is_inside_it,
    "overlap": _overlaps_it,
    "document": _is_its_document,
}
