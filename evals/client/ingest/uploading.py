"""Which documents a server lacks, and giving it those, each once."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evals.case.matching import document_key
from evals.client.ingest.items import Upload
from evals.client.ingest.listing import listed_documents, names_of
from evals.client.ingest.ready import Waiting, wait_until_ready
from evals.client.ingest.requests import RefusedUploadError, Taken, follow_up, upload_batch
from evals.client.rag_client import RAGClient
from evals.client.spec import UploadSpec
from evals.client.transport import TransportFailure
from evals.errors import ConfigError, IngestError
from evals.store.upload_log import LoggedUpload, UploadLog

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

    def add(self, one: Upload, *, is_unknown: bool) -> None:
        """Upload a document that is not known to be there, unless it may be there all the same."""
        if is_unknown:
            self.unconfirmed.append(one.name)
        else:
            self.new.append(one)


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
    upload, patience = _upload_of(client), Waiting(sleep, clock, waiting)
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


def _upload_of(client: RAGClient) -> UploadSpec:
    if client.spec.upload is None:
        raise ConfigError(
            f"profile {client.spec.profile!r} does not say how to upload documents",
            "set server.upload, or put the documents into the server yourself and use --no-preflight",
        )
    return client.spec.upload


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
    unsure = [one for one in documents if _stage(log, one) == "sent"]
    start = waiting.clock()
    while True:
        there = await _listed(client, documents)
        if there is None or all(one in there for one in unsure) or waiting.clock() - start > _LISTED_AFTER_S:
            return there
        await waiting.sleep(_LISTED_AFTER_S / 10)


def _stage(log: UploadLog, one: Upload) -> str | None:
    logged = log.documents.get(one.name)
    return logged.stage if logged else None


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
    if listed is None:
        return None
    return _There(names_of(listed), documents)


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
        elif not _is_there(one, there, known):
            plan.add(one, is_unknown=known is not None and there is None)
    return plan


def _is_there(one: Upload, there: _There | None, known: LoggedUpload | None) -> bool:
    if there is not None:
        return one in there
    return known is not None and known.stage == "ready"
