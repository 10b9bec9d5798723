"""BM25 search over all chunks, with an order that never depends on how they were uploaded."""

import logging
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from typing import Any

import numpy as np

from .documents import Chunk

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
