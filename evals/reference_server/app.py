"""The web application of the reference server."""

import asyncio
import json
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FrameType

import uvicorn
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from evals.reference_server.faults import BodyLimit, Faults, HostCheck, parse_switch, refuse_body
from evals.reference_server.index import Document, DocumentStore, warm_up
from evals.reference_server.routes import document_router, info_router, query_router
from evals.reference_server.schemas import Settings

# Bearer authentication on everything but /health.


class BearerAuth:
    """Lets a request through only if it carries the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        """Guard the app with the token."""
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401, or hand the request on."""
        if scope["type"] != "http" or scope["path"] == "/health" or self._allows(scope):
            await self._app(scope, receive, send)
            return
        refusal = JSONResponse({"detail": "A valid bearer token is required."}, 401, {"WWW-Authenticate": "Bearer"})
        await refusal(scope, receive, send)

    def _allows(self, scope: Scope) -> bool:
        given = Headers(scope=scope).get("authorization", "")
        scheme, _, token = given.partition(" ")
        normal = f"{scheme.capitalize()} {token.strip()}".encode()
        return secrets.compare_digest(normal, self._expected)


# Run the application: bind, announce, and end cleanly.


_STDIN = 0

_GRACE_SECONDS = 0.8

_KEEP_ALIVE_SECONDS = 75


class ClosableProtocol(H11Protocol):
    """Lets the application close the connection under a request, as ``scope["state"]["transport"]``."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Remember the transport of this connection, and let it send small packets at once."""
        super().connection_made(transport)
        connection: socket.socket = transport.get_extra_info("socket")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.app_state = {**self.app_state, "transport": transport}


class ReferenceServer(uvicorn.Server):
    """A uvicorn server that says when it listens and tells its application when it stops."""

    def __init__(self, app: FastAPI, on_listening: Callable[[], None]) -> None:
        """Serve the app; call ``on_listening`` once requests are answered."""
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http=ClosableProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=2,
        )
        super().__init__(config)
        self._stopping: asyncio.Event = app.state.stopping
        self._on_listening = on_listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen and say so."""
        await super().startup(sockets)
        self._on_listening()
        threading.Thread(target=warm_up, name="warm-up", daemon=True).start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let go of requests that hang, then shut down."""
        self._stopping.set()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End on a signal with exit code 0: the signal is not raised again afterwards."""
        self.should_exit = True


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens on the address; port 0 takes any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=2048)


def announce(listener: socket.socket, host: str) -> None:
    """Print the one line that says where the server listens."""
    event = {"event": "listening", "host": host, "port": listener.getsockname()[1]}
    sys.stdout.write(json.dumps(event, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def greet(listener: socket.socket, host: str, corpus: str) -> None:
    """Say to people where the server listens, and how it is stopped."""
    address = f"[{host}]" if ":" in host else host
    url = f"http://{address}:{listener.getsockname()[1]}"
    sys.stderr.write(f"reference server on {url}, corpus {corpus}; stop it with Ctrl-C\n")
    sys.stderr.flush()


def reason_of(error: OSError | OverflowError) -> str:
    """Why an address cannot be listened on, without what repeats the address."""
    said = getattr(error, "strerror", None) or str(error)
    return said.partition(" (while ")[0].rstrip(".")


def end_with_stdin(stop: Callable[[], None]) -> None:
    """Watch stdin in a thread: at its end stop the server, and the process if that takes too long."""

    def watch() -> None:
        try:
            while os.read(_STDIN, 4096):
                pass
        except OSError:
            pass
        stop()
        time.sleep(_GRACE_SECONDS)
        os._exit(0)

    threading.Thread(target=watch, name="stdin-watch", daemon=True).start()


def create_app(
    settings: Settings | None = None,
    *,
    documents: Sequence[Document] = (),
    misbehave: Sequence[str] = (),
) -> FastAPI:
    """Make the application, with the documents already in it.

    ``app.state.stopping`` is an event that the server sets when it shuts down.
    """
    settings = settings or Settings()
    if misbehave:
        settings = replace(settings, misbehave=(*settings.misbehave, *misbehave))
    store = DocumentStore()
    store.put(documents)
    app = FastAPI(title="Reference RAG server", version="1.0.0", docs_url=None, redoc_url=None)
    app.state.stopping = asyncio.Event()
    app.add_exception_handler(RequestValidationError, refuse_body)
    switches = [parse_switch(text) for text in settings.misbehave]
    for router in (info_router(settings), document_router(settings, store), query_router(settings, store, switches)):
        app.include_router(router)
    if switches:
        app.add_middleware(Faults, switches=switches, stopping=app.state.stopping)
    if settings.auth_token:
        app.add_middleware(BearerAuth, token=settings.auth_token)
    app.add_middleware(BodyLimit, max_upload_bytes=settings.max_upload_bytes)
    app.add_middleware(HostCheck, allowed=settings.allow_hosts)
    return app
