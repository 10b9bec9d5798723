"""What the server itself lists of its documents."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evals.case.matching import document_key
from evals.client.mapping import MappingError, find
from evals.client.rag_client import RAGClient
from evals.client.transport import TransportFailure

_ATTEMPTS = 3
_NO_LIST = frozenset({404, 405, 410, 501})
"""Statuses that say that there is no list of documents, not that it cannot be given now."""


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document as the server lists it: its own id, and a name, of which it may give one alone."""

    id: str | None
    name: str | None


async def listed_documents(client: RAGClient) -> list[ListedDocument] | None:
    """What the server lists; None where it has no list.

    Raises:
        TransportFailure: It has a list, but does not give it: nothing is known of what it holds.
    """
    if client.spec.documents is None:
        return None
    try:
        body = await client.read_json(client.spec.documents.path, max_attempts=_ATTEMPTS)
        listed = find(client.spec.documents.map, body)
    except TransportFailure as failure:
        if failure.error.status in _NO_LIST or failure.error.kind == "malformed":
            return None
        raise
    except MappingError:
        return None
    if not isinstance(listed, list):
        return None
    return [ListedDocument(_text(item, "id"), _text(item, "name")) for item in listed if isinstance(item, dict)]


async def document_names(client: RAGClient) -> set[str] | None:
    """The names and ids of the server's documents, as `document_key`s; None where it does not list them.

    Raises:
        TransportFailure: It has a list, but does not give it: nothing is known of what it holds.
    """
    listed = await listed_documents(client)
    return None if listed is None else keys_of(listed)


def names_of(listed: Iterable[ListedDocument]) -> set[str]:
    """The names and ids of what is listed."""
    return {value for one in listed for value in (one.id, one.name) if value}


def keys_of(listed: Iterable[ListedDocument]) -> set[str]:
    """The same as `document_key`s."""
    return set(map(document_key, names_of(listed)))


def ids_of(listed: Iterable[ListedDocument]) -> list[tuple[str, str]]:
    """Each id with its name, where both are listed and differ."""
    return [(one.id, one.name) for one in listed if one.id and one.name and one.id != one.name]


def _text(item: dict[str, Any], key: str) -> str | None:
    value = item.get(key)
    return str(value) if value else None
