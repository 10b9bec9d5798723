"""Answers that arrive in pieces, over loopback and byte for byte."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from asking import ask_all
from raw_server import answering
from streaming import END, HEAD, OPENAI, ask, chunk, event, token

from evals.client import RAGClient
from evals.client.profile import resolve_spec
from evals.client.streams import Collector


def test_the_deltas_make_the_answer_and_the_last_piece_has_the_usage() -> None:
    """As OpenAI's API streams it: a role, texts, a piece without choices, and [DONE], after which nothing counts."""
    last = {"choices": [], "model": "m", "usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    role = event({"choices": [{"delta": {"role": "assistant", "content": ""}}]})
    said = [role, token("96 "), chunk(": ping\n\n"), token("hours"), event(last), chunk("data: [DONE]\n\n"), token("!")]
    usage = "[].data.usage | [-1].{prompt_tokens: prompt_tokens, completion_tokens: completion_tokens}"
    mapping = {"answer": None, "chunks": None, "usage": usage, "model": "[].data.model | [-1]"}
    response, _ = ask(said, **{**OPENAI, "map": mapping})
    assert (response.error, response.answer, response.model) == (None, "96 hours", "m")
    assert response.usage.completion_tokens == 2
    assert response.notes == []
    assert response.raw.startswith('data: {"choices"')
    assert response.latency_ms is not None
    assert 0 < (response.time_to_first_token_ms or 0) <= (response.time_to_last_token_ms or 0) <= response.latency_ms


NAMED = {
    "stream": {"delta": "event == 'token' && data.token", "error": "event == 'error' && data.error"},
    "map": {
        "answer": None,
        "chunks": "[?event=='sources'].data.sources[].{chunk_id: id, text: text}",
        "citations": None,
    },
}
SOURCES = event({"sources": [{"id": "c1", "text": "96 h"}, {"id": "c2", "text": "no"}]}, "sources")


@pytest.mark.parametrize("first", [True, False])
def test_sources_come_before_or_after_the_text_in_an_event_of_their_own(first: bool) -> None:
    """Named events are told apart by `event`."""
    tokens = [event({"token": text}, "token") for text in ("It ", "lasts.")]
    said = [SOURCES, *tokens] if first else [*tokens, SOURCES]
    response, _ = ask([*said, event({}, "done")], **NAMED)
    assert (response.error, response.answer) == (None, "It lasts.")
    assert [item.chunk_id for item in response.chunks or []] == ["c1", "c2"]


def test_an_error_in_the_stream_is_a_failure_with_what_it_says() -> None:
    """A status 200 was sent long before it happened; what had arrived is kept."""
    response, asked = ask([event({"token": "It "}, "token"), event({"error": "out of memory"}, "error")], **NAMED)
    assert (response.error and response.error.kind, response.answer, asked) == ("not_ok", None, 1)
    assert response.error
    assert "after 3 characters of an answer: out of memory" in response.error.message
    assert "It " in (response.raw or "")


LINES = '{"references": [{"file": "a.md"}]}\n{"response": "96 "}\n{"response": "hours"}\n'
VERCEL = '8:[{"type":"sources","data":{"nodes":[{"id":"a.md"}]}}]\n0:"96 "\n0:"hours"\nd:{"finishReason":"stop"}\n'
NODES = "[?event=='8'].data[] | [?type=='sources'].data.nodes[].{document_name: id}"
GROWING = 'data: {"a": "96"}\n\ndata: {"a": "96 hours"}\n\ndata: true\n\n'
AI_SDK = 'data: {"type":"start"}\r\n\r\ndata: {"type":"text-delta","delta":"96 hours"}\r\n\r\ndata: [DONE]\r\n\r\n'


@pytest.mark.parametrize(
    ("sent", "stream", "chunks", "found"),
    [
        (LINES, {"format": "ndjson", "delta": "data.response"}, "[].data.references[].{document_name: file}", "a.md"),
        (VERCEL, {"format": "vercel"}, NODES, "a.md"),
        (AI_SDK, {"delta": "data.type == 'text-delta' && data.delta"}, None, None),
        ("96 hours", {"format": "text"}, None, None),
        ("data: 96\n\ndata:  hours\n\n", {"delta": "data", "data": "text"}, None, None),
        (GROWING, {"delta": "data.a", "whole": True}, None, None),
    ],
)
def test_every_format_gives_its_answer(sent: str, stream: Any, chunks: str | None, found: str | None) -> None:
    """In one piece, and byte by byte, which is how a stream may be cut."""
    over = {"stream": stream, "map": {"answer": None, "chunks": chunks, "citations": None, "usage": None}}
    whole, _ = ask([chunk(sent)], **over)
    bytewise, _ = ask([chunk(sent[at : at + 1]) for at in range(len(sent))], **over)
    for response in (whole, bytewise):
        assert (response.error, response.answer) == (None, "96 hours")
        assert [item.document_name for item in response.chunks or []] == ([found] if found else [])


def test_the_time_of_a_text_is_that_of_its_arrival(monkeypatch: pytest.MonkeyPatch) -> None:
    """Taken as the bytes arrive: an empty text and a comment are none; what follows the last text does not count."""
    taken = threading.Semaphore(0)
    now = [0.0]
    take = Collector.take

    def noted(self: Collector, data: bytes, at_ms: float) -> None:
        take(self, data, at_ms)
        taken.release()

    monkeypatch.setattr(Collector, "take", noted)

    def say(_: int) -> Iterator[bytes]:
        yield HEAD
        pieces = (token(""), chunk(": ping\n\n"), token("96"), token(" hours"), SOURCES)
        for second, piece in enumerate(pieces, start=1):
            now[0] = float(second)
            yield piece
            assert taken.acquire(timeout=10)
        now[0] = 9.0
        yield chunk("data: [DONE]\n\n") + END

    response, _ = ask(say, clock=lambda: now[0], **OPENAI)
    assert response.answer == "96 hours"
    assert (response.time_to_first_token_ms, response.time_to_last_token_ms) == (3000.0, 4000.0)
    assert response.latency_ms == 9000.0


@pytest.mark.parametrize("rudely", [True, False])
def test_a_stream_that_breaks_off_fails_with_what_came_and_is_not_asked_again(rudely: bool) -> None:
    """The server began to answer: half an answer is what a user would have seen."""
    response, asked = ask(lambda _: [HEAD + token("It la"), "reset" if rudely else None], **OPENAI)
    assert (response.error.kind, response.answer, response.attempts, asked) == ("broken_off", None, 1, 1)
    assert "the stream brought 5 characters of an answer" in response.error.message
    assert "It la" in (response.raw or "")
    assert (response.time_to_first_token_ms or 0) > 0


def test_a_stream_that_breaks_off_before_any_text_is_asked_again() -> None:
    """As any lost connection is: nobody has seen anything yet."""
    response, asked = ask(
        lambda number: [HEAD + chunk(": ping\n\n"), None] if number == 0 else [HEAD + token("yes") + END], **OPENAI
    )
    assert (response.error, response.answer, response.attempts, asked) == (None, "yes", 2, 2)


def test_a_stream_that_ends_without_its_last_piece_has_broken_off() -> None:
    """Where the profile says what the last piece is: a proxy may end a body well that its server did not."""
    over = {**OPENAI, "stream": {**OPENAI["stream"], "done": "data.choices[0].finish_reason"}}
    cut, _ = ask([token("It la")], **over)
    assert cut.error.kind == "broken_off"
    whole, _ = ask([token("It lasts"), event({"choices": [{"finish_reason": "stop", "delta": {}}]})], **over)
    assert (whole.error, whole.answer) == (None, "It lasts")


def test_keep_alive_comments_alone_end_at_the_timeout() -> None:
    """Bounded by the time for an answer, however often the server says that it lives."""

    def say(_: int) -> Iterator[bytes]:
        yield HEAD
        while not pause.wait(0.02):
            yield chunk(": keep-alive\n\n")

    pause = threading.Event()
    try:
        response, asked = ask(say, **OPENAI, timeout_s=0.2, deadline_s=0.5)
    finally:
        pause.set()
    assert response.error.kind == "timeout"
    assert asked <= 3
    assert response.latency_ms == response.time_to_first_token_ms


def test_a_stream_that_says_nothing_and_ends_is_malformed() -> None:
    """With what its pieces are, so that the expression can be mended; an empty text is an empty answer."""
    nothing, _ = ask([chunk(": ping\n\n")], **OPENAI)
    assert (nothing.error.kind, nothing.answer) == ("malformed", None)
    assert "it holds no piece of the format sse" in nothing.error.message
    for over in (OPENAI, {"stream": {"delta": "token"}}):  # one forgets the data of a piece
        other, _ = ask([event({"token": "It"}, "token")], **over)
        assert "its pieces are token: it is {event: a text, data: {token: a text}}" in other.error.message
    empty, _ = ask([token("")], **OPENAI)
    assert (empty.error, empty.answer, empty.time_to_first_token_ms) == (None, "", None)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ('data: {"cut\n\n', "a piece of the stream is not JSON"),
        ("data: 96\n\n", "a piece has a number at `data`, not a text (server.stream.data: text leaves it a text)"),
        ('data: {"a": 1}\n\n', "a piece has an object at `data`"),
    ],
)
def test_a_piece_that_cannot_be_read_is_named(sent: str, said: str) -> None:
    """Leaving it out would change the answer without a word."""
    response, _ = ask([chunk(sent)], stream={"delta": "data"}, map={"answer": None, "chunks": None})
    assert response.error.kind == "malformed"
    assert said in response.error.message


@pytest.mark.parametrize("piece", [b": %s\n\n" % (b"x" * 60_000), b"data: %s" % (b"x" * 60_000), token("word " * 9)])
def test_a_stream_without_an_end_stops_at_the_limit(piece: bytes) -> None:
    """Comments, one event that is never ended, or text: what is beyond the limit is not read."""

    def say(_: int) -> Iterator[bytes]:
        yield HEAD
        while True:
            yield piece if piece.endswith(b"}\n\n\r\n") else chunk(piece)

    response, asked = ask(say, **OPENAI, max_body_bytes=1_000_000)
    assert (response.error.kind, asked, response.raw_cut) == ("too_large", 1, True)
    assert len(response.raw or "") <= 4096


def test_the_pieces_of_a_stream_are_bounded_in_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes hundreds of bytes in memory, whatever it takes on the wire."""
    monkeypatch.setattr("evals.client.streams.MAX_VALUES", 1000)
    response, _ = ask([chunk('data: {"a":1}\n\n' * 100)] * 10, **OPENAI)
    assert (response.error.kind, response.answer) == ("too_large", None)


def test_a_connection_serves_again_after_the_end_was_said() -> None:
    """What stands between [DONE] and the end of the body is read, so that no question waits for a new connection."""
    with answering(lambda _: [HEAD + token("yes"), chunk("data: [DONE]\n\n"), END]) as server:
        responses = ask_all({"url": server.url, **OPENAI}, *["Why?"] * 3, concurrency=1)
        assert [response.answer for response in responses] == ["yes"] * 3
        assert {connection for connection, _ in server.asked} == {1}


def test_a_stored_stream_is_read_again_with_another_mapping() -> None:
    """A wrong expression costs no answer."""
    response, _ = ask([event({"token": "It "}, "token"), event({"token": "lasts."}, "token"), SOURCES], **OPENAI)
    assert response.error is not None
    again = RAGClient(resolve_spec({"url": "http://127.0.0.1:9", **NAMED})).reread(response.raw or "")
    assert (again["answer"], len(again["chunks"])) == ("It lasts.", 2)


def test_no_secret_of_the_environment_reaches_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were it sent in two pieces."""
    monkeypatch.setenv("RAG_TOKEN", "s3cr3t-t0k3n-value")
    headers = {"Authorization": "Bearer ${RAG_TOKEN}"}
    response, _ = ask([token("you sent s3cr3t-"), token("t0k3n-value")], **OPENAI, headers=headers)
    assert response.answer is not None
    assert "t0k3n" not in response.answer
