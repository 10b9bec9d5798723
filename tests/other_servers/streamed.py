"""Servers in the documented shape of those that a streaming profile is for, over the corpus of these tests.

Each is that of its profile without a stream, asked to stream: what it refuses and what it retrieves is the same.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from other_servers import documented
from other_servers.loopback import Request, Routes, Streamed

EVENTS = "text/event-stream; charset=utf-8"


def hayhooks_stream() -> Routes:
    """A pipeline that chats as well; the stream ends with a reason, and without [DONE]."""

    def completions(request: Request) -> Streamed:
        documented._needs(request, "messages", model="rag", stream=True)
        asked = documented._asked(documented._last_message(request))
        deltas: list[dict[str, Any]] = [{"content": text} for text in _pieces(documented._marked(asked, " [{}]"))]
        ends = [None] * len(deltas) + ["stop"]
        chunks = [
            {"model": "rag", "choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": end}]}
            for delta, end in zip([*deltas, {"content": ""}], ends, strict=True)
        ]
        return Streamed(EVENTS, _data({**chunk, "usage": None} for chunk in chunks))

    return {**documented.hayhooks(), ("POST", "/v1/chat/completions"): completions}


def langserve_stream() -> Routes:
    """A retrieval chain: parts of its output, each with the keys that are new; lines end with CR and LF."""
    routes = documented.langserve()

    def stream(request: Request) -> Streamed:
        output = routes["POST", "/rag/invoke"](request)["output"]
        parts = [
            {"question": request.body["input"]},
            {"context": output["context"]},
            *({"answer": text} for text in _pieces(output["answer"])),
        ]
        lines = ['event: metadata\r\ndata: {"run_id": "r"}', *(f"event: data\r\ndata: {json.dumps(p)}" for p in parts)]
        return Streamed(EVENTS, (f"{line}\r\n\r\n".encode() for line in [*lines, "event: end"]))

    return {("POST", "/rag/stream"): stream, ("GET", "/rag/input_schema"): routes["GET", "/rag/input_schema"]}


def lightrag_stream() -> Routes:
    """LightRAG: a line of references, then lines of text; the chunks come from /query/data."""
    routes = documented.lightrag()

    def stream(request: Request) -> Streamed:
        documented._needs(request, stream=True, include_references=True)
        body = routes["POST", "/query"](request._replace(body={**request.body, "stream": False}))
        lines = [{"references": body["references"]}, *({"response": text} for text in _pieces(body["response"]))]
        return Streamed("application/x-ndjson", (f"{json.dumps(line)}\n".encode() for line in lines))

    return {
        **{route: answer for route, answer in routes.items() if route[1] != "/query"},
        ("POST", "/query/stream"): stream,
    }


def openai_chat_stream() -> Routes:
    """A chat that adds nothing to the form: usage comes in a last piece without choices, as it is asked for."""

    def completions(request: Request) -> Streamed:
        documented._needs(request, "model", stream=True, stream_options={"include_usage": True})
        asked = documented._asked(documented._last_message(request))
        return Streamed(EVENTS, _chat(documented._marked(asked, " [{}]")))

    return {("POST", "/v1/chat/completions"): completions}


def openwebui_stream() -> Routes:
    """Open WebUI: the sources in an event before those of the text."""
    routes = documented.openwebui()

    def completions(request: Request) -> Streamed:
        documented._needs(request, stream=True)
        whole = routes["POST", "/api/chat/completions"](request)
        answer = whole["choices"][0]["message"]["content"]
        return Streamed(EVENTS, [*_data([{"sources": whole["sources"]}]), *_chat(answer)])

    return {**routes, ("POST", "/api/chat/completions"): completions}


def dify_stream() -> Routes:
    """A chat app of Dify in streaming mode: the names of events stand in their data, and metadata come at the end."""
    routes = documented.dify()

    def messages(request: Request) -> Streamed:
        documented._needs(request, response_mode="streaming")
        whole = routes["POST", "/v1/chat-messages"](
            request._replace(body={**request.body, "response_mode": "blocking"})
        )
        texts = ({"event": "message", "answer": text} for text in _pieces(whole["answer"]))
        events = [*texts, {"event": "message_end", "metadata": whole["metadata"]}]
        return Streamed(EVENTS, [b"event: ping\n\n", *_data(events)])

    return {("POST", "/v1/chat-messages"): messages}


def _chat(answer: str) -> Iterator[bytes]:
    """The pieces of a chat completion, as OpenAI's API sends them."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "", "refusal": None}]
    deltas += [{"content": text} for text in _pieces(answer)]
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]
    yield from _data({"model": documented.MODEL, "usage": None, **chunk} for chunk in chunks)
    yield from _data([{"model": documented.MODEL, "choices": [], "usage": documented.USAGE}])
    yield b"data: [DONE]\n\n"


def _pieces(text: str) -> list[str]:
    """A text, word by word."""
    first, *others = text.split(" ")
    return [first, *(f" {word}" for word in others)]


def _data(events: Iterable[Any]) -> Iterator[bytes]:
    return (f"data: {json.dumps(event)}\n\n".encode() for event in events)
