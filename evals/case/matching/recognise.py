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
from types import MappingProxyType

from evals.case.derived import derived
from evals.case.matching.distinct import DistinctChunks
from evals.case.matching.evidence import RunEvidence, evidence_within
from evals.case.matching.matches import Matches
from evals.case.matching.repeats import ChunkList, chunk_list
from evals.case.matching.rules import OF_TEXT, Seen, Wanted
from evals.case.matching.runs import Run
from evals.case.matching.settings import MatchSettings
from evals.case.matching.words import mended
from evals.schemas import GoldPassage, RetrievedChunk


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
