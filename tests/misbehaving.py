"""The reference server, misbehaving on purpose: each way to do so is a switch, such as `slow:0.3` or `every:3:html`.

python tests/misbehaving.py --misbehave every:9:status:404 …      # and the arguments of `evals.reference_server`
"""

import argparse
import asyncio
import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from evals.reference_server import Settings
from evals.reference_server.__main__ import Server, main
from evals.reference_server.app import Library, create_app
from evals.reference_server.search import Hit, Index

HANG_SECONDS = 3600.0


@dataclass(slots=True)
class Switch:
    """One way to misbehave; ``left`` counts down the queries it still applies to."""

    kind: str
    seconds: float = 1.0
    code: int = 0
    left: int | None = None
    every: int = 1
    share: float = 1.0
    seed: int = 0

    def takes(self, question: str) -> bool:
        """Whether the switch applies to this query; a limited one is used up by saying yes."""
        if self.every > 1 and _number(question) % self.every != 0:
            return False
        if self.share < 1 and _number(f"{self.seed}:{question}") >= self.share * 2**256:
            return False
        if self.left is not None:
            self.left -= 1
            return self.left >= 0
        return True


def _number(question: str) -> int:
    """A number that depends on the question alone, so that no order of queries matters."""
    return int(hashlib.sha256(question.encode()).hexdigest(), 16)


Reader = Callable[[str], Any]


def _reader(number: Callable[[str], Any], holds: Callable[[Any], bool]) -> Reader:
    """What reads a number that has to hold something, or raises ValueError."""

    def read(text: str) -> Any:
        value = number(text)
        if not holds(value):
            raise ValueError(text)
        return value

    return read


_SECONDS = _reader(float, lambda value: 0 <= value <= 86400)

_SHARE = _reader(float, lambda value: 0 < value <= 1)

_COUNT = _reader(int, lambda value: value >= 1)

_STATUS = _reader(int, lambda value: 300 <= value <= 599 and value != 304)


@dataclass(frozen=True, slots=True)
class Fault:
    """What a kind of switch does.

    Attributes:
        arguments: The fields of a switch that follow its kind, each with its reader; the first must be given.
        reply: What is sent instead of the answer.
        closes: Whether the connection is closed instead.
        removes: The field of the answer that becomes null.
    """

    arguments: tuple[tuple[str, Reader], ...] = ()
    reply: Callable[[Switch], Response] | None = None
    closes: bool = False
    removes: str | None = None


WRONG_CHUNKS = "wrong-chunks"

FAULTS = {
    "slow": Fault((("seconds", _SECONDS),)),
    "status": Fault(
        (("code", _STATUS), ("left", _COUNT)),
        lambda one: JSONResponse({"detail": f"Misbehaving on purpose with status {one.code}."}, one.code),
    ),
    "ratelimit": Fault(
        (("left", _COUNT), ("seconds", _SECONDS)),
        lambda one: JSONResponse({"detail": "Too many requests."}, 429, {"Retry-After": f"{one.seconds:g}"}),
    ),
    "wrong-shape": Fault(reply=lambda _: JSONResponse({"result": 1})),
    "html": Fault(reply=lambda _: HTMLResponse("<html><body><h1>Something went wrong</h1></body></html>")),
    "not-json": Fault(
        reply=lambda _: Response('{"answer": "an answer without an en', media_type="application/json"),
    ),
    "truncated": Fault(closes=True),
    "dropped": Fault(closes=True),
    "hang": Fault(closes=True),
    "no-chunks": Fault(removes="sources"),
    "no-citations": Fault(removes="citations"),
    "no-usage": Fault(removes="metrics"),
    WRONG_CHUNKS: Fault((("share", _SHARE), ("seed", int))),
    "unhealthy": Fault(),
}


def parse_switch(text: str) -> Switch:
    """Read one switch, or raise ValueError with a sentence about what is wrong."""
    kind, *given = text.split(":")
    try:
        return _every(given) if kind == "every" else _plain_switch(kind, given)
    except (ValueError, LookupError):
        raise ValueError(f"{text!r} is not a way to misbehave.") from None


def _plain_switch(kind: str, given: Sequence[str]) -> Switch:
    arguments = FAULTS[kind].arguments
    if not min(1, len(arguments)) <= len(given) <= len(arguments):
        raise ValueError(kind)
    read = zip(arguments, given, strict=False)
    return Switch(kind, **{name: reader(value) for (name, reader), value in read})


def _every(given: Sequence[str]) -> Switch:
    inner = parse_switch(":".join(given[1:]))
    if inner.every != 1 or inner.kind == "unhealthy":
        raise ValueError(inner.kind)
    return replace(inner, every=_COUNT(given[0]))


WRONG: ContextVar[Switch | None] = ContextVar("WRONG", default=None)
"""The switch by which the question that is being answered gets chunks of other documents."""

QUESTION: ContextVar[str] = ContextVar("QUESTION", default="")


class WrongIndex(Index):
    """An index that finds chunks of other documents, where a switch says so."""

    def search(self, question: str, top_k: int) -> list[Hit]:
        hits, switch = super().search(question, top_k), WRONG.get()
        return hits if switch is None else self.others(hits, f"{switch.seed}:{QUESTION.get()}")

    def others(self, hits: Sequence[Hit], salt: str) -> list[Hit]:
        """As many chunks of documents that are not among the hits, with their scores; the salt chooses which.

        Where the hits are of all documents, those of the first hit's document are left out alone.
        """
        found = {hit.chunk.document_id for hit in hits}
        elsewhere = [chunk for chunk in self.chunks if chunk.document_id not in found]
        if hits and not elsewhere:
            elsewhere = [chunk for chunk in self.chunks if chunk.document_id != hits[0].chunk.document_id]
        elsewhere.sort(key=lambda chunk: hashlib.sha256(f"{salt}:{chunk.chunk_id}".encode()).digest())
        return [Hit(chunk, hit.score) for chunk, hit in zip(elsewhere, hits, strict=False)]


class WrongLibrary(Library):
    """Documents with such an index."""

    def index(self) -> Index:
        return WrongIndex(super().index().chunks)


class FaultMiddleware:
    """Answers in the place of the app, or late, or without a part of its answer."""

    def __init__(self, app: ASGIApp, switches: Sequence[Switch], stopping: asyncio.Event) -> None:
        """Misbehave as the switches say, until the server is stopping."""
        self._app = app
        self._switches = switches
        self._stopping = stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on what no switch is about."""
        route = (scope.get("method"), scope.get("path"))
        if route == ("GET", "/health") and any(switch.kind == "unhealthy" for switch in self._switches):
            await JSONResponse({"status": "unhealthy"}, 503)(scope, receive, send)
        elif route == ("POST", "/query"):
            await self._query(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _query(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).body()
        question = _question(body)
        active = [switch for switch in self._switches if switch.takes(question)]
        for switch in active:
            if switch.kind == "slow" and await self._stops_within(switch.seconds):
                await _close(scope, receive)
                return
        for switch in active:
            fault = FAULTS[switch.kind]
            if fault.closes:
                await self._break(switch.kind, scope, receive, send)
                return
            if fault.reply is not None:
                await fault.reply(switch)(scope, receive, send)
                return
        QUESTION.set(question)
        WRONG.set(next((switch for switch in active if switch.kind == WRONG_CHUNKS), None))
        removed = [name for switch in active if (name := FAULTS[switch.kind].removes)]
        await self._app(scope, _replay(body, receive), _without(removed, send) if removed else send)

    async def _break(self, kind: str, scope: Scope, receive: Receive, send: Send) -> None:
        if kind == "hang":
            await self._hang(receive)
        if kind == "truncated":  # a response whose body is shorter than it declares
            headers = [(b"content-type", b"application/json"), (b"content-length", b"4096")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b'{"answer": "cut o', "more_body": True})
        await _close(scope, receive)

    async def _hang(self, receive: Receive) -> None:
        """Wait until the client leaves, the server stops or the hour is over."""
        waits = [asyncio.ensure_future(_disconnect(receive)), asyncio.ensure_future(self._stopping.wait())]
        try:
            await asyncio.wait(waits, timeout=HANG_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _stops_within(self, seconds: float) -> bool:
        try:
            return await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            return False


def _without(fields: Sequence[str], send: Send) -> Send:
    """A send of an answer with null in the place of some fields."""
    start: list[Message] = []
    body = bytearray()

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.append(message)
            return
        body.extend(message.get("body", b""))
        if not message.get("more_body"):
            whole = json.dumps(json.loads(body) | dict.fromkeys(fields)).encode()
            headers = [(name, value) for name, value in start[0]["headers"] if name != b"content-length"]
            await send({**start[0], "headers": [*headers, (b"content-length", str(len(whole)).encode())]})
            await send({"type": "http.response.body", "body": whole})

    return sent


async def _close(scope: Scope, receive: Receive) -> None:
    """Close the connection under the request; only the server below allows that."""
    transport = scope.get("state", {}).get("transport")
    if transport is None:
        raise RuntimeError("This server cannot close connections on purpose.")
    transport.close()
    await _disconnect(receive)


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _question(body: bytes) -> str:
    """The question of a query, or its whole body if it is not one."""
    text = body.decode("utf-8", "replace")
    try:
        request = json.loads(text)
    except ValueError:
        return text
    question = request.get("query") if isinstance(request, dict) else None
    return question if isinstance(question, str) else text


def _replay(body: bytes, receive: Receive) -> Receive:
    """A receive that first gives the body that was already read."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed


class ClosableProtocol(H11Protocol):
    """Lets the application close the connection under a request, as ``scope["state"]["transport"]``."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}


class MisbehavingServer(Server):
    """A server that lets go of requests that hang before it shuts down."""

    def __init__(self, switches: Sequence[Switch], settings: Settings, library: Library) -> None:
        self._stopping = asyncio.Event()
        app = create_app(settings, WrongLibrary(library.documents()))
        app.user_middleware.append(Middleware(FaultMiddleware, switches=switches, stopping=self._stopping))
        super().__init__(app)
        self.config.http = ClosableProtocol

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        self._stopping.set()
        await super().shutdown(sockets)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--misbehave", type=parse_switch, action="append", default=[])
    own, others = parser.parse_known_args()
    sys.exit(main(others, partial(MisbehavingServer, own.misbehave)))
