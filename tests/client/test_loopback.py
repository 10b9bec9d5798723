"""Asking a real server over a real connection, well and misbehaving."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from evals.client import RAGClient
from evals.client.profile import resolve_spec
from evals.schemas import EvalResponse

Serve = Callable[..., str]
QUESTION = "How long are daily snapshots kept?"


@pytest.fixture
def ask_at(sleep: Callable[[float], Any]) -> Callable[..., EvalResponse]:
    """Ask one question of the server at a URL."""

    def once(url: str, **over: Any) -> EvalResponse:
        async def run() -> EvalResponse:
            async with RAGClient(resolve_spec({"url": url, **over}), sleep=sleep) as client:
                return await client.ask(QUESTION)

        return asyncio.run(run())

    return once


def test_the_reference_server_is_read_in_full(serve: Serve, ask_at: Callable[..., EvalResponse]) -> None:
    """Every part that it sends arrives under our names."""
    response = ask_at(serve())
    assert response.error is None
    assert "30 days" in (response.answer or "")
    (chunk, *_) = response.chunks or []
    assert (chunk.document_name, chunk.section) == ("guide.md", "Retention")
    assert chunk.chunk_id
    assert chunk.score
    assert chunk.chunk_id in [citation.chunk_id for citation in response.citations or []]
    assert response.usage is not None
    assert response.usage.prompt_tokens > 0
    assert response.latency_ms is not None
    assert (response.attempts, response.waited_ms) == (1, 0.0)
