"""Giving a corpus to the server, and seeing when it can be searched."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evals.case.matching import document_key
from evals.client.mapping import MappingError, find
from evals.client.rag_client import RAGClient
from evals.client.spec import ReadySpec, UploadSpec
from evals.client.template import render_path
from evals.client.transport import RETRYABLE_STATUS, TransportFailure
from evals.errors import ConfigError, IngestError
from evals.inputs.json_body import parse_json
from evals.schemas import Document, ResponseError
from evals.text.counts import counted

_FIRST_POLL_S = 0.05
_LONGEST_POLL_S = 2.0
_REGISTERED_AFTER_S = 5.0
_ATTEMPTS = 3
_NOT_FOUND = 404
_NO_LIST = frozenset({_NOT_FOUND, 405, 410, 501})
"""Statuses that say that there is no list of documents, not that it cannot be given now."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of the documents.

    Attributes:
        uploaded: How many were given to the server.
        already_there: How many it had.
        listed: Whether it lists what it has; where it does not, all are uploaded.
    """

    uploaded: int
    already_there: int
    listed: bool = True


async def document_names(client: RAGClient) -> set[str] | None:
    """The names and ids of the server's documents, as `document_key`s; None where it does not list them.

    Raises:
        TransportFailure: It has a list, but does not give it: nothing is known of what it holds.
    """
    if client.spec.documents is None:
        return None
    try:
        body = await client.read_json(client.spec.documents.path, max_attempts=_ATTEMPTS)
        listed = find(client.spec.documents.map, body)
    except TransportFailure as failure:
        if failure.error.status in _NO_LIST or failure.error.kind == "malformed":
            return None
        raise
    except MappingError:
        return None
    if not isinstance(listed, list):
        return None
    values = (item.get(key) for item in listed if isinstance(item, dict) for key in ("id", "name"))
    return {document_key(str(value)) for value in values if value}


async def ingest(
    client: RAGClient,
    documents: Sequence[Document],
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> IngestReport:
    """Upload the documents that the server does not list yet, and wait until they can be found.

    Raises:
        ConfigError: The profile does not say how to upload.
        IngestError: The server refuses documents, fails, or is not ready in time.
    """
    upload = client.spec.upload
    if upload is None:
        raise ConfigError(
            f"profile {client.spec.profile!r} does not say how to upload documents",
            "set server.upload, or put the documents into the server yourself and use --no-preflight",
        )
    there = await _documents_there(client)
    new = [document for document in documents if document_key(document.file_name) not in (there or ())]
    for start in range(0, len(new), upload.batch):
        batch = new[start : start + upload.batch]
        job = await _upload(client, upload, batch)
        if client.spec.ready is not None:
            await _wait_until_ready(client, client.spec.ready, job, sleep, clock)
        progress(start + len(batch), len(new))
    return IngestReport(uploaded=len(new), already_there=len(documents) - len(new), listed=there is not None)


async def _documents_there(client: RAGClient) -> set[str] | None:
    try:
        return await document_names(client)
    except TransportFailure as failure:
        path = client.redact.text(client.spec.documents.path) if client.spec.documents else ""
        raise IngestError(
            f"the server does not say which documents it has: {path} answers {failure.error.message}",
            "nothing was uploaded; set server.documents to null for a server without such a list",
        ) from failure


async def _upload(client: RAGClient, upload: UploadSpec, batch: Sequence[Document]) -> str:
    """Upload one batch; returns the id of the server's job, "" where it gives none."""
    files = [(upload.field, (document.file_name, document.text.encode(), _media_type(document))) for document in batch]
    try:
        reply = await client.transport.send(upload.method, upload.path, files=files)
        if upload.id is None:
            return ""
        job = find(upload.id, parse_json(reply.body))
    except TransportFailure as failure:
        raise IngestError(
            f"the server refused {counted(len(batch), 'document')}: {failure.error.message}",
            "what was taken stays there: --ingest again uploads only what is missing",
        ) from failure
    except ValueError as error:
        raise IngestError(f"{upload.path} answers with something that is not JSON") from error
    except MappingError:
        job = None
    if job is None:
        said = client.redact.body(reply.body)[:200]
        raise IngestError(f"{upload.path} answers without `{upload.id}`: {said}")
    return str(job)


async def _wait_until_ready(
    client: RAGClient,
    ready: ReadySpec,
    job: str,
    sleep: Callable[[float], Awaitable[None]],
    clock: Callable[[], float],
) -> None:
    path = render_path(ready.path, {"id": job})
    shown = client.redact.text(path)
    start = clock()
    pause = _FIRST_POLL_S
    while True:
        body, problem = None, None
        try:
            body = await client.read_json(path)
        except TransportFailure as failure:
            problem = failure.error
        if problem is None and _evaluate(ready.done_when, body) is True:
            break
        waited = clock() - start
        said = f"{shown}: {problem.message}" if problem else shown
        if problem and _is_final(problem, waited):
            raise IngestError(f"whether the documents are ready cannot be seen at {said}", "check server.ready.path")
        if waited > ready.timeout_s:
            raise IngestError(
                f"the documents were not ready after {ready.timeout_s:g} s ({said})", "raise server.ready.timeout_s"
            )
        await sleep(pause)
        pause = min(_LONGEST_POLL_S, pause * 1.5)
    failed = _evaluate(ready.failed, client.redact.value(body)) if ready.failed else None
    if isinstance(failed, list) and failed:
        raise IngestError(f"the server could not take {counted(len(failed), 'document')}, first: {failed[0]}")


def _is_final(problem: ResponseError, waited_s: float) -> bool:
    """Whether waiting is of no use: a refusal is, and a 404 that lasts longer than a job takes to be registered."""
    if problem.status is None or not 400 <= problem.status < 500 or problem.status in RETRYABLE_STATUS:
        return False
    return problem.status != _NOT_FOUND or waited_s > _REGISTERED_AFTER_S


def _evaluate(expression: str, body: Any) -> Any:
    """The expression's value; None while the status does not yet have the shape that it expects."""
    try:
        return find(expression, body)
    except MappingError:
        return None


def _media_type(document: Document) -> str:
    return "text/markdown" if document.file_name.endswith(".md") else "text/plain"
