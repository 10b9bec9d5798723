"""A token server and a server that wants its tokens, as one program on one port of 127.0.0.1."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs

from raw_server import RawServer, Secure, answering

Refusal = tuple[int, bytes, dict[str, str]]


class TokenServer:
    """Gives tokens at /token, and answers at every other path to those who bear one.

    Args:
        life_s: How long a token is valid; None for ever, and then it says nothing of it.
        refuse: What it says at /token instead of giving a token.
        open_to: Which tokens pass; None for those that are valid.

    Attributes:
        raw: The server beneath, which has the URL.
        asked: The headers and the form of each request at /token.
        given: The tokens, in their order.
        paths: Every path that was asked.
        borne: The Authorization of each question.
        refused: How many requests bore a token that does not pass.
        most_at_once: So many requests at /token were in hand at a time.
    """

    raw: RawServer

    def __init__(self, life_s: float | None, refuse: Refusal | None, open_to: Callable[[str], bool] | None) -> None:
        self.life_s, self.refuse, self._open_to = life_s, refuse, open_to
        self.asked: list[tuple[dict[str, str], dict[str, list[str]]]] = []
        self.given: list[str] = []
        self.paths: list[str] = []
        self.borne: list[str] = []
        self.refused = self.most_at_once = self._at_once = 0
        self._ends: dict[str, float] = {}
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Where it listens."""
        return self.raw.url

    def __call__(self, number: int) -> list[bytes]:
        """What is sent for a request."""
        head, _, body = self.raw.asked[number][1].decode().partition("\r\n\r\n")
        line, *lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)}
        self.paths.append(line.split()[1])
        is_token = self.paths[-1] == "/token"
        status, content, more = self._fetched(headers, parse_qs(body)) if is_token else self._answer(headers)
        said = "".join(f"{name}: {value}\r\n" for name, value in more.items())
        return [f"HTTP/1.1 {status} Said\r\n{said}Content-Length: {len(content)}\r\n\r\n".encode() + content]

    def _fetched(self, headers: dict[str, str], form: dict[str, list[str]]) -> Refusal:
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            self.asked.append((headers, form))
        self.raw.over.wait(0.02)
        with self._lock:
            self._at_once -= 1
            if self.refuse is not None:
                return self.refuse
            token = f"tok.En-{len(self.given):04d}-0123456789"
            self.given.append(token)
            self._ends[token] = time.monotonic() + (1e9 if self.life_s is None else self.life_s)
        said: dict[str, Any] = {"access_token": token, "token_type": "Bearer"}
        return 200, json.dumps(said if self.life_s is None else {**said, "expires_in": self.life_s}).encode(), {}

    def _answer(self, headers: dict[str, str]) -> Refusal:
        bearer = headers.get("authorization", "")
        token = bearer.removeprefix("Bearer ")
        with self._lock:
            self.borne.append(bearer)
            passes = self._open_to(token) if self._open_to else self._ends.get(token, 0.0) > time.monotonic()
            self.refused += not passes
        if not passes:
            return 401, b"who are you?", {}
        self.raw.over.wait(0.005)
        return 200, json.dumps({"answer": f"Four francs, {bearer}.", "sources": []}).encode(), {}

    def revoke(self) -> None:
        """Let no token pass that was given so far."""
        with self._lock:
            self._ends = dict.fromkeys(self._ends, 0.0)


@contextmanager
def token_server(
    life_s: float | None = 3600,
    *,
    refuse: Refusal | None = None,
    open_to: Callable[[str], bool] | None = None,
    secure: Secure | None = None,
) -> Iterator[TokenServer]:
    """Serve for the time of a block."""
    server = TokenServer(life_s, refuse, open_to)
    with answering(server, secure) as server.raw:
        yield server
