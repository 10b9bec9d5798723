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
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from itertools import chain, pairwise, takewhile
from typing import Literal, NamedTuple

from pydantic import Field

from evals.schemas.base import Finite, Record
from evals.schemas.dataset import GoldPassage
from evals.schemas.response import RetrievedChunk
from evals.text.documents import GoldDocument, names_of
from evals.text.markup import plain
from evals.text.tokens import NEGATORS, framed, tokens

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


_SHINGLE, _MOST_REPEATED = 3, 4
"""Tokens that are looked up together; places of the gold that say the same three which are followed."""
_MIN_RUN, _FREE_RUN, _BRIDGE = 4, 7, 2
"""A run at an end of the gold; one anywhere; tokens misread between two runs of one row."""
_HEADING, _EDGE, _GAP = 40, 3, 8
"""Tokens that a heading has at most; beyond a run, and between two, those that are compared with the gold's."""
_ALIKE = 0.65
"""Letters that two forms of a word, or a word and its misreading, share."""

_PARTED = re.compile(r"(?<=\w)-\s+(?=\w)")

Tokens = tuple[str, ...]


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
    given = [_Text(place, chunks[place].text or "") for place, first in enumerate(matches.original) if place == first]
    _set_margins(given)
    wanted = [_Text(index, gold.text) for index, gold in enumerate(golds)]
    ids: dict[int, set[str | None]] = {}
    for chunk, first in zip(chunks, matches.original, strict=True):
        ids.setdefault(first, set()).add(chunk.chunk_id)
    shared = _shared(given, wanted) if settings.rule in {"auto", *OF_TEXT} else {}
    names, documents = list(map(names_of, chunks)), [gold.document_id for gold in golds]
    by_name = {name: GoldDocument(name, documents, names) for name in dict.fromkeys(documents)}
    for gold, text in zip(golds, wanted, strict=True):
        document, pieces, whole = by_name[gold.document_id], list[tuple[int, int]](), (1 << text.count) - 1
        for chunk_text in given:
            place = chunk_text.place
            rule, piece = _rule_by_name(gold, chunks[place], ids[place], document, place, settings), whole
            if rule is None:
                rule, piece = _rule_by_text(text, chunk_text, shared.get((place, text.place), ()), settings)
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


def _is_elsewhere(document: GoldDocument, place: int, gold: "_Text", settings: MatchSettings) -> bool:
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


# Texts as runs of tokens.


class _Text:
    """The tokens of a chunk or of a gold, with its place in its list."""

    def __init__(self, place: int, text: str) -> None:
        self.place, self.text = place, plain(text)
        self.tokens: Tokens = tokens(self.text)
        self.count = len(self.tokens)
        self.begin, self.end = 0, self.count
        """Where its own text begins and ends: a header and a footer that its neighbours have too stand outside."""

    @cached_property
    def framed(self) -> str:
        """The tokens framed by blanks, so that `in` compares whole words."""
        return f" {' '.join(self.tokens)} "

    @cached_property
    def joined(self) -> str:
        """The same, with the words joined that the ends of lines part; empty where none may be parted."""
        joined = _PARTED.sub("", self.text) if "-" in self.text else self.text
        return "" if joined == self.text else framed(joined)

    def holds(self, gold: "_Text", longest: int) -> bool:
        """Whether a gold stands in it as whole words, given its longest stretch of three or more tokens of golds."""
        if gold.count <= max(longest, _SHINGLE - 1) and gold.framed in self.framed:
            return True
        parted = (gold.joined, self.framed), (gold.framed, self.joined), (gold.joined, self.joined)
        return any(mine and mine in yours for mine, yours in parted)


def _set_margins(texts: Sequence[_Text]) -> None:
    """Find with what each text begins and ends as the next one does, numbers aside."""
    for text, neighbour in zip(texts, [*texts[1:], *texts[:1]], strict=True):
        if text is not neighbour:
            text.begin = _agreeing(text.tokens, neighbour.tokens)
            text.end = text.count - _agreeing(text.tokens[: text.begin : -1], neighbour.tokens[::-1])


def _agreeing(mine: Tokens, yours: Tokens) -> int:
    """How many tokens the two have in common from the start; 0 for a few, which are chance."""
    alike = (ours == theirs or (ours.isdigit() and theirs.isdigit()) for ours, theirs in zip(mine, yours, strict=False))
    count = sum(takewhile(bool, alike))
    return count if _MIN_RUN <= count < len(mine) else 0


class Run(NamedTuple):
    """Tokens of a gold, from `start` to before `stop`, that stand in a chunk from `place` to before `end`."""

    start: int
    stop: int
    place: int
    end: int

    @property
    def size(self) -> int:
        """Number of tokens."""
        return self.stop - self.start


_STRETCH = re.compile(rb"\x01{3,}")

_Places = dict[Tokens, list[tuple[int, int]]]
"""By three tokens in a row, the golds that say them, by their places in their list, and where they stand in each."""


def _threes(words: Tokens) -> Iterator[Tokens]:
    return zip(words, words[1:], words[2:], strict=False)


def _places_in(golds: Iterable[Tokens]) -> _Places:
    """Where each three tokens of golds stand; of a gold that repeats them, the last places."""
    places: _Places = {}
    for index, gold in enumerate(golds):
        for at, three in enumerate(_threes(gold)):
            stands = places.setdefault(three, [])
            stands.append((index, at))
            if len(stands) > _MOST_REPEATED and stands[-_MOST_REPEATED - 1][0] == index:
                del stands[-_MOST_REPEATED - 1]
    return places


def _shared(chunks: Sequence[_Text], golds: Sequence[_Text]) -> dict[tuple[int, int], list[Run] | None]:
    """By chunk and gold what both share: None for the whole gold, as whole words, else runs; without what shares none.

    A gold, or three of its tokens in a row, can only stand where each token of the chunk is of a gold's vocabulary.
    """
    vocabulary = frozenset(chain.from_iterable(gold.tokens for gold in golds))
    places = _places_in(gold.tokens for gold in golds)
    shared: dict[tuple[int, int], list[Run] | None] = {}
    for chunk in chunks:
        known = bytes(map(vocabulary.__contains__, chunk.tokens))
        stretches = [stretch.span() for stretch in _STRETCH.finditer(known)]
        starts = chain.from_iterable(range(start, end - _SHINGLE + 1) for start, end in stretches)
        runs = _runs(((place, chunk.tokens[place : place + _SHINGLE]) for place in starts), places)
        longest = max([end - start for start, end in stretches], default=0)
        for gold in golds:
            if gold.count and chunk.holds(gold, longest):
                shared[chunk.place, gold.place] = None
            elif gold.count > _SHINGLE and gold.place in runs:
                shared[chunk.place, gold.place] = runs[gold.place]
    return shared


def _runs(threes: Iterable[tuple[int, Tokens]], places: _Places) -> dict[int, list[Run]]:
    """By gold its runs in a chunk, bridged over misread tokens.

    Args:
        threes: Three tokens in a row and their place in the chunk, in order.
        places: Where they stand in golds.
    """
    rows: dict[tuple[int, int], list[list[int]]] = {}
    for place, three in threes:
        for gold, at in places.get(three, ()):
            row = rows.setdefault((gold, at - place), [])
            if row and at <= row[-1][1] + _BRIDGE:
                row[-1][1] = at + _SHINGLE
            else:
                row.append([at, at + _SHINGLE])
    runs: dict[int, list[Run]] = {}
    for (gold, ahead), row in rows.items():
        runs.setdefault(gold, []).extend(Run(start, stop, start - ahead, stop - ahead) for start, stop in row)
    return runs


def _untangled(runs: Iterable[Run]) -> list[Run]:
    """The runs that stand in the same order in gold and chunk, longer ones before shorter ones: phrases repeat."""
    kept: list[Run] = []
    for run in sorted(runs, key=lambda run: -run.size):
        if all(
            (run.stop <= other.start and run.end <= other.place) or (run.start >= other.stop and run.place >= other.end)
            for other in kept
        ):
            kept.append(run)
    return sorted(kept)


def covered(wanted: Tokens, given: Tokens) -> float:
    """The share of the wanted tokens that stand in the given ones in runs, in their order; 0 to 1."""
    runs = _runs(enumerate(_threes(given)), _places_in([wanted])).get(0, [])
    return sum(run.size for run in _untangled(runs)) / max(1, len(wanted))


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
    gold: _Text, chunk: _Text, runs: Sequence[Run] | None, settings: MatchSettings
) -> tuple[Rule | None, int]:
    """The rule by texts that holds, and as bits the tokens of the gold that the chunk holds in runs that count."""
    allowed = settings.rule
    if runs is None:
        return ("text" if allowed in {"auto", "text"} else None), (1 << gold.count) - 1
    if gold.count < settings.short_gold_tokens or not _piece(gold, chunk, runs) or _is_heading(gold, chunk, runs):
        return None, 0
    ordered = _untangled(runs)
    if _contradicts(gold, chunk, ordered):  # a neighbour of the gold, as in a list; a border may cut the gold itself
        runs = [run for run in runs if run not in ordered and _is_cut(run, gold, chunk)]
    if not (piece := _piece(gold, chunk, runs)):
        return None, 0
    longest = max(run.size for run in runs)
    fewest = max(settings.inside_min_tokens, settings.inside_chunk_share * chunk.count)
    if allowed in {"auto", "inside"} and longest >= max(fewest, settings.inside_gold_share * gold.count):
        return "inside", piece
    if allowed in {"auto", "overlap"} and piece.bit_count() >= settings.overlap_threshold * gold.count:
        return "overlap", piece
    return None, piece


def _piece(gold: _Text, chunk: _Text, runs: Iterable[Run]) -> int:
    """The tokens of the gold that the chunk holds, as bits: of long runs, of cut ones, of those at an end of it."""
    piece = 0
    for run in runs:
        at_end = run.start <= 1 or run.stop >= gold.count - 1
        if run.size >= _FREE_RUN or _is_cut(run, gold, chunk) or (run.size >= _MIN_RUN and at_end):
            piece |= (1 << run.stop) - (1 << run.start)
    return piece


def _is_heading(gold: _Text, chunk: _Text, runs: Sequence[Run]) -> bool:
    """Whether both begin with the same heading, differ behind it, and share no more."""
    if any(run.size >= _FREE_RUN and (run.start or run.place > chunk.begin) for run in runs):
        return False
    most = min(gold.count - 2, _HEADING + 1)
    return any(
        not run.start and run.place <= chunk.begin and _FREE_RUN <= run.stop < min(most, chunk.end - run.place - 2)
        for run in runs
    )


def _is_cut(run: Run, gold: _Text, chunk: _Text) -> bool:
    """Whether each end of a run is an end of the gold or of the chunk's own text, where a word may be cut."""
    starts = run.start <= 1 or run.place <= chunk.begin + 1
    return starts and (run.stop >= gold.count - 1 or run.end >= chunk.end - 1)


def _contradicts(gold: _Text, chunk: _Text, runs: Sequence[Run]) -> bool:
    """Whether the chunk says another number or name in a place of the gold, or denies it there."""
    gaps = _gaps(gold, chunk, runs)
    if any(NEGATORS.isdisjoint(mine) is not NEGATORS.isdisjoint(yours) for mine, yours in gaps):
        return True
    in_place = _in_place(gold, chunk, runs, gaps)
    return any(_is_other_value(mine, yours, chunk.text, gold.text) for mine, yours in in_place if mine != yours)


def _gaps(gold: _Text, chunk: _Text, runs: Sequence[Run]) -> list[tuple[Tokens, Tokens]]:
    """What chunk and gold say between two runs, where both say little, and before the first."""
    gaps = [
        (chunk.tokens[run.end : later.place], gold.tokens[run.stop : later.start])
        for run, later in pairwise(runs)
        if 0 <= later.start - run.stop <= _GAP and 0 <= later.place - run.end <= _GAP
    ]
    first = runs[0]
    if first.size >= _FREE_RUN and 0 < first.start <= _EDGE <= first.place - chunk.begin:
        gaps.append((chunk.tokens[first.place - _EDGE : first.place], gold.tokens[: first.start]))
    return gaps


def _in_place(
    gold: _Text, chunk: _Text, runs: Sequence[Run], gaps: Iterable[tuple[Tokens, Tokens]]
) -> list[tuple[str, str]]:
    """Tokens that stand in each other's place: in runs, between them, beyond their ends."""
    pairs: list[tuple[str, str]] = []
    for run in runs:
        pairs += zip(chunk.tokens[run.place : run.end], gold.tokens[run.start : run.stop], strict=True)
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
