"""The HTTP contract of the built-in server: uploads, documents, queries, and what the server says about itself."""

import json
import threading
import time
import uuid
from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import PurePath
from secrets import compare_digest
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, HTTPException, Request, Response, UploadFile
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from evals.reference_server import Settings
from evals.reference_server.documents import ACCEPTED_TYPES, Chunk, Document, read_document
from evals.reference_server.search import Hit, Index, answer

MEGABYTE = 1024 * 1024


class QueryRequest(BaseModel):
    """Body of POST /query; without `top_k` the server's own number of chunks is retrieved."""

    query: str = Field(min_length=1)
    session_id: str | None = Field(default=None, min_length=0)  # a bound makes pydantic read it: no half surrogates
    include_chunks: bool = False
    top_k: int | None = Field(default=None, ge=1, le=100)


class Library:
    """The documents of a server and the index over them; safe to use from several threads."""

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._documents = {document.file_name: document for document in documents}
        self._index: Index | None = None
        self._lock = threading.RLock()

    def put(self, document: Document) -> None:
        """Add a document, in place of an earlier one with the same file name."""
        with self._lock:
            self._documents[document.file_name] = document
            self._index = None

    def documents(self) -> list[Document]:
        """All documents by file name, so that the order of uploads never shows."""
        with self._lock:
            return [self._documents[name] for name in sorted(self._documents)]

    def index(self) -> Index:
        """The index over all chunks, built anew after changes."""
        with self._lock:
            self._index = self._index or Index(chunk for each in self.documents() for chunk in each.chunks)
            return self._index


def create_app(settings: Settings, library: Library) -> FastAPI:
    """The application over a library."""
    app = FastAPI(title="Reference RAG server", version="1.0.0", docs_url=None, redoc_url=None)
    app.add_exception_handler(RequestValidationError, _refuse_body)
    app.add_middleware(Guard, settings=settings)
    batches: dict[str, dict[str, dict[str, Any]]] = {}
    for path, reply in _about(settings).items():
        app.add_api_route(path, lambda reply=reply: reply, name=path, response_model=None)

    @app.get("/documents")
    def documents() -> dict[str, Any]:
        """All documents."""
        return {"documents": [_listed(document) for document in library.documents()]}

    @app.post("/query")
    def query(request: QueryRequest) -> dict[str, Any]:
        """Answer a question from the documents."""
        try:
            return _respond(request, library.index(), request.top_k or settings.top_k)
        except Exception as error:  # the contract: every failure is a 500 with a sentence
            raise HTTPException(500, f"The query failed: {error}") from error

    @app.post("/upload")
    def upload(files: list[UploadFile]) -> dict[str, Any]:
        """Read text files; those that are not accepted are left out."""
        names = [PurePath((file.filename or "").replace("\\", "/")).name for file in files]
        problems = [_problem(name, file.size or 0, settings) for name, file in zip(names, files, strict=True)]
        if all(problems):
            raise HTTPException(400, f"No file was accepted. {' '.join(filter(None, problems))}")
        batch_id, accepted = str(uuid.uuid4()), zip(names, files, problems, strict=True)
        tasks = [_read(name, file.file.read(), library, settings) for name, file, problem in accepted if not problem]
        batches[batch_id] = {str(uuid.uuid4()): task for task in tasks}
        queued = [{"task_id": task_id, "filename": task["filename"]} for task_id, task in batches[batch_id].items()]
        return {"status": "queued", "batch_id": batch_id, "tasks": queued}

    @app.get("/tasks/{batch_id}/status")
    def batch_status(batch_id: str) -> dict[str, Any]:
        """What became of an upload."""
        if batch_id not in batches:
            raise HTTPException(404, f"There is no batch {batch_id}.")
        tasks = batches[batch_id]
        completed = sum(task["status"] == "completed" for task in tasks.values())
        return {"batch_id": batch_id, "total": len(tasks), "completed": completed, "tasks": tasks}

    return app


def _about(settings: Settings) -> dict[str, dict[str, Any]]:
    """What the server says about itself, by path."""
    model = {"llm_model": "extractive-bm25", "llm_provider": "reference", "llm_hosting": "local"}
    prices = {"cost_per_1m_input_tokens": 0.0, "cost_per_1m_output_tokens": 0.0}
    embedding = {"embedding_model": "none", "reranker_model": None, "reranker_enabled": False}
    vector = {"chunk_size": settings.chunk_words, "chunk_overlap": 0, "vector_store": None, "collection_name": None}
    hybrid = {"enabled": False, "bm25": {"enabled": True}, "vector": vector, "fusion_method": None, "rrf_k": None}
    retrieval = {"retrieval_top_k": settings.top_k, "final_top_n": settings.top_k, "hybrid_search": hybrid}
    reranker = {"enabled": False, "model": None, "top_n": None}
    return {
        "/health": {"status": "healthy"},
        "/models/info": model | embedding | prices,
        "/config": {"max_upload_size_mb": settings.max_upload_mb},
        "/metrics/retrieval": retrieval | {"contextual_retrieval": {"enabled": False}, "reranker": reranker},
    }


def _listed(document: Document) -> dict[str, Any]:
    fields = {name: getattr(document, name) for name in ("id", "file_name", "uploaded_at", "file_size_bytes")}
    return fields | {"file_type": PurePath(document.file_name).suffix.lower(), "chunks": len(document.chunks)}


# Queries.


def _respond(request: QueryRequest, index: Index, top_k: int) -> dict[str, Any]:
    """Retrieve and answer. A source is a chunk where chunks are asked for, else a document by its best chunk."""
    started = time.perf_counter()
    hits, sources = index.search(request.query, top_k), dict[str, Hit]()
    kind = "chunk_id" if request.include_chunks else "document_id"
    for hit in hits:
        sources.setdefault(getattr(hit.chunk, kind), hit)
    numbers = {key: number for number, key in enumerate(sources, start=1)}
    text, cited, characters_read = answer(request.query, hits, index, lambda chunk: numbers[getattr(chunk, kind)])
    prompt, completion = -(-(len(request.query) + characters_read) // 4), -(-len(text) // 4)
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    citations = [{"source_index": numbers[getattr(chunk, kind)], **_identity(chunk)} for chunk in cited]
    return {
        "answer": text,
        "sources": [
            _source(hit) | (_identity(hit.chunk) if request.include_chunks else {}) for hit in sources.values()
        ],
        "session_id": request.session_id or str(uuid.uuid4()),
        "citations": citations if request.include_chunks else None,
        "metrics": {"latency_ms": (time.perf_counter() - started) * 1000, "token_usage": usage},
    }


def _source(hit: Hit) -> dict[str, Any]:
    chunk, text = hit.chunk, hit.chunk.text
    about = {"document_id": chunk.document_id, "document_name": chunk.document_name, "path": None}
    excerpt = text if len(text) <= 200 else f"{text[:200]}..."
    return about | {"excerpt": excerpt, "full_text": text, "score": hit.score, "section": chunk.section}


def _identity(chunk: Chunk) -> dict[str, Any]:
    return {name: getattr(chunk, name) for name in ("document_id", "chunk_id", "chunk_index", "section")}


# Uploads.


def _problem(name: str, size: int, settings: Settings) -> str | None:
    """Why a file is not accepted; None: it is."""
    if PurePath(name).suffix.lower() not in ACCEPTED_TYPES:
        return f"{name!r} is of an unsupported type; supported are {', '.join(ACCEPTED_TYPES)}."
    if size == 0:
        return f"{name!r} is empty."
    return f"{name!r} is larger than {settings.max_upload_mb} MB." if size > settings.max_upload_mb * MEGABYTE else None


def _read(name: str, content: bytes, library: Library, settings: Settings) -> dict[str, Any]:
    """Take a file into the library; a file that cannot be read costs no other."""
    count, problem = 0, None
    try:
        document = read_document(content, name, settings.chunk_words)
        library.put(document)
        count = len(document.chunks)
    except Exception as error:  # noqa: BLE001 - whatever it is, the task tells it
        problem = str(error)
    status = "completed" if problem is None else "error"
    return {"filename": name, "status": status, "total_chunks": count, "completed_chunks": count, "error": problem}


# Refusals.


async def _refuse_body(_: Request, error: Exception) -> Response:
    """Answer 422 with what is wrong and where, without the value: it may be one that JSON cannot hold."""
    problems = error.errors()[:20] if isinstance(error, RequestValidationError) else []
    detail = [{"type": each["type"], "loc": [*map(str, each["loc"])], "msg": each["msg"]} for each in problems]
    return Response(json.dumps({"detail": detail}), 422, media_type="application/json")


class Guard:
    """Refuses requests for other host names (DNS rebinding), or without the token."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._token = app, settings.auth_token
        self._names = {name.rstrip(".").lower() for name in settings.allow_hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request or pass it on."""
        headers, answered = Headers(scope=scope), self._app
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given, expected = f"{scheme.lower()} {token.strip()}", f"bearer {self._token}"
        if not self._is_ours(headers.get("host", "")):
            hint = "This server does not answer to that name; start it with --allow-host and the name."
            answered = JSONResponse({"detail": hint}, 421)
        elif self._token and scope["path"] != "/health" and not compare_digest(given.encode(), expected.encode()):
            detail = {"detail": "A valid bearer token is required."}
            answered = JSONResponse(detail, 401, {"WWW-Authenticate": "Bearer"})
        await answered(scope, receive, send)

    def _is_ours(self, host: str) -> bool:
        """Whether a request for this host, with or without a port, is for this machine or a name that was allowed."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
            return name in self._names or f".{name}".endswith(".localhost") or ip_address(name).is_loopback
        except ValueError:
            return False
