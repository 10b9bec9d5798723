"""The middleware that carries out the switches of a misbehaving server."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .misbehave import REMOVING, REPLACING, Switch

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
