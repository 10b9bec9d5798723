"""BM25 search over all chunks, with an order that never depends on how they were uploaded."""

import hashlib
import logging
import math
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from evals.reference_server.chunking import split, title_of, tokenize

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
    content_hash: str
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
        content_hash=hashlib.sha256(content).hexdigest(),
        file_size_bytes=len(content),
        uploaded_at=datetime.now(UTC).isoformat(),
        chunks=chunks,
    )


# The documents a server starts with.


GOLDEN = "golden"

NONE = "none"


class MissingCorpusError(ValueError):
    """The documents to start with cannot be had; the message is a sentence for the user."""


def golden_folder() -> Path:
    """The folder of the corpus that comes with the package."""
    return Path(__file__).resolve().parent.parent / "data" / "golden_corpus"


def load_corpus(corpus: str, chunk_words: int) -> list[Document]:
    """Read the documents of ``golden``, of a folder, or of ``none``.

    Raises:
        MissingCorpusError: The folder does not exist, or it or a file in it cannot be read.
        UnreadableDocumentError: A file is no text.
    """
    if corpus == NONE:
        return []
    folder = golden_folder() if corpus == GOLDEN else Path(corpus)
    if not folder.is_dir():
        raise MissingCorpusError(f"The corpus folder {folder} does not exist.")
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix.lower() in ACCEPTED_TYPES)
        return [read_document(path.read_bytes(), path.name, chunk_words) for path in files if path.is_file()]
    except OSError as error:
        raise MissingCorpusError(f"The corpus cannot be read: {error.filename}: {error.strerror}.") from error


_BM25 = "bm25s"  # imported when first needed: it would take a third of the start-up time


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that shares at least one word with the question."""

    chunk: Chunk
    score: float


class ChunkIndex:
    """An unchangeable BM25 index; build a new one when the documents change."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        """Index the chunks, which must come in an order that does not depend on uploads."""
        self._chunks = tuple(chunks)
        self._frequency = Counter(token for chunk in chunks for token in set(chunk.tokens))
        self._bm25: Any = _build(self._chunks, sorted(self._frequency))

    def __len__(self) -> int:
        """How many chunks are indexed."""
        return len(self._chunks)

    def idf(self, token: str) -> float:
        """How rare a token is among the chunks; a token never seen is the rarest."""
        seen = self._frequency.get(token, 0)
        return math.log(1 + (len(self._chunks) - seen + 0.5) / (seen + 0.5))

    def search(self, tokens: Sequence[str], top_k: int) -> list[Hit]:
        """The best chunks for the tokens, best first; only those with a score above zero."""
        known = [token for token in dict.fromkeys(tokens) if token in self._frequency]
        if self._bm25 is None or not known:
            return []
        scores = self._bm25.get_scores(known)
        hits = [Hit(self._chunks[i], round(float(scores[i]), 6)) for i in _candidates(scores, top_k)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk.chunk_id))[:top_k]

    def others(self, hits: Sequence[Hit], salt: str) -> list[Hit]:
        """As many chunks of documents that are not among the hits, with their scores; the salt chooses which.

        Where the hits are of all documents, those of the first hit's document are left out alone.
        """
        found = {hit.chunk.document_id for hit in hits}
        elsewhere = [chunk for chunk in self._chunks if chunk.document_id not in found]
        if hits and not elsewhere:
            elsewhere = [chunk for chunk in self._chunks if chunk.document_id != hits[0].chunk.document_id]
        elsewhere.sort(key=lambda chunk: sha256(f"{salt}:{chunk.chunk_id}".encode()).digest())
        return [Hit(chunk, hit.score) for chunk, hit in zip(elsewhere, hits, strict=False)]


def warm_up() -> None:
    """Import what the first index needs, so that the first query need not wait for it."""
    _import_bm25()


def _import_bm25() -> Any:
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
    bm25 = _import_bm25().BM25(method="lucene", k1=1.5, b=0.75)
    bm25.index((ids, vocabulary), create_empty_token=False, show_progress=False)
    return bm25


# The documents a server holds, and the index over them.


class DocumentStore:
    """Documents by id, safe to use from several threads; the index is built when first needed."""

    def __init__(self) -> None:
        """Start with no documents."""
        self._documents: dict[str, Document] = {}
        self._index: ChunkIndex | None = None
        self._version = 0
        self._lock = threading.Lock()
        self._build_lock = threading.Lock()

    def put(self, documents: Iterable[Document]) -> None:
        """Add documents; each replaces an earlier one of the same file name."""
        with self._lock:
            self._documents.update((document.id, document) for document in documents)
            self._changed()

    def delete(self, document_id: str) -> Document | None:
        """Remove a document and return it, or None when there is none of that id."""
        with self._lock:
            document = self._documents.pop(document_id, None)
            if document is not None:
                self._changed()
            return document

    def documents(self) -> list[Document]:
        """All documents, by file name."""
        with self._lock:
            return self._sorted()

    def index(self) -> ChunkIndex:
        """The index over the current documents, built anew only if they changed."""
        with self._build_lock:
            with self._lock:
                if self._index is not None:
                    return self._index
                version, documents = self._version, self._sorted()
            index = ChunkIndex([chunk for document in documents for chunk in document.chunks])
            with self._lock:
                if version == self._version:
                    self._index = index
            return index

    def _sorted(self) -> list[Document]:
        return sorted(self._documents.values(), key=lambda document: document.file_name)

    def _changed(self) -> None:
        self._version += 1
        self._index = None
