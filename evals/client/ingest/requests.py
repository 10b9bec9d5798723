"""The requests that give a batch of documents to the server."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from evals.client.ingest.items import Upload
from evals.client.login.hints import REFUSED
from evals.client.mapping import MappingError, find
from evals.client.rag_client import RAGClient
from evals.client.retrying import Attempts
from evals.client.spec import FollowUp, UploadSpec
from evals.client.template import render, render_path
from evals.client.transport import Reply, TransportFailure
from evals.errors import IngestError
from evals.inputs.json_body import parse_json
from evals.text.counts import counted

_HINT_AGAIN = "what was taken stays there: --ingest again uploads only what is missing"


@dataclass(frozen=True, slots=True)
class Taken:
    """What the server said when it took a batch.

    Attributes:
        job: The id of its job, "" where it gives none.
        ids: Its own ids of the documents, by their names, where it gives them.
    """

    job: str = ""
    ids: dict[str, str] = field(default_factory=dict)


class RefusedUploadError(IngestError):
    """The server answered that it did not take the documents: none of the batch is there."""


async def upload_batch(client: RAGClient, upload: UploadSpec, batch: Sequence[Upload]) -> Taken:
    """Upload one batch. What the server only refuses for now is sent again.

    Raises:
        RefusedUploadError: It refuses the batch.
        IngestError: It cannot be reached, or answers with something else than the profile says.
    """

    async def send() -> Reply:
        return await client.transport.send(
            upload.method, render_path(upload.path, _of_one(batch)), **_body(upload, batch)
        )

    try:
        reply = await client.send_patiently(send, Attempts())
    except TransportFailure as failure:
        kind = RefusedUploadError if failure.error.status is not None else IngestError
        raise kind(
            f"the server refused {counted(len(batch), 'document')}: {failure.error.message}",
            _way_out(client, failure.error.status),
        ) from failure
    return _taken(client, upload, batch, reply)


def _way_out(client: RAGClient, status: int | None) -> str:
    """Who may ask a question may not upload everywhere."""
    if status not in REFUSED:
        return _HINT_AGAIN
    key = client.login_hint or "set server.headers to a login: {Authorization: 'Bearer ${TOKEN}'}"
    return f"an upload needs the right to write, which a key for questions may not have: {key}; {_HINT_AGAIN}"


async def follow_up(client: RAGClient, requests: Sequence[FollowUp], job: str) -> None:
    """Make the requests that follow an upload.

    Raises:
        IngestError: One of them fails.
    """
    for one in requests:
        path, body = render_path(one.path, {"id": job}), render(one.body, {"id": job})
        try:
            await client.transport.send(one.method, path, json=body)
        except TransportFailure as failure:
            raise IngestError(
                f"{client.redact.text(path)} after the upload answers {failure.error.message}",
                "look at server.upload.then and server.upload.finish; --ingest again goes on from there",
            ) from failure


def _body(upload: UploadSpec, batch: Sequence[Upload]) -> dict[str, Any]:
    """The part of the request that holds the documents."""
    if upload.body is None:
        files: list[Any] = [(upload.field, (one.name, one.data(), one.media_type)) for one in batch]
        return {"files": files, "form": upload.form}
    each = [{"name": one.name, "text": one.text} for one in batch]
    values: dict[str, Any] = {
        "documents": [render(upload.each, one) for one in each],
        "names": [one["name"] for one in each],
        "texts": [one["text"] for one in each],
    }
    return {"json": render(upload.body, values | (each[0] if len(each) == 1 else {}))}


def _of_one(batch: Sequence[Upload]) -> dict[str, str]:
    return {"name": batch[0].name} if len(batch) == 1 else {}


def _taken(client: RAGClient, upload: UploadSpec, batch: Sequence[Upload], reply: Reply) -> Taken:
    if upload.id is None and upload.document_ids is None:
        return Taken()
    try:
        body = parse_json(reply.body)
    except ValueError as error:
        raise IngestError(
            f"{upload.path} answers with something that is not JSON",
            "look at server.upload.path; without server.upload.id its answer is not read",
        ) from error
    job = _found(upload.id, body)
    if upload.id is not None and job is None:
        said = client.redact.body(reply.body)[:200]
        raise IngestError(
            f"{upload.path} answers without `{upload.id}`: {said}",
            "look at server.upload.id; what was taken stays there, and is not sent again where the server lists it",
        )
    return Taken("" if job is None else str(job), _ids(_found(upload.document_ids, body), batch))


def _ids(found: Any, batch: Sequence[Upload]) -> dict[str, str]:
    """The server's ids by name; none where they are not as many as the documents."""
    ids = found if isinstance(found, list) else [found]
    if len(ids) != len(batch):
        return {}
    return {one.name: str(given) for one, given in zip(batch, ids, strict=True) if given is not None}


def _found(expression: str | None, body: Any) -> Any:
    try:
        return find(expression, body)
    except MappingError:
        return None
