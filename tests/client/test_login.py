"""What is said of a server that refuses us: the header and the variable of the environment that it is made of."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import respx

from evals.client import RAGClient, ServerSpec
from evals.client.oauth2 import login_hint
from evals.client.profile import resolve_spec
from evals.errors import ServerRefusedError


def _spec(headers: dict[str, str], **keys: Any) -> ServerSpec:
    return resolve_spec({"headers": headers, **keys})


def test_a_header_that_is_not_sent_is_named_with_its_variable() -> None:
    """It is what the server misses; a variable that is empty counts as not set."""
    spec = _spec({"X-API-Key": "${RAG_KEY:-}"})
    expected = (
        "the header X-API-Key is sent only if RAG_KEY is set in the environment: export it, or set server.headers"
    )
    assert login_hint(spec, {}) == expected
    assert login_hint(spec, {"RAG_KEY": ""}) == expected


def test_only_what_is_not_set_is_to_be_set() -> None:
    """Of two variables of one header, and of two headers, of which a request has one of its own."""
    one = login_hint(_spec({"Authorization": "${SCHEME:-} ${RAG_KEY:-}"}), {"SCHEME": "Bearer"})
    assert one is not None
    assert "SCHEME" not in one
    both = login_hint(_spec({"X-API-Key": "${A:-}"}, ask={"headers": {"X-Tenant": "${B:-}"}}), {})
    assert both is not None
    assert both.startswith("the headers X-API-Key and X-Tenant are sent only if A and B are set")


def test_a_variable_that_is_set_may_hold_a_wrong_key() -> None:
    """Its name is said, and never what it holds."""
    spec = _spec({"Authorization": "Bearer ${RAG_KEY}"})
    assert login_hint(spec, {"RAG_KEY": "k-9"}) == (
        "see whether RAG_KEY holds the right key for Authorization, or set server.headers"
    )


def test_nothing_is_said_of_headers_that_hold_no_variable() -> None:
    """Nobody knows then what is missing."""
    assert login_hint(_spec({"X-Version": "2"}), {}) is None
    assert login_hint(_spec({}), {}) is None


@pytest.mark.parametrize(("status", "named"), [(401, True), (403, True), (404, False), (500, False)])
def test_a_health_check_that_wants_a_login_names_the_variable(
    status: int, named: bool, spec: Callable[..., ServerSpec], mocked: respx.MockRouter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only where it says that it wants one."""
    monkeypatch.delenv("RAG_KEY", raising=False)
    mocked.get("/health").mock(return_value=httpx.Response(status))

    async def run() -> None:
        async with RAGClient(spec(headers={"X-API-Key": "${RAG_KEY:-}"})) as client:
            await client.health()

    with pytest.raises(ServerRefusedError) as raised:
        asyncio.run(run())
    assert ("RAG_KEY is set" in (raised.value.hint or "")) is named
