"""A loopback imitation of Anthropic's Messages API for tests. IT IS NO JUDGE: no model stands behind it.

It refuses what the real API refuses (version 2026-10-21), and otherwise replies what the test told it to reply: by
default the requested schema filled in with first values. Nothing it says about a text means anything. It listens on
127.0.0.1 only.

``python tests/messages_api/server.py --port 0 [--delay SECONDS]`` prints one line ``{"port": N}`` and ends when its
stdin does. Beside the API itself:

- ``POST /__script`` with a list of rules (see :mod:`messages_api.script`) replaces the rules;
- ``GET /__log`` lists the requests received, ``GET /__stats`` counts them;
- ``POST /__batches`` says how the batches behave that come (see :mod:`messages_api.batches`);
- ``POST /__reset`` forgets rules, log, cache and batches.
"""

import argparse
import asyncio
import contextlib
import json
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from messages_api.batches import Batches, BatchMode
from messages_api.content import PromptCache
from messages_api.ledger import Entry, Ledger
from messages_api.rejection import Rejection
from messages_api.replies import Responder, compose, scripted_error
from messages_api.request_rules import check_head, check_message
from messages_api.responder import respond
from messages_api.script import DEFAULT, Script

RESPONDERS: dict[str, Responder] = {"judge": respond}
"""What a rule can name as ``python``."""

Answer = Callable[[Request, Entry, Any], Awaitable[Response]]


class _Hung(Exception):  # noqa: N818 - asked for by the script, or by the client's leaving
    """The connection ends without a reply."""


class Imitation:
    """The API and what it remembers."""

    def __init__(self, delay_s: float = 0.0) -> None:
        self._delay_s = delay_s
        self.reset()

    def reset(self) -> None:
        """Forget rules, log, counts and cache. A request still in flight is written to the old log."""
        self._script = Script()
        self._ledger = Ledger()
        self._cache = PromptCache()
        self._batches = Batches(lambda body: self._script.pick(body)[1], self._cache, RESPONDERS)

    def app(self) -> Starlette:
        """The application."""
        routes = [
            Route("/v1/messages", self._exchange(self._message), methods=["POST"]),
            Route("/v1/messages/batches", self._exchange(self._create_batch), methods=["POST"]),
            Route("/v1/messages/batches", self._exchange(self._list_batches), methods=["GET"]),
            Route("/v1/messages/batches/{id}", self._exchange(self._get_batch), methods=["GET"]),
            Route("/v1/messages/batches/{id}/results", self._exchange(self._results), methods=["GET"]),
            Route("/__script", self._take_script, methods=["POST"]),
            Route("/__batches", self._take_batch_mode, methods=["POST"]),
            Route("/__log", lambda _: JSONResponse(self._ledger.log())),
            Route("/__stats", lambda _: JSONResponse(self._ledger.stats())),
            Route("/__reset", self._take_reset, methods=["POST"]),
        ]
        return Starlette(routes=routes, exception_handlers={HTTPException: _unknown_route})

    async def _take_script(self, request: Request) -> Response:
        self._script = Script(*json.loads(await request.body()))
        return JSONResponse({})

    async def _take_batch_mode(self, request: Request) -> Response:
        self._batches.mode = BatchMode(**json.loads(await request.body()))
        return JSONResponse({})

    async def _create_batch(self, request: Request, entry: Entry, body: Any) -> Response:
        mode = self._batches.mode
        made = self._batches.create(body, str(request.base_url))
        if mode.unanswered:
            mode.unanswered -= 1
            raise _Hung
        return JSONResponse(made)

    async def _list_batches(self, request: Request, entry: Entry, body: Any) -> Response:
        return JSONResponse(self._batches.listed(request.query_params))

    async def _get_batch(self, request: Request, entry: Entry, body: Any) -> Response:
        return JSONResponse(self._batches.looked_at(request.path_params["id"]))

    async def _results(self, request: Request, entry: Entry, body: Any) -> Response:
        lines = [json.dumps(each).encode() + b"\n" for each in self._batches.results(request.path_params["id"])]
        mode = self._batches.mode

        async def send() -> AsyncIterator[bytes]:
            for number, line in enumerate(lines):
                if mode.torn_after is not None and number == mode.torn_after:
                    mode.torn_after = None
                    yield line[: len(line) // 2]
                    await asyncio.sleep(0)
                    raise _Hung
                yield line

        return StreamingResponse(send(), media_type="application/x-jsonl")

    async def _take_reset(self, _: Request) -> Response:
        self.reset()
        return JSONResponse({})

    def _exchange(self, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
        """Log what is answered, and give each reply its request id."""

        async def respond_to(request: Request) -> Response:
            ledger = self._ledger
            entry = ledger.open(request.method, request.url.path, dict(request.headers))
            try:
                response = await self._answer(request, entry, answer)
                response.headers["request-id"] = entry.request_id
                entry.status = response.status_code
            except (_Hung, ClientDisconnect):
                request.state.transport.close()
                response = Response()
            finally:
                ledger.close(entry)
            return response

        return respond_to

    async def _answer(self, request: Request, entry: Entry, answer: Answer) -> Response:
        try:
            entry.body = json.loads(await request.body()) if request.method == "POST" else None
            check_head(request.headers)
            return await answer(request, entry, entry.body)
        except Rejection as refused:
            body = refused.body | {"request_id": entry.request_id}
            return JSONResponse(body, status_code=refused.status, headers=refused.headers)

    async def _message(self, request: Request, entry: Entry, body: Any) -> Response:
        body = check_message(body)
        entry.rule, then = self._script.pick(body)
        cache = self._cache
        charge = cache.look_up(body)
        await _pause(request, self._delay_s)
        while "slow" in then:
            await _pause(request, then["slow"])
            then = then.get("then", DEFAULT)
        if "drop" in then:
            raise _Hung
        if "status" in then:
            raise scripted_error(then)
        message = compose(then, body, charge, entry.number, RESPONDERS)
        cache.store(charge)
        return JSONResponse(message)


async def _pause(request: Request, seconds: float) -> None:
    """Wait, unless the client leaves: after the body, all there is to receive is its leaving."""
    if seconds > 0:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(request.receive(), seconds)
            raise _Hung


def _unknown_route(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return JSONResponse(Rejection(status, "Not found").body, status_code=status)


class _ClosableProtocol(H11Protocol):
    """Lets the application close the connection under a request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}


def _end_with_stdin() -> None:
    """There is nothing to save: the process ends at once."""
    while os.read(0, 4096):
        pass
    os._exit(0)


def main() -> None:
    """Serve until stdin ends."""
    parser = argparse.ArgumentParser(description="A loopback imitation of the Messages API for tests. It is no judge.")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--delay", type=float, default=0.0, metavar="SECONDS", help="before every reply")
    args = parser.parse_args()
    with socket.create_server(("127.0.0.1", args.port), backlog=512) as listener:
        print(json.dumps({"port": listener.getsockname()[1]}), flush=True)  # connections wait until it serves
        threading.Thread(target=_end_with_stdin, daemon=True).start()
        how: dict[str, Any] = {"loop": "asyncio", "ws": "none", "lifespan": "off", "log_config": None}
        uvicorn.Server(uvicorn.Config(Imitation(args.delay).app(), http=_ClosableProtocol, **how)).run([listener])


if __name__ == "__main__":
    main()
