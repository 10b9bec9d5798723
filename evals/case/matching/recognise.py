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

from collections.abc import Mapping, Sequence

from evals.case.matching.evidence import RunEvidence, evidence_within
from evals.case.matching.matches import Matches
from evals.case.matching.repeats import originals
from evals.case.matching.rules import OF_TEXT, Seen, Wanted
from evals.case.matching.runs import Run
from evals.case.matching.settings import MatchSettings, Rule
from evals.case.matching.words import Words, mended, words_of
from evals.schemas import GoldPassage, RetrievedChunk


def match(
    chunks: Sequence[RetrievedChunk],
    golds: Sequence[GoldPassage],
    settings: MatchSettings,
    evidence: RunEvidence | None = None,
) -> Matches:
    """Compare every distinct chunk with every gold.

    Args:
        chunks: In the server's order.
        golds: Of the question.
        settings: Which rules, and the shares that they ask for.
        evidence: What the run says that one response cannot; where None, what this response says.
    """
    result = Matches(by_chunk=[{} for _ in chunks], original=originals(chunks))
    evidence = evidence or evidence_within(chunks)
    texts = [words_of(gold.text) for gold in golds]
    seen = _distinct(chunks, result.original, texts, evidence)
    for index, gold in enumerate(golds):
        words = mended(texts[index], (one.words for one in seen if one.words))
        wanted = Wanted(gold, words, settings, evidence)
        rules = wanted.rules_that_may_hold()
        runs = _find(index, wanted, seen, rules, result)
        if "overlap" in rules:
            _put_together(index, wanted, seen, runs, result)
    return result


def _distinct(
    chunks: Sequence[RetrievedChunk], original: Sequence[int], golds: Sequence[Words], evidence: RunEvidence
) -> list[Seen]:
    """The chunks that repeat no earlier one, each with the ids of all its copies."""
    ids: dict[int, list[str]] = {}
    for chunk, first in zip(chunks, original, strict=True):
        ids.setdefault(first, []).append(chunk.chunk_id or "")
    seen = []
    for place, names in ids.items():
        text = chunks[place].text
        words = mended(words_of(text), golds) if text else None
        margins = evidence.common.margins(words) if words else (0, 0)
        seen.append(Seen(place, chunks[place], words, _core(words, *margins), margins, names))
    return seen


def _core(words: Words | None, first: int, last: int) -> Words | None:
    """The words without so many of the first and the last; None where there is nothing to leave out."""
    return Words(words.tokens[first : words.count - last]) if words and (first or last) else None


def _find(
    index: int, wanted: Wanted, seen: Sequence[Seen], rules: Sequence[Rule], result: Matches
) -> dict[int, Run | None]:
    """Recognise the gold in each chunk by itself; returns the runs of it that were seen on the way, by place."""
    runs: dict[int, Run | None] = {}
    at_home = False
    for one in seen:
        rule, run = wanted.first_rule(one, rules)
        if run is not None:
            runs[one.place] = run
        if rule is None:
            continue
        if rule in OF_TEXT and wanted.is_refused(one, at_home=at_home):
            result.elsewhere += 1
            runs[one.place] = None
            continue
        at_home = at_home or wanted.evidence.names.is_near(one.chunk, wanted.gold.document_id)
        result.by_chunk[one.place][index] = rule
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
        rule = result.by_chunk[one.place].get(index)
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
        result.by_chunk[place][index] = "overlap"
        result.complete[place, index] = max(place, complete)
