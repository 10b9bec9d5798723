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


@pytest.mark.parametrize(
    ("switch", "kind", "attempts"),
    [
        ("dropped", "connect", 3),
        ("truncated", "connect", 3),
        ("status:500", "status", 3),
        ("status:404", "status", 1),
        ("ratelimit:9:0", "status", 3),
        ("html", "malformed", 1),
        ("not-json", "malformed", 1),
        ("wrong-shape", "malformed", 1),
    ],
)
def test_each_way_to_misbehave_has_its_kind(
    switch: str, kind: str, attempts: int, serve: Serve, ask_at: Callable[..., EvalResponse]
) -> None:
    """Broken connections and passing refusals are tried again, broken bodies are not."""
    response = ask_at(serve(switch), patience_s=0)
    assert response.error is not None
    assert (response.error.kind, response.attempts, response.answer) == (kind, attempts, None)
    assert response.latency_ms is None or kind == "malformed"


@pytest.mark.parametrize("switch", ["status:503:2", "ratelimit:2:1"])
def test_a_server_that_recovers_is_answered_from(
    switch: str, serve: Serve, ask_at: Callable[..., EvalResponse], waits: list[float]
) -> None:
    """The third attempt counts, and the two waits are in no latency."""
    response = ask_at(serve(switch), patience_s=0)
    assert (response.error, response.attempts, len(waits)) == (None, 3, 2)
    assert response.waited_ms == pytest.approx(1000 * sum(waits))


@pytest.mark.parametrize("switch", ["hang", "slow:30"])
def test_a_timeout_counts_as_at_least_the_timeout(
    switch: str, serve: Serve, ask_at: Callable[..., EvalResponse]
) -> None:
    """It is tried again, and its latency is never less than what was waited for."""
    response = ask_at(serve(switch), timeout_s=0.05)
    assert response.error is not None
    assert (response.error.kind, response.attempts) == ("timeout", 3)
    assert response.latency_ms is not None
    assert 50 <= response.latency_ms < 30_000
