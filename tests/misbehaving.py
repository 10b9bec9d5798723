"""The reference server, misbehaving on purpose: each switch is `slow:SECONDS` or `status:CODE`, of all or of every few.

python tests/misbehaving.py --misbehave every:9:status:404 …      # and the arguments of `evals.reference_server`
"""

import argparse
import asyncio
import hashlib
import json
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evals.reference_server import Settings
from evals.reference_server.__main__ import Server, main
from evals.reference_server.app import Library, create_app


class Switch(NamedTuple):
    """One way to misbehave.

    Attributes:
        kind: "slow" or "status".
        number: Seconds, or a status.
        every: It is done to one question in so many, chosen by the question alone, so that no order matters.
    """

    kind: str
    number: float
    every: int

    def takes(self, question: str) -> bool:
        """Whether it is done to this question."""
        return int(hashlib.sha256(question.encode()).hexdigest(), 16) % self.every == 0


def parse_switch(text: str) -> Switch:
    """Read `slow:0.2`, `status:500` or `every:3:status:404`."""
    *every, kind, number = text.removeprefix("every:").split(":")
    return Switch(kind, float(number), int(every[0]) if every else 1)


class Misbehaviour:
    """Answers queries late, or in the place of the app, until the server is stopping."""

    def __init__(self, app: ASGIApp, switches: Sequence[Switch], stopping: asyncio.Event) -> None:
        self._app, self._switches, self._stopping = app, switches, stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on what no switch is about."""
        if (scope.get("method"), scope.get("path")) != ("POST", "/query"):
            await self._app(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        question = json.loads(body)["query"]
        for switch in self._switches:
            if switch.takes(question) and switch.kind == "slow":
                await asyncio.wait([asyncio.ensure_future(self._stopping.wait())], timeout=switch.number)
            elif switch.takes(question):
                await JSONResponse({"detail": "Misbehaving on purpose."}, int(switch.number))(scope, receive, send)
                return
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replayed() -> Message:
            return waiting.pop() if waiting else await receive()

        await self._app(scope, replayed, send)


class MisbehavingServer(Server):
    """A server that lets go of requests that wait before it shuts down."""

    def __init__(self, switches: Sequence[Switch], settings: Settings, library: Library) -> None:
        self._stopping = asyncio.Event()
        app = create_app(settings, library)
        app.user_middleware.append(Middleware(Misbehaviour, switches=switches, stopping=self._stopping))
        super().__init__(app)

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        self._stopping.set()
        await super().shutdown(sockets)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--misbehave", type=parse_switch, action="append", default=[])
    own, others = parser.parse_known_args()
    sys.exit(main(others, partial(MisbehavingServer, own.misbehave)))
