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
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from itertools import chain, pairwise
from typing import Literal, NamedTuple

from pydantic import Field

from evals.schemas.base import Finite, Record
from evals.schemas.dataset import GoldPassage
from evals.schemas.response import RetrievedChunk
from evals.text.documents import GoldDocument, ResponseNames
from evals.text.markup import plain
from evals.text.tokens import NEGATORS, tokens

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


class Run(NamedTuple):
    """Tokens of a gold, from `start` to before `stop`, that stand in a chunk from `place` on."""

    start: int
    stop: int
    place: int

    @property
    def size(self) -> int:
        """Number of tokens."""
        return self.stop - self.start

    @property
    def end(self) -> int:
        """Where it ends in the chunk."""
        return self.place + self.stop - self.start


class Pieces(NamedTuple):
    """What chunks hold of a gold: for each its index and a byte for each token of the gold; and how many are enough."""

    parts: Sequence[tuple[int, bytes]]
    enough: float

    def together(self, places: Container[int] | None = None) -> tuple[list[int], int | None]:
        """The chunks that add to the gold what none before has brought, and the one that makes it enough, if any.

        Args:
            places: The chunks that are looked at; all where None.
        """
        covered, added, complete = b"", list[int](), None
        for place, part in self.parts:
            if places is not None and place not in places:
                continue
            both = _either(covered, part) if covered else part
            if both.count(1) > covered.count(1):
                covered = both
                added.append(place)
                if complete is None and covered.count(1) >= self.enough:
                    complete = place
        return added, complete


@dataclass(frozen=True)
class Matches:
    """The golds that each chunk holds, by their indices.

    Attributes:
        by_chunk: For each chunk the golds that it holds, or holds a piece of that others complete, with the rule.
        original: For each chunk the index of the first one that it repeats; its own if none.
        found: For each gold found the index of the chunk that holds or completes it, and the rule.
        completed: For a chunk and a gold of which it holds a piece only, the index of the chunk that completes it.
        other_documents: How often a gold's text was met in another document, where that does not count.
        pieces: For each gold the pieces of it.
    """

    by_chunk: tuple[Mapping[int, str], ...]
    original: tuple[int, ...]
    found: Mapping[int, tuple[int, str]] = field(default_factory=dict)
    completed: Mapping[tuple[int, int], int] = field(default_factory=dict)
    other_documents: int = 0
    pieces: Mapping[int, Pieces] = field(default_factory=dict, repr=False)

    def among(self, places: Collection[int]) -> dict[int, dict[int, str]]:
        """For each of some chunks the golds that it holds, where these chunks alone are looked at."""
        held = {
            place: {gold: rule for gold, rule in self.by_chunk[place].items() if (place, gold) not in self.completed}
            for place in places
        }
        for gold, pieces in self.pieces.items():
            added, complete = pieces.together(places)
            for place in added if complete is not None else ():
                held[place].setdefault(gold, "overlap")
        return held

    @cached_property
    def hits(self) -> tuple[bool, ...]:
        """For each chunk whether it holds a gold, or a piece of one."""
        return tuple(map(bool, self.by_chunk))

    @property
    def golds(self) -> frozenset[int]:
        """The golds that were found."""
        return frozenset(self.found)

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

    @property
    def rules(self) -> dict[str, int]:
        """How many golds each rule found."""
        return dict(Counter(rule for _, (_, rule) in sorted(self.found.items())))

    @cached_property
    def evidence(self) -> dict[str, object]:
        """What a result says of the match."""
        elsewhere = {"other_documents": self.other_documents} if self.other_documents else {}
        return {"hit_ranks": self.hit_ranks, "rules": self.rules, **elsewhere}


def match(golds: Sequence[GoldPassage], chunks: Sequence[RetrievedChunk], settings: MatchSettings) -> Matches:
    """Compare every distinct chunk with every gold.

    Args:
        golds: Of the question.
        chunks: In the server's order.
        settings: Which rules, and the shares that they ask for.
    """
    original = _originals(chunks)
    found = _Found(len(chunks))
    if not golds or not chunks:
        return Matches(tuple(found.by_chunk), tuple(original))
    texts = [_Text(place, chunks[place].text or "") for place, first in enumerate(original) if place == first]
    _set_margins(texts)
    wanted = [_Text(index, gold.text) for index, gold in enumerate(golds)]
    ids: dict[int, set[str | None]] = {text.place: set() for text in texts}
    for chunk, first in zip(chunks, original, strict=True):
        ids[first].add(chunk.chunk_id)
    names = ResponseNames([gold.document_id for gold in golds], chunks)
    by_text = settings.rule in {"auto", *OF_TEXT}
    vocabulary = frozenset(chain.from_iterable(gold.tokens for gold in wanted))
    places_in = _places_in(wanted) if by_text else {}
    shared = {text.place: _shared(text, wanted, vocabulary, places_in) if by_text else {} for text in texts}
    for gold, text in zip(golds, wanted, strict=True):
        document = names.of(gold.document_id)
        pieces: list[tuple[int, bytes]] = []
        for one in texts:
            place = one.place
            rule = _rule_by_name(gold, chunks[place], ids[place], document, place, settings)
            piece: bytes | None = b"\1" * text.count if rule else None
            if rule is None and text.place in shared[place]:
                rule, piece = _rule_by_text(text, one, shared[place][text.place], settings)
                if piece and _is_elsewhere(document, place, text, settings):
                    found.elsewhere += rule is not None and document.is_other(place)
                    continue
            if rule is not None:
                found.add(text.place, place, rule)
            if piece:
                pieces.append((place, piece))
        if pieces and settings.rule in {"auto", "overlap"} and text.count >= settings.short_gold_tokens:
            found.put_together(text.place, Pieces(pieces, settings.overlap_threshold * text.count))
    return Matches(tuple(found.by_chunk), tuple(original), found.golds, found.completed, found.elsewhere, found.pieces)


def _either(one: bytes, other: bytes) -> bytes:
    """Of two pieces of a gold the tokens that stand in either: as numbers, many times faster than one by one."""
    return (int.from_bytes(one) | int.from_bytes(other)).to_bytes(len(one))


def _is_elsewhere(document: GoldDocument, place: int, gold: "_Text", settings: MatchSettings) -> bool:
    """Whether a text does not count as it is of another document."""
    if gold.count < settings.short_gold_tokens:
        return document.may_be_other(place)
    return document.is_other(place) and not settings.count_other_documents


class _Found:
    """What is found, gold by gold; the attributes are those of `Matches`."""

    def __init__(self, chunks: int) -> None:
        self.by_chunk: list[dict[int, str]] = [{} for _ in range(chunks)]
        self.golds: dict[int, tuple[int, str]] = {}
        self.completed: dict[tuple[int, int], int] = {}
        self.pieces: dict[int, Pieces] = {}
        self.elsewhere = 0

    def add(self, gold: int, place: int, rule: str) -> None:
        """Add a chunk that holds a gold by itself; chunks come in their order."""
        self.by_chunk[place][gold] = rule
        self.golds.setdefault(gold, (place, rule))

    def put_together(self, gold: int, pieces: "Pieces") -> None:
        """Add the chunks that hold pieces of a gold which chunk borders have cut, where these make enough of it."""
        self.pieces[gold] = pieces
        added, complete = pieces.together()
        if complete is None:
            return
        if gold not in self.golds or self.golds[gold][0] > complete:
            self.golds[gold] = (complete, "overlap")
        for place in added:
            if gold not in self.by_chunk[place]:
                self.by_chunk[place][gold] = "overlap"
                self.completed[place, gold] = max(place, complete)


def _originals(chunks: Sequence[RetrievedChunk]) -> list[int]:
    """For each chunk the index of the first one that it repeats: by text and document, or by id and one of the two.

    Many servers count ids from 0 in each document; the id of a chunk without text and document is that of any other.
    """
    first: dict[object, int] = {}
    originals = []
    for place, chunk in enumerate(chunks):
        name, document, text = chunk.chunk_id, chunk.document_id or chunk.document_name, chunk.text
        keys: list[object] = [(document, text)] if text or not name else []
        if name:
            keys += [("document", name, document)] if document else []
            keys += [("text", name, text)] if text else []
            bare = ("bare", name)
            keys += [bare] if not (document or text) else []
        looked_up = [*keys, ("bare", name) if name and (document or text) else ("id", name) if name else None]
        known = min(first.get(key, place) for key in looked_up)
        originals.append(known)
        for key in [*keys, *([("id", name)] if name else [])]:
            first.setdefault(key, known)
    return originals


# Texts as runs of tokens.


class _Text:
    """The tokens of a chunk or of a gold, with its place in its list."""

    def __init__(self, place: int, text: str | Tokens) -> None:
        self.place = place
        self.text = plain(text) if isinstance(text, str) else " ".join(text)
        self.tokens: Tokens = tokens(self.text) if isinstance(text, str) else text
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
        parted = "- " in self.text or "-\n" in self.text or "-\r" in self.text
        return f" {' '.join(tokens(_PARTED.sub('', self.text)))} " if parted else ""

    def holds(self, gold: "_Text", longest: int) -> bool:
        """Whether a gold stands in it as whole words, given its longest stretch of three or more tokens of golds."""
        if gold.count <= max(longest, _SHINGLE - 1) and gold.framed in self.framed:
            return True
        parted = (gold.joined, self.framed), (gold.framed, self.joined), (gold.joined, self.joined)
        return any(mine and mine in yours for mine, yours in parted) if gold.joined or self.joined else False


def _set_margins(texts: Sequence[_Text]) -> None:
    """Find with what each text begins and ends as the next one does, numbers aside."""
    for one, other in zip(texts, [*texts[1:], *texts[:1]], strict=True):
        if one is not other:
            one.begin = _agreeing(one.tokens, other.tokens)
            one.end = one.count - _agreeing(one.tokens[: one.begin : -1], other.tokens[::-1])


def _agreeing(one: Tokens, other: Tokens) -> int:
    """How many tokens the two have in common from the start; 0 for a few, which are chance."""
    count = 0
    for mine, yours in zip(one, other, strict=False):
        if mine != yours and not (mine.isdigit() and yours.isdigit()):
            break
        count += 1
    return count if _MIN_RUN <= count < len(one) else 0


_STRETCH = re.compile(rb"\x01{3,}")

_Places = dict[Tokens, list[tuple[int, int]]]
"""By three tokens in a row, the golds that say them, by their places in their list, and where they stand in each."""


def _threes(words: Tokens) -> Iterator[Tokens]:
    return zip(words, words[1:], words[2:], strict=False)


def _places_in(golds: Sequence[_Text]) -> _Places:
    """Where each three tokens of golds stand; of a gold that repeats them, the last places."""
    places: _Places = {}
    for gold in golds:
        for at, three in enumerate(_threes(gold.tokens)):
            stands = places.setdefault(three, [])
            stands.append((gold.place, at))
            if len(stands) > _MOST_REPEATED and stands[-_MOST_REPEATED - 1][0] == gold.place:
                del stands[-_MOST_REPEATED - 1]
    return places


def _shared(
    chunk: _Text, golds: Sequence[_Text], vocabulary: frozenset[str], places: _Places
) -> dict[int, list[Run] | None]:
    """By gold what the chunk has of it: None for all of it, as whole words, else the runs that both share.

    A gold, or three of its tokens in a row, can only stand where each token of the chunk is of a gold's vocabulary.
    """
    known = bytes(map(vocabulary.__contains__, chunk.tokens))
    stretches = [stretch.span() for stretch in _STRETCH.finditer(known)]
    longest = max([end - start for start, end in stretches], default=0)
    threes = [
        (place, chunk.tokens[place : place + _SHINGLE])
        for start, end in stretches
        for place in range(start, end - _SHINGLE + 1)
    ]
    runs = _runs(threes, places)
    shared: dict[int, list[Run] | None] = {}
    for gold in golds:
        if gold.count and chunk.holds(gold, longest):
            shared[gold.place] = None
        elif gold.count > _SHINGLE and gold.place in runs:
            shared[gold.place] = runs[gold.place]
    return shared


def _runs(threes: Iterable[tuple[int, Tokens]], places: _Places) -> dict[int, list[Run]]:
    """By gold its runs in a chunk, each bridged over misread tokens.

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
                row.append([at, at + _SHINGLE, place])
    runs: dict[int, list[Run]] = {}
    for (gold, _), row in rows.items():
        runs.setdefault(gold, []).extend(Run(*run) for run in row)
    return runs


def _untangled(runs: list[Run]) -> list[Run]:
    """The runs in the gold's order that do not lie across one another, the longest first: phrases repeat."""
    kept: list[Run] = []
    for run in sorted(runs, key=lambda run: -run.size):
        if all(
            (run.stop <= other.start or run.start >= other.stop) and (run.end <= other.place or run.place >= other.end)
            for other in kept
        ):
            kept.append(run)
    return sorted(kept)


def covered(wanted: Tokens, given: Tokens) -> float:
    """The share of the wanted tokens that stand in the given ones in runs, in their order; 0 to 1."""
    runs = _runs(enumerate(_threes(given)), _places_in([_Text(0, wanted)])).get(0, [])
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
    gold: _Text, chunk: _Text, runs: list[Run] | None, settings: MatchSettings
) -> tuple[Rule | None, bytes | None]:
    """The rule by texts that holds, and which tokens of the gold the chunk holds in runs that count."""
    allowed = settings.rule
    if runs is None:
        return ("text" if allowed in {"auto", "text"} else None), b"\1" * gold.count
    piece = _piece(gold, chunk, runs) if gold.count >= settings.short_gold_tokens else bytearray()
    held = piece.count(1)
    if not held or _is_heading(gold, chunk, runs) or _contradicts(gold, chunk, _untangled(runs)):
        return None, None
    longest = max(run.size for run in runs)
    fewest = max(settings.inside_min_tokens, settings.inside_chunk_share * chunk.count)
    if allowed in {"auto", "inside"} and longest >= max(fewest, settings.inside_gold_share * gold.count):
        return "inside", bytes(piece)
    if allowed in {"auto", "overlap"} and held >= settings.overlap_threshold * gold.count:
        return "overlap", bytes(piece)
    return None, bytes(piece)


def _piece(gold: _Text, chunk: _Text, runs: list[Run]) -> bytearray:
    """Which tokens of the gold the chunk holds: long runs, those that borders cut, and those at an end of the gold."""
    piece = bytearray(gold.count)
    for run in runs:
        at_end = run.start <= 1 or run.stop >= gold.count - 1
        if run.size >= _FREE_RUN or _is_cut(run, gold, chunk) or (run.size >= _MIN_RUN and at_end):
            piece[run.start : run.stop] = b"\1" * run.size
    return piece


def _is_heading(gold: _Text, chunk: _Text, runs: list[Run]) -> bool:
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


def _contradicts(gold: _Text, chunk: _Text, runs: list[Run]) -> bool:
    """Whether the chunk says another number or name in a place of the gold, or denies it there."""
    return any(
        _is_other_value(mine, yours, chunk.text, gold.text) for mine, yours in _in_place(gold, chunk, runs)
    ) or any(NEGATORS.isdisjoint(mine) is not NEGATORS.isdisjoint(yours) for mine, yours in _gaps(gold, chunk, runs))


def _gaps(gold: _Text, chunk: _Text, runs: list[Run]) -> list[tuple[Tokens, Tokens]]:
    """What chunk and gold say between two runs, where both say little, and before the first."""
    gaps = [
        (chunk.tokens[one.end : other.place], gold.tokens[one.stop : other.start])
        for one, other in pairwise(runs)
        if 0 <= other.start - one.stop <= _GAP and 0 <= other.place - one.end <= _GAP
    ]
    first = runs[0]
    if first.size >= _FREE_RUN and 0 < first.start <= _EDGE <= first.place - chunk.begin:
        gaps.append((chunk.tokens[first.place - _EDGE : first.place], gold.tokens[: first.start]))
    return gaps


def _in_place(gold: _Text, chunk: _Text, runs: list[Run]) -> Iterable[tuple[str, str]]:
    """Tokens that stand in each other's place: in runs, between them, beyond their ends."""
    pairs: list[tuple[str, str]] = []
    for run in runs:
        pairs += zip(chunk.tokens[run.place : run.end], gold.tokens[run.start : run.stop], strict=True)
    for mine, yours in _gaps(gold, chunk, runs):
        alike = len(mine) == len(yours)
        pairs += zip(
            *((mine, yours) if alike else (filter(str.isdigit, mine), filter(str.isdigit, yours))), strict=False
        )
    if any(run.size < gold.count and _is_cut(run, gold, chunk) and _at_border(run, gold, chunk) for run in runs):
        return pairs
    for run in runs:
        if run.start <= _EDGE and run.start <= run.place:
            pairs += zip(chunk.tokens[run.place - run.start : run.place], gold.tokens[: run.start], strict=True)
        if gold.count - run.stop <= _EDGE:
            pairs += zip(chunk.tokens[run.end :], gold.tokens[run.stop :], strict=False)
    first, last = chunk.tokens[0], chunk.tokens[-1]  # parts of words, where a border cuts one
    cut = {(first, yours) for mine, yours in pairs if mine == first and yours.endswith(mine)}
    cut |= {(last, yours) for mine, yours in pairs if mine == last and yours.startswith(mine)}
    return [pair for pair in pairs if pair not in cut]


def _at_border(run: Run, gold: _Text, chunk: _Text) -> bool:
    """Whether a run begins or ends with the chunk's own text, but for a part of the gold's next word."""
    before, behind = gold.tokens[run.start - 1 : run.start], gold.tokens[run.stop : run.stop + 1]
    at_start = run.place <= chunk.begin or (
        run.place == chunk.begin + 1 and bool(before) and before[0].endswith(chunk.tokens[chunk.begin])
    )
    at_end = run.end >= chunk.end or (
        run.end == chunk.end - 1 and bool(behind) and behind[0].startswith(chunk.tokens[run.end])
    )
    return at_start or at_end


def _is_other_value(mine: str, yours: str, chunk: str, gold: str) -> bool:
    """Whether a token of the chunk is another number or another name than the gold's, and no misreading of it."""
    if mine == yours:
        return False
    if mine.isdigit() or yours.isdigit():
        return mine.isdigit() and yours.isdigit()
    if len(mine) < 3 or len(yours) < 3 or SequenceMatcher(None, mine, yours).ratio() >= _ALIKE:
        return False
    return f" {yours.capitalize()}" in gold and f" {mine.capitalize()}" in chunk
