"""Which chunks of a response hold which gold passages: by ids and places, and by the runs of words that both share.

`auto` takes the first of these rules that holds for a chunk and a gold; each can also be named alone.

chunk_id   equal ids
span       the same document, and at least 0.7 of the gold's characters by position
text       the gold stands in the chunk, as whole words; of fewer than 8, in its own document where both name one
inside     a run of at least 20 words, half of the chunk and a tenth of the gold
overlap    runs that are at least 0.7 of the gold's words; or pieces of a gold that chunk borders have cut, in several
           chunks together
document   the same document, where nothing finer can be compared

By text, no chunk counts that says another number or name in its place, denies it, or is of another document.
"""

import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

from pydantic import Field

from evals.schemas.base import Finite, Record
from evals.schemas.dataset import GoldPassage
from evals.schemas.response import RetrievedChunk
from evals.text.documents import GoldDocument, names_of
from evals.text.runs import FREE, ComparedText, Run, Tokens, runs_of, set_margins, untangled
from evals.text.tokens import NEGATORS

Rule = Literal["auto", "chunk_id", "span", "text", "inside", "overlap", "document"]
OF_TEXT = frozenset({"text", "inside", "overlap"})


class MatchSettings(Record):
    """How a retrieved chunk is recognised as gold (see docs/matching.md). The part `match:` of the configuration."""

    rule: Rule = "auto"
    overlap_threshold: Finite = Field(default=0.7, gt=0, le=1)
    """Share of the gold's tokens that one chunk must hold in runs, or pieces of a gold in several chunks."""
    inside_min_tokens: int = Field(default=20, ge=1)
    """Tokens of the gold in a row that a chunk inside it must hold."""
    inside_chunk_share: Finite = Field(default=0.5, gt=0, le=1)
    """Share of the chunk that they must be."""
    inside_gold_share: Finite = Field(default=0.1, ge=0, le=1)
    """Share of the gold that they must be."""
    short_gold_tokens: int = Field(default=8, ge=3)
    """A gold of fewer is looked for as a whole only."""
    count_other_documents: bool = False
    """Whether the text of a gold counts in another document than its own too."""


_HEADING, _EDGE, _GAP = 40, 3, 8
"""Tokens that a heading has at most; beyond a run, and between two, those that are compared with the gold's."""
_ALIKE = 0.65
"""Letters that two forms of a word, or a word and its misreading, share."""


class Pieces(NamedTuple):
    """What chunks hold of a gold: for each its index and the gold's tokens as bits; and how many tokens are enough."""

    parts: Sequence[tuple[int, int]]
    enough: float

    def together(self, places: Container[int] | None = None) -> tuple[list[int], int | None]:
        """The chunks that add to the gold what none before has brought, and the one that makes it enough, if any.

        Args:
            places: The chunks that are looked at; all where None.
        """
        covered, adding, complete = 0, list[int](), None
        for place, part in self.parts:
            if part & ~covered and (places is None or place in places):
                covered |= part
                adding.append(place)
                if complete is None and covered.bit_count() >= self.enough:
                    complete = place
        return adding, complete


@dataclass
class Matches:
    """The golds that each chunk holds, by their indices.

    Attributes:
        original: For each chunk the index of the first one that it repeats; its own if none.
        by_chunk: For each chunk the golds that it holds, or holds a piece of that others complete, with the rule.
        found: For each gold found the index of the chunk that holds or completes it, and the rule.
        completed: For a chunk and a gold of which it holds a piece only, the index of the chunk that completes it.
        pieces: For each gold the pieces of it.
        other_documents: How often a gold's text was met in another document, where that does not count.
    """

    original: tuple[int, ...]
    by_chunk: tuple[dict[int, str], ...]
    found: dict[int, tuple[int, str]] = field(default_factory=dict)
    completed: dict[tuple[int, int], int] = field(default_factory=dict)
    pieces: dict[int, Pieces] = field(default_factory=dict, repr=False)
    other_documents: int = 0

    def add(self, gold: int, place: int, rule: str) -> None:
        """Add a chunk that holds a gold by itself; chunks come in their order."""
        self.by_chunk[place][gold] = rule
        self.found.setdefault(gold, (place, rule))

    def put_together(self, gold: int, pieces: Pieces) -> None:
        """Add the chunks that hold pieces of a gold which chunk borders have cut, where these make enough of it."""
        self.pieces[gold] = pieces
        adding, complete = pieces.together()
        if complete is None:
            return
        if gold not in self.found or self.found[gold][0] > complete:
            self.found[gold] = (complete, "overlap")
        for place in adding:
            if gold not in self.by_chunk[place]:
                self.by_chunk[place][gold] = "overlap"
                self.completed[place, gold] = max(place, complete)

    def among(self, places: Collection[int]) -> dict[int, dict[int, str]]:
        """For each of these chunks the golds that it holds, where these chunks alone are looked at."""
        held = {
            place: {gold: rule for gold, rule in self.by_chunk[place].items() if (place, gold) not in self.completed}
            for place in places
        }
        for gold, pieces in self.pieces.items():
            adding, complete = pieces.together(places)
            for place in adding if complete is not None else ():
                held[place].setdefault(gold, "overlap")
        return held

    @cached_property
    def hits(self) -> tuple[bool, ...]:
        """For each chunk whether it holds a gold, or a piece of one."""
        return tuple(map(bool, self.by_chunk))

    def hits_within(self, k: int) -> list[bool]:
        """`hits` of the top k chunks, by them alone: a piece counts where they complete its gold."""
        return [
            any(self.completed.get((place, gold), place) < k for gold in golds)
            for place, golds in enumerate(self.by_chunk[:k])
        ]

    @cached_property
    def newly_found(self) -> list[set[int]]:
        """For each chunk the golds found there and at none before."""
        fresh: list[set[int]] = [set() for _ in self.by_chunk]
        for gold, (place, _) in self.found.items():
            fresh[place].add(gold)
        return fresh

    @property
    def hit_ranks(self) -> list[int]:
        """The ranks, from 1, of the chunks that hold gold."""
        return [rank for rank, hit in enumerate(self.hits, 1) if hit]

    @cached_property
    def evidence(self) -> dict[str, object]:
        """What a result says of the match: the ranks of gold, and how many golds each rule found."""
        rules = Counter(rule for _, (_, rule) in sorted(self.found.items()))
        elsewhere = {"other_documents": self.other_documents} if self.other_documents else {}
        return {"hit_ranks": self.hit_ranks, "rules": dict(rules), **elsewhere}


def match(golds: Sequence[GoldPassage], chunks: Sequence[RetrievedChunk], settings: MatchSettings) -> Matches:
    """Compare every distinct chunk with every gold.

    Args:
        golds: Of the question.
        chunks: In the server's order.
        settings: Which rules, and the shares that they ask for.
    """
    matches = Matches(_originals(chunks), tuple({} for _ in chunks))
    if not golds or not chunks:
        return matches
    given = [ComparedText(place, chunks[place].text or "") for place in dict.fromkeys(matches.original)]
    set_margins(given)
    wanted = [ComparedText(index, gold.text) for index, gold in enumerate(golds)]
    ids: dict[int, set[str | None]] = {}
    for chunk, first in zip(chunks, matches.original, strict=True):
        ids.setdefault(first, set()).add(chunk.chunk_id)
    runs = runs_of(given, wanted)
    names, documents = list(map(names_of, chunks)), [gold.document_id for gold in golds]
    by_name = {name: GoldDocument(name, documents, names) for name in dict.fromkeys(documents)}
    for gold, text in zip(golds, wanted, strict=True):
        document, pieces, whole = by_name[gold.document_id], list[tuple[int, int]](), (1 << text.count) - 1
        is_text_only = bool(gold.text) and gold.chunk_id is None and gold.span is None and settings.rule != "document"
        for chunk_text in given:
            place, rule, piece = chunk_text.place, None, whole
            if not (is_text_only and chunk_text.text):
                rule = _rule_by_name(gold, chunks[place], ids[place], document, place, settings)
            if rule is None:
                rule, piece = _rule_by_text(text, chunk_text, runs.get((place, text.place), ()), settings)
                if piece and _is_elsewhere(document, place, text, settings):
                    matches.other_documents += rule is not None and document.is_other(place)
                    continue
            if rule is not None:
                matches.add(text.place, place, rule)
            if piece:
                pieces.append((place, piece))
        if pieces and settings.rule in {"auto", "overlap"} and text.count >= settings.short_gold_tokens:
            matches.put_together(text.place, Pieces(pieces, settings.overlap_threshold * text.count))
    return matches


def _is_elsewhere(document: GoldDocument, place: int, gold: ComparedText, settings: MatchSettings) -> bool:
    """Whether a text does not count as it is of another document."""
    if gold.count < settings.short_gold_tokens:
        return document.may_be_other(place)
    return document.is_other(place) and not settings.count_other_documents


def _originals(chunks: Sequence[RetrievedChunk]) -> tuple[int, ...]:
    """For each chunk the index of the first one that it repeats: by text and document, or by id and one of the two.

    Many servers count ids from 0 in each document; the id of a chunk without text and document is that of any other.
    """
    first: dict[object, int] = {}
    originals = []
    for place, chunk in enumerate(chunks):
        document, text = chunk.document_id or chunk.document_name, chunk.text
        id_ = chunk.chunk_id or place
        keys: list[object] = [(id_, kind, value) for kind, value in (("document", document), ("text", text)) if value]
        keys += [(document, text)] if text or not chunk.chunk_id else []
        bare = [] if document or text else [(id_, "bare")]
        known = min(first.get(key, place) for key in [*keys, (id_, "any" if bare else "bare")])
        originals.append(known)
        for key in [*keys, *bare, (id_, "any")]:
            first.setdefault(key, known)
    return tuple(originals)


# The rules.


def _rule_by_name(
    gold: GoldPassage,
    chunk: RetrievedChunk,
    ids: set[str | None],
    document: GoldDocument,
    place: int,
    settings: MatchSettings,
) -> Rule | None:
    """The rule by ids, places or documents that holds; an id that only counts must be of the gold's document."""
    allowed = settings.rule
    if allowed in {"auto", "chunk_id"} and gold.chunk_id is not None and gold.chunk_id in ids:
        counts = re.fullmatch(r"\D*\d{1,6}", gold.chunk_id) is not None
        if not (document.is_other(place) or (counts and document.may_be_other(place))):
            return "chunk_id"
    if allowed in {"auto", "span"} and gold.span and chunk.span and document.is_same(place):
        covered = min(chunk.span[1], gold.span[1]) - max(chunk.span[0], gold.span[0])
        if covered >= settings.overlap_threshold * (gold.span[1] - gold.span[0]):
            return "span"
    by_id = bool(gold.chunk_id and chunk.chunk_id and not gold.text)
    compared = by_id or bool(chunk.text and (gold.text or gold.chunk_id or (gold.span and chunk.span)))
    if allowed == "document" or (allowed == "auto" and not compared):
        return "document" if document.is_same(place) else None
    return None


def _rule_by_text(
    gold: ComparedText, chunk: ComparedText, runs: Sequence[Run], settings: MatchSettings
) -> tuple[Rule | None, int]:
    """The rule by texts that holds, and as bits the tokens of the gold that the chunk holds in runs that count."""
    allowed, is_short = settings.rule, gold.count < settings.short_gold_tokens
    if allowed not in {"auto", *OF_TEXT} or not gold.count or not (runs or is_short):
        return None, 0
    if chunk.holds(gold):
        return ("text" if allowed in {"auto", "text"} else None), (1 << gold.count) - 1
    if is_short or _is_heading(gold, chunk, runs):
        return None, 0
    ordered = untangled(runs)
    if _contradicts(gold, chunk, ordered):  # a neighbour of the gold, as in a list; a border may cut the gold itself
        runs = [run for run in runs if run not in ordered and run.is_cut]
    if not (piece := _bits(runs)):
        return None, 0
    longest = max(run.size for run in runs)
    fewest = max(settings.inside_min_tokens, settings.inside_chunk_share * chunk.count)
    if allowed in {"auto", "inside"} and longest >= max(fewest, settings.inside_gold_share * gold.count):
        return "inside", piece
    if allowed in {"auto", "overlap"} and piece.bit_count() >= settings.overlap_threshold * gold.count:
        return "overlap", piece
    return None, piece


def _bits(runs: Iterable[Run]) -> int:
    """The tokens of the gold in the runs that count, as bits."""
    bits = 0
    for run in runs:
        if run.counts:
            bits |= (1 << run.stop) - (1 << run.start)
    return bits


def _is_heading(gold: ComparedText, chunk: ComparedText, runs: Sequence[Run]) -> bool:
    """Whether both begin with the same heading, differ behind it, and share no more."""
    if any(run.size >= FREE and (run.start or run.place > chunk.begin) for run in runs):
        return False
    most = min(gold.count - 2, _HEADING + 1)
    return any(
        not run.start and run.place <= chunk.begin and FREE <= run.stop < min(most, chunk.end - run.place - 2)
        for run in runs
    )


def _contradicts(gold: ComparedText, chunk: ComparedText, runs: Sequence[Run]) -> bool:
    """Whether the chunk says another number or name in a place of the gold, or denies it there."""
    gaps = _gaps(gold, chunk, runs)
    if any(NEGATORS.isdisjoint(mine) is not NEGATORS.isdisjoint(yours) for mine, yours in gaps):
        return True
    in_place = _in_place(gold, chunk, runs, gaps)
    return any(_is_other_value(mine, yours, chunk.text, gold.text) for mine, yours in in_place if mine != yours)


def _gaps(gold: ComparedText, chunk: ComparedText, runs: Sequence[Run]) -> list[tuple[Tokens, Tokens]]:
    """What chunk and gold say between two runs, where both say little, and before the first."""
    gaps = [
        (chunk.tokens[run.end : later.place], gold.tokens[run.stop : later.start])
        for run, later in pairwise(runs)
        if 0 <= later.start - run.stop <= _GAP and 0 <= later.place - run.end <= _GAP
    ]
    first = runs[0]
    if first.size >= FREE and 0 < first.start <= _EDGE <= first.place - chunk.begin:
        gaps.append((chunk.tokens[first.place - _EDGE : first.place], gold.tokens[: first.start]))
    return gaps


def _in_place(
    gold: ComparedText, chunk: ComparedText, runs: Sequence[Run], gaps: Iterable[tuple[Tokens, Tokens]]
) -> list[tuple[str, str]]:
    """Tokens that stand in each other's place: in runs, between them, beyond their ends."""
    pairs: list[tuple[str, str]] = []
    for run in runs:
        in_chunk, in_gold = chunk.tokens[run.place : run.end], gold.tokens[run.start : run.stop]
        if in_chunk != in_gold:  # bridged
            pairs += zip(in_chunk, in_gold, strict=True)
    for mine, yours in gaps:
        if len(mine) == len(yours):
            pairs += zip(mine, yours, strict=True)
        else:  # only numbers stand for one another
            pairs += zip(filter(str.isdigit, mine), filter(str.isdigit, yours), strict=False)
    for run in runs:
        if run.start <= min(_EDGE, run.place - chunk.begin):
            pairs += zip(chunk.tokens[run.place - run.start : run.place], gold.tokens[: run.start], strict=True)
        if gold.count - run.stop <= _EDGE:
            pairs += zip(chunk.tokens[run.end : chunk.end], gold.tokens[run.stop :], strict=False)
    first, last = chunk.tokens[chunk.begin], chunk.tokens[chunk.end - 1]  # parts of words, where a border cuts one
    return [
        (mine, yours)
        for mine, yours in pairs
        if not (mine == first and yours.endswith(mine)) and not (mine == last and yours.startswith(mine))
    ]


def _is_other_value(mine: str, yours: str, chunk: str, gold: str) -> bool:
    """Whether a token of the chunk is another number or another name than the gold's, and no misreading of it."""
    if mine.isdigit() or yours.isdigit():
        return mine.isdigit() and yours.isdigit()
    if len(mine) < 3 or len(yours) < 3 or SequenceMatcher(None, mine, yours).ratio() >= _ALIKE:
        return False
    return f" {yours.capitalize()}" in gold and f" {mine.capitalize()}" in chunk
