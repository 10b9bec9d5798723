"""Which gold documents the server's own list lacks."""

from collections.abc import Sequence

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
    wanted = sorted({gold.document_id for one in questions for gold in one.gold_passages if gold.document_id})
    lacking = [name for name in wanted if document_key(name) not in (there or ())]
    if there is None or len(lacking) == len(wanted):
        return None
    return [name for name in lacking if all(kinship(name, other) is Kinship.OTHER for other in there)]
