"""What the server's own list of documents, and the log of uploads, say of the golds' documents."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evals.case.matching import document_key
from evals.case.matching.documents import Kinship, kinship
from evals.client import RAGClient
from evals.client.ingest import upload_key
from evals.client.ingest.listing import ids_of, keys_of, listed_documents
from evals.client.transport import TransportFailure
from evals.schemas import EvalQuestion
from evals.store.upload_log import uploaded_ids


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is known of the golds' documents on the server.

    Attributes:
        missing: Those that it does not list, by their names; None where nobody knows: it gives no list, or names not
            one of them as the golds do.
        ids: Names of documents by the server's own ids, where these differ: of golds' documents only.
    """

    missing: list[str] | None = None
    ids: dict[str, str] = field(default_factory=dict)


async def survey_corpus(client: RAGClient, questions: Sequence[EvalQuestion], runs_dir: Path) -> Corpus:
    """Hold the golds' documents against the server's list, and against what was uploaded from here."""
    wanted = sorted(_golds_documents(questions))
    keys = set(map(document_key, wanted))
    ids = _of(keys, uploaded_ids(runs_dir, upload_key(client)))
    try:
        listed = await listed_documents(client)
    except TransportFailure:
        listed = None
    if listed is None:
        return Corpus(None, ids)
    return Corpus(_missing(wanted, keys_of(listed)), ids | _of(keys, ids_of(listed)))


def _golds_documents(questions: Iterable[EvalQuestion]) -> set[str]:
    return {gold.document_id for each in questions for gold in each.gold_passages if gold.document_id}


def _of(keys: set[str], ids: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {given: name for given, name in ids if document_key(name) in keys}


def _missing(wanted: Sequence[str], there: set[str]) -> list[str] | None:
    lacking = [name for name in wanted if document_key(name) not in there]
    return None if len(lacking) == len(wanted) else [name for name in lacking if _is_unlike_all(name, there)]


def _is_unlike_all(name: str, there: Iterable[str]) -> bool:
    return all(kinship(name, other) is Kinship.OTHER for other in there)
