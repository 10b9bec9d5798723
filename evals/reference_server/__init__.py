"""A small, self-contained RAG service over HTTP.

It answers questions from uploaded text with BM25 retrieval and extractive answers, needs no
model and no network, and gives the same answer to the same question every time. The evaluation
harness uses it as its embedded default and the tests use it as a realistic fixture. Nothing in
this package imports from the rest of ``evals``.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that changes how a server chunks, retrieves or guards."""

    chunk_words: int = 180
    top_k: int = 10
    max_upload_mb: int = 25
    auth_token: str | None = None
    allow_hosts: tuple[str, ...] = ()
    """Names under which the server may be asked, in addition to those of this machine itself."""
