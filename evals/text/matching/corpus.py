"""Collect from all records of a run what matching needs: common headers and document names.

Takes time linear in the records and bounded memory. Records are looked at in the order of a hash of their questions, so
that it is the same however they were answered, and until what is asked is clear.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from zlib import crc32

from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse, RetrievedChunk
from evals.schemas.results import EvalRecord
from evals.text.folding import Hashes
from evals.text.matching.documents import DocumentNames, MatchSettings, RunEvidence, name_hashes, names_of
from evals.text.matching.recognise import match
from evals.text.matching.rules import OF_TEXT
from evals.text.matching.runs import common_text
from evals.text.matching.words import words_of

_SAMPLE = 50
"""Records in which common text is looked for."""


_VOTES, _MARGIN = 25, 0.25
"""After this many golds the names are judged, where the share that stands in its own document is that clear."""

_PLACE_BITS = 32

_Retrieved = tuple[EvalQuestion, Sequence[RetrievedChunk]]


def evidence_of(records: Iterable[EvalRecord], settings: MatchSettings) -> RunEvidence:
    """Collect the evidence of all records of a run.

    Args:
        records: All of the run; those without gold or chunks say nothing. Of a sequence none is held.
        settings: How chunks are recognised as gold.
    """
    every = records if isinstance(records, Sequence) else list(records)
    names, drawn = _Names(), array("Q")
    for place, (question, chunks) in _retrieved(every, range(len(every))):
        drawn.append(_draw(question, place))
        names.add(question, chunks)
    return _evidence(every, drawn, names, settings)


class MatchStats:
    """Collects the evidence of `evidence_of` while answers arrive, so that few records are read again."""

    def __init__(self) -> None:
        self._names = _Names()
        self._retrieved: set[str] = set()
        self._is_certain = True

    def add(self, question: EvalQuestion, response: EvalResponse) -> None:
        """Add an answer."""
        if question.gold_passages and response.chunks:
            self._is_certain = self._is_certain and question.id not in self._retrieved
            self._retrieved.add(question.id)
            self._names.add(question, response.chunks)

    def evidence(
        self, questions: Iterable[EvalQuestion], records: Sequence[EvalRecord], settings: MatchSettings
    ) -> RunEvidence:
        """Return the evidence, and release what was collected.

        Args:
            questions: Of the records, in their order.
            records: With the answers that were added; all are read where a question was answered twice.
            settings: How chunks are recognised as gold.
        """
        if not self._is_certain:
            return evidence_of(records, settings)
        numbered = enumerate(questions) if self._retrieved else ()  # which may lie on disk
        drawn = array("Q", (_draw(one, place) for place, one in numbered if one.id in self._retrieved))
        names, self._names, self._retrieved = self._names, _Names(), set()
        return _evidence(records, drawn, names, settings)


def _evidence(
    records: Sequence[EvalRecord], drawn: "array[int]", names: "_Names", settings: MatchSettings
) -> RunEvidence:
    """What follows from the names of all records, and from a look at some of them.

    Args:
        records: All of the run.
        drawn: Of those with gold and chunks, the order in which they are looked at, as `_draw` has it.
        names: Of these.
        settings: How chunks are recognised as gold.
    """
    places = array("Q", (both & (1 << _PLACE_BITS) - 1 for both in sorted(drawn)))
    sample = (chunk.text for _, (_, chunks) in _retrieved(records, places[:_SAMPLE]) for chunk in chunks)
    texts = dict.fromkeys(text for text in sample if text)
    common = common_text([words_of(text) for text in texts], settings.common_share)
    evidence = RunEvidence(common, names.found(), names.by_id and names.repeated)
    if not names.of_golds:
        return evidence  # no gold says of which document it is
    comparable = _are_comparable((asked for _, asked in _retrieved(records, places)), settings, evidence)
    return replace(evidence, names=replace(evidence.names, comparable=comparable))


def _retrieved(records: Sequence[EvalRecord], places: Iterable[int]) -> Iterator[tuple[int, _Retrieved]]:
    """What was retrieved for questions with gold, each with its place."""
    for place in places:
        record = records[place]
        question, response = record.question, record.response
        if question.gold_passages and response is not None and response.chunks:
            yield place, (question, response.chunks)


def _draw(question: EvalQuestion, place: int) -> int:
    """By what records are put in order: a hash of the question, then the place in the run."""
    return crc32((question.id or question.question).encode(errors="surrogatepass")) << _PLACE_BITS | place


class _Names:
    """Collects how golds and chunks are named, and which names of the golds' documents the chunks use.

    Attributes:
        of_golds: The documents that golds name.
        by_id: Whether some gold names a chunk.
        repeated: Whether some response holds an id in two documents.
    """

    def __init__(self) -> None:
        self.of_golds = Hashes()
        self.by_id = self.repeated = False
        self._used = Hashes()

    def add(self, question: EvalQuestion, chunks: Sequence[RetrievedChunk]) -> None:
        """Add one question with what was retrieved for it."""
        golds = question.gold_passages
        self.of_golds.update(_hashes(gold.document_id for gold in golds))
        self._used.update(_hashes(name for chunk in chunks for name in names_of(chunk)))
        self.by_id = self.by_id or any(gold.chunk_id for gold in golds)
        self.repeated = self.repeated or _repeats_ids(chunks)

    def found(self) -> DocumentNames:
        """The names of all that were added."""
        return DocumentNames(used=self.of_golds.in_both(self._used))


def _hashes(names: Iterable[str | None]) -> Iterator[int]:
    """Of names of documents, in the two forms in which they are compared; an empty name is no name."""
    return chain.from_iterable(name_hashes(name) for name in {*names} if name)


def _repeats_ids(chunks: Sequence[RetrievedChunk]) -> bool:
    """Whether one id stands in two documents."""
    ids = {chunk.chunk_id for chunk in chunks if chunk.chunk_id}
    placed = {(chunk.chunk_id, *names_of(chunk)) for chunk in chunks if chunk.chunk_id}
    return len(placed) > len(ids)


def _are_comparable(asked: Iterable[_Retrieved], settings: MatchSettings, evidence: RunEvidence) -> bool | None:
    """Whether enough of the golds found by their text are found in their own document.

    Each gold counts once, by the chunk that speaks for it: that other documents repeat it says nothing about names.
    """
    ignored = replace(evidence, names=replace(evidence.names, comparable=False))
    found = at_home = 0
    for question, chunks in asked:
        for near in _found_by_text(question, chunks, settings, ignored):
            found += 1
            at_home += near
        share = at_home / found if found else 0.0
        if found >= _VOTES and abs(share - settings.comparable_share) > _MARGIN:
            break
    return at_home >= settings.comparable_share * found if found else None


def _found_by_text(
    question: EvalQuestion, chunks: Sequence[RetrievedChunk], settings: MatchSettings, evidence: RunEvidence
) -> Iterator[bool]:
    """For each gold found by its text where both sides name a document, whether it is its own."""
    golds = question.gold_passages
    if not any(gold.document_id for gold in golds) or not any(map(names_of, chunks)):
        return
    by_chunk = match(chunks, golds, settings, evidence).by_chunk
    for index, gold in enumerate(golds):
        hits = [chunks[place] for place, rules in enumerate(by_chunk) if rules.get(index) in OF_TEXT]
        named = [chunk for chunk in hits if gold.document_id and names_of(chunk)]
        if named:
            yield any(evidence.names.is_near(chunk, gold.document_id) for chunk in named)
