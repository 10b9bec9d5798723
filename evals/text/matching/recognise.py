"""Comparing every chunk of a response with every gold of its question.

Chunk ids change at every ingestion, so gold ids rarely match. `auto` tries the rules in order and keeps the first
that holds, for each pair of chunk and gold; every rule can also be named alone.

=========  ==================================================================================================
chunk_id   equal ids, in the same document where ids count from 0 in each
span       same document, and the chunk covers at least 0.7 of the gold's characters, where both say where they stand
text       the gold stands in the chunk, as whole words; a short gold (under 8 tokens) also needs the same
           document where both name one
inside     at least 20 tokens of the gold in a row are at least half of the chunk and 0.1 of the gold
overlap    at least 0.7 of the tokens of the gold (of at least 8), and 0.6 of its pairs of neighbouring tokens,
           are in the chunk, and no other number in the place of one of the gold's; or the pieces of a gold that
           chunk borders have cut add up to 0.7
document   the same document; tried only when named, when a chunk carries no text, or for a gold known by its document
           alone
=========  ==================================================================================================
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from evals.schemas.dataset import GoldPassage
from evals.schemas.response import RetrievedChunk
from evals.text.matching.documents import MatchSettings, RunEvidence, bare_name, document_key, evidence_within, names_of
from evals.text.matching.rules import OF_TEXT, Seen, Wanted
from evals.text.matching.runs import Run
from evals.text.matching.words import Words, derived, mended, words_of

# Which chunks of a response are one and the same, retrieved again.


class ChunkList(NamedTuple):
    """The chunks of a response, with what is asked of all of them read once: reaching for a chunk takes the time.

    Attributes:
        chunks: In the server's order.
        ids: Their ids.
        texts: Their texts.
        original: For each the place of the first one that it repeats; a `range` where none repeats another.
        places: The place of each id; only where each has one of its own, and none repeats another.
    """

    chunks: Sequence[RetrievedChunk]
    ids: Sequence[str | None]
    texts: Sequence[str | None]
    original: Sequence[int]
    places: Mapping[str | None, int] | None = None

    @property
    def all_differ(self) -> bool:
        """Whether each has an id of its own, and none repeats another."""
        return self.places is not None


def chunk_list(chunks: Sequence[RetrievedChunk]) -> ChunkList:
    """Read the ids and texts of chunks, and see which repeat others."""
    ids, texts = [chunk.chunk_id for chunk in chunks], [chunk.text for chunk in chunks]
    places = dict(zip(ids, range(len(ids)), strict=True))
    # Of what has an id of its own, only a text can repeat another one.
    if len(places) == len(ids) and all(ids) and _all_differ([text for text in texts if text]):
        return ChunkList(chunks, ids, texts, range(len(ids)), places)
    return ChunkList(chunks, ids, texts, _originals(chunks))


def originals(chunks: Sequence[RetrievedChunk]) -> list[int]:
    """For each chunk the place of the first one that it repeats; its own place if it repeats none.

    A chunk repeats one of the same text in the same document. An id counts within one document, or with the same text,
    as many servers count from 0 in each document; the id of a chunk without text and document is that of any other.
    """
    return list(chunk_list(chunks).original)


def _originals(chunks: Sequence[RetrievedChunk]) -> list[int]:
    first: dict[object, int] = {}
    found = []
    for place, chunk in enumerate(chunks):
        name, document, text = chunk.chunk_id, chunk.document_id or chunk.document_name, chunk.text
        keys: list[object] = [(document, text)] if text or not name else []
        if name:
            keys += [("document", name, document)] if document else []
            keys += [("text", name, text)] if text else []
        bare = name is not None and not document and not text
        asked = [*keys, ("id" if bare else "bare", name)] if name else keys
        original = min((first[key] for key in asked if key in first), default=place)
        for key in [*keys, ("id", name), *([("bare", name)] if bare else [])] if name else keys:
            first.setdefault(key, original)
        found.append(original)
    return found


def _all_differ(values: Sequence[str]) -> bool:
    return len(set(values)) == len(values)


# The distinct chunks of a response, found by ids and documents, and looked at closely when a gold asks for one.


class DistinctChunks:
    """The chunks of a response that repeat no earlier one.

    Args:
        listed: All chunks of the response.
        golds: What is looked for in them.
        evidence: What is known beside this response.
    """

    def __init__(self, listed: ChunkList, golds: Sequence[GoldPassage], evidence: RunEvidence) -> None:
        self._listed = listed
        self._golds = golds
        self._chunks = listed.chunks
        self._original = listed.original
        self._has_texts = any(listed.texts)
        self.evidence = evidence
        self._seen: dict[int, Seen] = {}

    def is_alone(self, gold: GoldPassage, settings: MatchSettings) -> bool:
        """Whether the gold's id is all that can tell: no chunk has a text, and the gold names no document."""
        return bool(
            gold.chunk_id and not gold.document_id and not self._has_texts and settings.rule in {"auto", "chunk_id"}
        )

    def with_id(self, chunk_id: str) -> Sequence[int]:
        """The places of the chunks that have the id, or repeat one that has it."""
        if self._listed.places is None:
            return self._by_id.get(chunk_id, ())
        place = self._listed.places.get(chunk_id)
        return () if place is None else (place,)

    @derived
    def gold_words(self) -> list[Words]:
        """The words of each gold, by which words are mended that the end of a line has cut."""
        return [words_of(gold.text) for gold in self._golds]

    def candidates(self, gold: GoldPassage) -> list[Seen]:
        """The chunks that may be the gold, in their order: all of them where texts have to be compared."""
        if gold.chunk_id == "" or (self._has_texts and words_of(gold.text).count):
            return self._every
        found = {*self.with_id(gold.chunk_id or ""), *self._of_document(gold.document_id)}
        return [self._at(place) for place in sorted(found)]

    @derived
    def _every(self) -> list[Seen]:
        return [self._at(place) for place in self._places]

    @derived
    def _places(self) -> Sequence[int]:
        return self._original if self._listed.all_differ else list(dict.fromkeys(self._original))

    @derived
    def _by_id(self) -> dict[str, Sequence[int]]:
        found: dict[str, list[int]] = {}
        for name, place in zip(self._listed.ids, self._original, strict=True):
            places = found.setdefault(name or "", [])
            if place not in places:
                places.append(place)
        return {name: sorted(places) for name, places in found.items() if name}

    def _of_document(self, document_id: str | None) -> Sequence[int]:
        """The places of the chunks whose document may be the one of this name: no other name is taken for it."""
        if not document_id:
            return ()
        keyed, bare = self._by_document
        return [*keyed.get(document_key(document_id), ()), *bare.get(bare_name(document_id), ())]

    @derived
    def _by_document(self) -> tuple[dict[str, list[int]], dict[tuple[str, ...], list[int]]]:
        keyed: dict[str, list[int]] = {}
        bare: dict[tuple[str, ...], list[int]] = {}
        for place in self._places:
            for name in names_of(self._chunks[place]):
                keyed.setdefault(document_key(name), []).append(place)
                bare.setdefault(bare_name(name), []).append(place)
        return keyed, bare

    def _at(self, place: int) -> Seen:
        """A chunk with its words, and the ids of all its copies."""
        if place not in self._seen:
            chunk = self._chunks[place]
            words = mended(words_of(chunk.text), self.gold_words) if chunk.text else None
            margins = self.evidence.common.margins(words) if words else (0, 0)
            ids = self._copies[place] if self._copies else (chunk.chunk_id or "",)
            self._seen[place] = Seen(place, chunk, words, _core(words, *margins), margins, ids)
        return self._seen[place]

    @derived
    def _copies(self) -> dict[int, list[str]]:
        """For each place the ids of all that repeat it; empty where nothing is repeated."""
        ids: dict[int, list[str]] = {}
        if not self._listed.all_differ:
            for name, first in zip(self._listed.ids, self._original, strict=True):
                ids.setdefault(first, []).append(name or "")
        return ids


def _core(words: Words | None, first: int, last: int) -> Words | None:
    """The words without so many of the first and the last; None where there is nothing to leave out."""
    return Words(words.tokens[first : words.count - last], words.text) if words and (first or last) else None


# What came out of comparing the chunks of a response with the golds of its question.


@dataclass
class Matches:
    """Which chunk is which gold.

    Attributes:
        size: How many chunks there are.
        held: For the place of each relevant chunk, the golds (by index) that it covers, or holds a piece of that others
            complete, with the rule. Duplicates of an earlier chunk cover nothing.
        found: For each gold recognised, the place at which it is found and the rule. A gold cut by chunk borders is
            found where enough of it has been seen.
        original: For each rank, the place of the first chunk that this one repeats; its own place if it repeats none.
        complete: For a place and a gold of which the chunk there holds a piece only, the place that completes it.
        elsewhere: How many times a gold's text was seen in another document than its own, where that does not count.
    """

    size: int
    held: dict[int, dict[int, str]] = field(default_factory=dict)
    found: dict[int, tuple[int, str]] = field(default_factory=dict)
    original: Sequence[int] = ()
    complete: dict[tuple[int, int], int] = field(default_factory=dict)
    elsewhere: int = 0

    def add(self, place: int, gold: int, rule: str) -> None:
        """Say that the chunk at a place holds a gold."""
        self.held.setdefault(place, {})[gold] = rule

    @derived
    def by_chunk(self) -> list[Mapping[int, str]]:
        """For each rank, the golds (by index) that the chunk holds, with the rule."""
        return [self.held.get(place, _MATCHES_NOTHING) for place in range(self.size)]

    @derived
    def hits(self) -> list[bool]:
        """Whether the chunk at each rank is relevant."""
        return [place in self.held for place in range(self.size)]

    def hits_within(self, k: int) -> list[bool]:
        """Whether the chunk at each of the top k ranks is relevant, seen from these ranks alone.

        A piece of a gold that chunk borders have cut counts only where the top k complete the gold.
        """
        return [self._known_from.get(place, k) < k for place in range(min(k, self.size))]

    @derived
    def _known_from(self) -> dict[int, int]:
        """For the place of each relevant chunk, that at which its first gold is found, or complete if it is a piece."""
        return {
            place: min(self.complete.get((place, gold), self.found[gold][0]) for gold in golds)
            for place, golds in self.held.items()
        }

    @derived
    def hit_ranks(self) -> list[int]:
        """The ranks, from 1, of the relevant chunks."""
        return sorted(place + 1 for place in self.held)

    @derived
    def newly_found(self) -> list[set[int]]:
        """For each rank, the golds that are found there and at no earlier rank."""
        return self.newly_found_within(self.size)

    def newly_found_within(self, k: int) -> list[set[int]]:
        """For each of the top k ranks, the golds that are found there and at no earlier rank."""
        fresh: list[set[int]] = [set() for _ in range(min(k, self.size))]
        for gold, (place, _) in self.found.items():
            if place < len(fresh):
                fresh[place].add(gold)
        return fresh

    @derived
    def found_counts(self) -> list[int]:
        """For each rank down to the last at which a gold is found, how many are found there and at no earlier rank."""
        places = [place for place, _ in self.found.values()]
        counts = [0] * (max(places, default=-1) + 1)
        for place in places:
            counts[place] += 1
        return counts

    @derived
    def evidence(self) -> dict[str, object]:
        """What a result says of the match: the ranks that hold gold, and by which rules it was recognised."""
        elsewhere = {"other_documents": self.elsewhere} if self.elsewhere else {}
        return {"hit_ranks": self.hit_ranks, "rules": self.rules, **elsewhere}

    @derived
    def rules(self) -> dict[str, int]:
        """How many golds each rule recognised."""
        counts: dict[str, int] = {}
        for _, rule in self.found.values():
            counts[rule] = counts.get(rule, 0) + 1
        return counts


_MATCHES_NOTHING: Mapping[int, str] = MappingProxyType({})


def match(
    chunks: Sequence[RetrievedChunk],
    golds: Sequence[GoldPassage],
    settings: MatchSettings,
    evidence: RunEvidence | None = None,
    listed: ChunkList | None = None,
) -> Matches:
    """Compare every distinct chunk with every gold.

    Args:
        chunks: In the server's order.
        golds: Of the question.
        settings: Which rules, and the shares that they ask for.
        evidence: What the run says that one response cannot; where None, what this response says.
        listed: The same chunks, where somebody has looked for repeated ones already.
    """
    return ChunkComparison(golds, settings, evidence, listed or chunk_list(chunks)).matches


class ChunkComparison:
    """The chunks of a response and the golds of its question, each pair of which is compared once.

    Args:
        golds: Of the question.
        settings: Which rules, and the shares that they ask for.
        evidence: What the run says that one response cannot; where None, what this response says.
        listed: The chunks.
    """

    def __init__(
        self,
        golds: Sequence[GoldPassage],
        settings: MatchSettings,
        evidence: RunEvidence | None,
        listed: ChunkList,
    ) -> None:
        self._golds = golds
        self._settings = settings
        self._evidence = evidence
        self._listed = listed
        self._distinct = DistinctChunks(listed, golds, evidence or evidence_within(listed.chunks))
        self._wanted: dict[int, Wanted] = {}

    @derived
    def matches(self) -> Matches:
        """Which chunk is which gold."""
        result = Matches(len(self._listed.chunks), original=list(self._listed.original))
        for index, gold in enumerate(self._golds):  # in their order, in which results name the rules
            if self._distinct.is_alone(gold, self._settings):
                _by_its_id(index, self._distinct.with_id(gold.chunk_id or ""), result)
            else:
                self._look_closely(index, self._distinct.candidates(gold), result)
        return result

    def held_among(self, places: Sequence[int]) -> Mapping[int, Mapping[int, str]]:
        """For each of some distinct chunks, the golds that it holds where there are no others.

        A piece of a gold that chunk borders have cut counts where these chunks complete the gold.
        """
        if not self._is_alike_among(places):
            chunks = [self._listed.chunks[place] for place in places]
            held = match(chunks, self._golds, self._settings, self._evidence).by_chunk
            return dict(zip(places, held, strict=True))
        result, some = Matches(len(self._listed.chunks)), frozenset(places)
        for index, gold in enumerate(self._golds):
            if self._distinct.is_alone(gold, self._settings):
                _by_its_id(index, some.intersection(self._distinct.with_id(gold.chunk_id or "")), result)
            else:
                seen = [one for one in self._distinct.candidates(gold) if one.place in some]
                self._look_closely(index, seen, result)
        return {place: result.held.get(place, _NOTHING) for place in places}

    def _is_alike_among(self, places: Sequence[int]) -> bool:
        """Whether the comparison of a chunk with a gold is the same where there are fewer chunks.

        It is not where the chunks themselves say what is common to them, which is whose copy, or which words are cut.
        """
        texts = sum(map(bool, self._listed.texts))
        if self._evidence is None or not self._listed.all_differ or 0 < texts < len(self._listed.texts):
            return False
        return not any(words.is_broken for words in self._distinct.gold_words)

    def _look_closely(self, index: int, seen: Sequence[Seen], result: Matches) -> None:
        """Recognise a gold in the chunks that may be it, by all rules."""
        if not seen:
            return
        wanted = self._wanted.get(index) or self._wanted.setdefault(index, self._wanted_in(index, seen))
        runs = _find(index, wanted, seen, result)
        if "overlap" in wanted.rules:
            _put_together(index, wanted, seen, runs, result)

    def _wanted_in(self, index: int, seen: Sequence[Seen]) -> Wanted:
        words = mended(self._distinct.gold_words[index], (one.words for one in seen if one.words))
        return Wanted(self._golds[index], words, self._settings, self._distinct.evidence)


def _by_its_id(index: int, places: Iterable[int], result: Matches) -> None:
    """Recognise a gold of which the id is all that there is to compare."""
    for place in places:
        result.add(place, index, "chunk_id")
        result.found.setdefault(index, (place, "chunk_id"))


def _find(index: int, wanted: Wanted, seen: Sequence[Seen], result: Matches) -> dict[int, Run | None]:
    """Recognise the gold in each chunk by itself; returns the runs of it that were seen on the way, by place."""
    runs: dict[int, Run | None] = {}
    at_home = False
    for one in seen:
        rule, run = wanted.first_rule(one)
        if run is not None:
            runs[one.place] = run
        if rule is None:
            continue
        if rule in OF_TEXT and wanted.is_refused(one, at_home=at_home):
            result.elsewhere += 1
            runs[one.place] = None
            continue
        at_home = at_home or wanted.evidence.names.is_near(one.chunk, wanted.gold.document_id)
        result.add(one.place, index, rule)
        result.found.setdefault(index, (one.place, rule))
    return runs


def _put_together(
    index: int, wanted: Wanted, seen: Sequence[Seen], runs: Mapping[int, Run | None], result: Matches
) -> None:
    """Recognise a gold that chunk borders have cut, in the chunks that hold its pieces.

    A chunk adds what no earlier one has brought. Those that complete the gold, or add to it afterwards, hold a piece.
    """
    covered = bytearray(wanted.words.count)
    pieces: list[int] = []
    complete: int | None = None
    for one in seen:
        rule = result.held.get(one.place, {}).get(index)
        run = wanted.part(one, rule, runs)
        if run is None or not covered.count(0, run.start, run.stop):
            continue
        covered[run.start : run.stop] = b"\1" * run.length
        pieces += [one.place] if rule is None else []
        if complete is None and covered.count(1) >= wanted.settings.overlap_threshold * len(covered):
            complete = one.place
        if not covered.count(0):
            break
    if complete is None:
        return
    if index not in result.found or result.found[index][0] > complete:
        result.found[index] = (complete, "overlap")
    for place in pieces:
        result.add(place, index, "overlap")
        result.complete[place, index] = max(place, complete)


_NOTHING: Mapping[int, str] = MappingProxyType({})
