"""No credential reaches a record, a message or a snapshot."""

import asyncio
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import respx

from evals.client import RAGClient, ServerSpec
from evals.errors import ConfigError, ServerError
from evals.schemas import EvalResponse

Ask = Callable[..., EvalResponse]
SECRET = 'pa"ss\\wörd/4711'
PLAIN = "sk-abcdef123456"


@pytest.mark.parametrize("status", [200, 401, 500])
@pytest.mark.parametrize("secret", [PLAIN, SECRET])
@pytest.mark.parametrize("escape", [True, False])
def test_a_secret_that_the_server_echoes_is_masked(
    status: int, secret: str, escape: bool, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the answer, in chunks, in the raw body and in the error's message, however JSON spells it."""
    monkeypatch.setenv("RAG_TOKEN", secret)
    body = {"answer": f"you sent {secret}", "sources": [{"full_text": secret, secret: 1}], "detail": secret}
    reply = httpx.Response(status, content=json.dumps(body, ensure_ascii=escape).encode())
    response = ask(reply, reply, reply, ask={"json": {"key": "${RAG_TOKEN}"}})
    dumped = response.model_dump_json()
    assert "***" in dumped
    assert _core(secret) not in dumped


def _core(secret: str) -> str:
    """The part of a secret that no escaping changes."""
    return secret.rpartition("/")[2]


@pytest.mark.parametrize("where", ["headers", "ask"])
@pytest.mark.parametrize("name", ["Authorization", "X-API-Key", "Cookie", "x-auth-token"])
def test_a_credential_header_is_masked_with_and_without_its_scheme(name: str, where: str, ask: Ask) -> None:
    """A key written into the configuration itself is a secret too."""
    headers = {name: f"Bearer {PLAIN}"}
    over: dict[str, Any] = {"headers": headers} if where == "headers" else {"ask": {"headers": headers}}
    response = ask(httpx.Response(403, text=f"bad token {PLAIN}"), **over)
    assert response.error.message == "HTTP 403: bad token ***"
    assert PLAIN not in response.model_dump_json()


@pytest.mark.parametrize("shift", range(0, 240, 16))
def test_a_secret_is_masked_before_a_message_is_cut(shift: int, ask: Ask) -> None:
    """No part of it is left at the end of a shortened message."""
    body = "x" * shift + PLAIN + "y" * 300
    response = ask(httpx.Response(400, text=body), headers={"Authorization": PLAIN})
    assert PLAIN[:6] not in response.error.message


def test_the_password_of_the_url_is_masked_in_all_its_spellings(ask: Ask, mocked: respx.MockRouter) -> None:
    """As written, decoded, and in the header that it becomes."""
    url = f"http://user:{quote(SECRET, safe='')}@rag.test"
    client = RAGClient(url)
    assert client.url == "http://rag.test"
    ask({"answer": "a"}, url=url)
    sent = mocked.calls.last.request.headers["authorization"].partition(" ")[2]
    for spelling in (SECRET, quote(SECRET, safe=""), sent):
        assert client.redact.text(f"<{spelling}>") == "<***>"


@pytest.mark.parametrize("value", ["s3cr3t\nmore", "s3cr3t\x00", "s3cr3té"])
def test_a_header_that_cannot_be_sent_is_named_without_its_value(value: str, spec: Callable[..., ServerSpec]) -> None:
    """It is a configuration error at the start, not a failed connection per question."""
    with pytest.raises(ConfigError, match="X-Login") as raised:
        RAGClient(spec(headers={"X-Login": value}))
    assert "s3cr3t" not in str(raised.value)


def test_snapshots_and_health_messages_hold_no_secret(
    spec: Callable[..., ServerSpec], mocked: respx.MockRouter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the server tells about itself is masked before anything reads it."""
    monkeypatch.setenv("RAG_TOKEN", SECRET)
    mocked.get("/health").mock(return_value=httpx.Response(401, json={"detail": SECRET}))
    mocked.get("/models/info").mock(return_value=httpx.Response(200, json={"llm_model": SECRET, "n": [SECRET, 8001]}))
    mocked.get("/metrics/retrieval").mock(return_value=httpx.Response(404))

    async def run() -> tuple[str, Any]:
        async with RAGClient(spec(headers={"X-Custom": "a"}, ask={"json": ["${RAG_TOKEN}", "{{question}}"]})) as client:
            with pytest.raises(ServerError) as raised:
                await client.health()
            return str(raised.value), await client.info()

    message, (facts, raw) = asyncio.run(run())
    assert "4711" not in message
    assert facts["llm_model"] == "***"
    assert raw["/models/info"] == {"llm_model": "***", "n": ["***", 8001]}


def test_a_credential_in_the_body_of_a_question_is_masked_where_it_is_echoed(ask: Ask) -> None:
    """As servers do that refuse a body; an ordinary word under such a name masks nothing."""
    body = {"login": [{"api_key": PLAIN}], "sort_key": "title", "query": "{{question}}"}
    response = ask({"answer": f"no title for {PLAIN}"}, ask={"json": body})
    assert response.answer == "no title for ***"
    assert PLAIN not in response.model_dump_json()


def test_a_secret_in_a_path_is_in_no_url_and_no_snapshot(
    spec: Callable[..., ServerSpec], mocked: respx.MockRouter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable may stand in any path; the host it is on may be named."""
    monkeypatch.setenv("RAG_TOKEN", PLAIN)
    mocked.route().mock(return_value=httpx.Response(200, json={"a": 1}))

    async def run() -> tuple[str, dict[str, Any]]:
        server = spec(url="http://rag.test/${RAG_TOKEN}", info=[{"path": "/info?k=${RAG_TOKEN}"}])
        async with RAGClient(server) as client:
            return client.url, (await client.info())[1]

    assert asyncio.run(run()) == ("http://rag.test/***", {"/info?k=***": {"a": 1}})


def test_a_missing_variable_is_named(spec: Callable[..., ServerSpec], monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says which one, before anything is sent."""
    monkeypatch.delenv("RAG_NOWHERE", raising=False)
    with pytest.raises(ConfigError, match="RAG_NOWHERE"):
        RAGClient(spec(headers={"X-Key": "${RAG_NOWHERE}"}))
