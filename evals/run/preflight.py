"""Does the server hold the documents that the questions are about? Known before anything is paid for."""

from collections.abc import Sequence

from evals.case.matching import document_key
from evals.client import RAGClient
from evals.client.ingest import document_names
from evals.client.transport import TransportFailure
from evals.errors import CorpusMissingError
from evals.schemas import EvalQuestion, EvalResponse
from evals.scoring.settings import Cases

PROBES = 10
"""So many questions are asked where the list of documents does not tell."""

_HINT = "upload the datasets' documents with --ingest, or go on all the same with --no-preflight"


async def corpus_listed(client: RAGClient, questions: Sequence[EvalQuestion]) -> bool:
    """Whether the server's list of documents holds a gold document.

    False where it does not tell: no list or none to be had, other names, or golds that name no document.

    Raises:
        CorpusMissingError: The server holds no documents at all.
    """
    try:
        there = await document_names(client)
    except TransportFailure:
        return False
    if there is None:
        return False
    if not there:
        raise CorpusMissingError(f"the server at {client.url} holds no documents", _HINT)
    wanted = (gold.document_id for question in questions for gold in question.gold_passages)
    return any(document_key(name) in there for name in wanted if name)


def check_probes(client: RAGClient, probes: Sequence[tuple[EvalQuestion, EvalResponse]], cases: Cases) -> None:
    """Look for gold passages in what the first questions retrieved.

    Nothing is concluded where no question was answered, or the server sends no chunks.

    Raises:
        CorpusMissingError: Chunks were retrieved, and no rule finds a single gold passage in them.
    """
    answered = [cases.about(question, response) for question, response in probes if response.chunks is not None]
    if not answered or any(case.matches.found for case in answered):
        return
    retrieved = [chunk for case in answered for chunk in case.response.chunks or []]
    if retrieved and not any(chunk.text for chunk in retrieved):
        raise CorpusMissingError(
            f"the chunks of the server at {client.url} carry no text, and no gold is known by their ids or documents",
            "let server.map.chunks find the text (docs/profiles.md), or go on all the same with --no-preflight",
        )
    raise CorpusMissingError(
        f"corpus not found on the server at {client.url}: {len(answered)} questions retrieved no gold passage", _HINT
    )


async def choose_probes(client: RAGClient, questions: Sequence[EvalQuestion]) -> list[EvalQuestion]:
    """The questions to ask first, whose answers show whether the corpus is on the server; none where that is known.

    Raises:
        CorpusMissingError: The server holds no documents at all.
    """
    probes = [question for question in questions if question.gold_passages][:PROBES]
    return [] if probes and await corpus_listed(client, questions) else probes
