"""The routes of the HTTP contract: uploads, documents, queries, and what the server says about itself."""

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, UploadFile
from pydantic import AfterValidator, BaseModel, Field

from evals.reference_server import Settings
from evals.reference_server.chunking import tokenize
from evals.reference_server.index import (
    ACCEPTED_TYPES,
    Chunk,
    Document,
    DocumentStore,
    Hit,
    UnreadableDocumentError,
    answer,
    read_document,
)

_log = logging.getLogger(__name__)

Json = dict[str, Any]

MEGABYTE = 1024 * 1024

_EXCERPT_LENGTH = 200


def _sendable(text: str) -> str:
    """The text; JSON may hold half of a pair of surrogates by its escapes, and no answer could hold it."""
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise ValueError("the text holds half of a pair of surrogates")
    return text


Text = Annotated[str, AfterValidator(_sendable)]


class QueryRequest(BaseModel):
    """Body of POST /query."""

    query: Text = Field(min_length=1)
    session_id: Text | None = None
    include_chunks: bool = False
    top_k: int | None = Field(default=None, ge=1, le=100)
    """How many chunks to retrieve; the server's own number where None. An addition of this server."""


class UploadQueue:
    """Turns accepted files into documents, one batch after the other, and remembers how each one fared."""

    def __init__(self, store: DocumentStore, chunk_words: int) -> None:
        """Process into the store, with chunks of at most ``chunk_words`` words."""
        self._store = store
        self._chunk_words = chunk_words
        self._batches: dict[str, dict[str, Json]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()

    def submit(self, files: Sequence[tuple[str, bytes]]) -> Json:
        """Queue the files, of names and contents, as one batch and return at once."""
        batch_id, ids = str(uuid.uuid4()), [str(uuid.uuid4()) for _ in files]
        fresh = {"status": "pending", "total_chunks": 0, "completed_chunks": 0, "error": None}
        tasks = {key: {"filename": name, **fresh} for key, (name, _) in zip(ids, files, strict=True)}
        self._batches[batch_id] = tasks
        running = asyncio.create_task(self._process(list(tasks.values()), files))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        queued = [{"task_id": key, "filename": task["filename"]} for key, task in tasks.items()]
        return {"status": "queued", "batch_id": batch_id, "tasks": queued}

    def status(self, batch_id: str) -> Json | None:
        """How far a batch has come, or None if there is no such batch."""
        tasks = self._batches.get(batch_id)
        if tasks is None:
            return None
        completed = sum(task["status"] == "completed" for task in tasks.values())
        return {"batch_id": batch_id, "total": len(tasks), "completed": completed, "tasks": tasks}

    async def _process(self, tasks: Sequence[Json], files: Sequence[tuple[str, bytes]]) -> None:
        async with self._turn:
            for task, (name, content) in zip(tasks, files, strict=True):
                task["status"] = "processing"
                try:
                    document = await asyncio.to_thread(read_document, content, name, self._chunk_words)
                    self._store.put([document])
                except UnreadableDocumentError as error:
                    task |= {"status": "error", "error": str(error)}
                except Exception as error:  # noqa: BLE001 - nobody awaits this: the file would be "processing" for ever
                    _log.error("%s could not be processed", name, exc_info=error)
                    reason = f"{name} could not be processed ({type(error).__name__}: {error})."
                    task |= {"status": "error", "error": reason}
                else:
                    count = len(document.chunks)
                    task |= {"status": "completed", "total_chunks": count, "completed_chunks": count}


def document_router(settings: Settings, store: DocumentStore) -> APIRouter:
    """The routes that take and list documents."""
    router = APIRouter()
    queue = UploadQueue(store, settings.chunk_words)

    @router.post("/upload")
    async def upload(files: list[UploadFile]) -> Json:
        """Queue text files; those that cannot be accepted are left out."""
        accepted: list[tuple[str, bytes]] = []
        problems: list[str] = []
        for file in files:
            name = PurePosixPath((file.filename or "").replace("\\", "/")).name
            problem = _problem(name, file.size or 0, settings)
            if problem:
                problems.append(problem)
            else:
                accepted.append((name, await file.read()))
        if not accepted:
            raise HTTPException(400, "No file was accepted. " + " ".join(problems))
        return queue.submit(accepted)

    @router.get("/tasks/{batch_id}/status")
    async def batch_status(batch_id: str) -> Json:
        """How far an upload has come."""
        found = queue.status(batch_id)
        if found is None:
            raise HTTPException(404, f"There is no batch {batch_id}.")
        return found

    @router.get("/documents")
    def documents() -> Json:
        """All stored documents."""
        return {"documents": [_info(document) for document in store.documents()]}

    return router


def _problem(name: str, size: int, settings: Settings) -> str | None:
    if PurePosixPath(name).suffix.lower() not in ACCEPTED_TYPES:
        return f"{name!r} is of an unsupported type; supported are {', '.join(ACCEPTED_TYPES)}."
    if size == 0:
        return f"{name!r} is empty."
    return f"{name!r} is larger than {settings.max_upload_mb} MB." if size > settings.max_upload_mb * MEGABYTE else None


def _info(document: Document) -> Json:
    fields = ("id", "file_name", "file_type", "chunks", "uploaded_at", "file_size_bytes")
    return {name: getattr(document, name) for name in fields} | {"chunks": len(document.chunks)}


def info_router(settings: Settings) -> APIRouter:
    """The routes that never change while the server runs: health, and what the server says about itself."""
    vector = {"chunk_size": settings.chunk_words, "chunk_overlap": 0, "vector_store": None, "collection_name": None}
    search = {"enabled": False, "bm25": {"enabled": True}, "vector": vector, "fusion_method": None, "rrf_k": None}
    replies: dict[str, Json] = {
        "/health": {"status": "healthy"},
        "/models/info": {
            "llm_model": "extractive-bm25",
            "llm_provider": "reference",
            "llm_hosting": "local",
            "embedding_model": "none",
            "reranker_model": None,
            "reranker_enabled": False,
            "cost_per_1m_input_tokens": 0.0,
            "cost_per_1m_output_tokens": 0.0,
        },
        "/config": {"max_upload_size_mb": settings.max_upload_mb},
        "/metrics/retrieval": {
            "retrieval_top_k": settings.top_k,
            "final_top_n": settings.top_k,
            "hybrid_search": search,
            "contextual_retrieval": {"enabled": False},
            "reranker": {"enabled": False, "model": None, "top_n": None},
        },
    }
    router = APIRouter()
    for path, reply in replies.items():
        router.add_api_route(path, _constant(reply), name=path.removeprefix("/"))
    return router


def _constant(reply: Json) -> Callable[[], Any]:
    async def get() -> Json:
        return reply

    return get


def query_router(settings: Settings, store: DocumentStore) -> APIRouter:
    """The route that answers questions."""
    router = APIRouter()

    @router.post("/query")
    def query(request: QueryRequest) -> Json:
        """Answer a question from the stored documents."""
        try:
            return respond(request, store, request.top_k or settings.top_k)
        except Exception as error:  # whatever it is, the contract's reply is a 500 that says so
            raise HTTPException(500, f"The query failed: {error}") from error

    return router


def respond(request: QueryRequest, store: DocumentStore, top_k: int) -> Json:
    """Retrieve, answer and describe both as the body of a response."""
    started = time.perf_counter()
    index, by_chunk = store.index(), request.include_chunks
    hits = index.search(tokenize(request.query), top_k)
    # A source stands for a chunk where chunks were asked for, else for a document: by its best chunk.
    shown: dict[str, Hit] = {}
    for hit in hits:
        shown.setdefault(_source_key(hit.chunk, by_chunk), hit)
    numbers = {key: number for number, key in enumerate(shown, start=1)}

    def number(chunk: Chunk) -> int:
        return numbers[_source_key(chunk, by_chunk)]

    result = answer(request.query, hits, index, number)
    return {
        "answer": result.text,
        "sources": [_source(hit, by_chunk) for hit in shown.values()],
        "session_id": request.session_id or str(uuid.uuid4()),
        "citations": [_citation(chunk, number(chunk)) for chunk in result.cited] if by_chunk else None,
        "metrics": {
            "latency_ms": (time.perf_counter() - started) * 1000,
            "token_usage": result.token_usage(request.query),
        },
    }


def _source_key(chunk: Chunk, by_chunk: bool) -> str:
    return chunk.chunk_id if by_chunk else chunk.document_id


def _source(hit: Hit, include_chunks: bool) -> Json:
    chunk = hit.chunk
    source: Json = {
        "document_id": chunk.document_id,
        "document_name": chunk.document_name,
        "excerpt": chunk.text[:_EXCERPT_LENGTH] + ("..." if len(chunk.text) > _EXCERPT_LENGTH else ""),
        "full_text": chunk.text,
        "path": None,
        "score": hit.score,
        "section": chunk.section,
    }
    return source | ({"chunk_id": chunk.chunk_id, "chunk_index": chunk.chunk_index} if include_chunks else {})


def _citation(chunk: Chunk, number: int) -> Json:
    return {
        "source_index": number,
        "document_id": chunk.document_id,
        "chunk_id": chunk.chunk_id,
        "chunk_index": chunk.chunk_index,
        "section": chunk.section,
    }
