"""A server on 127.0.0.1 that answers JSON: each route is a function of the question's parameters or body."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit


class Request(NamedTuple):
    """What a route is asked with; the body of a form of files is bytes."""

    query: Mapping[str, str]
    body: Any
    headers: Mapping[str, str]


class Refusal(Exception):  # noqa: N818 - what a route answers with
    """An answer with another status than 200."""

    def __init__(self, status: HTTPStatus, detail: Any, **headers: str) -> None:
        super().__init__(status)
        self.status = status
        self.detail = detail
        self.headers = headers


class Streamed(NamedTuple):
    """An answer in pieces, each of which is sent at once; the end of the connection is its end."""

    content_type: str
    pieces: Iterable[bytes]


Routes = Mapping[tuple[str, str], Callable[[Request], Any]]
"""What is answered, by method and path: JSON, or a `Streamed`."""


@contextmanager
def serving(routes: Routes) -> Iterator[str]:
    """Serve the routes for the time of a block, which is given the URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"routes": routes}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    routes: Routes = {}

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Nobody reads it."""

    def _answer(self, method: str) -> None:
        parts = urlsplit(self.path)
        sent = self.rfile.read(int(self.headers.get("content-length") or 0))
        is_form = (self.headers.get("content-type") or "").startswith("multipart/")
        body = sent if is_form else json.loads(sent) if sent else None
        request = Request(dict(parse_qsl(parts.query)), body, self.headers)
        allowed = [known for known, path in self.routes if path == parts.path]
        try:
            if not allowed:
                self._send(HTTPStatus.NOT_FOUND, {"detail": "Not Found"})
            elif method not in allowed:
                refused = {"detail": "Method Not Allowed"}
                self._send(HTTPStatus.METHOD_NOT_ALLOWED, refused, Allow=", ".join(allowed))
            else:
                answer = self.routes[method, parts.path](request)
                self._stream(answer) if isinstance(answer, Streamed) else self._send(HTTPStatus.OK, answer)
        except Refusal as refusal:
            self._send(refusal.status, refusal.detail, **refusal.headers)

    def _send(self, status: HTTPStatus, body: Any, **headers: str) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        headers |= {"Content-Type": "application/json", "Content-Length": str(len(data))}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, answer: Streamed) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Connection", "close")
        self.end_headers()
        for piece in answer.pieces:
            self.wfile.write(piece)
            self.wfile.flush()
