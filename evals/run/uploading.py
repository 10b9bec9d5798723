"""`evals ingest`: documents given to a server, and a question that shows whether they are found."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import islice

from evals.case.matching import document_key
from evals.client import RAGClient
from evals.client.ingest import IngestReport, Upload, ingest, listed_documents, upload_key
from evals.client.ingest.listing import ids_of
from evals.client.transport import TransportFailure
from evals.config import EvalConfig
from evals.errors import IngestError
from evals.run.observer import Observer
from evals.schemas import RetrievedChunk
from evals.store.upload_log import UploadLog, uploaded_ids
from evals.text.counts import counted, share

_CHANGED = "on the server in another edition, and not uploaded again: delete there first what is to change"
_UNCONFIRMED = (
    "sent, not confirmed, when an earlier upload was killed, and not sent again: see whether the server has them; "
    "where it does not, delete the `sent` line that names them in `uploads` of the folder of runs"
)
_NAMED = 3
"""So many documents are named in a remark."""


@dataclass(frozen=True, slots=True)
class FoundAgain:
    """A question asked after an upload.

    Attributes:
        question: What was asked.
        chunks: How many chunks came; None where the server sends none.
        of_these: How many of them are of the documents that were given.
    """

    question: str
    chunks: int | None
    of_these: int


@dataclass(frozen=True, slots=True)
class Uploaded:
    """What `evals ingest` did."""

    report: IngestReport
    check: FoundAgain | None


async def upload_documents(
    config: EvalConfig, documents: Sequence[Upload], observer: Observer, question: str | None
) -> Uploaded:
    """Give the documents to the server that the configuration names, and ask it a question about them.

    Args:
        config: Names the server and the folder of runs, which holds the log of uploads.
        documents: To be there.
        observer: Hears of the progress.
        question: To ask; None asks nothing.

    Raises:
        EvalsError: The server cannot be used, refuses documents, or finds none of them.
    """
    async with AsyncExitStack() as stack:
        client = RAGClient(config.server_spec(), concurrency=1, max_attempts=config.max_attempts, rps=config.rps)
        await stack.enter_async_context(client)
        observer.phase(f"checking {client.url}")
        await client.health()
        log = stack.enter_context(UploadLog(config.runs_dir, upload_key(client)))
        observer.phase(f"giving it {counted(len(documents), 'document')}")
        report = await ingest(client, documents, log, progress=observer.progress, waiting=observer.waiting)
        if question is None:
            return Uploaded(report, None)
        client.know_documents(await _ids(client, config))
        return Uploaded(report, await _checked(client, documents, question))


async def _ids(client: RAGClient, config: EvalConfig) -> Mapping[str, str]:
    try:
        listed = await listed_documents(client) or []
    except TransportFailure:
        listed = []
    return dict([*uploaded_ids(config.runs_dir, upload_key(client)), *ids_of(listed)])


async def _checked(client: RAGClient, documents: Sequence[Upload], question: str) -> FoundAgain:
    response = await client.ask(question)
    if response.error is not None:
        raise IngestError(
            f"the documents are there, but the question that checks them fails: {response.error.message}",
            "look at server.ask and server.map",
        )
    if response.chunks is None:
        return FoundAgain(question, None, 0)
    count = _count_of_these(response.chunks, documents)
    if not count:
        said = f"none of {counted(len(response.chunks), 'chunk')}" if response.chunks else "nothing"
        raise IngestError(
            f"what was uploaded is not found: to {question!r} the server retrieves {said} of these documents",
            "it may still be indexing (server.ready says how to see that), keep them in another collection, or find "
            "them by another question",
        )
    return FoundAgain(question, len(response.chunks), count)


def _count_of_these(chunks: Sequence[RetrievedChunk], documents: Sequence[Upload]) -> int:
    """How many chunks are of the documents: by name, else by text."""
    keys = {document_key(one.name) for one in documents}
    unknown = [_words(chunk.text or "") for chunk in chunks if not _is_named(chunk, keys)]
    found = _found_in(set(filter(None, unknown)), documents)
    return len(chunks) - len(unknown) + sum(text in found for text in unknown)


def _found_in(texts: set[str], documents: Sequence[Upload]) -> set[str]:
    """Which of the texts stand in a document."""
    found: set[str] = set()
    for one in documents if texts else ():
        whole = _words(one.data().decode("utf-8", "ignore"))
        found |= {text for text in texts - found if text in whole}
    return found


def _is_named(chunk: RetrievedChunk, keys: set[str]) -> bool:
    return any(document_key(name) in keys for name in (chunk.document_name, chunk.document_id) if name)


def _words(text: str) -> str:
    return " ".join(text.split())


def remarks_on(report: IngestReport) -> list[str]:
    """What a reader must know of an upload."""
    total = report.uploaded + report.already_there + len(report.unconfirmed)
    there = f"{share(report.already_there, total, 'document', 'was')} on the server already"
    return [
        *([] if report.listed else [_unlisted(report)]),
        *([there] if report.already_there else []),
        *_named(_CHANGED, report.changed),
        *_named(_UNCONFIRMED, report.unconfirmed, "was"),
    ]


def _unlisted(report: IngestReport) -> str:
    if report.already_there:
        return "the server does not list its documents: what was uploaded from here before is taken to be there"
    return f"the server does not list its documents: all {report.uploaded} were uploaded"


def _named(what: str, names: Sequence[str], verb: str = "is") -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return [f"{counted(len(names), 'document', verb)} {what}: {', '.join(islice(names, _NAMED))}{more}"]
