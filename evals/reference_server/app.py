"""The web application of the reference server."""

import json
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from types import FrameType

import uvicorn
from fastapi import FastAPI, HTTPException
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evals.reference_server import Settings
from evals.reference_server.index import Document, DocumentStore, warm_up
from evals.reference_server.routes import MEGABYTE, document_router, info_router, query_router

# What is let in: requests to a name of this server, of a bounded size, and with its token where it has one.


MOST_JSON_BYTES = MEGABYTE
"""Of a body that holds no files."""


UPLOADED_AT_ONCE = 4
"""This many of the largest files fit into one upload."""

_MOST_PROBLEMS = 20


class Guard:
    """Refuses requests to names that are not this server's, too large ones, and those without its token.

    Without the first, a web page could have its own name lead to this machine and read the documents: DNS rebinding.
    Bodies are refused before they are in memory. `/health` needs no token.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        """Guard the app as the settings say."""
        self._app = app
        self._names = {_plain(name) for name in settings.allow_hosts}
        self._most_of_upload = UPLOADED_AT_ONCE * settings.max_upload_mb * MEGABYTE + MOST_JSON_BYTES
        self._token = f"Bearer {settings.auth_token}".encode() if settings.auth_token else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 421, 413 or 401, or hand the request on and count what comes."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._most_of_upload if scope["path"] == "/upload" else MOST_JSON_BYTES
        try:
            self._check(scope["path"], Headers(scope=scope), most)
            await self._app(scope, _counted(receive, most), send)
        except HTTPException as refusal:
            reply = JSONResponse({"detail": refusal.detail}, refusal.status_code, refusal.headers)
            await reply(scope, receive, send)

    def _check(self, path: str, headers: Headers, most: int) -> None:
        """Raise HTTPException, which the framework hands on as it is, unless a request may come in."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_own(_plain(_without_port(hosts[0]))):
            detail = "This server does not answer to that name; start it with --allow-host and the name."
            raise HTTPException(421, detail)
        size = headers.get("content-length", "")
        _check_size(int(size) if size.isascii() and size.isdigit() and len(size) < 20 else 0, most)
        if self._token is not None and path != "/health":
            scheme, _, token = headers.get("authorization", "").partition(" ")
            if not secrets.compare_digest(f"{scheme.capitalize()} {token.strip()}".encode(), self._token):
                raise HTTPException(401, "A valid bearer token is required.", {"WWW-Authenticate": "Bearer"})

    def _is_own(self, name: str) -> bool:
        try:
            return name in self._names or ip_address(name).is_loopback
        except ValueError:
            return name == "localhost" or name.endswith(".localhost")


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise HTTPException(413, f"The body is larger than {most} bytes.")


def _counted(receive: Receive, most: int) -> Receive:
    """A receive that raises once more than this has come."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        _check_size(seen, most)
        return message

    return counted


def _without_port(host: str) -> str:
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


def _plain(name: str) -> str:
    return name.strip("[]").rstrip(".").lower()


async def refuse_body(_: Request, error: Exception) -> Response:
    """Answer 422 with what is wrong and where, without what was sent: that may be what no JSON can hold."""
    problems = error.errors()[:_MOST_PROBLEMS] if isinstance(error, RequestValidationError) else []
    detail = [{"type": each["type"], "loc": [*map(str, each["loc"])], "msg": each["msg"]} for each in problems]
    return Response(json.dumps({"detail": detail}), 422, media_type="application/json")


# Run the application: bind, announce, and end cleanly.


_STDIN = 0

_GRACE_SECONDS = 0.8

_KEEP_ALIVE_SECONDS = 75


class ReferenceServer(uvicorn.Server):
    """A uvicorn server that says when it listens."""

    def __init__(self, app: FastAPI, on_listening: Callable[[], None]) -> None:
        """Serve the app; call ``on_listening`` once requests are answered."""
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http="h11",
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
        self._on_listening = on_listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen and say so."""
        await super().startup(sockets)
        self._on_listening()
        threading.Thread(target=warm_up, name="warm-up", daemon=True).start()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End on a signal with exit code 0: the signal is not raised again afterwards."""
        self.should_exit = True


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens on the address; port 0 takes any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=2048)
    # Connections inherit it: without it, the end of each response waits for an acknowledgement, some 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def announce(listener: socket.socket, host: str, greeted: str | None = None) -> None:
    """Print the one line that says where the server listens; to people, on stderr, with the corpus that it holds."""
    port = listener.getsockname()[1]
    event = {"event": "listening", "host": host, "port": port}
    sys.stdout.write(json.dumps(event, separators=(",", ":")) + "\n")
    sys.stdout.flush()
    if greeted is not None:
        url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        sys.stderr.write(f"reference server on {url}, corpus {greeted}; stop it with Ctrl-C\n")
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


def create_app(settings: Settings, store: DocumentStore) -> FastAPI:
    """Make the application over the documents of a store."""
    app = FastAPI(title="Reference RAG server", version="1.0.0", docs_url=None, redoc_url=None)
    app.add_exception_handler(RequestValidationError, refuse_body)
    for router in (info_router(settings), document_router(settings, store), query_router(settings, store)):
        app.include_router(router)
    app.add_middleware(Guard, settings=settings)
    return app


MakeServer = Callable[[Settings, Sequence[Document], Callable[[], None]], ReferenceServer]
"""Makes a server of its settings, its documents and what is called once it listens."""


def make_server(settings: Settings, documents: Sequence[Document], on_listening: Callable[[], None]) -> ReferenceServer:
    """Make the server, with the documents already in it."""
    return ReferenceServer(create_app(settings, DocumentStore(documents)), on_listening)
