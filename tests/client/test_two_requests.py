"""Servers that answer by one path and retrieve by another: both requests make one response."""

import json
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import asking
import httpx
import pytest
import respx

from evals.client import RAGClient, ServerSpec
from evals.client.mapping import MappingError
from evals.client.profile import resolve_spec
from evals.errors import ConfigError
from evals.schemas import EvalResponse

MOCKED = "http://rag.test"
CHAT = {"answer": "Four minutes [1].", "usage": {"p": 3, "c": 2}}
HITS = {"hits": [{"id": "c1", "text": "It takes four minutes."}, {"id": "c2", "text": "Else."}]}
SERVER: Mapping[str, Any] = {
    "ask": {"path": "/chat", "json": {"question": "{{question}}"}},
    "retrieve": {
        "path": "/search",
        "json": {"query": "{{question}}"},
        "map": {"chunks": "hits[].{chunk_id: id, text: text}"},
    },
    "map": {"answer": "answer", "chunks": None, "citations": None, "stages": None},
}
FED: Mapping[str, Any] = {
    "ask": {"path": "/chat", "json": {"question": "{{question}}", "documents": "{{documents}}", "text": "on {{ids}}"}},
    "retrieve": {**SERVER["retrieve"], "give": {"documents": "hits[].{data: text}", "ids": "hits[].id"}},
    "map": SERVER["map"],
}

Both = Callable[..., EvalResponse]


@pytest.fixture
def both(mocked: respx.MockRouter, sleep: Callable[[float], Any]) -> Both:
    """Ask one question of a server whose two paths reply so, in turn."""

    def once(
        chat: list[httpx.Response], search: list[httpx.Response], server: Mapping[str, Any] = SERVER, **over: Any
    ) -> EvalResponse:
        mocked.route(path="/chat").mock(side_effect=chat)
        mocked.route(path="/search").mock(side_effect=search)

        keys = {"url": MOCKED, "patience_s": 0, **server, **over}
        return asking.ask(keys, "How long?", sleep=sleep, clock=map(float, count(1)).__next__)

    return once


def _ok(body: Any) -> httpx.Response:
    return httpx.Response(200, json=body)


def _paths(mocked: respx.MockRouter) -> list[str]:
    return [call.request.url.path for call in mocked.calls]


def test_the_chunks_of_the_second_request_join_the_answer_of_the_first(both: Both, mocked: respx.MockRouter) -> None:
    """Answer, citations and usage are those of one body, chunks those of the other."""
    response = both([_ok(CHAT)], [_ok(HITS)])
    assert (response.answer, response.error) == ("Four minutes [1].", None)
    assert [chunk.chunk_id for chunk in response.chunks or []] == ["c1", "c2"]
    assert [citation.index for citation in response.citations or []] == [1]
    assert _paths(mocked) == ["/chat", "/search"]
    assert json.loads(mocked.calls.last.request.content) == {"query": "How long?"}
    assert (response.raw, response.raw_retrieval) == (_ok(CHAT).text, _ok(HITS).text)


def test_what_was_retrieved_is_given_to_the_request_that_asks(both: Both, mocked: respx.MockRouter) -> None:
    """A name alone stands for its value, whatever that is; within a text, for its JSON."""
    response = both([_ok(CHAT)], [_ok(HITS)], FED)
    assert _paths(mocked) == ["/search", "/chat"]
    assert json.loads(mocked.calls.last.request.content) == {
        "question": "How long?",
        "documents": [{"data": "It takes four minutes."}, {"data": "Else."}],
        "text": 'on ["c1", "c2"]',
    }
    assert [chunk.chunk_id for chunk in response.chunks or []] == ["c1", "c2"]


def test_the_latency_of_an_answer_holds_the_retrieval_that_it_was_made_of(both: Both) -> None:
    """Its user waits for both."""
    response = both([_ok(CHAT)], [_ok(HITS)], FED)
    assert (response.latency_ms, response.retrieval_latency_ms) == (2000.0, 1000.0)
    assert response.total_ms == 3000.0  # a second passes between the two


@pytest.mark.parametrize("server", [SERVER, FED])
def test_a_failed_retrieval_is_a_failure_that_says_so(server: Mapping[str, Any], both: Both) -> None:
    """An answer without its chunks is none that could be measured."""
    response = both([_ok(CHAT)], [httpx.Response(404, json={"detail": "no such path"})], server)
    assert (response.error.kind, response.error.status, response.error.request) == ("status", 404, "retrieve")
    assert response.error.message.startswith("retrieve: HTTP 404")
    assert (response.answer, response.chunks, response.latency_ms) == (None, None, None)
    assert response.raw_retrieval == '{"detail":"no such path"}'


@pytest.mark.parametrize(
    ("hits", "over", "kind", "said"),
    [
        ({"found": []}, {}, "malformed", "retrieve: the body has no list at `hits"),
        ({"hits": None}, {}, "malformed", "retrieve: the body has no list"),
        ({"hits": [1]}, {"map": {"chunks": "hits"}}, "malformed", "retrieve: server.map.chunks gives a list that"),
        ({"status": "failure", **HITS}, {"ok_when": "status == 'success'"}, "not_ok", "retrieve: `status"),
        (HITS, {"map": {"chunks": "split(hits, 'x')"}}, "malformed", "retrieve: In function split()"),
    ],
)
def test_a_body_without_chunks_is_a_failure_of_the_retrieval(
    hits: Any, over: dict[str, Any], kind: str, said: str, both: Both
) -> None:
    """It is what that request is for."""
    response = both([_ok(CHAT)], [_ok(hits)], retrieve={**SERVER["retrieve"], **over})
    assert (response.error.kind, response.error.request) == (kind, "retrieve")
    assert response.error.message.startswith(said)
    assert response.latency_ms == 1000.0


def test_what_is_not_there_cannot_be_given(both: Both, mocked: respx.MockRouter) -> None:
    """The question is not asked without it."""
    response = both([_ok(CHAT)], [_ok({"hits": None})], FED)
    assert (response.error.kind, response.error.request) == ("malformed", "retrieve")
    assert "to give as documents" in response.error.message
    assert _paths(mocked) == ["/search"]


def test_each_request_has_its_own_attempts(both: Both, waits: list[float]) -> None:
    """One more of either is one more of the question; the answer is not asked for again."""
    busy = httpx.Response(500, text="busy")
    response = both([busy, _ok(CHAT)], [busy, busy, _ok(HITS)])
    assert (response.error, response.attempts, len(waits)) == (None, 4, 3)
    assert response.waited_ms == pytest.approx(sum(waits) * 1000)


def test_stored_bodies_of_both_requests_are_read_again(spec: Callable[..., ServerSpec]) -> None:
    """By another mapping of either; a run that holds only one of them cannot be read by such a profile."""
    client = RAGClient(spec(**{**SERVER, "retrieve": {**SERVER["retrieve"], "map": {"chunks": "hits[].text"}}}))
    fields = client.reread(json.dumps(CHAT), json.dumps(HITS))
    assert [chunk.text for chunk in fields["chunks"]] == ["It takes four minutes.", "Else."]
    with pytest.raises(MappingError, match="second request"):
        client.reread(json.dumps(CHAT))


@pytest.mark.parametrize(
    ("over", "named"),
    [
        ({"retrieve": {"path": "/search"}}, "retrieve: retrieve needs map.chunks, or give"),
        ({"retrieve": {"path": "/search", "map": {"chunks": None}}}, "retrieve.map.chunks"),
        ({"retrieve": {**SERVER["retrieve"], "give": {"question": "q"}}}, "retrieve: give.question"),
        ({"retrieve": SERVER["retrieve"], "map": {"answer": None}}, "retrieve needs map.answer"),
    ],
)
def test_a_second_request_that_cannot_be_joined_is_refused(over: dict[str, Any], named: str) -> None:
    """Before anything is sent."""
    with pytest.raises(ConfigError, match=rf"^server: {named}"):
        resolve_spec(over)


def test_two_requests_of_a_question_share_the_rate(mocked: respx.MockRouter) -> None:
    """So many requests start in a second, and half as many questions."""
    mocked.route(path="/chat").mock(return_value=_ok(CHAT))
    mocked.route(path="/search").mock(return_value=_ok(HITS))
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    keys = {"url": MOCKED, **SERVER}
    asking.ask_all(keys, *["How long?"] * 3, rps=2, sleep=sleep, clock=lambda: 0.0)
    assert slept == [1.0, 2.0]
