"""What the server's own list of documents, and the log of uploads, say of the golds' documents."""

from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from evals.client.http import ExchangeError
from evals.client.ingest import (
    IngestReport,
    ListedDocument,
    Upload,
    ids_of,
    ingest,
    keys_of,
    listed_documents,
    upload_key,
)
from evals.client.mapping import shape_of
from evals.client.rag_client import RAGClient
from evals.client.spec import ServerSpec
from evals.config import EvalConfig
from evals.errors import CorpusMissingError, IngestError, ServerRefusedError
from evals.run.notebook import Observer
from evals.schemas.dataset import EvalQuestion, GoldPassage
from evals.schemas.response import EvalResponse, RetrievedChunk
from evals.scoring.settings import ScoringContext
from evals.store.journal import UploadLog, uploaded_ids
from evals.text.decoding import parse_stored
from evals.text.matching.documents import Kinship, document_key, kinship
from evals.text.numbers import counted, share

# Is this the server that the profile describes, and does it hold the documents that the questions are about? Known
# before anything is paid for.


PROBES = 10
"""This many questions are asked where the list of documents does not tell."""

_HINT = "upload the datasets' documents with --ingest, or continue all the same with --no-preflight"


_FINAL = {404: ("path",), 405: ("method", "path"), 422: ("json", "query")}
"""Statuses that are the same when asked again, and which keys of the request may be wrong."""


async def check_kind(
    client: RAGClient, question: EvalQuestion, response: EvalResponse, questions: Iterable[EvalQuestion]
) -> None:
    """Stop where this is no server of the profile, as two different questions show that fail in the same way.

    Args:
        client: Asks another question, where this one failed in a way that neither waiting nor asking again corrects.
        question: That was asked; it alone may be what a server cannot answer.
        response: What became of it.
        questions: All.

    Raises:
        ServerRefusedError: They do.
    """
    wrong = _wrong_part(response)
    other = next((one for one in questions if one.question != question.question), None) if wrong else None
    if response.error is None or other is None or _wrong_part(await client.ask(other.question)) != wrong:
        return
    made = (client.spec.retrieve if response.error.request == "retrieve" else None) or client.spec.ask
    how = f"{made.method} {client.redact.text(made.path)}"
    raise ServerRefusedError(
        f"the server at {client.url} is not of the kind that profile {client.spec.profile!r} describes: "
        f"to {how} it answers {response.error.message}",
        f"correct {wrong}, name the right server with --rag-url, or describe this one in a profile of its own "
        "(docs/profiles.md has examples) and name that with --profile FILE.yml",
    )


def _wrong_part(response: EvalResponse) -> str | None:
    """The part of the profile that a failed question points to; None where it points to none."""
    if response.error is None:
        return None
    request = f"server.{response.error.request}"
    if response.error.kind == "malformed":
        return f"{request} and {'server.map' if response.error.request == 'ask' else f'{request}.map'}"
    keys = _FINAL.get(response.error.status or 0)
    return " and ".join(f"{request}.{key}" for key in keys) if keys else None


def check_probes(
    client: RAGClient,
    probes: Sequence[tuple[EvalQuestion, EvalResponse]],
    cases: ScoringContext,
    *,
    own_file: bool = False,
) -> None:
    """Look for gold passages in what the first questions retrieved.

    Nothing is concluded where no question was answered, or the server sends no chunks.

    Args:
        client: Has asked.
        probes: What was asked, and what became of it.
        cases: The records as metrics see them.
        own_file: Whether the questions are a user's own, made for what this server holds: what fewer than ten of them
            miss is then a retriever's miss, which is for a gate to judge.

    Raises:
        CorpusMissingError: Chunks were retrieved, and no rule finds a single gold passage in them.
    """
    answered = [cases.about(question, response) for question, response in probes if response.chunks is not None]
    if not answered or any(case.matches.found for case in answered):
        return
    few = own_file and len(answered) < PROBES
    if few and any(_may_be_gold(case.response.chunks or [], case.question.gold_passages) for case in answered):
        return
    retrieved = [chunk for case in answered for chunk in case.response.chunks or []]
    if retrieved and not any(chunk.text for chunk in retrieved):
        raise CorpusMissingError(
            f"the chunks of the server at {client.url} carry no text, and no gold is known by their ids or documents",
            "let server.map.chunks find the text (docs/profiles.md), or continue all the same with --no-preflight",
        )
    raise CorpusMissingError(
        f"corpus not found on the server at {client.url}: "
        f"{counted(len(answered), 'question')} retrieved no gold passage",
        _HINT,
    )


def _may_be_gold(chunks: Sequence[RetrievedChunk], golds: Sequence[GoldPassage]) -> bool:
    """Whether chunks can be recognised: none was retrieved, or they have texts, or ids or documents as golds do."""
    if not chunks or any(chunk.text for chunk in chunks):
        return True
    by_id = any(gold.chunk_id for gold in golds) and any(chunk.chunk_id for chunk in chunks)
    named = any(chunk.document_id or chunk.document_name for chunk in chunks)
    return by_id or (named and any(gold.document_id for gold in golds))


def choose_probes(client: RAGClient, corpus: "Corpus", questions: Iterable[EvalQuestion]) -> list[EvalQuestion]:
    """The questions to ask first, whose answers show whether the corpus is on the server; none where its list does.

    Raises:
        CorpusMissingError: The server holds no documents at all.
    """
    probes = list(islice((question for question in questions if question.gold_passages), PROBES))
    if probes and corpus.is_empty:
        raise CorpusMissingError(f"the server at {client.url} holds no documents", _HINT)
    return [] if corpus.missing is not None else probes


# Chunks that the mapping looks for and finds in no answer: a wrong path looks like a server that sends none.


UNFOUND = "server.map.chunks found nothing in "
"""How the note begins; a resumed run makes it anew."""

_CHARS = 60


def chunks_path(spec: ServerSpec) -> str | None:
    """Where a profile looks for chunks in an answer; None where they are asked for apart, or not looked for."""
    return None if spec.retrieve is not None else spec.map.chunks


def chunks_unfound(path: str | None, responses: Iterable[EvalResponse]) -> str | None:
    """That no answer had chunks where the profile looks for them, and what the body has.

    Null may be what a server rightly sends, so that this is no reason to end.

    Args:
        path: `map.chunks` of the profile; None where it looks for none.
        responses: What came. Of a list that was there and could not be read, something else is said.

    Returns:
        None where nothing is looked for, nothing was answered, or some answer had a list.
    """
    if path is None:
        return None
    count, raw = 0, None
    for one in responses:
        if one.error is None and one.answer is not None:
            if one.chunks is not None or one.could_not_read("chunks"):
                return None
            count, raw = count + 1, raw or one.raw
    said, where = share(count, count, "answer"), " ".join(path.split())
    where = where if len(where) <= _CHARS else f"{where[:_CHARS]}…"
    return f"{UNFOUND}{said}, so retrieval is not measured: nothing is at `{where}`{_of_body(raw)}" if count else None


def _of_body(raw: str | None) -> str:
    """What the body is; nothing where it is not there whole."""
    try:
        return f"; the body: {shape_of(parse_stored(raw.encode()))}" if raw else ""
    except ValueError:
        return ""


# `evals ingest`: documents given to a server, and a question that shows whether they are found.


_CHANGED = "on the server in another edition, and not uploaded again: delete there first what is to change"


_UNCONFIRMED = (
    "sent, not confirmed, when an earlier upload was killed, and not sent again: see whether the server has them; "
    "where it does not, delete the `sent` line that names them in `uploads` of the folder of runs"
)


_NAMED = 3
"""This many documents are named in a remark."""


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
        observer: Receives the progress.
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
        listed = await _listed(client) or ()
        client.know_documents(dict([*uploaded_ids(config.runs_dir, upload_key(client)), *ids_of(listed)]))
        return Uploaded(report, await _checked(client, documents, question))


async def _listed(client: RAGClient) -> Sequence[ListedDocument] | None:
    """What the server lists; None where it has no list, or none that can be had."""
    try:
        return await listed_documents(client)
    except ExchangeError:
        return None


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
    others = [" ".join((chunk.text or "").split()) for chunk in chunks if keys.isdisjoint(_keys_of(chunk))]
    strange = set(others)
    for one in documents if strange else ():
        strange -= _found_in(one, strange)
    return len(chunks) - len([text for text in others if text in strange])


def _found_in(document: Upload, texts: set[str]) -> set[str]:
    whole = " ".join(document.data().decode("utf-8", "ignore").split())
    return {text for text in texts if text and text in whole}


def _keys_of(chunk: RetrievedChunk) -> list[str]:
    return [document_key(name) for name in (chunk.document_name, chunk.document_id) if name]


def remarks_on(report: IngestReport) -> list[str]:
    """What a reader must know of an upload."""
    remarks = []
    if not report.listed:
        instead = f"all {report.uploaded} were uploaded"
        if report.already_there:
            instead = "what was uploaded from here before is taken to be there"
        remarks.append(f"the server does not list its documents: {instead}")
    if report.already_there:
        total = report.uploaded + report.already_there + len(report.unconfirmed)
        remarks.append(f"{share(report.already_there, total, 'document', 'was')} on the server already")
    for what, names, verb in ((_CHANGED, report.changed, "is"), (_UNCONFIRMED, report.unconfirmed, "was")):
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            remarks.append(f"{counted(len(names), 'document', verb)} {what}: {', '.join(list(names)[:_NAMED])}{more}")
    return remarks


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is known of the golds' documents on the server.

    Attributes:
        missing: Those that it does not list, by their names; None if unknown: it gives no list, or names not
            one of them as the golds do.
        ids: Names of documents by the server's own ids, where these differ: of golds' documents only.
        is_empty: Whether it says that it holds no documents at all.
    """

    missing: list[str] | None = None
    ids: dict[str, str] = field(default_factory=dict)
    is_empty: bool = False


async def survey_corpus(client: RAGClient, questions: Iterable[EvalQuestion], runs_dir: Path) -> Corpus:
    """Hold the golds' documents against the server's list, and against what was uploaded from here."""
    golds = chain.from_iterable(question.gold_passages for question in questions)
    wanted = sorted({gold.document_id for gold in golds if gold.document_id})
    keys = set(map(document_key, wanted))
    known, listed = uploaded_ids(runs_dir, upload_key(client)), await _listed(client)
    ids = {given: name for given, name in chain(known, ids_of(listed or ())) if document_key(name) in keys}
    if listed is None:
        return Corpus(None, ids)
    there = keys_of(listed)
    return Corpus(_missing(wanted, there), ids, is_empty=not there)


def _missing(wanted: Sequence[str], there: set[str]) -> list[str] | None:
    lacking = [name for name in wanted if document_key(name) not in there]
    if len(lacking) == len(wanted):
        return None
    return [name for name in lacking if all(kinship(name, other) is Kinship.OTHER for other in there)]
