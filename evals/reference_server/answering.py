"""Answer a question with sentences from the best chunks, or abstain."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evals.reference_server.chunking import Unit, split_units, stem, tokenize, words
from evals.reference_server.index import Chunk, ChunkIndex, Hit

ABSTENTION = "I don't have enough information in the provided documents to answer this question."

_MIN_SHARE = 0.5

_CHUNKS_READ = 3

_MAX_SENTENCES = 3

_NEAR_BEST = 0.6

_RANK_BONUS = 0.05

_HEADING_WEIGHT = 0.3

_MAX_NEIGHBOURS = 15

_ASKS_FOR_LIST = re.compile(r"\b(?:list|which|what\s+are)\b", re.IGNORECASE)

_COMMANDS = frozenset({"describe", "explain", "give", "list", "name", "please", "show", "tell"})


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer's text, the chunks it cites in order of appearance, and the chunks it read."""

    text: str
    cited: tuple[Chunk, ...]
    read: tuple[Chunk, ...]

    def token_usage(self, question: str) -> dict[str, int]:
        """What the answer would have cost a model, at four characters a token."""
        prompt = math.ceil((len(question) + sum(len(chunk.text) for chunk in self.read)) / 4)
        completion = math.ceil(len(self.text) / 4)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }


@dataclass(frozen=True, slots=True)
class _Candidate:
    score: float
    rank: int
    position: int


def question_tokens(question: str) -> list[str]:
    """The content words of a question: an opening command such as "list" is not one of them."""
    tokens = tokenize(question)
    opening = words(question)[:1]
    return tokens[1:] if opening and opening[0] in _COMMANDS and tokens[:1] == [stem(opening[0])] else tokens


def coverage(tokens: Sequence[str], chunk: Chunk, index: ChunkIndex) -> float:
    """The share of the question's content words, weighted by rarity, that the chunk holds."""
    asked, held = set(tokens), set(chunk.tokens)
    total = math.fsum(index.idf(token) for token in asked)
    return math.fsum(index.idf(token) for token in asked & held) / total if total else 0.0


def answer(question: str, hits: Sequence[Hit], index: ChunkIndex, number: Callable[[Chunk], int]) -> Answer:
    """Answer from the hits; ``number`` says under which source number a chunk is cited."""
    tokens = question_tokens(question)
    chunks = tuple(hit.chunk for hit in hits[:_CHUNKS_READ])
    if not chunks or coverage(tokens, chunks[0], index) < _MIN_SHARE:
        return Answer(ABSTENTION, (), chunks)
    units = [split_units(chunk.text) for chunk in chunks]
    chosen = _choose(set(tokens), chunks, units, index)
    if not chosen:
        return Answer(ABSTENTION, (), chunks)
    asks_for_list = bool(_ASKS_FOR_LIST.search(question))
    groups: list[str] = []
    cited: list[Chunk] = []
    for rank in sorted({candidate.rank for candidate in chosen}):
        positions = {candidate.position for candidate in chosen if candidate.rank == rank}
        positions |= _neighbours(units[rank], positions, asks_for_list)
        groups.append(f"{_join([units[rank][p] for p in sorted(positions)])} [{number(chunks[rank])}]")
        cited.append(chunks[rank])
    return Answer("\n".join(groups), tuple(cited), chunks)


def _choose(
    asked: set[str], chunks: Sequence[Chunk], units: Sequence[Sequence[Unit]], index: ChunkIndex
) -> list[_Candidate]:
    """The one to three best units of all chunks."""
    idf = {token: index.idf(token) for token in asked}
    candidates = [
        _Candidate(_score(idf, unit, chunks[rank]) * (1 - _RANK_BONUS * rank), rank, position)
        for rank, chunk_units in enumerate(units)
        for position, unit in enumerate(chunk_units)
    ]
    candidates.sort(key=lambda c: (-c.score, c.rank, c.position))
    best = candidates[0].score if candidates else 0.0
    return [c for c in candidates[:_MAX_SENTENCES] if c.score > 0 and c.score >= _NEAR_BEST * best]


def _score(idf: dict[str, float], unit: Unit, chunk: Chunk) -> float:
    """Rarity-weighted overlap with the question; words of headings and table headers count for less."""
    own = set(tokenize(unit.text))
    above = chunk.heading_tokens.union(tokenize(unit.header)) - own
    in_unit = math.fsum(weight for token, weight in idf.items() if token in own)
    in_heading = math.fsum(weight for token, weight in idf.items() if token in above)
    return in_unit + _HEADING_WEIGHT * in_heading


def _neighbours(units: Sequence[Unit], positions: set[int], asks_for_list: bool) -> set[int]:
    """The list items around the chosen units, where the question or an open lead-in calls for them."""
    found: list[int] = []
    for position in sorted(positions):
        if not asks_for_list and not units[position].text.endswith(":"):
            continue
        found += _run(units, position, 1)
        if units[position].is_item:
            found += _run(units, position, -1)
    fresh = [p for p in dict.fromkeys(found) if p not in positions]
    return set(fresh[:_MAX_NEIGHBOURS])


def _run(units: Sequence[Unit], position: int, step: int) -> list[int]:
    """The unbroken run of list items beside a unit, nearest first."""
    run: list[int] = []
    position += step
    while 0 <= position < len(units) and units[position].is_item:
        run.append(position)
        position += step
    return run


def _join(units: Sequence[Unit]) -> str:
    """The units as one text: sentences side by side, items on lines of their own."""
    text = units[0].text
    for before, unit in pairwise(units):
        text += ("\n" if before.is_item or unit.is_item else " ") + unit.text
    return text
