"""Upload documents, each once, and wait until they can be searched."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path
from typing import Any, NamedTuple

from evals.client.conversation import render, render_path
from evals.client.http import REFUSED, RETRYABLE, Attempts, ExchangeError, Reply
from evals.client.mapping import find_or_none
from evals.client.rag_client import RAGClient
from evals.client.spec import FollowUp, ReadySpec, UploadSpec
from evals.errors import ConfigError, IngestError
from evals.schemas.dataset import Document
from evals.store.uploads import LoggedUpload, UploadLog
from evals.text.decoding import parse_json
from evals.text.documents import document_key
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
            hint = "leave it out, make a text of it, or use a profile that uploads files"
            message = f"{self.name} is no text in UTF-8, and server.upload.json takes nothing else"
            raise IngestError(message, hint) from error


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
        files = {path: path.relative_to(folder).parts for path in sorted(filter(Path.is_file, folder.rglob("*")))}
    except OSError as error:
        raise IngestError(f"{folder} cannot be read: {error.strerror}", "name a folder of documents") from error
    visible = {path: parts for path, parts in files.items() if not any(part.startswith(".") for part in parts)}
    if not visible:
        what = f"{folder} holds no documents" if folder.is_dir() else f"{folder} is no folder"
        raise ConfigError(what, "name a folder with files in it, or --dataset-file for questions")
    for path in visible:
        if any("\ud800" <= sign <= "\udfff" for sign in str(path)):  # how Python reads a name that is no text
            raise IngestError(f"the name of {str(path)!r} is not UTF-8", "rename the file, or leave it out")
    count = Counter(path.name.casefold() for path in visible)
    names = {path: path.name if count[path.name.casefold()] == 1 else "__".join(visible[path]) for path in visible}
    return [Upload(name, partial(_read, path)) for path, name in names.items()]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise IngestError(f"{path} cannot be read: {error.strerror}", "look at the file, or leave it out") from error


# What the server itself lists of its documents.


_ATTEMPTS = 3

_NO_LIST = frozenset({404, 405, 410, 501})
"""Statuses that say that there is no list of documents, not that it cannot be given now."""


class Listing(NamedTuple):
    """The documents that a server lists: their names and ids, and each id with its name where they differ."""

    values: list[str]
    ids: list[tuple[str, str]]

    @property
    def keys(self) -> set[str]:
        """Names and ids as `document_key`s."""
        return set(map(document_key, self.values))


async def listed_documents(client: RAGClient) -> Listing | None:
    """What the server lists; None where it has no list.

    Raises:
        ExchangeError: It has a list, but does not give it: nothing is known of what it holds.
    """
    if client.spec.documents is None:
        return None
    try:
        body = await client.read_json(client.spec.documents.path, max_attempts=_ATTEMPTS)
    except ExchangeError as failure:
        if failure.status in _NO_LIST or failure.kind == "malformed":
            return None
        raise
    listed = find_or_none(client.spec.documents.map, body)
    if not isinstance(listed, list):
        return None
    pairs = [(str(item.get("id") or ""), str(item.get("name") or "")) for item in listed if isinstance(item, dict)]
    ids = [(given, name) for given, name in pairs if given and name and given != name]
    return Listing([value for pair in pairs for value in pair if value], ids)


# Which documents a server lacks, and giving it those, each once.


_FIRST_POLL_S, _LONGEST_POLL_S = 0.05, 2.0

_TOLD_AFTER_S = 0.5

_NOT_FOUND = 404

_GRACE_S = 30.0
"""For the request that is under way when somebody interrupts: otherwise it is unknown whether it was taken."""

_LISTED_AFTER_S = 5.0
"""A server lists what it took after so long at the latest; it matters only for what was under way at a kill."""

_HINT_AGAIN = "uploaded documents stay: --ingest uploads only the missing ones"

_HINT_RIGHTS = (
    "an upload needs the right to write, which a key for questions may not have: look at server.headers; --ingest "
    "again uploads only what is missing"
)

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class IngestReport:
    """The result of an upload.

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


async def ingest(
    client: RAGClient,
    documents: Sequence[Upload],
    log: UploadLog,
    *,
    progress: Progress = lambda done, total: None,
    waiting: Callable[[str], None] = lambda message: None,
) -> IngestReport:
    """Upload the documents that the server lacks, and wait until they can be found.

    A batch that is under way when this is cancelled is waited for, so that the log knows what became of it.

    Args:
        client: Of the server.
        documents: To be there.
        log: Of what was uploaded to this server before, open.
        progress: Hears how many of how many are done.
        waiting: Hears what is waited for, while the server is not ready.

    Raises:
        ConfigError: The profile does not say how to upload.
        IngestError: The server refuses documents, fails, or is not ready in time.
    """
    upload = client.spec.upload
    if upload is None:
        hint = "set server.upload, or put the documents into the server yourself and use --no-preflight"
        raise ConfigError(f"profile {client.spec.profile!r} does not say how to upload documents", hint)
    ingestion = _Ingestion(client, upload, log, waiting)
    new, unready, report = _plan(documents, await ingestion.known_there(documents), log.documents)
    for job, names in unready.items():
        await ingestion.complete(names, job)
    for start in range(0, len(new), upload.batch):
        batch = new[start : start + upload.batch]
        job = await _to_its_end(ingestion.give(batch))
        await ingestion.complete([document.name for document in batch], job)
        progress(start + len(batch), len(new))
    if upload.finish and log.unfinished:
        await ingestion.follow_up(upload.finish, "")
        log.note("finished")
    return report


def upload_key(client: RAGClient) -> str:
    """The key of a server and its upload format, by which its log is found."""
    upload = client.spec.upload
    return f"{client.url} {upload.method} {client.redact.text(upload.path)}" if upload else client.url


@dataclass(frozen=True, slots=True)
class _Ingestion:
    """The steps of giving documents to one server."""

    client: RAGClient
    upload: UploadSpec
    log: UploadLog
    tell: Callable[[str], None]

    async def known_there(self, documents: Sequence[Upload]) -> set[Upload] | None:
        """Which of the documents the server lists, None without a list.

        What was under way at a kill is given time to appear there.
        """
        start, sent = self.client.clock(), {name for name, known in self.log.documents.items() if known.stage == "sent"}
        unsure = {document for document in documents if document.name in sent}
        while True:
            try:
                listed = await listed_documents(self.client)
            except ExchangeError as failure:
                path = self.client.redact.text(self.client.spec.documents.path) if self.client.spec.documents else ""
                message = f"the server does not say which documents it has: {path} answers {failure.message}"
                hint = "nothing was uploaded; set server.documents to null for a server without such a list"
                raise IngestError(message, hint) from failure
            held = None if listed is None else _held(documents, listed)
            if held is None or unsure <= held or self.client.clock() - start > _LISTED_AFTER_S:
                return held
            await self.client.sleep(_LISTED_AFTER_S / 10)

    async def give(self, batch: Sequence[Upload]) -> str:
        """Upload a batch, log what became of it, and return its job; what is refused for now is sent again.

        Raises:
            IngestError: The server refuses the batch, cannot be reached, or answers with something else than the
                profile says. Without an answer it is unknown whether it took it.
        """
        names, upload = [document.name for document in batch], self.upload
        if upload.body is None:
            files = [(upload.field, (document.name, document.data(), document.media_type)) for document in batch]
            request: dict[str, Any] = {"files": files, "data": upload.form}
        else:
            items = [{"name": document.name, "text": document.text} for document in batch]
            values = {"documents": [render(upload.each, item) for item in items], "names": names}
            values["texts"] = [item["text"] for item in items]
            request = {"json": render(upload.body, values | (items[0] if len(items) == 1 else {}))}
        path = render_path(upload.path, {"name": names[0]} if len(batch) == 1 else {})
        send = partial(self.client.http.send, upload.method, path, **request)
        self.log.note("sent", documents={document.name: document.sha256 for document in batch})
        try:
            reply = await self.client.retrying.send(send, Attempts(), 1)
        except ExchangeError as failure:
            if failure.status is not None:
                self.log.note("refused", names=names)
            message = f"the server refused {counted(len(batch), 'document')}: {failure.message}"
            raise IngestError(message, _HINT_RIGHTS if failure.status in REFUSED else _HINT_AGAIN) from failure
        job, ids = self._taken(reply, names)
        self.log.note("taken", names=names, job=job, ids=ids)
        return job

    def _taken(self, reply: Reply, names: Sequence[str]) -> tuple[str, dict[str, Any]]:
        """The job of a batch, "" where there is none, and the server's own ids by name, where it gives all."""
        body: Any = None
        with suppress(ValueError):
            body = parse_json(reply.body)
        job, ids = find_or_none(self.upload.id, body), find_or_none(self.upload.document_ids, body)
        if self.upload.id is not None and job is None:
            answer = self.client.redact.body(reply.body)[:200]
            hint = "look at server.upload.id; uploaded documents that the server lists are not sent again"
            raise IngestError(f"{self.upload.path} answers without `{self.upload.id}`: {answer}", hint)
        given = ids if isinstance(ids, list) else [ids]
        pairs = zip(names, given, strict=True) if len(given) == len(names) else ()  # else it is unknown whose they are
        return str(job or ""), {name: str(one) for name, one in pairs if one is not None}

    async def complete(self, names: Sequence[str], job: str) -> None:
        """Do what follows a batch, and wait until it can be found."""
        await self.follow_up(self.upload.then, job)
        if self.client.spec.ready is not None:
            await self._wait_until_ready(self.client.spec.ready, job, len(names))
        self.log.note("ready", names=names)

    async def follow_up(self, requests: Sequence[FollowUp], job: str) -> None:
        """Make the requests that follow an upload.

        Raises:
            IngestError: One of them fails.
        """
        for request in requests:
            path, body = render_path(request.path, {"id": job}), render(request.body, {"id": job})
            try:
                await self.client.http.send(request.method, path, json=body)
            except ExchangeError as failure:
                message = f"{self.client.redact.text(path)} after the upload answers {failure.message}"
                hint = "look at server.upload.then and server.upload.finish; --ingest again continues from there"
                raise IngestError(message, hint) from failure

    async def _wait_until_ready(self, ready: ReadySpec, job: str, count: int) -> None:
        """Ask after a job of this many documents until nothing of it is pending.

        Raises:
            IngestError: It is not done in time, its status cannot be seen, or it says that documents failed.
        """
        path = render_path(ready.path, {"id": job})
        start, pause, shown = self.client.clock(), _FIRST_POLL_S, self.client.redact.text(path)
        while True:
            body, status_line = None, shown
            try:
                body = await self.client.read_json(path)
            except ExchangeError as failure:
                status_line, status = f"{shown}: {failure.message}", failure.status or 0
                # A 404 may be that of a job that is not registered yet.
                if 400 <= status < 500 and status not in RETRYABLE | {_NOT_FOUND}:
                    message = f"whether the documents are ready cannot be seen at {status_line}"
                    raise IngestError(message, "check server.ready.path") from failure
            if find_or_none(ready.done_when, body) is True:
                break
            waited_s = self.client.clock() - start
            if waited_s > ready.timeout_s:
                message = f"the documents were not ready after {ready.timeout_s:g} s ({status_line})"
                raise IngestError(message, "raise server.ready.timeout_s")
            if waited_s >= _TOLD_AFTER_S:
                self.tell(f"waiting until {counted(count, 'document', 'is')} ready: {status_line}, {waited_s:.0f} s")
            await self.client.sleep(pause)
            pause = min(_LONGEST_POLL_S, pause * 1.5)
        failed = find_or_none(ready.failed, self.client.redact.value(body))
        if isinstance(failed, list) and failed:
            raise IngestError(f"the server could not take {counted(len(failed), 'document')}, first: {failed[0]}")


async def _to_its_end(work: Coroutine[Any, Any, str]) -> str:
    """Do the work; where somebody interrupts meanwhile, only then end."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=_GRACE_S)
        task.cancel()
        raise


def _held(documents: Sequence[Upload], listed: Listing) -> set[Upload]:
    """The documents that a server lists.

    A name counts as it is, or without its ending, as servers keep it so: but not where we have two that differ by no
    more than that.
    """
    names = {name.replace("\\", "/").rpartition("/")[2].casefold() for name in listed.values}
    ours = Counter(document_key(document.name) for document in documents)
    keys = {key for key in listed.keys if ours[key] == 1}
    return {item for item in documents if item.name.casefold() in names or document_key(item.name) in keys}


def _plan(
    documents: Sequence[Upload], held: set[Upload] | None, logged: Mapping[str, LoggedUpload]
) -> tuple[list[Upload], dict[str, list[str]], IngestReport]:
    """What is to be uploaded; names by job of what was taken before, and what follows was not done; and the report.

    The server's own list counts for more than our log, which it may have outlived.
    """
    new, changed, unconfirmed = list[Upload](), list[str](), list[str]()
    unready: dict[str, list[str]] = {}
    for document in documents:
        name, known, is_held = document.name, logged.get(document.name), held is not None and document in held
        if known and known.sha256 != document.sha256:
            changed += [name] if is_held else []
            known = None
        if known and known.stage == "taken":
            unready.setdefault(known.job, []).append(name)
        elif known is None or held is not None:
            new += [] if is_held else [document]
        elif known.stage != "ready":  # the server may have it all the same, and nothing tells
            unconfirmed.append(name)
    already_there = len(documents) - len(new) - len(unconfirmed)
    report = IngestReport(len(new), already_there, held is not None, tuple(changed), tuple(unconfirmed))
    return new, unready, report
