"""A token server and a server that wants its tokens, as one program on one port of 127.0.0.1."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Refusal = tuple[int, bytes, dict[str, str]]


class TokenServer:
    """Gives tokens at /token, answers /ask, /health and /plain to those who bear one.

    Args:
        life_s: How long a token is valid; None for ever, and then it says nothing of it.
        refuse: What it says at /token instead of giving a token.
        open_to: Which tokens pass; None for those that are valid.

    Attributes:
        url: Of it.
        asked: The headers and the form of each request at /token.
        given: The tokens, in their order.
        paths: Every path that was asked.
        borne: The Authorization of each question.
        refused: How many requests bore a token that does not pass.
        most_at_once: So many requests at /token were in hand at a time.
    """

    def __init__(self, life_s: float | None, refuse: Refusal | None, open_to: Callable[[str], bool] | None) -> None:
        self.life_s, self.refuse, self._open_to = life_s, refuse, open_to
        self.asked: list[tuple[dict[str, str], dict[str, list[str]]]] = []
        self.given: list[str] = []
        self.paths: list[str] = []
        self.borne: list[str] = []
        self.refused = self.most_at_once = self._at_once = 0
        self._ends: dict[str, float] = {}
        self._lock = threading.Lock()
        self.over = threading.Event()
        self.http = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"tokens": self}))
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    def fetched(self, headers: dict[str, str], form: dict[str, list[str]]) -> Refusal:
        """Answer a request for a token."""
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            self.asked.append((headers, form))
        self.over.wait(0.02)
        with self._lock:
            self._at_once -= 1
            if self.refuse is not None:
                return self.refuse
            token = f"tok.En-{len(self.given):04d}-0123456789"
            self.given.append(token)
            self._ends[token] = time.monotonic() + (1e9 if self.life_s is None else self.life_s)
        said: dict[str, Any] = {"access_token": token, "token_type": "Bearer"}
        return 200, json.dumps(said if self.life_s is None else {**said, "expires_in": self.life_s}).encode(), {}

    def revoke(self) -> None:
        """Let no token pass that was given so far."""
        with self._lock:
            self._ends = dict.fromkeys(self._ends, 0.0)

    def passes(self, bearer: str) -> bool:
        """Whether a request with this header passes."""
        token = bearer.removeprefix("Bearer ")
        with self._lock:
            passes = self._open_to(token) if self._open_to else self._ends.get(token, 0.0) > time.monotonic()
            self.refused += not passes
        return passes


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


class _Handler(BaseHTTPRequestHandler):
    tokens: TokenServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        path, bearer = urlsplit(self.path).path, self.headers.get("authorization", "")
        self.tokens.paths.append(self.path)
        if path == "/token":
            headers = {name.lower(): value for name, value in self.headers.items()}
            return self._say(*self.tokens.fetched(headers, parse_qs(body.decode())))
        self.tokens.borne.append(bearer)
        if not self.tokens.passes(bearer):
            return self._say(401, b"who are you?", {})
        self.tokens.over.wait(0.005)
        return self._say(200, json.dumps({"answer": f"Four francs, {bearer}.", "sources": []}).encode(), {})

    def do_GET(self) -> None:
        self.do_POST()

    def _say(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def token_server(
    life_s: float | None = 3600,
    *,
    refuse: Refusal | None = None,
    open_to: Callable[[str], bool] | None = None,
    secure: Callable[[Any], Any] | None = None,
) -> Iterator[TokenServer]:
    """Serve for the time of a block."""
    server = TokenServer(life_s, refuse, open_to)
    if secure is not None:
        server.http.socket = secure(server.http.socket)
        server.url = server.url.replace("http:", "https:")
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.http.shutdown()
        server.http.server_close()
        thread.join()
