"""Whether a server is of its profile's kind and holds the questions' documents; uploads by `evals ingest`."""

from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from evals.client.http import ExchangeError
from evals.client.ingest import IngestReport, Listing, Upload, ingest, listed_documents, upload_key
from evals.client.mapping import shape_of
from evals.client.rag_client import RAGClient
from evals.client.spec import ServerSpec
from evals.config import EvalConfig
from evals.errors import CorpusMissingError, IngestError, ServerRefusedError
from evals.run.observer import Observer
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.scoring.settings import ScoreSettings
from evals.store.uploads import UploadLog, uploaded_ids
from evals.text.decoding import parse_stored
from evals.text.documents import Kinship, document_key, kinship
from evals.text.foreign import shortened
from evals.text.numbers import counted, listed, share

PROBES = 10
"""This many questions are asked first where the server lists no documents."""
UNFOUND = "server.map.chunks found nothing in "
"""How the note begins that no answer had chunks; a resumed run makes it anew."""
_HINT = (
    "upload the datasets' documents with --ingest; if the server has them, look at its retriever and at "
    "server.map.chunks, or continue all the same with --no-preflight"
)
_TEXT_HINT = "let server.map.chunks find the text (docs/profiles.md), or continue all the same with --no-preflight"
_LASTING = frozenset({404, 405, 422})
"""Statuses that stay the same when asked again."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is known of the gold documents on the server.

    Attributes:
        missing: Those that it does not list; None: it gives no list, or names none of them as the questions do.
        ids: Names of gold documents by the server's own ids.
        is_empty: Whether it lists no documents at all.
    """

    missing: list[str] | None = None
    ids: dict[str, str] = field(default_factory=dict)
    is_empty: bool = False


async def _listing_and_ids(client: RAGClient, runs_dir: Path) -> tuple[Listing | None, dict[str, str]]:
    """The server's list, where it gives one, and the names of documents by the server's own ids."""
    listing = None
    with suppress(ExchangeError):
        listing = await listed_documents(client)
    return listing, dict([*uploaded_ids(runs_dir, upload_key(client)), *(listing.ids if listing else ())])


async def survey_corpus(client: RAGClient, questions: Iterable[EvalQuestion], runs_dir: Path) -> Corpus:
    """Compare the gold documents with the server's list and with the log of uploads."""
    golds = {gold.document_id for question in questions for gold in question.gold_passages} - {None, ""}
    keys = {name: document_key(name) for name in sorted(filter(None, golds))}
    listing, names = await _listing_and_ids(client, runs_dir)
    ids = {given: name for given, name in names.items() if document_key(name) in keys.values()}
    held = set() if listing is None else listing.keys
    lacking = [name for name, key in keys.items() if key not in held]
    if len(lacking) == len(keys):
        return Corpus(None, ids, is_empty=listing is not None and not held)
    return Corpus([name for name in lacking if all(kinship(name, key) is Kinship.OTHER for key in held)], ids)


def choose_probes(client: RAGClient, corpus: Corpus, questions: Iterable[EvalQuestion]) -> list[EvalQuestion]:
    """The questions whose answers show whether the corpus is on the server; none where its list does.

    Raises:
        CorpusMissingError: The server holds no documents at all.
    """
    probes = list(islice((question for question in questions if question.gold_passages), PROBES))
    if probes and corpus.is_empty:
        raise CorpusMissingError(f"the server at {client.url} holds no documents", _HINT)
    return [] if corpus.missing is not None else probes


def check_probes(
    client: RAGClient,
    probes: Sequence[tuple[EvalQuestion, EvalResponse]],
    settings: ScoreSettings,
    *,
    own_file: bool = False,
) -> None:
    """Stop where the first questions retrieved chunks, and no gold passage is in any of them.

    Args:
        client: Has asked.
        probes: The questions and their responses.
        settings: How metrics see them.
        own_file: Whether the questions are the user's own: what fewer than ten of them miss is the retriever's miss.

    Raises:
        CorpusMissingError: It is so.
    """
    samples = [settings.sample(question, response) for question, response in probes if response.chunks is not None]
    if not samples or any(sample.matches.found for sample in samples):
        return
    texts = [chunk.text for sample in samples for chunk in sample.response.chunks or ()]
    if texts and not any(texts):
        chunks = f"the chunks of the server at {client.url} carry no text"
        raise CorpusMissingError(f"{chunks}, and no gold is known by their ids or documents", _TEXT_HINT)
    if not own_file or len(samples) >= PROBES:
        questions = f"{counted(len(samples), 'question')} retrieved no gold passage"
        raise CorpusMissingError(f"corpus not found on the server at {client.url}: {questions}", _HINT)


async def check_kind(
    client: RAGClient, question: EvalQuestion, response: EvalResponse, questions: Iterable[EvalQuestion]
) -> None:
    """Stop where two different questions fail in the same way, which neither waiting nor asking again corrects.

    Args:
        client: Asks the second question.
        question: The first question.
        response: What became of it.
        questions: All.

    Raises:
        ServerRefusedError: They do: the server is not of the profile's kind.
    """
    wrong = _lasting_failure(response)
    other = next((asked for asked in questions if asked.question != question.question), None)
    if response.error is None or wrong is None or other is None:
        return
    if _lasting_failure(await client.ask(other.question)) != wrong:
        return
    request = response.error.request
    made = (client.spec.retrieve if request == "retrieve" else None) or client.spec.ask
    described = "the configuration" if client.spec.profile == "none" else f"profile {client.spec.profile!r}"
    raise ServerRefusedError(
        f"the server at {client.url} is not of the kind that {described} describes: "
        f"to {made.method} {client.redact.text(made.path)} it answers {response.error.message}",
        f"correct server.{request} or server.map, name the right server with --rag-url, or describe this one in a "
        "profile of its own (docs/profiles.md has examples) and name that with --profile FILE.yml",
    )


def _lasting_failure(response: EvalResponse) -> tuple[str, int | None] | None:
    """The request that failed and its status, where asking again fails alike; None: it may not."""
    error = response.error
    is_lasting = error is not None and (error.kind == "malformed" or error.status in _LASTING)
    return (error.request, error.status) if error is not None and is_lasting else None


def chunks_path(spec: ServerSpec) -> str | None:
    """Where a profile looks for chunks in an answer; None: it does not."""
    return None if spec.retrieve is not None else spec.map.chunks


def chunks_unfound(path: str | None, responses: Iterable[EvalResponse]) -> str | None:
    """The note that no answer had chunks where the profile looks for them; None: some had, or none was answered.

    Args:
        path: `map.chunks` of the profile; None: it looks for none.
        responses: What came.
    """
    answered = [response for response in responses if response.error is None and response.answer is not None]
    has_list = (response.chunks is not None or response.could_not_read("chunks") for response in answered)
    if path is None or not answered or any(has_list):
        return None
    place, body = shortened(" ".join(path.split()), 61), ""
    raw = next((response.raw for response in answered if response.raw), "")
    with suppress(ValueError):  # the stored body is only its beginning
        body = f"; the body: {shape_of(parse_stored(raw.encode()))}"
    count = share(len(answered), len(answered), "answer")
    return f"{UNFOUND}{count}, so retrieval is not measured: nothing is at `{place}`{body}"


# `evals ingest`: documents uploaded to a server, and a question that shows whether they are found.


class UploadCheck(NamedTuple):
    """A question asked after an upload, its chunks (None: none are sent), and how many are of the documents."""

    question: str
    chunks: int | None
    of_these: int


class Uploaded(NamedTuple):
    """What `evals ingest` did."""

    report: IngestReport
    check: UploadCheck | None = None


async def upload_documents(
    config: EvalConfig, documents: Sequence[Upload], observer: Observer, question: str | None
) -> Uploaded:
    """Upload documents to the configured server, and ask it a question about them.

    Args:
        config: The server and the folder of runs, which holds the log of uploads.
        documents: The documents.
        observer: Receives the progress.
        question: The question; None: nothing is asked.

    Raises:
        EvalsError: The server cannot be used, refuses documents, or finds none of them.
    """
    async with AsyncExitStack() as stack:
        client = RAGClient(config.server_spec(), concurrency=1, max_attempts=config.max_attempts, rps=config.rps)
        client.retrying.tell = observer.phase
        await stack.enter_async_context(client)
        observer.phase(f"checking {client.url}")
        await client.health()
        log = stack.enter_context(UploadLog(config.runs_dir, upload_key(client)))
        observer.phase(f"giving it {counted(len(documents), 'document')}")
        report = await ingest(client, documents, log, progress=observer.progress, waiting=observer.waiting)
        if question is None:
            return Uploaded(report)
        _, client.reader.document_names = await _listing_and_ids(client, config.runs_dir)
        return Uploaded(report, _checked(question, await client.ask(question), documents))


def _checked(question: str, response: EvalResponse, documents: Sequence[Upload]) -> UploadCheck:
    """How many chunks of a response are of the documents, by their names or by their text.

    Raises:
        IngestError: The question failed, or none is.
    """
    if response.error is not None:
        message = f"the documents are there, but the question that checks them fails: {response.error.message}"
        raise IngestError(message, "look at server.ask and server.map")
    if response.chunks is None:
        return UploadCheck(question, None, 0)
    keys = {document_key(document.name) for document in documents}
    wholes = [" ".join(document.data().decode("utf-8", "ignore").split()) for document in documents]
    count = 0
    for chunk in response.chunks:
        names = {document_key(name) for name in (chunk.document_name, chunk.document_id) if name}
        text = " ".join((chunk.text or "").split())
        count += bool(keys & names) or (bool(text) and any(text in whole for whole in wholes))
    if not count:
        retrieved = f"none of {counted(len(response.chunks), 'chunk')}" if response.chunks else "nothing"
        problem = f"what was uploaded is not found: to {question!r} the server retrieves {retrieved} of these documents"
        raise IngestError(problem, _INDEXING)
    return UploadCheck(question, len(response.chunks), count)


_INDEXING = (
    "it may still be indexing (server.ready says how to see that), keep them in another collection, or find them by "
    "another question"
)
_CHANGED = "on the server in another edition, and not uploaded again: delete there first what is to change"
_UNCONFIRMED = (
    "sent, not confirmed, when an earlier upload was killed, and not sent again: see whether the server has them; "
    "where it does not, delete the `sent` line that names them in `uploads` of the folder of runs"
)


def remarks_on(report: IngestReport) -> list[str]:
    """What a reader must know of an upload."""
    remarks, already_there = [], report.already_there
    if not report.listed:
        instead = "what was uploaded from here before is taken to be there" if already_there else "all were uploaded"
        remarks.append(f"the server does not list its documents: {instead}")
    if already_there:
        total = report.uploaded + already_there + len(report.unconfirmed)
        remarks.append(f"{share(already_there, total, 'document', 'was')} on the server already")
    for what, names, verb in ((_CHANGED, report.changed, "is"), (_UNCONFIRMED, report.unconfirmed, "was")):
        remarks += [f"{counted(len(names), 'document', verb)} {what}: {listed([*names], 3)}"] if names else []
    return remarks
