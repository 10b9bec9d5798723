"""Going over the records of a run once, for what matching must know of all of them.

Takes time linear in the records and bounded memory. Records are looked at in the order of a hash of their questions, so
that it is the same however they were answered, and until what is asked is clear.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from zlib import crc32

from evals.case.matching.common import CommonText, common_text
from evals.case.matching.documents import DocumentNames, bare_name, document_key, names_of
from evals.case.matching.evidence import RunEvidence
from evals.case.matching.recognise import match
from evals.case.matching.rules import OF_TEXT
from evals.case.matching.settings import MatchSettings
from evals.case.matching.words import words_of
from evals.schemas import EvalQuestion, EvalRecord, RetrievedChunk

_SAMPLE = 50
"""Records in which common text is looked for."""
_VOTES, _MARGIN = 25, 0.25
"""After so many golds the names are judged, where the share that stands in its own document is that clear."""

_Retrieved = tuple[EvalQuestion, Sequence[RetrievedChunk]]


def evidence_of(records: Sequence[EvalRecord], settings: MatchSettings) -> RunEvidence:
    """What the records of a run say about matching, together.

    They are walked twice, and some are looked at again, so that they may be read from a file as they are wanted.

    Args:
        records: All of the run; those without gold or chunks say nothing.
        settings: How chunks are recognised as gold.
    """
    drawn, wanted, repeated = array("L"), set[str](), False
    places = array("L")
    for place, record in enumerate(records):
        asked = _asked(record)
        if asked is not None:
            places.append(place)
            drawn.append(_draw(asked))
            wanted.update(gold.document_id for gold in asked[0].gold_passages if gold.document_id)
            repeated = repeated or _repeats_ids(asked[1])
    order = [places[at] for at in sorted(range(len(places)), key=drawn.__getitem__)]
    common = _common_to([_retrieved(records[place]) for place in order[:_SAMPLE]], settings)
    evidence = RunEvidence(common, _names_in(records, wanted), repeated)
    comparable = _are_comparable((_retrieved(records[place]) for place in order), settings, evidence)
    return replace(evidence, names=replace(evidence.names, comparable=comparable))


def _asked(record: EvalRecord) -> _Retrieved | None:
    """What was retrieved for a question with gold; None where there is nothing to compare."""
    response = record.response
    if not record.question.gold_passages or response is None or not response.chunks:
        return None
    return record.question, response.chunks


def _retrieved(record: EvalRecord) -> _Retrieved:
    return record.question, (record.response.chunks if record.response else None) or []


def _draw(asked: _Retrieved) -> int:
    question, _ = asked
    return crc32((question.id or question.question).encode(errors="surrogatepass"))


def _common_to(sample: Sequence[_Retrieved], settings: MatchSettings) -> CommonText:
    texts = dict.fromkeys(chunk.text for _, chunks in sample for chunk in chunks if chunk.text)
    return common_text([words_of(text) for text in texts], settings.common_share)


def _names_in(records: Iterable[EvalRecord], wanted: Collection[str]) -> DocumentNames:
    """Which names of the golds' documents the chunks use."""
    if not wanted:
        return DocumentNames()
    same, alike = {document_key(name) for name in wanted}, {bare_name(name) for name in wanted}
    used_same, used_alike = set[str](), set[tuple[str, ...]]()
    for record in records:
        asked = _asked(record)
        names = {name for one in asked[1] for name in names_of(one)} if asked else ()
        used_same.update(same.intersection(map(document_key, names)))
        used_alike.update(alike.intersection(map(bare_name, names)))
    return DocumentNames(same=frozenset(used_same), alike=frozenset(used_alike))


def _repeats_ids(chunks: Sequence[RetrievedChunk]) -> bool:
    """Whether one id stands in two documents."""
    ids = [chunk.chunk_id for chunk in chunks if chunk.chunk_id]
    if len(set(ids)) == len(ids):
        return False
    placed = {(chunk.chunk_id, *names_of(chunk)) for chunk in chunks if chunk.chunk_id}
    return len(placed) > len(set(ids))


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
