"""Going over the records of a run once, for what matching must know of all of them.

Takes time linear in the records and bounded memory. Records are looked at in the order of a hash of their questions, so
that it is the same however they were answered, and until what is asked is clear.
"""

from collections.abc import Iterable, Iterator, Sequence
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


def evidence_of(records: Iterable[EvalRecord], settings: MatchSettings) -> RunEvidence:
    """What the records of a run say about matching, together.

    Args:
        records: All of the run; those without gold or chunks say nothing.
        settings: How chunks are recognised as gold.
    """
    with_gold = [record for record in records if record.question.gold_passages]
    asked = [(one.question, one.response.chunks) for one in with_gold if one.response and one.response.chunks]
    asked.sort(key=_draw)
    common = _common_to(asked[:_SAMPLE], settings)
    evidence = RunEvidence(common, _names_in(asked), _repeat_ids(asked))
    comparable = _are_comparable(asked, settings, evidence)
    return replace(evidence, names=replace(evidence.names, comparable=comparable))


def _draw(asked: _Retrieved) -> int:
    question, _ = asked
    return crc32((question.id or question.question).encode(errors="surrogatepass"))


def _common_to(sample: Sequence[_Retrieved], settings: MatchSettings) -> CommonText:
    texts = dict.fromkeys(chunk.text for _, chunks in sample for chunk in chunks if chunk.text)
    return common_text([words_of(text) for text in texts], settings.common_share)


def _names_in(asked: Sequence[_Retrieved]) -> DocumentNames:
    """Which names of the golds' documents the chunks use."""
    wanted = {gold.document_id for question, _ in asked for gold in question.gold_passages if gold.document_id}
    if not wanted:
        return DocumentNames()
    used = {name for _, chunks in asked for one in chunks for name in (one.document_id, one.document_name) if name}
    same, alike = {document_key(name) for name in wanted}, {bare_name(name) for name in wanted}
    return DocumentNames(
        same=frozenset(same.intersection(map(document_key, used))),
        alike=frozenset(alike.intersection(map(bare_name, used))),
    )


def _repeat_ids(asked: Sequence[_Retrieved]) -> bool:
    """Whether an id stands in two documents of one response; nobody asks where no gold is known by an id."""
    by_id = any(gold.chunk_id for question, _ in asked for gold in question.gold_passages)
    return by_id and any(_repeats_ids(some) for _, some in asked)


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
