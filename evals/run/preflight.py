"""Is this the server that the profile describes, and does it hold the documents that the questions are about?

Known before anything is paid for.
"""

from collections.abc import Iterable, Sequence
from itertools import islice

from evals.case.matching import document_key
from evals.client import RAGClient
from evals.client.ingest import document_names
from evals.client.transport import TransportFailure
from evals.errors import CorpusMissingError, ServerRefusedError
from evals.schemas import EvalQuestion, EvalResponse, GoldPassage, RetrievedChunk
from evals.scoring.settings import Cases
from evals.text.counts import counted

PROBES = 10
"""So many questions are asked where the list of documents does not tell."""
_HINT = "upload the datasets' documents with --ingest, or go on all the same with --no-preflight"


_FINAL = {404: ("path",), 405: ("method", "path"), 422: ("json", "query")}
"""Statuses that are the same when asked again, and which keys of the request may be wrong."""


def is_final(response: EvalResponse) -> bool:
    """Whether the question failed in a way that neither waiting mends nor asking again.

    That is: the body holds no answer, or the server does not know the path, the method or the form of the request.
    """
    return _wrong_part(response) is not None


def another_question(questions: Iterable[EvalQuestion], than: EvalQuestion) -> EvalQuestion | None:
    """The first question that asks something else; None where there is none."""
    return next((question for question in questions if question.question != than.question), None)


def why_wrong_server(client: RAGClient, first: EvalResponse, second: EvalResponse) -> ServerRefusedError | None:
    """Why this is no server of the profile, as two different questions show that failed in the same way.

    Args:
        client: Has asked.
        first: What became of a question.
        second: What became of another one: one alone may be what a server cannot answer.

    Returns:
        The error to end with; None where the server may answer the others.
    """
    wrong = _wrong_part(first)
    if wrong is None or first.error is None or _wrong_part(second) != wrong:
        return None
    made = (client.spec.retrieve if first.error.request == "retrieve" else None) or client.spec.ask
    how = f"{made.method} {client.redact.text(made.path)}"
    return ServerRefusedError(
        f"the server at {client.url} is not of the kind that profile {client.spec.profile!r} describes: "
        f"to {how} it answers {first.error.message}",
        f"mend {wrong}, name the right server with --rag-url, or describe this one in a profile of its own "
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


def check_probes(
    client: RAGClient,
    probes: Sequence[tuple[EvalQuestion, EvalResponse]],
    cases: Cases,
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
            "let server.map.chunks find the text (docs/profiles.md), or go on all the same with --no-preflight",
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


async def choose_probes(client: RAGClient, questions: Sequence[EvalQuestion]) -> list[EvalQuestion]:
    """The questions to ask first, whose answers show whether the corpus is on the server; none where that is known.

    Raises:
        CorpusMissingError: The server holds no documents at all.
    """
    probes = list(islice((question for question in questions if question.gold_passages), PROBES))
    return [] if probes and await corpus_listed(client, questions) else probes
