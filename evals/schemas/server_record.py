"""The server that was evaluated, as a run knows it."""

from typing import Any

from evals.schemas.base import Record


class ServerRecord(Record):
    """The server that was evaluated."""

    url: str
    """Without credentials."""
    profile: str
    spec_sha256: str | None = None
    """Hash over how questions were asked and answers read, which a profile's file may say otherwise by now."""
    citation_base: int = 1
    """The number of the first chunk in the server's citations."""
    masked: list[str] | None = None
    """Keys of `server` whose credential was given in clear and is not stored; None in runs that do not say."""
    snapshot_start: dict[str, Any] = {}
    snapshot_end: dict[str, Any] | None = None
    missing_documents: list[str] | None = None
    """Gold documents that the server's list of documents lacks; None where it has no list, or one of other names."""
    document_ids: dict[str, str] = {}
    """Names of golds' documents by the server's own ids: chunks that give only an id are recognised by them."""
    changed: bool | None = None
    """Whether the server's configuration differs between start and end; None where it could not be read."""
