"""What is said of a server that refuses us: the header and the variable of the environment that it is made of."""

import asyncio
from collections.abc import Callable

import httpx
import pytest
import respx

from evals.client import RAGClient, ServerSpec
from evals.client.profile import login_hint, resolve_spec
from evals.errors import ServerRefusedError


@pytest.mark.parametrize(
    ("headers", "environ", "hint"),
    [
        ({"X-API-Key": "${RAG_KEY:-}"}, {}, "export RAG_KEY, or set server.headers"),
        ({"A": "${B:-} ${C:-}"}, {"B": "Bearer", "C": ""}, "export C, or set server.headers"),
        ({"A": "${B:-}", "C": "${D:-}"}, {}, "export B and D, or set server.headers"),
        ({"A": "Bearer ${B}"}, {"B": "k-9"}, "look at the key in B, or set server.headers"),
        ({"X-Version": "2"}, {}, None),
        ({}, {}, None),
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

    async def run() -> None:
        async with RAGClient(spec(headers={"X-API-Key": "${RAG_KEY:-}"})) as client:
            await client.health()

    with pytest.raises(ServerRefusedError) as raised:
        asyncio.run(run())
    assert ("export RAG_KEY" in (raised.value.hint or "")) is named
