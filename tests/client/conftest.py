"""Servers to ask: mocked ones for single exchanges, the reference server on loopback for whole ones."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest
import respx

from evals.client import RAGClient, ServerSpec
from evals.client.profile import resolve_spec
from evals.reference_server import Settings
from evals.schemas import EvalResponse

MOCKED = "http://rag.test"
GUIDE = b"""# Atlas Backup Guide

Atlas copies folders to a vault every night.

## Retention

Daily snapshots are kept for 30 days. Weekly snapshots are kept for twelve weeks.
"""
WIND = b"""# Boreas Wind Station

The Boreas station measures wind speed with two sensors. Its vault of old readings is small.
"""


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy of this machine stands between a test and its server."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def spec() -> Callable[..., ServerSpec]:
    """Specify the mocked server, or another one by `url`, with the default profile and overrides."""

    def make(**overrides: Any) -> ServerSpec:
        return resolve_spec({"url": MOCKED, "patience_s": 0, **overrides})

    return make


@pytest.fixture
def waits() -> list[float]:
    """How long the client slept between attempts."""
    return []


@pytest.fixture
def sleep(waits: list[float]) -> Callable[[float], Any]:
    """Note the wish to sleep, and return at once."""

    async def noted(seconds: float) -> None:
        waits.append(seconds)

    return noted


@pytest.fixture
def mocked(monkeypatch: pytest.MonkeyPatch) -> respx.MockRouter:
    """A server at `MOCKED` that clients reach which are given no other transport; what has no route fails."""
    router = respx.MockRouter(base_url=MOCKED, assert_all_called=False)
    monkeypatch.setattr("evals.client.http._transport", lambda *_: httpx.MockTransport(router.async_handler))
    return router


@pytest.fixture
def ask(
    mocked: respx.MockRouter, spec: Callable[..., ServerSpec], sleep: Callable[[float], Any]
) -> Callable[..., EvalResponse]:
    """Ask one question of a server that gives these replies: bodies, responses or exceptions, in turn."""

    def once(*replies: Any, question: str = "Why?", client: Mapping[str, Any] | None = None, **over: Any) -> Any:
        mocked.route(path="/query").mock(side_effect=[_reply(reply) for reply in replies])

        async def run() -> EvalResponse:
            async with RAGClient(spec(**over), sleep=sleep, **(client or {})) as rag:
                return await rag.ask(question)

        return asyncio.run(run())

    return once


def _reply(reply: Any) -> Any:
    if isinstance(reply, httpx.Response | Exception | type):
        return reply
    content = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
    return httpx.Response(200, content=content, headers={"content-type": "application/json"})


@pytest.fixture
def serve(serve_files: Callable[..., str]) -> Callable[..., str]:
    """Start reference servers in threads; each call gives the URL of a new one."""

    def start(*misbehave: str, files: dict[str, bytes] | None = None, settings: Settings | None = None) -> str:
        contents = {"guide.md": GUIDE, "wind.md": WIND} if files is None else files
        return serve_files(contents, *misbehave, settings=settings)

    return start
