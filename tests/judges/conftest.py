"""Imitations of the Chat Completions API, and of what is no API at all, for the tests of the judge."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import pytest
from chat_api.server import ChatApi


@pytest.fixture
def chat_api() -> Iterator[ChatApi]:
    """An imitation of the Chat Completions API without rules or log."""
    api = ChatApi()
    yield api
    api.close()


@pytest.fixture(scope="session")
def _any_api() -> Iterator[SimpleNamespace]:
    state = SimpleNamespace(status=200, body={})

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            html = isinstance(state.body, bytes)
            sent = state.body if html else json.dumps(state.body).encode()
            self.send_response(state.status)
            self.send_header("content-type", "text/html" if html else "application/json")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: Any) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def any_api(_any_api: SimpleNamespace) -> SimpleNamespace:
    """A server that answers every request with `status` and `body` (JSON, or bytes as a web page), unlike any API."""
    _any_api.status, _any_api.body = 200, {}
    return _any_api
