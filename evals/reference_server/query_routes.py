"""POST /query."""

import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from fastapi import APIRouter, HTTPException

from .answering import Answer, answer
from .documents import Chunk
from .index import Hit
from .misbehave import WRONG_CHUNKS, Switch
from .schemas import QueryRequest, QueryResponse
from .settings import Settings
from .store import DocumentStore
from .tokens import tokenize

_EXCERPT_LENGTH = 200


def query_router(settings: Settings, store: DocumentStore, switches: Sequence[Switch] = ()) -> APIRouter:
    """The route that answers questions; of the switches it obeys those of retrieval."""
    router = APIRouter()
    damaging = [switch for switch in switches if switch.kind == WRONG_CHUNKS]

    @router.post("/query", response_model=QueryResponse, response_model_exclude_unset=True)
    def query(request: QueryRequest) -> dict[str, Any]:
        """Answer a question from the stored documents."""
        try:
            wrong = next((switch for switch in damaging if switch.takes(request.query)), None)
            return respond(request, store, request.top_k or settings.top_k, wrong)
        except Exception as error:  # whatever it is, the contract's reply is a 500 that says so
            raise HTTPException(500, f"The query failed: {error}") from error

    return router


def respond(request: QueryRequest, store: DocumentStore, top_k: int, wrong: Switch | None = None) -> dict[str, Any]:
    """Retrieve, answer and describe both as the body of a response; with a switch, retrieve from other documents."""
    started = time.perf_counter()
    index = store.index()
    hits = index.search(tokenize(request.query), top_k)
    if wrong is not None:
        hits = index.others(hits, f"{wrong.seed}:{request.query}")
    shown = hits if request.include_chunks else _first_of_each_document(hits)
    number = _numbering(shown, by_chunk=request.include_chunks)
    result = answer(request.query, hits, index, number)
    return {
        "answer": result.text,
        "sources": [_source(hit, request.include_chunks) for hit in shown],
        "session_id": request.session_id or str(uuid.uuid4()),
        "citations": _citations(result, number) if request.include_chunks else None,
        "metrics": {
            "latency_ms": (time.perf_counter() - started) * 1000,
            "token_usage": result.token_usage(request.query),
        },
    }


def _first_of_each_document(hits: Sequence[Hit]) -> list[Hit]:
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.chunk.document_id, hit)
    return list(first.values())


def _numbering(shown: Sequence[Hit], *, by_chunk: bool) -> Callable[[Chunk], int]:
    """How to find the number, from 1, of the source that stands for a chunk."""

    def key(chunk: Chunk) -> str:
        return chunk.chunk_id if by_chunk else chunk.document_id

    numbers = {key(hit.chunk): i for i, hit in enumerate(shown, start=1)}
    return lambda chunk: numbers[key(chunk)]


def _source(hit: Hit, include_chunks: bool) -> dict[str, Any]:
    chunk = hit.chunk
    shortened = chunk.text[:_EXCERPT_LENGTH] + ("..." if len(chunk.text) > _EXCERPT_LENGTH else "")
    source: dict[str, Any] = {
        "document_id": chunk.document_id,
        "document_name": chunk.document_name,
        "excerpt": shortened,
        "full_text": chunk.text,
        "path": None,
        "score": hit.score,
        "section": chunk.section,
    }
    if include_chunks:
        source |= {"chunk_id": chunk.chunk_id, "chunk_index": chunk.chunk_index}
    return source


def _citations(result: Answer, number: Callable[[Chunk], int]) -> list[dict[str, Any]]:
    return [
        {
            "source_index": number(chunk),
            "document_id": chunk.document_id,
            "chunk_id": chunk.chunk_id,
            "chunk_index": chunk.chunk_index,
            "section": chunk.section,
        }
        for chunk in result.cited
    ]
