"""Compare every chunk of a response with every gold passage of its question.

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evals.schemas.dataset import GoldPassage
from evals.schemas.response import RetrievedChunk
from evals.text.matching.documents import MatchSettings, RunEvidence, bare_name, document_key, evidence_within, names_of
from evals.text.matching.rules import OF_TEXT, Candidate, Wanted
from evals.text.matching.words import derived, mended, words_of


class ChunkList(NamedTuple):
    """The chunks of a response, and which of them repeat others.

    Attributes:
        chunks: In the server's order.
        original: For each the place of the first one that it repeats; its own place if it repeats none.
    """

    chunks: Sequence[RetrievedChunk]
    original: Sequence[int]


def chunk_list(chunks: Sequence[RetrievedChunk]) -> ChunkList:
    """Find the chunks that repeat others.

    A chunk repeats one of the same text in the same document. An id counts within one document, or with the same text,
    as many servers count from 0 in each document; the id of a chunk without text and document is that of any other.
    """
    if _differ(chunks):
        return ChunkList(chunks, range(len(chunks)))
    first: dict[object, int] = {}
    original = []
    for place, chunk in enumerate(chunks):
        written, read = _identities(chunk)
        known = min(first.get(key, place) for key in read)
        original.append(known)
        for key in written:
            first.setdefault(key, known)
    return ChunkList(chunks, original)


def _differ(chunks: Sequence[RetrievedChunk]) -> bool:
    """Whether each has an id of its own, and each text is another one."""
    ids = {chunk.chunk_id for chunk in chunks if chunk.chunk_id}
    texts = [chunk.text for chunk in chunks if chunk.text]
    return len(ids) == len(chunks) and len(set(texts)) == len(texts)


def _identities(chunk: RetrievedChunk) -> tuple[list[object], list[object]]:
    """By what a later chunk may be known to repeat this one, and by what this one may repeat an earlier one."""
    name, document, text = chunk.chunk_id, chunk.document_id or chunk.document_name, chunk.text
    shared: list[object] = [(document, text)] if text or not name else []
    if not name:
        return shared, shared
    shared += [("document", name, document)] if document else []
    shared += [("text", name, text)] if text else []
    if document or text:
        return [*shared, ("id", name)], [*shared, ("bare", name)]
    return [("id", name), ("bare", name)], [("id", name)]


class _Candidates:
    """The chunks of a response that repeat no earlier one, found by ids and documents where no texts can tell.

    Args:
        listed: All chunks of the response.
        golds: What is looked for in them.
        evidence: What is known apart from this response.
    """

    def __init__(self, listed: ChunkList, golds: Sequence[GoldPassage], evidence: RunEvidence) -> None:
        self._chunks = listed.chunks
        self._original = listed.original
        self._gold_words = [words_of(gold.text) for gold in golds]
        self._evidence = evidence
        self._read: dict[int, Candidate] = {}

    def of(self, gold: GoldPassage) -> list[Candidate]:
        """The chunks that may be the gold, in their order: all of them where texts have to be compared."""
        if gold.chunk_id == "" or (self._has_texts and words_of(gold.text).count):
            places = sorted(self._copies)
        else:
            keyed = (document_key(gold.document_id), bare_name(gold.document_id)) if gold.document_id else ()
            found = [self._by_id.get(gold.chunk_id or "", ()), *(self._by_document.get(key, ()) for key in keyed)]
            places = sorted({place for some in found for place in some})
        return [self._at(place) for place in places]

    @derived
    def _has_texts(self) -> bool:
        return any(chunk.text for chunk in self._chunks)

    @derived
    def _copies(self) -> Mapping[int, list[str]]:
        """For the place of each distinct chunk, the ids of all that repeat it."""
        ids: dict[int, list[str]] = {}
        for chunk, first in zip(self._chunks, self._original, strict=True):
            ids.setdefault(first, []).append(chunk.chunk_id or "")
        return ids

    @derived
    def _by_id(self) -> Mapping[str, set[int]]:
        found: dict[str, set[int]] = {}
        for place, ids in self._copies.items():
            for name in filter(None, ids):
                found.setdefault(name, set()).add(place)
        return found

    @derived
    def _by_document(self) -> Mapping[object, list[int]]:
        """The places by both forms of a document's name: no other name is taken for it."""
        found: dict[object, list[int]] = {}
        for place in self._copies:
            for name in names_of(self._chunks[place]):
                for key in (document_key(name), bare_name(name)):
                    found.setdefault(key, []).append(place)
        return found

    def _at(self, place: int) -> Candidate:
        """A chunk with its words, and the ids of all its copies."""
        if place not in self._read:
            chunk = self._chunks[place]
            words = mended(words_of(chunk.text), self._gold_words) if chunk.text else None
            margins = self._evidence.common.margins(words) if words else (0, 0)
            self._read[place] = Candidate(place, chunk, words, margins, self._copies[place])
        return self._read[place]


# What came out of comparing the chunks of a response with the golds of its question.


@dataclass
class Matches:
    """The gold passages that each chunk holds.

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
        """Record that a chunk holds a gold passage."""
        self.held.setdefault(place, {})[gold] = rule

    @derived
    def by_chunk(self) -> list[Mapping[int, str]]:
        """For each rank, the golds (by index) that the chunk holds, with the rule."""
        return [self.held.get(place, {}) for place in range(self.size)]

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
    listed = listed or chunk_list(chunks)
    evidence = evidence or evidence_within(chunks)
    candidates = _Candidates(listed, golds, evidence)
    result = Matches(len(chunks), original=list(listed.original))
    for index, gold in enumerate(golds):  # in their order, in which results name the rules
        some = candidates.of(gold)
        if some:
            words = mended(words_of(gold.text), (one.words for one in some if one.words))
            wanted = Wanted(gold, words, settings, evidence)
            _find(index, wanted, some, result)
            if "overlap" in wanted.rules:
                _put_together(index, wanted, some, result)
    return result


def _find(index: int, wanted: Wanted, candidates: Sequence[Candidate], result: Matches) -> None:
    """Recognise the gold in each chunk by itself."""
    at_home = False
    for one in candidates:
        rule = wanted.first_rule(one)
        if rule is None:
            continue
        if rule in OF_TEXT and wanted.is_refused(one, at_home=at_home):
            result.elsewhere += 1
            wanted.refused.add(one.place)
            continue
        at_home = at_home or wanted.evidence.names.is_near(one.chunk, wanted.gold.document_id)
        result.add(one.place, index, rule)
        result.found.setdefault(index, (one.place, rule))


def _put_together(index: int, wanted: Wanted, candidates: Sequence[Candidate], result: Matches) -> None:
    """Recognise a gold that chunk borders have cut, in the chunks that hold its pieces.

    A chunk adds what no earlier one has brought. Those that complete the gold, or add to it afterwards, hold a piece.
    """
    covered = bytearray(wanted.words.count)
    pieces: list[int] = []
    complete: int | None = None
    for one in candidates:
        rule = result.held.get(one.place, {}).get(index)
        run = wanted.part(one, rule)
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
