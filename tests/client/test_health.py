"""Before the first question: is a server there, and what does it say about itself?"""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import respx

from evals.client import RAGClient, ServerSpec, rag_client
from evals.client.profile import login_hint, resolve_spec
from evals.errors import ServerRefusedError, ServerUnreachableError
from evals.reference_server import Settings


def _health(spec: ServerSpec | str) -> None:
    async def run() -> None:
        async with RAGClient(spec) as client:
            await client.health()

    asyncio.run(run())


def _info(spec: ServerSpec | str) -> tuple[dict[str, Any], dict[str, Any]]:
    async def run() -> tuple[dict[str, Any], dict[str, Any]]:
        async with RAGClient(spec) as client:
            return await client.info()

    return asyncio.run(run())


def test_nothing_there_is_said_with_the_url_and_the_ways_out() -> None:
    """The hint says how to start a server."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(ServerUnreachableError, match=url) as raised:
        _health(url)
    assert raised.value.exit_code == 3
    for way in ("evals serve", "--rag-url", "--embedded"):
        assert way in (raised.value.hint or "")


@pytest.mark.parametrize("status", [301, 401, 403, 404, 500, 503])
def test_an_unhealthy_server_is_refused_at_once(
    status: int, spec: Callable[..., ServerSpec], mocked: respx.MockRouter
) -> None:
    """Status and path are named, and nothing is tried again."""
    route = mocked.get("/health").mock(return_value=httpx.Response(status))
    with pytest.raises(ServerRefusedError, match=f"/health answers HTTP {status}") as raised:
        _health(spec())
    for way in ("server.headers", "server.health.path", "docs/profiles.md", "--profile"):
        assert way in (raised.value.hint or "")
    assert ("wait until it has started" in (raised.value.hint or "")) is (status == 503)
    assert route.call_count == 1


def test_a_server_that_never_answers_is_known_within_the_start_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not take the two minutes of a question."""
    monkeypatch.setattr(rag_client, "START_TIMEOUT_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(ServerUnreachableError, match=r"0\.05 s"):
        _health(f"http://127.0.0.1:{silent.getsockname()[1]}")


def test_the_reference_server_is_healthy_and_says_what_it_is(serve: Callable[..., str]) -> None:
    """Facts come from two endpoints, and those that it does not know are None."""
    url = serve(settings=Settings(top_k=7))
    _health(url)
    facts, raw = _info(url)
    assert (facts["retrieval_top_k"], facts["hybrid_search_enabled"], facts["reranker_model"]) == (7, False, None)
    assert set(raw) == {"/models/info", "/metrics/retrieval"}
    assert raw["/metrics/retrieval"]["final_top_n"] == 7


def test_a_fact_from_an_earlier_endpoint_is_not_lost(spec: Callable[..., ServerSpec], mocked: respx.MockRouter) -> None:
    """A later endpoint replaces a fact only where it says something; a tripping expression says nothing."""
    mocked.get("/a").mock(return_value=httpx.Response(200, json={"m": "one", "k": 3}))
    mocked.get("/b").mock(return_value=httpx.Response(200, json={"k": 5}))
    first = {"path": "/a", "map": {"model": "m", "top_k": "k"}}
    second = {"path": "/b", "map": {"model": "m", "top_k": "k", "odd": "length(k)"}}
    facts, _ = _info(spec(info=[first, second]))
    assert facts == {"model": "one", "top_k": 5, "odd": None}


@pytest.mark.parametrize(
    ("headers", "environ", "hint"),
    [
        ({"X-API-Key": "${RAG_KEY:-}"}, {}, "export RAG_KEY, or set server.headers"),
        ({"A": "${B:-} ${C:-}"}, {"B": "Bearer", "C": ""}, "export C, or set server.headers"),
        ({"A": "${B:-}", "C": "${D:-}"}, {}, "export B and D, or set server.headers"),
        ({"A": "Bearer ${B}"}, {"B": "k-9"}, "look at the key in B, or set server.headers"),
        *((headers, {}, None) for headers in ({"X-Version": "2"}, {})),
    ],
)
def test_what_a_header_lacks_is_named_with_its_variable(
    headers: dict[str, str], environ: dict[str, str], hint: str | None
) -> None:
    """A variable that is empty counts as not set; its name is said, and never what it holds."""
    assert login_hint(resolve_spec({"headers": headers}), environ) == hint
    asked = resolve_spec({"ask": {"headers": headers}})
    assert login_hint(asked, environ) == hint


@pytest.mark.parametrize(("status", "named"), [(401, True), (403, True), (404, False), (500, False)])
def test_a_health_check_that_wants_a_login_names_the_variable(
    status: int, named: bool, spec: Callable[..., ServerSpec], mocked: respx.MockRouter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only where it says that it wants one."""
    monkeypatch.delenv("RAG_KEY", raising=False)
    mocked.get("/health").mock(return_value=httpx.Response(status))

    with pytest.raises(ServerRefusedError) as raised:
        _health(spec(headers={"X-API-Key": "${RAG_KEY:-}"}))
    assert ("export RAG_KEY" in (raised.value.hint or "")) is named
