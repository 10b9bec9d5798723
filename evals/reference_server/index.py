"""Documents, a BM25 index over their chunks that never depends on the order of uploads, and extractive answers."""

import hashlib
import logging
import math
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import numpy as np

from evals.reference_server.chunking import Unit, split, split_units, stem, title_of, tokenize, words

# Documents and chunks with their identities, and how bytes become them.


ACCEPTED_TYPES = (".md", ".txt")


class UnreadableDocumentError(ValueError):
    """The bytes of a document cannot become chunks; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One retrievable slice of a document; ``tokens`` also hold its title and section."""

    document_id: str
    document_name: str
    chunk_id: str
    chunk_index: int
    text: str
    section: str | None
    heading_tokens: frozenset[str]
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """One stored document."""

    id: str
    file_name: str
    file_size_bytes: int
    uploaded_at: str
    chunks: tuple[Chunk, ...]

    @property
    def file_type(self) -> str:
        """The file name's ending, lower-case with its dot."""
        return PurePath(self.file_name).suffix.lower()


def document_id(file_name: str) -> str:
    """The identity of a document, which its file name alone decides."""
    return hashlib.sha256(file_name.encode()).hexdigest()[:16]


def chunk_id(file_name: str, index: int, text: str) -> str:
    """The identity of a chunk: a hash of where it is and what it says."""
    return hashlib.sha256(f"{file_name}\0{index}\0{text}".encode()).hexdigest()[:16]


def decode(content: bytes, file_name: str) -> str:
    """The text of a file, which must be UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableDocumentError(
            f"{file_name} is not valid UTF-8 text (byte {error.start} cannot be read)."
        ) from error


def make_chunks(text: str, file_name: str, max_words: int) -> tuple[Chunk, ...]:
    """All chunks of a text, ready for the index."""
    doc_id, title = document_id(file_name), title_of(text, file_name)
    chunks: list[Chunk] = []
    for index, piece in enumerate(split(text, file_name, max_words)):
        body = text[piece.start : piece.end]
        heading = title if piece.section in (None, title) else f"{title}\n{piece.section}"
        head = tokenize(heading)
        identity = chunk_id(file_name, index, body)
        tokens = (*head, *tokenize(body))
        chunks.append(Chunk(doc_id, file_name, identity, index, body, piece.section, frozenset(head), tokens))
    return tuple(chunks)


def read_document(content: bytes, file_name: str, max_words: int) -> Document:
    """Turn the bytes of a file into a document, or say why that is impossible."""
    chunks = make_chunks(decode(content, file_name), file_name, max_words)
    if not chunks:
        raise UnreadableDocumentError(f"{file_name} contains no text.")
    return Document(
        id=document_id(file_name),
        file_name=file_name,
        file_size_bytes=len(content),
        uploaded_at=datetime.now(UTC).isoformat(),
        chunks=chunks,
    )


# The documents a server starts with.


GOLDEN = "golden"

NONE = "none"


class MissingCorpusError(ValueError):
    """The documents to start with cannot be had; the message is a sentence for the user."""


_GOLDEN_FOLDER = Path(__file__).resolve().parent.parent / "data" / "golden_corpus"


def load_corpus(corpus: str, chunk_words: int) -> list[Document]:
    """Read the documents of ``golden``, of a folder, or of ``none``.

    Raises:
        MissingCorpusError: The folder does not exist, or it or a file in it cannot be read.
        UnreadableDocumentError: A file is no text.
    """
    if corpus == NONE:
        return []
    folder = _GOLDEN_FOLDER if corpus == GOLDEN else Path(corpus)
    if not folder.is_dir():
        raise MissingCorpusError(f"The corpus folder {folder} does not exist.")
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix.lower() in ACCEPTED_TYPES)
        return [read_document(path.read_bytes(), path.name, chunk_words) for path in files if path.is_file()]
    except OSError as error:
        raise MissingCorpusError(f"The corpus cannot be read: {error.filename}: {error.strerror}.") from error


_BM25 = "bm25s"  # imported when first needed: it would take a third of the start-up time


class Hit(NamedTuple):
    """A chunk that shares at least one word with the question."""

    chunk: Chunk
    score: float


class ChunkIndex:
    """An unchangeable BM25 index; build a new one when the documents change."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        """Index the chunks, which must come in an order that does not depend on uploads."""
        self.chunks = tuple(chunks)
        self._frequency = Counter(token for chunk in chunks for token in set(chunk.tokens))
        self._bm25: Any = _build(self.chunks, sorted(self._frequency))

    def __len__(self) -> int:
        """How many chunks are indexed."""
        return len(self.chunks)

    def idf(self, token: str) -> float:
        """How rare a token is among the chunks; a token never seen is the rarest."""
        seen = self._frequency.get(token, 0)
        return math.log(1 + (len(self.chunks) - seen + 0.5) / (seen + 0.5))

    def search(self, tokens: Sequence[str], top_k: int) -> list[Hit]:
        """The best chunks for the tokens, best first; only those with a score above zero."""
        known = [token for token in dict.fromkeys(tokens) if token in self._frequency]
        if self._bm25 is None or not known:
            return []
        scores = self._bm25.get_scores(known)
        hits = [Hit(self.chunks[i], round(float(scores[i]), 6)) for i in _candidates(scores, top_k)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk.chunk_id))[:top_k]


def warm_up() -> Any:
    """Import what an index needs, so that the first query need not wait for it."""
    module = import_module(_BM25)
    logging.getLogger(_BM25).setLevel(logging.WARNING)  # it sets itself to DEBUG
    return module


def _candidates(scores: Any, top_k: int) -> list[int]:
    """The positions of every score above zero that can be among the best, ties included."""
    positive = np.flatnonzero(scores > 0)
    if len(positive) > top_k:
        lowest = np.partition(scores[positive], -top_k)[-top_k]
        positive = positive[scores[positive] >= lowest - 1e-5]
    return [int(i) for i in positive]


def _build(chunks: Sequence[Chunk], words: Sequence[str]) -> Any:
    """The BM25 matrix, or None when there is no word to search for."""
    if not words:
        return None
    vocabulary = {word: i for i, word in enumerate(words)}
    ids = [[vocabulary[token] for token in chunk.tokens] for chunk in chunks]
    bm25 = warm_up().BM25(method="lucene", k1=1.5, b=0.75)
    bm25.index((ids, vocabulary), create_empty_token=False, show_progress=False)
    return bm25


# The documents a server holds, and the index over them.


class DocumentStore:
    """Documents by id, safe to use from several threads; the index is built when first needed."""

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        """Start with these documents."""
        self._documents: dict[str, Document] = {}
        self._index: ChunkIndex | None = None
        self._lock = threading.RLock()
        self.put(documents)

    def put(self, documents: Iterable[Document]) -> None:
        """Add documents; each replaces an earlier one of the same file name."""
        with self._lock:
            self._documents.update({document.id: document for document in documents})
            self._index = None

    def documents(self) -> list[Document]:
        """All documents, by file name."""
        with self._lock:
            return sorted(self._documents.values(), key=lambda document: document.file_name)

    def index(self) -> ChunkIndex:
        """The index over the current documents, built anew only if they changed."""
        with self._lock:
            if self._index is None:
                self._index = ChunkIndex([chunk for document in self.documents() for chunk in document.chunks])
            return self._index


# Answers: sentences from the best chunks, or an abstention.


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


class _Candidate(NamedTuple):
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
    """The unbroken run of list items next to a unit, nearest first."""
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
