"""Which gold documents the server's own list lacks."""

from collections.abc import Iterable, Sequence

from evals.case.matching import document_key
from evals.case.matching.documents import Kinship, kinship
from evals.client import RAGClient
from evals.client.ingest import document_names
from evals.client.transport import TransportFailure
from evals.schemas import EvalQuestion


async def missing_documents(client: RAGClient, questions: Sequence[EvalQuestion]) -> list[str] | None:
    """The documents of golds that the server does not list, by their names.

    Returns:
        None where nobody knows: the server gives no list, or names not one of the golds' documents as they do.
    """
    try:
        there = await document_names(client)
    except TransportFailure:
        return None
    if there is None:
        return None
    wanted = sorted({name for question in questions for name in _named(question)})
    lacking = [name for name in wanted if document_key(name) not in there]
    return None if len(lacking) == len(wanted) else [name for name in lacking if _is_unlike_all(name, there)]


def _named(question: EvalQuestion) -> list[str]:
    return [gold.document_id for gold in question.gold_passages if gold.document_id]


def _is_unlike_all(name: str, there: Iterable[str]) -> bool:
    return all(kinship(name, other) is Kinship.OTHER for other in there)
