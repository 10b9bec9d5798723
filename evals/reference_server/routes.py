"""Upload, upload status, and the list of documents."""

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any

from fastapi import APIRouter, HTTPException, UploadFile

from evals.reference_server.answering import Answer, answer
from evals.reference_server.chunking import tokenize
from evals.reference_server.faults import WRONG_CHUNKS, Switch
from evals.reference_server.index import (
    ACCEPTED_TYPES,
    Chunk,
    Document,
    DocumentStore,
    Hit,
    UnreadableDocumentError,
    read_document,
)
from evals.reference_server.schemas import (
    BatchStatus,
    Deletion,
    DocumentInfo,
    DocumentList,
    DuplicateCheck,
    DuplicateResult,
    DuplicateResults,
    FileToCheck,
    ModelsInfo,
    QueryRequest,
    QueryResponse,
    QueuedFile,
    Settings,
    TaskStatus,
    UploadResponse,
)

# Uploads processed in the background, one batch after the other.


_log = logging.getLogger(__name__)


KEPT_BATCHES = 1000
"""Of so many batches the status can be asked; of the others that are done it is forgotten."""


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """An accepted file, not yet processed."""

    file_name: str
    content: bytes


class UploadQueue:
    """Turns accepted files into documents and remembers how each one fared."""

    def __init__(self, store: DocumentStore, chunk_words: int) -> None:
        """Process into the store, with chunks of at most ``chunk_words`` words."""
        self._store = store
        self._chunk_words = chunk_words
        self._batches: dict[str, dict[str, TaskStatus]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()

    def submit(self, files: Sequence[IncomingFile]) -> UploadResponse:
        """Queue the files as one batch and return at once."""
        batch_id = str(uuid.uuid4())
        work = {str(uuid.uuid4()): file for file in files}
        self._batches[batch_id] = {key: TaskStatus(filename=file.file_name) for key, file in work.items()}
        self._forget_old()
        task = asyncio.create_task(self._process(batch_id, work))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        queued = [QueuedFile(task_id=key, filename=file.file_name) for key, file in work.items()]
        return UploadResponse(batch_id=batch_id, tasks=queued)

    def status(self, batch_id: str) -> BatchStatus | None:
        """How far a batch has come, or None if there is no such batch."""
        tasks = self._batches.get(batch_id)
        if tasks is None:
            return None
        completed = sum(task.status == "completed" for task in tasks.values())
        return BatchStatus(batch_id=batch_id, total=len(tasks), completed=completed, tasks=tasks)

    def _forget_old(self) -> None:
        """Drop the oldest batches where there are too many, but none that is not done."""
        while len(self._batches) > KEPT_BATCHES:
            oldest = next(iter(self._batches))
            if any(task.status in {"pending", "processing"} for task in self._batches[oldest].values()):
                return
            del self._batches[oldest]

    async def _process(self, batch_id: str, work: dict[str, IncomingFile]) -> None:
        tasks = self._batches[batch_id]
        async with self._turn:
            for task_id, file in work.items():
                await self._process_file(tasks[task_id], file)

    async def _process_file(self, task: TaskStatus, file: IncomingFile) -> None:
        task.status = "processing"
        try:
            document = await asyncio.to_thread(self._read, file)
            self._store.put([document])
        except UnreadableDocumentError as error:
            task.status, task.error = "error", str(error)
            return
        except Exception as error:  # noqa: BLE001 - nobody awaits this: the file would be "processing" for ever
            _log.error("%s could not be processed", file.file_name, exc_info=error)
            reason = f"{type(error).__name__}: {error}"
            task.status, task.error = "error", f"{file.file_name} could not be processed ({reason})."
            return
        task.total_chunks = task.completed_chunks = len(document.chunks)
        task.status = "completed"

    def _read(self, file: IncomingFile) -> Document:
        return read_document(file.content, file.file_name, self._chunk_words)


class SortBy(StrEnum):
    """What the list of documents can be sorted by."""

    NAME = "name"
    FILE_NAME = "file_name"
    FILE_TYPE = "file_type"
    CHUNKS = "chunks"
    UPLOADED_AT = "uploaded_at"
    FILE_SIZE_BYTES = "file_size_bytes"


class SortOrder(StrEnum):
    """Which way the list is sorted."""

    ASC = "asc"
    DESC = "desc"


def document_router(settings: Settings, store: DocumentStore) -> APIRouter:
    """The routes that change and list documents."""
    router = APIRouter()
    queue = UploadQueue(store, settings.chunk_words)

    @router.post("/upload")
    async def upload(files: list[UploadFile]) -> UploadResponse:
        """Queue text files; those that cannot be accepted are left out."""
        accepted, problems = await _sort_out(files, settings)
        if not accepted:
            raise HTTPException(400, "No file was accepted. " + " ".join(problems))
        return queue.submit(accepted)

    @router.get("/tasks/{batch_id}/status")
    async def batch_status(batch_id: str) -> BatchStatus:
        """How far an upload has come."""
        status = queue.status(batch_id)
        if status is None:
            raise HTTPException(404, f"There is no batch {batch_id}.")
        return status

    _add_list_routes(router, store)
    return router


def _add_list_routes(router: APIRouter, store: DocumentStore) -> None:
    @router.get("/documents")
    def documents(sort_by: SortBy = SortBy.UPLOADED_AT, sort_order: SortOrder = SortOrder.DESC) -> DocumentList:
        """All stored documents."""
        infos = [_info(document) for document in store.documents()]
        field = "file_name" if sort_by is SortBy.NAME else sort_by.value
        infos.sort(key=lambda info: getattr(info, field), reverse=sort_order is SortOrder.DESC)
        return DocumentList(documents=infos)

    @router.delete("/documents/{document_id}")
    def delete(document_id: str) -> Deletion:
        """Remove one document."""
        document = store.delete(document_id)
        if document is None:
            raise HTTPException(404, f"There is no document {document_id}.")
        return Deletion(deleted_chunks=len(document.chunks))

    @router.post("/documents/check-duplicates")
    def check_duplicates(request: DuplicateCheck) -> DuplicateResults:
        """Which of the files are already here."""
        stored = store.documents()
        return DuplicateResults(results={file.filename: _look_up(file, stored) for file in request.files})


async def _sort_out(files: list[UploadFile], settings: Settings) -> tuple[list[IncomingFile], list[str]]:
    """The files that can be accepted, and one sentence about each that cannot."""
    accepted: list[IncomingFile] = []
    problems: list[str] = []
    for file in files:
        name = PurePosixPath((file.filename or "").replace("\\", "/")).name
        problem = _problem(name, file.size or 0, settings)
        if problem:
            problems.append(problem)
        else:
            accepted.append(IncomingFile(name, await file.read()))
    return accepted, problems


def _problem(name: str, size: int, settings: Settings) -> str | None:
    if PurePosixPath(name).suffix.lower() not in ACCEPTED_TYPES:
        return f"{name!r} is of an unsupported type; supported are {', '.join(ACCEPTED_TYPES)}."
    if size == 0:
        return f"{name!r} is empty."
    if size > settings.max_upload_bytes:
        return f"{name!r} is larger than {settings.max_upload_mb} MB."
    return None


def _info(document: Document) -> DocumentInfo:
    return DocumentInfo(
        id=document.id,
        file_name=document.file_name,
        file_type=document.file_type,
        chunks=len(document.chunks),
        uploaded_at=document.uploaded_at,
        file_size_bytes=document.file_size_bytes,
    )


def _look_up(file: FileToCheck, stored: list[Document]) -> DuplicateResult:
    for document in stored:
        if file.hash is not None:
            same = file.hash.lower() == document.content_hash
            reason = "A document with the same content exists."
        else:
            same = (file.filename, file.size) == (document.file_name, document.file_size_bytes)
            reason = "A document with the same name and size exists."
        if same:
            return DuplicateResult(
                filename=file.filename,
                exists=True,
                document_id=document.id,
                existing_filename=document.file_name,
                reason=reason,
            )
    return DuplicateResult(filename=file.filename, exists=False)


# Health and what the server says about itself.


def info_router(settings: Settings) -> APIRouter:
    """The routes that never change while the server runs."""
    router = APIRouter()

    @router.get("/health")
    async def health() -> dict[str, str]:
        """Say that the server is up."""
        return {"status": "healthy"}

    @router.get("/models/info")
    async def models_info() -> ModelsInfo:
        """Which models the server uses: none, it quotes its documents."""
        return ModelsInfo()

    @router.get("/config")
    async def config() -> dict[str, int]:
        """Limits a client should know."""
        return {"max_upload_size_mb": settings.max_upload_mb}

    @router.get("/metrics/retrieval")
    async def retrieval() -> dict[str, Any]:
        """How the server retrieves."""
        return retrieval_settings(settings)

    return router


def retrieval_settings(settings: Settings) -> dict[str, Any]:
    """The retrieval settings in the form of the contract."""
    vector = {
        "chunk_size": settings.chunk_words,
        "chunk_overlap": 0,
        "vector_store": None,
        "collection_name": None,
    }
    return {
        "retrieval_top_k": settings.top_k,
        "final_top_n": settings.top_k,
        "hybrid_search": {
            "enabled": False,
            "bm25": {"enabled": True},
            "vector": vector,
            "fusion_method": None,
            "rrf_k": None,
        },
        "contextual_retrieval": {"enabled": False},
        "reranker": {"enabled": False, "model": None, "top_n": None},
    }


# POST /query.


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
