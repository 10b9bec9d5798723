"""One fault, and the answers of a server that has none."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from threading import Event
from typing import Any, Literal

from evals.schemas.response import ErrorKind

HIT = 1
"""The question that meets the fault, of 0 to QUESTIONS - 1: one is asked before it and one after it."""
QUESTIONS = 3
MEGABYTE = 1024 * 1024

Piece = bytes | Literal["reset"] | None
Sends = Callable[[Event], Iterable[Piece]]
Certificate = Literal["good", "self-signed", "another use", "another name", "none", "silent"]


@dataclass(frozen=True)
class Fault:
    """Something that a server does to one of three questions.

    Attributes:
        group: Of which sort it is, as the table of the documentation has it.
        name: In words, for whoever reads the table.
        sends: What is sent instead of the answer, piece by piece; it is given what is set when the test is over.
        kind: The failure that it is to be; None where the question is answered all the same.
        also: How else it may end, by another HTTP library or where the pieces arrive as one.
        read: Where it is answered, the fields of the response that differ from those of a normal answer.
        noted: What a note on the response says of it; None where there is none.
        timeout_s: Of the server's configuration.
        max_body_bytes: The same.
        certificate: What the connection of the question is secured by; None where it is not.
        rps: At most so many questions a second, where what is sent must have come before the next request goes: of what
            comes later nobody can tell to which of the two it belongs.
        is_short: Whether it is among the few that are tried at every change.
    """

    group: str
    name: str
    sends: Sends
    kind: ErrorKind | None = None
    _: KW_ONLY
    also: tuple[ErrorKind | None, ...] = ()
    read: Mapping[str, Any] = field(default_factory=dict)
    noted: str | None = None
    timeout_s: float = 60.0
    max_body_bytes: int = 16 * MEGABYTE
    certificate: Certificate | None = None
    rps: float | None = None
    is_short: bool = False


def body(number: int, **over: Any) -> dict[str, Any]:
    """The body of a normal answer to a question by its number, with some parts replaced."""
    return {
        "answer": f"Part {number} costs {number + 7} euros [1].",
        "chunks": [
            {"chunk_id": f"c{number}", "document_id": f"d{number}", "text": f"Part {number}: {number + 7} euros."},
            {"chunk_id": "other", "document_id": "other", "text": "Nothing on that.", "score": 0.25},
        ],
        "citations": [{"chunk_id": f"c{number}"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
        "model": "small-1",
        "confidence": 0.75,
        "stages": [{"name": "dense", "items": [f"c{number}"]}],
    } | over


def dumped(value: Any) -> bytes:
    """As JSON."""
    return json.dumps(value).encode()


def http(content: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A response with its length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(content)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def right(**over: Any) -> bytes:
    """The body of the answer to the question that meets the fault."""
    return dumped(body(HIT, **over))


def says(*pieces: Piece) -> Sends:
    """To send these, and hang up where the last is None."""
    return lambda _: pieces


def forever(*pieces: bytes, again: bytes, pause_s: float = 0.0) -> Sends:
    """To send these, and then one more over and over."""

    def send(over: Event) -> Iterable[Piece]:
        yield from pieces
        while not over.wait(pause_s):
            yield again

    return send


def silence(*pieces: bytes) -> Sends:
    """To send these, and then nothing more."""

    def send(over: Event) -> Iterable[Piece]:
        yield from pieces
        over.wait(60)
        yield None

    return send
