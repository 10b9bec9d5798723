"""A judge that is reached by a proxy of the environment, or in spite of one."""

import asyncio
import json
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from evals.errors import ConfigError
from evals.judges.backends.anthropic import AnthropicBackend
from evals.judges.backends.base import Backend, BackendError, Call
from evals.judges.backends.openai import OpenAIBackend

CALL = Call(system="You are a judge.", content='{"answer": "yes"}', schema={"type": "object"}, max_tokens=3000)
FAR = "http://judge.invalid"
"""A host that no name server knows: only a proxy can answer for it."""
MESSAGE = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "text", "text": "{}"}],
    "stop_reason": "end_turn",
}
COMPLETION = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "{}"}, "finish_reason": "stop"}]}
MAKE: dict[str, Callable[[str], Backend]] = {
    "anthropic": lambda url: AnthropicBackend("m", base_url=url, api_key="sk-test"),
    "openai": lambda url: OpenAIBackend("m", base_url=f"{url}/v1", api_key="sk-test"),
}
VENDORS = pytest.mark.parametrize("vendor", MAKE)


class Answering:
    """Answers every request as both APIs do, as a proxy or as the judge itself.

    Attributes:
        url: Where it is.
        asked: Target as it stands in the request line, and the login for a proxy.
        status: Of its replies.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self.status = 200
        here = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                here.asked.append((self.path, self.headers["Proxy-Authorization"]))
                sent = json.dumps({**MESSAGE, **COMPLETION}).encode()
                self.send_response(here.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, *_: Any) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def answering() -> Iterator[Answering]:
    """A judge, or a proxy that answers for one."""
    server = Answering()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def environ(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set variables of the environment, in which there is no proxy else."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)

    def put(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(name, value)

    return put


def ask(backend: Backend) -> str:
    async def once() -> str:
        try:
            return (await backend.complete(CALL)).text
        finally:
            await backend.aclose()

    return asyncio.run(once())


@VENDORS
@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY"])
def test_a_judge_elsewhere_is_reached_by_the_proxy(
    vendor: str, name: str, answering: Answering, environ: Callable[..., None]
) -> None:
    """With its login, for which it is asked by the address alone."""
    environ(**{name: f"http://user:p%40ss@127.0.0.1:{answering.port}"})
    assert ask(MAKE[vendor](FAR)) == "{}"
    ((target, login),) = answering.asked
    assert target.startswith(f"{FAR}/v1/")
    assert login == "Basic " + b64encode(b"user:p@ss").decode()


@VENDORS
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("proxy", ["http://127.0.0.1:9", "socks5://127.0.0.1:9"])
def test_a_judge_on_this_machine_is_reached_without(
    vendor: str, host: str, proxy: str, answering: Answering, environ: Callable[..., None]
) -> None:
    """As the RAG server is, whatever kind of proxy the environment names."""
    environ(HTTP_PROXY=proxy, ALL_PROXY=proxy)
    assert ask(MAKE[vendor](f"http://{host}:{answering.port}")) == "{}"
    assert [target.startswith("/v1/") for target, _ in answering.asked] == [True]


@VENDORS
def test_no_proxy_leaves_a_judge_out(vendor: str, environ: Callable[..., None]) -> None:
    """It is looked for itself then, and is not there."""
    environ(HTTP_PROXY="http://127.0.0.1:9", NO_PROXY="judge.invalid")
    with pytest.raises(BackendError) as caught:
        ask(MAKE[vendor](FAR))
    assert "through" not in str(caught.value)


@VENDORS
def test_a_proxy_that_is_not_there_is_named_without_its_login(vendor: str, environ: Callable[..., None]) -> None:
    """Who looks for the judge would look in the wrong place."""
    environ(HTTP_PROXY="http://user:secret-word@127.0.0.1:9")
    with pytest.raises(BackendError, match=r"\(through the proxy http://127.0.0.1:9 of HTTP_PROXY\)") as caught:
        ask(MAKE[vendor](FAR))
    assert caught.value.retryable
    assert "secret-word" not in str(caught.value)


@VENDORS
def test_a_socks_proxy_is_refused_by_name(vendor: str, environ: Callable[..., None]) -> None:
    """Without its login, and with the way out."""
    environ(ALL_PROXY="socks5://user:secret-word@proxy.invalid:1080")
    with pytest.raises(ConfigError, match=r"ALL_PROXY names socks5://proxy\.invalid:1080") as caught:
        MAKE[vendor](FAR)
    assert "secret-word" not in caught.value.message
    assert caught.value.hint is not None
    assert "NO_PROXY=judge.invalid" in caught.value.hint
