"""Streams byte for byte, and the answer that is read from one."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import asking
from raw_server import answering

from evals.schemas import EvalResponse

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"
OPENAI = {"stream": {"delta": "data.choices[0].delta.content"}, "map": {"answer": None, "chunks": None}}


def chunk(data: str | bytes) -> bytes:
    """A piece of a chunked body."""
    raw = data.encode() if isinstance(data, str) else data
    return f"{len(raw):x}\r\n".encode() + raw + b"\r\n"


def event(data: Any, name: str = "") -> bytes:
    """A server-sent event."""
    return chunk((f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n")


def token(text: str) -> bytes:
    """A piece as OpenAI's API sends it."""
    return event({"choices": [{"delta": {"content": text}}]})


def ask(
    say: Callable[[int], Iterable[Any]] | list[Any], *, clock: Callable[[], float] | None = None, **over: Any
) -> tuple[EvalResponse, int]:
    """The answer of a server that says this, and how often it was asked."""
    clocked = {"clock": clock} if clock else {}
    with answering(say if callable(say) else lambda _: [HEAD, *say, END]) as server:
        keys = {"url": server.url, "patience_s": 0, **over}
        response = asking.ask(keys, sleep=asking.no_sleep, **clocked)
        return response, len(server.asked)
