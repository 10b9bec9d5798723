"""The middleware that carries out the switches of a misbehaving server."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Any

from fastapi import HTTPException
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# What is let in: requests to a name of this server, with bodies of a bounded size and of the shape of the contract.


MOST_JSON_BYTES = 1024 * 1024
"""Of a body that holds no files."""


UPLOADED_AT_ONCE = 4
"""So many of the largest files fit into one upload."""

_MOST_PROBLEMS = 20

_TOO_LARGE = 413

_MISDIRECTED = 421


class HostCheck:
    """Refuses requests to names that are not this server's.

    Without it, a web page could have its own name lead to this machine and read the documents: DNS rebinding.
    """

    def __init__(self, app: ASGIApp, allowed: Sequence[str]) -> None:
        """Let through what is for a loopback name, or for one of these."""
        self._app = app
        self._allowed = {_plain(name) for name in allowed}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 421, or hand the request on."""
        if scope["type"] != "http" or self._allows(Headers(scope=scope).getlist("host")):
            await self._app(scope, receive, send)
            return
        detail = "This server does not answer to that name; start it with --allow-host and the name."
        await JSONResponse({"detail": detail}, _MISDIRECTED)(scope, receive, send)

    def _allows(self, hosts: Sequence[str]) -> bool:
        if len(hosts) != 1:
            return False
        name = _plain(_without_port(hosts[0]))
        return name in self._allowed or _is_loopback(name)


class BodyLimit:
    """Refuses bodies that are too large, before they are in memory."""

    def __init__(self, app: ASGIApp, max_upload_bytes: int) -> None:
        """Take uploads of some files of this size, and other bodies up to a megabyte."""
        self._app = app
        self._most_of_upload = UPLOADED_AT_ONCE * max_upload_bytes + MOST_JSON_BYTES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 413, or hand the request on and count what comes."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._most_of_upload if scope["path"] == "/upload" else MOST_JSON_BYTES
        try:
            _check(_declared(scope), most)
            await self._app(scope, _counted(receive, most), send)
        except HTTPException as refusal:
            await JSONResponse({"detail": refusal.detail}, refusal.status_code)(scope, receive, send)


def _check(size: int, most: int) -> None:
    """Raises HTTPException, which the framework hands on as it is."""
    if size > most:
        raise HTTPException(_TOO_LARGE, f"The body is larger than {most} bytes.")


def _declared(scope: Scope) -> int:
    """The size that a request says it has; 0 where it does not say."""
    said = Headers(scope=scope).get("content-length", "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 20 else 0


def _counted(receive: Receive, most: int) -> Receive:
    """A receive that raises once more than this has come."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        _check(seen, most)
        return message

    return counted


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _plain(name: str) -> str:
    return name.strip("[]").rstrip(".").lower()


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


async def refuse_body(_: Request, error: Exception) -> Response:
    """Answer 422 with what is wrong and where, without what was sent: that may be what no JSON can hold."""
    problems = error.errors()[:_MOST_PROBLEMS] if isinstance(error, RequestValidationError) else []
    detail = [{"type": each["type"], "loc": [*map(str, each["loc"])], "msg": each["msg"]} for each in problems]
    return Response(json.dumps({"detail": detail}), 422, media_type="application/json")


# Switches that make a server misbehave on purpose, for tests of its clients.


REPLACING = frozenset({"status", "ratelimit", "truncated", "wrong-shape", "html", "not-json", "dropped", "hang"})

REMOVING = {"no-chunks": "sources", "no-citations": "citations", "no-usage": "metrics"}

WRONG_CHUNKS = "wrong-chunks"

_PLAIN = (REPLACING - {"status", "ratelimit"}) | REMOVING.keys() | {"unhealthy"}


@dataclass(slots=True)
class Switch:
    """One way to misbehave; ``left`` counts down the queries it still applies to."""

    kind: str
    seconds: float = 0.0
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


def parse_switch(text: str) -> Switch:
    """Read one switch, or raise ValueError with a sentence about what is wrong."""
    kind, *args = text.split(":")
    try:
        return _parse(kind, args)
    except (ValueError, IndexError):
        raise ValueError(f"{text!r} is not a way to misbehave.") from None


def _parse(kind: str, args: list[str]) -> Switch:
    if kind == "every":
        return _every(args)
    read = _READERS.get(kind)
    if read is not None and len(args) in (1, read.most):
        return read.switch(kind, args)
    if kind in _PLAIN and not args:
        return Switch(kind)
    raise ValueError


def _every(args: list[str]) -> Switch:
    inner = parse_switch(":".join(args[1:]))
    if inner.every != 1 or inner.kind == "unhealthy":
        raise ValueError
    return replace(inner, every=_at_least_one(args[0]))


def _slow(kind: str, args: list[str]) -> Switch:
    return Switch(kind, seconds=_seconds(args[0]))


def _with_status(kind: str, args: list[str]) -> Switch:
    return Switch(kind, code=_status(args[0]), left=_at_least_one(args[1]) if len(args) > 1 else None)


def _limiting(kind: str, args: list[str]) -> Switch:
    wait = _seconds(args[1]) if len(args) > 1 else 1.0
    return Switch(kind, code=429, left=_at_least_one(args[0]), seconds=wait)


def _damaging(kind: str, args: list[str]) -> Switch:
    return Switch(kind, share=_share(args[0]), seed=int(args[1]) if len(args) > 1 else 0)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 86400:
        raise ValueError
    return value


def _share(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise ValueError
    return value


def _at_least_one(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def _status(text: str) -> int:
    value = int(text)
    if not 300 <= value <= 599 or value == 304:
        raise ValueError
    return value


@dataclass(frozen=True, slots=True)
class _Reader:
    """How a switch with arguments is read: from one to so many of them."""

    most: int
    switch: Callable[[str, list[str]], Switch]


_READERS = {
    "slow": _Reader(1, _slow),
    "status": _Reader(2, _with_status),
    "ratelimit": _Reader(2, _limiting),
    WRONG_CHUNKS: _Reader(2, _damaging),
}

_HANG_SECONDS = 3600.0


class Faults:
    """Stands before the app and answers in its place, late, or with a changed body."""

    def __init__(self, app: ASGIApp, switches: Sequence[Switch], stopping: asyncio.Event) -> None:
        """Misbehave as the switches say, until the server is stopping."""
        self._app = app
        self._switches = switches
        self._stopping = stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on what no switch is about."""
        route = (scope.get("method"), scope.get("path"))
        if route == ("GET", "/health") and any(s.kind == "unhealthy" for s in self._switches):
            await JSONResponse({"status": "unhealthy"}, 503)(scope, receive, send)
        elif route == ("POST", "/query"):
            await self._query(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _query(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _read_body(receive)
        question = _question(body)
        active = [switch for switch in self._switches if switch.takes(question)]
        for switch in active:
            if switch.kind == "slow" and await self._stops_within(switch.seconds):
                await _close(scope, receive)
                return
        replacing = next((switch for switch in active if switch.kind in REPLACING), None)
        if replacing is not None:
            await self._replace(replacing, scope, receive, send)
            return
        removed = [REMOVING[switch.kind] for switch in active if switch.kind in REMOVING]
        await self._app(scope, _replay(body, receive), _without(removed, send) if removed else send)

    async def _replace(self, switch: Switch, scope: Scope, receive: Receive, send: Send) -> None:
        if switch.kind == "hang":
            await self._hang(receive)
        if switch.kind in ("hang", "dropped"):
            await _close(scope, receive)
        elif switch.kind == "truncated":
            await _send_truncated(send)
            await _close(scope, receive)
        else:
            await _substitute(switch)(scope, receive, send)

    async def _hang(self, receive: Receive) -> None:
        """Wait until the client leaves, the server stops or the hour is over."""
        waits = [asyncio.ensure_future(_disconnect(receive)), asyncio.ensure_future(self._stopping.wait())]
        try:
            await asyncio.wait(waits, timeout=_HANG_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _stops_within(self, seconds: float) -> bool:
        try:
            return await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            return False


def _substitute(switch: Switch) -> Response:
    """The response that stands in for the answer."""
    if switch.kind == "status":
        return JSONResponse({"detail": f"Misbehaving on purpose with status {switch.code}."}, switch.code)
    if switch.kind == "ratelimit":
        headers = {"Retry-After": f"{switch.seconds:g}"}
        return JSONResponse({"detail": "Too many requests."}, switch.code, headers)
    if switch.kind == "html":
        return HTMLResponse("<html><body><h1>Something went wrong</h1></body></html>")
    if switch.kind == "not-json":
        return Response('{"answer": "an answer without an en', media_type="application/json")
    return JSONResponse({"result": 1})


async def _send_truncated(send: Send) -> None:
    """Begin a response whose body is shorter than it declares."""
    headers = [(b"content-type", b"application/json"), (b"content-length", b"4096")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b'{"answer": "cut o', "more_body": True})


async def _close(scope: Scope, receive: Receive) -> None:
    """Close the connection under the request; only this package's own server allows that."""
    transport = scope.get("state", {}).get("transport")
    if transport is None:
        raise RuntimeError("This server cannot close connections on purpose.")
    transport.close()
    await _disconnect(receive)


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _read_body(receive: Receive) -> bytes:
    chunks: list[bytes] = []
    while True:
        message = await receive()
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(chunks)


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


def _without(fields: Sequence[str], send: Send) -> Send:
    """A send that sets fields of a successful JSON answer to null."""
    held: dict[str, Any] = {"body": b""}

    async def changed(message: Message) -> None:
        if message["type"] == "http.response.start":
            held["start"] = message
            return
        held["body"] += message.get("body", b"")
        if message.get("more_body", False):
            return
        start, body = held["start"], held["body"]
        if start["status"] == 200:
            body = json.dumps(json.loads(body) | dict.fromkeys(fields)).encode()
            headers = [pair for pair in start["headers"] if pair[0].lower() != b"content-length"]
            start = {**start, "headers": [*headers, (b"content-length", str(len(body)).encode())]}
        await send(start)
        await send({"type": "http.response.body", "body": body, "more_body": False})

    return changed
