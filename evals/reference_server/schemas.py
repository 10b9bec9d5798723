"""The bodies of the HTTP contract."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

# Settings of one reference server.


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that changes how a server chunks, retrieves, guards or misbehaves."""

    chunk_words: int = 180
    top_k: int = 10
    max_upload_mb: int = 25
    auth_token: str | None = None
    misbehave: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    """Names under which the server may be asked, beside those of this machine itself."""

    def __post_init__(self) -> None:
        """Refuse sizes that could not work."""
        for name in ("chunk_words", "top_k", "max_upload_mb"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")

    @property
    def max_upload_bytes(self) -> int:
        """The largest accepted file, in bytes."""
        return self.max_upload_mb * 1024 * 1024


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
    is_temporary: bool = False
    include_chunks: bool = False
    top_k: int | None = Field(default=None, ge=1, le=100)
    """How many chunks to retrieve; the server's own number where None. An addition of this server."""


class Source(BaseModel):
    """One source of an answer; the chunk fields are only there when chunks were asked for."""

    document_id: str
    document_name: str
    excerpt: str
    full_text: str
    path: str | None
    score: float
    section: str | None
    chunk_id: str = ""
    chunk_index: int = 0


class Citation(BaseModel):
    """A source that the answer quotes, by its number (the first is 1)."""

    source_index: int
    document_id: str
    chunk_id: str
    chunk_index: int
    section: str | None


class TokenUsage(BaseModel):
    """How many tokens an answer used."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class QueryMetrics(BaseModel):
    """What one query cost."""

    latency_ms: float
    token_usage: TokenUsage


class QueryResponse(BaseModel):
    """Answer of POST /query."""

    answer: str
    sources: list[Source]
    session_id: str
    citations: list[Citation] | None
    metrics: QueryMetrics


class QueuedFile(BaseModel):
    """One accepted file of an upload."""

    task_id: str
    filename: str


class UploadResponse(BaseModel):
    """Answer of POST /upload."""

    status: Literal["queued"] = "queued"
    batch_id: str
    tasks: list[QueuedFile]


class TaskStatus(BaseModel):
    """How far one file has come."""

    filename: str
    status: Literal["pending", "processing", "completed", "error"] = "pending"
    total_chunks: int = 0
    completed_chunks: int = 0
    error: str | None = None


class BatchStatus(BaseModel):
    """Answer of GET /tasks/{batch_id}/status."""

    batch_id: str
    total: int
    completed: int
    tasks: dict[str, TaskStatus]


class DocumentInfo(BaseModel):
    """One stored document."""

    id: str
    file_name: str
    file_type: str
    chunks: int
    uploaded_at: str
    file_size_bytes: int


class DocumentList(BaseModel):
    """Answer of GET /documents."""

    documents: list[DocumentInfo]


class Deletion(BaseModel):
    """Answer of DELETE /documents/{id}."""

    status: Literal["success"] = "success"
    deleted_chunks: int


class FileToCheck(BaseModel):
    """A file that a client may upload; ``hash`` is the SHA-256 of its bytes in hex."""

    filename: Text
    size: int | None = None
    hash: Text | None = None


class DuplicateCheck(BaseModel):
    """Body of POST /documents/check-duplicates."""

    files: list[FileToCheck]


class DuplicateResult(BaseModel):
    """Whether the server already has a file."""

    filename: str
    exists: bool
    document_id: str | None = None
    existing_filename: str | None = None
    reason: str | None = None


class DuplicateResults(BaseModel):
    """Answer of POST /documents/check-duplicates."""

    results: dict[str, DuplicateResult]


class ModelsInfo(BaseModel):
    """Answer of GET /models/info."""

    model_config = ConfigDict(protected_namespaces=())

    llm_model: str = "extractive-bm25"
    llm_provider: str = "reference"
    llm_hosting: str = "local"
    embedding_model: str = "none"
    reranker_model: str | None = None
    reranker_enabled: bool = False
    cost_per_1m_input_tokens: float = 0.0
    cost_per_1m_output_tokens: float = 0.0
