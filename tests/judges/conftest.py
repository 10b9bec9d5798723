"""Runs that a judge takes part in, and imitations of the Chat Completions API and of what is no API at all."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from chat_api.server import ChatApi

from evals.config import EvalConfig
from evals.judges.money import PriceConfig

JUDGE = {"then": {"python": "judge"}}
"""What makes the imitation of the Messages API judge by its rules."""


@pytest.fixture
def config(
    golden_server: str, messages_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., EvalConfig]:
    """An evaluation of four golden questions by a judge without a cache; a dollar for a million tokens.

    Keywords replace keys of the configuration, those of `judge` one by one.
    """
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    messages_api.script(JUDGE)

    def make(**keys: Any) -> EvalConfig:
        judge = {"base_url": messages_api.url, "cache": False, **keys.pop("judge", {})}
        base = {
            "datasets": ["golden"],
            "samples_per_dataset": 4,
            "warmup": 0,
            "rag_server_url": golden_server,
            "runs_dir": tmp_path / "runs",
            "prices": {"claude-sonnet-5-5": PriceConfig(input=1, output=1)},
        }
        return EvalConfig(**{**base, **keys}, judge=judge)

    return make


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
