"""Upload, upload status, and the list of documents."""

from enum import StrEnum
from pathlib import PurePosixPath

from fastapi import APIRouter, HTTPException, UploadFile

from .documents import ACCEPTED_TYPES, Document
from .schemas import (
    BatchStatus,
    Deletion,
    DocumentInfo,
    DocumentList,
    DuplicateCheck,
    DuplicateResult,
    DuplicateResults,
    FileToCheck,
    UploadResponse,
)
from .settings import Settings
from .store import DocumentStore
from .tasks import IncomingFile, UploadQueue


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
