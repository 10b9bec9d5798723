"""A small RAG server: BM25 retrieval, extractive answers, no model, no network, the same answer each time.

`evals serve` and `evals eval --embedded` start it as a process. Nothing here imports from the rest of `evals`.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """How a server chunks, retrieves and guards its documents."""

    chunk_words: int = 180
    top_k: int = 10
    max_upload_mb: int = 25
    auth_token: str | None = None
    allow_hosts: tuple[str, ...] = ()
    """Host names by which the server may be addressed, besides those of this machine."""
