"""Giving documents to the server, once each, and seeing when they can be searched."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path
from typing import Any

from evals.client.mapping import find_or_none
from evals.client.oauth2 import REFUSED
from evals.client.rag_client import RAGClient
from evals.client.spec import FollowUp, ReadySpec, UploadSpec, render, render_path
from evals.client.transport import RETRYABLE_STATUS, Reply, TransportFailure
from evals.errors import ConfigError, IngestError
from evals.schemas.dataset import Document
from evals.schemas.response import ResponseError
from evals.store.journal import LoggedUpload, UploadLog
from evals.text.decoding import parse_json
from evals.text.matching.documents import document_key
from evals.text.numbers import counted

# What is uploaded: documents of a dataset, or files of a folder, which are read one at a time.


@dataclass(frozen=True, slots=True)
class Upload:
    """One document to upload.

    Attributes:
        name: The name of its file.
        data: Gives its bytes.
    """

    name: str
    data: Callable[[], bytes]

    @property
    def media_type(self) -> str:
        """By the ending of the name."""
        if self.name.endswith(".md"):
            return "text/markdown"
        return guess_type(self.name)[0] or "application/octet-stream"

    @property
    def sha256(self) -> str:
        """Of its bytes."""
        return sha256(self.data()).hexdigest()

    @property
    def text(self) -> str:
        """Its text.

        Raises:
            IngestError: It is no text.
        """
        try:
            return self.data().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise IngestError(
                f"{self.name} is no text in UTF-8, and server.upload.json takes nothing else",
                "leave it out, make a text of it, or use a profile that uploads files",
            ) from error


def uploads_of(documents: Iterable[Document]) -> list[Upload]:
    """The documents of a dataset."""
    return [Upload(document.file_name, document.text.encode) for document in documents]


def uploads_in(folder: Path) -> list[Upload]:
    """The files of a folder and its folders, in the order of their paths, without hidden ones.

    A file is uploaded by its name alone, as servers keep no folders; where two have one name, by its path, in which
    `__` stands for each `/`.

    Raises:
        ConfigError: The folder holds no file.
        IngestError: It cannot be read.
    """
    try:
        paths = sorted(filter(Path.is_file, folder.rglob("*")))
    except OSError as error:
        raise IngestError(f"{folder} cannot be read: {error.strerror}", "name a folder of documents") from error
    inner = {path: path.relative_to(folder) for path in paths}
    inner = {path: below for path, below in inner.items() if not any(part.startswith(".") for part in below.parts)}
    if not inner:
        raise ConfigError(f"{folder} holds no documents", "name a folder with files in it")
    count = Counter(path.name.casefold() for path in inner)
    uploads = []
    for path, below in inner.items():
        try:
            str(below).encode()
        except UnicodeEncodeError as error:  # Python reads a name that is no text as lone surrogates
            hint = "rename the file, or leave it out"
            raise IngestError(f"the name of {str(path)!r} is no text in UTF-8", hint) from error
        name = path.name if count[path.name.casefold()] == 1 else "__".join(below.parts)
        uploads.append(Upload(name, partial(_read, path)))
    return uploads


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise IngestError(f"{path} cannot be read: {error.strerror}", "look at the file, or leave it out") from error


# What the server itself lists of its documents.


_ATTEMPTS = 3


_NO_LIST = frozenset({404, 405, 410, 501})
"""Statuses that say that there is no list of documents, not that it cannot be given now."""


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document as the server lists it: its own id, and a name, of which it may give one alone."""

    id: str | None
    name: str | None


async def listed_documents(client: RAGClient) -> list[ListedDocument] | None:
    """What the server lists; None where it has no list.

    Raises:
        TransportFailure: It has a list, but does not give it: nothing is known of what it holds.
    """
    if client.spec.documents is None:
        return None
    try:
        body = await client.read_json(client.spec.documents.path, max_attempts=_ATTEMPTS)
    except TransportFailure as failure:
        if failure.error.status in _NO_LIST or failure.error.kind == "malformed":
            return None
        raise
    listed = find_or_none(client.spec.documents.map, body)
    if not isinstance(listed, list):
        return None
    both = [[item.get(key) for key in ("id", "name")] for item in listed if isinstance(item, dict)]
    return [ListedDocument(*(str(value) if value else None for value in each)) for each in both]


async def document_names(client: RAGClient) -> set[str] | None:
    """The names and ids of the server's documents, as `document_key`s; None where it does not list them.

    Raises:
        TransportFailure: It has a list, but does not give it: nothing is known of what it holds.
    """
    listed = await listed_documents(client)
    return None if listed is None else keys_of(listed)


def names_of(listed: Iterable[ListedDocument]) -> set[str]:
    """The names and ids of what is listed."""
    return {value for one in listed for value in (one.id, one.name) if value}


def keys_of(listed: Iterable[ListedDocument]) -> set[str]:
    """The same as `document_key`s."""
    return set(map(document_key, names_of(listed)))


def ids_of(listed: Iterable[ListedDocument]) -> list[tuple[str, str]]:
    """Each id with its name, where both are listed and differ."""
    return [(one.id, one.name) for one in listed if one.id and one.name and one.id != one.name]


# Waiting until uploaded documents can be found.


_FIRST_POLL_S = 0.05

_LONGEST_POLL_S = 2.0

_REGISTERED_AFTER_S = 5.0

_TOLD_AFTER_S = 0.5

_NOT_FOUND = 404


@dataclass(frozen=True, slots=True)
class Waiting:
    """How to wait, how to know the time, and who hears what is waited for."""

    sleep: Callable[[float], Awaitable[None]]
    clock: Callable[[], float] = time.monotonic
    tell: Callable[[str], None] = lambda message: None


async def wait_until_ready(client: RAGClient, ready: ReadySpec, job: str, count: int, waiting: Waiting) -> None:
    """Ask after a job of so many documents until nothing of it is pending.

    Raises:
        IngestError: It is not done in time, its status cannot be seen, or it says that documents failed.
    """
    path = render_path(ready.path, {"id": job})
    start, pause, shown = waiting.clock(), _FIRST_POLL_S, client.redact.text(path)
    while True:
        body, problem = None, None
        try:
            body = await client.read_json(path)
        except TransportFailure as failure:
            problem = failure.error
        if problem is None and find_or_none(ready.done_when, body) is True:
            break
        waited_s = waiting.clock() - start
        said = f"{shown}: {problem.message}" if problem else shown
        if problem and _is_final(problem, waited_s):
            raise IngestError(f"whether the documents are ready cannot be seen at {said}", "check server.ready.path")
        if waited_s > ready.timeout_s:
            raise IngestError(
                f"the documents were not ready after {ready.timeout_s:g} s ({said})", "raise server.ready.timeout_s"
            )
        if waited_s >= _TOLD_AFTER_S:
            why = f" ({problem.message})" if problem else ""
            waiting.tell(f"waiting until {counted(count, 'document', 'is')} ready: {shown}{why}, {waited_s:.0f} s")
        await waiting.sleep(pause)
        pause = min(_LONGEST_POLL_S, pause * 1.5)
    failed = find_or_none(ready.failed, client.redact.value(body))
    if isinstance(failed, list) and failed:
        raise IngestError(f"the server could not take {counted(len(failed), 'document')}, first: {failed[0]}")


def _is_final(problem: ResponseError, waited_s: float) -> bool:
    """Whether waiting is of no use: a refusal is, and a 404 that lasts longer than a job takes to be registered."""
    if problem.status is None or not 400 <= problem.status < 500 or problem.status in RETRYABLE_STATUS:
        return False
    return problem.status != _NOT_FOUND or waited_s > _REGISTERED_AFTER_S


# The requests that give a batch of documents to the server.


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
    path = render_path(upload.path, {"name": batch[0].name} if len(batch) == 1 else {})
    body = _body(upload, batch)
    try:
        reply = await client.send_patiently(partial(client.transport.send, upload.method, path, **body))
    except TransportFailure as failure:
        status, hint = failure.error.status, _HINT_AGAIN
        if status in REFUSED:  # who may ask a question may not upload everywhere
            key = client.login_hint or "set server.headers to a login: {Authorization: 'Bearer ${TOKEN}'}"
            hint = f"an upload needs the right to write, which a key for questions may not have: {key}; {hint}"
        kind = RefusedUploadError if status is not None else IngestError
        raise kind(f"the server refused {counted(len(batch), 'document')}: {failure.error.message}", hint) from failure
    return _taken(client, upload, batch, reply)


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
    job = find_or_none(upload.id, body)
    if upload.id is not None and job is None:
        said = client.redact.body(reply.body)[:200]
        raise IngestError(
            f"{upload.path} answers without `{upload.id}`: {said}",
            "look at server.upload.id; what was taken stays there, and is not sent again where the server lists it",
        )
    found = find_or_none(upload.document_ids, body)
    ids = found if isinstance(found, list) else [found]
    pairs = zip(batch, ids, strict=True) if len(ids) == len(batch) else ()  # else nobody knows whose they are
    return Taken("" if job is None else str(job), {one.name: str(id_) for one, id_ in pairs if id_ is not None})


# Which documents a server lacks, and giving it those, each once.


_GRACE_S = 30.0
"""For the request that is under way when somebody interrupts: cut off, nobody would know whether it was taken."""


_LISTED_AFTER_S = 5.0
"""A server lists what it took after so long at the latest; it matters only for what was under way at a kill."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of the documents.

    Attributes:
        uploaded: How many were given to the server.
        already_there: How many it had.
        listed: Whether it lists what it has; where it does not, what our own log does not know is uploaded.
        changed: Names of those that it has in another edition than ours, as our log says; they are not uploaded again.
        unconfirmed: Names of those that were sent when an earlier upload was killed, and of which no list tells whether
            the server has them; they are not sent again.
    """

    uploaded: int
    already_there: int
    listed: bool = True
    changed: tuple[str, ...] = ()
    unconfirmed: tuple[str, ...] = ()


@dataclass(slots=True)
class _Plan:
    """What is to be done.

    Attributes:
        new: To be uploaded.
        unready: Taken before, and what follows was not done: names by job.
    """

    new: list[Upload] = field(default_factory=list)
    unready: dict[str, list[str]] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    unconfirmed: list[str] = field(default_factory=list)


async def ingest(
    client: RAGClient,
    documents: Sequence[Upload],
    log: UploadLog,
    *,
    progress: Progress = lambda done, total: None,
    waiting: Callable[[str], None] = lambda message: None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> IngestReport:
    """Upload the documents that the server lacks, and wait until they can be found.

    A batch that is under way when this is cancelled is waited for, so that the log knows what became of it.

    Args:
        client: Of the server.
        documents: To be there.
        log: Of what was uploaded to this server before, open.
        progress: Hears how many of how many are done.
        waiting: Hears what is waited for, while the server is not ready.
        sleep: How to wait.
        clock: Monotonic seconds.

    Raises:
        ConfigError: The profile does not say how to upload.
        IngestError: The server refuses documents, fails, or is not ready in time.
    """
    upload, patience = client.spec.upload, Waiting(sleep, clock, waiting)
    if upload is None:
        raise ConfigError(
            f"profile {client.spec.profile!r} does not say how to upload documents",
            "set server.upload, or put the documents into the server yourself and use --no-preflight",
        )
    there = await _known_there(client, log, documents, patience)
    plan = _plan(documents, there, log.documents)
    for job, names in plan.unready.items():
        await _complete(client, upload, log, names, job, patience)
    for start in range(0, len(plan.new), upload.batch):
        batch = plan.new[start : start + upload.batch]
        taken = await _to_its_end(_give(client, upload, log, batch))
        await _complete(client, upload, log, [one.name for one in batch], taken.job, patience)
        progress(start + len(batch), len(plan.new))
    if upload.finish and log.unfinished:
        await follow_up(client, upload.finish, "")
        log.finished()
    already_there = len(documents) - len(plan.new) - len(plan.unconfirmed)
    return IngestReport(len(plan.new), already_there, there is not None, tuple(plan.changed), tuple(plan.unconfirmed))


def upload_key(client: RAGClient) -> str:
    """What tells a server, and the way of uploading to it, from others: its log is found by it."""
    upload = client.spec.upload
    return f"{client.url} {upload.method} {client.redact.text(upload.path)}" if upload else client.url


async def _give(client: RAGClient, upload: UploadSpec, log: UploadLog, batch: Sequence[Upload]) -> Taken:
    """Upload a batch, and log what became of it; without an answer nobody knows."""
    names = [one.name for one in batch]
    log.sent({one.name: one.sha256 for one in batch})
    try:
        taken = await upload_batch(client, upload, batch)
    except RefusedUploadError:
        log.refused(names)
        raise
    log.taken(names, taken.job, taken.ids)
    return taken


async def _to_its_end(work: Coroutine[Any, Any, Taken]) -> Taken:
    """Do the work; where somebody interrupts meanwhile, only then end."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=_GRACE_S)
        task.cancel()
        raise


async def _complete(
    client: RAGClient, upload: UploadSpec, log: UploadLog, names: Sequence[str], job: str, waiting: Waiting
) -> None:
    """Do what follows a batch, and wait until it can be found."""
    await follow_up(client, upload.then, job)
    if client.spec.ready is not None:
        await wait_until_ready(client, client.spec.ready, job, len(names), waiting)
    log.ready(names)


async def _known_there(
    client: RAGClient, log: UploadLog, documents: Sequence[Upload], waiting: Waiting
) -> "_There | None":
    """What the server lists; what was under way at a kill is given time to appear there."""
    logged = log.documents
    unsure = [one for one in documents if one.name in logged and logged[one.name].stage == "sent"]
    start = waiting.clock()
    while True:
        there = await _listed(client, documents)
        if there is None or all(one in there for one in unsure) or waiting.clock() - start > _LISTED_AFTER_S:
            return there
        await waiting.sleep(_LISTED_AFTER_S / 10)


class _There:
    """What a server lists, asked for documents of ours.

    A name counts as it is, or without its ending, as servers keep it so: but not where we have two that differ by no
    more than that.
    """

    def __init__(self, listed: set[str], documents: Sequence[Upload]) -> None:
        self._names = {name.replace("\\", "/").rpartition("/")[2].casefold() for name in listed}
        self._keys = {document_key(name) for name in listed}
        self._ours = Counter(document_key(one.name) for one in documents)

    def __contains__(self, one: Upload) -> bool:
        if one.name.casefold() in self._names:
            return True
        key = document_key(one.name)
        return self._ours[key] == 1 and key in self._keys


async def _listed(client: RAGClient, documents: Sequence[Upload]) -> _There | None:
    try:
        listed = await listed_documents(client)
    except TransportFailure as failure:
        path = client.redact.text(client.spec.documents.path) if client.spec.documents else ""
        raise IngestError(
            f"the server does not say which documents it has: {path} answers {failure.error.message}",
            "nothing was uploaded; set server.documents to null for a server without such a list",
        ) from failure
    return None if listed is None else _There(names_of(listed), documents)


def _plan(documents: Sequence[Upload], there: _There | None, logged: Mapping[str, LoggedUpload]) -> _Plan:
    """Decide for each document: the server's own list counts for more than our log, which it may have outlived."""
    plan = _Plan()
    for one in documents:
        known = logged.get(one.name)
        if known and known.sha256 != one.sha256:
            plan.changed += [one.name] if there and one in there else []
            known = None
        if known and known.stage == "taken":
            plan.unready.setdefault(known.job, []).append(one.name)
        elif there is not None or known is None:
            plan.new += [] if there is not None and one in there else [one]
        elif known.stage != "ready":  # it may be there all the same, and nothing tells
            plan.unconfirmed.append(one.name)
    return plan
