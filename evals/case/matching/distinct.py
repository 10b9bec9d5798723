"""The distinct chunks of a response, found by ids and documents, and looked at closely when a gold asks for one."""

from collections.abc import Sequence

from evals.case.derived import derived
from evals.case.matching.documents import bare_name, document_key, names_of
from evals.case.matching.evidence import RunEvidence
from evals.case.matching.repeats import ChunkList
from evals.case.matching.rules import Seen
from evals.case.matching.settings import MatchSettings
from evals.case.matching.words import Words, mended, words_of
from evals.schemas import GoldPassage


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
