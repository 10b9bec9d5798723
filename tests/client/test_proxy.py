"""A server that is reached by a proxy of the environment."""

import asyncio
import json
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from evals.client import RAGClient
from evals.client.http import proxy_for
from evals.client.profile import resolve_spec
from evals.errors import ConfigError
from evals.schemas import EvalResponse

FAR = "http://rag.invalid:8001"
"""A host that no name server knows: only a proxy can answer for it."""


class Proxy:
    """Answers every request itself, and remembers what it was asked.

    Attributes:
        url: For `http_proxy`.
        asked: Method, target as it stands in the request line, headers and body of each request.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"proxy": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    proxy: Proxy
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        sent = {name.lower(): value for name, value in self.headers.items()}
        self.proxy.asked.append((self.command, self.path, sent, body))
        answer = json.dumps({"answer": f"by proxy {len(self.proxy.asked)}"}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST  # noqa: N815 - the name that the library calls

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """A proxy that the environment does not name yet, in an environment that names no other."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    server = Proxy()
    yield server
    server.close()


def ask(url: str = FAR, **over: Any) -> EvalResponse:
    """Ask one question, without waiting between attempts."""

    async def no_pause(_seconds: float) -> None:
        return None

    async def run() -> EvalResponse:
        async with RAGClient(resolve_spec({"url": url, **over}), sleep=no_pause, concurrency=1) as client:
            return await client.ask("Why?")

    return asyncio.run(run())


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy", "ALL_PROXY"])
def test_a_question_goes_through_the_proxy_of_the_environment(
    variable: str, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the server's whole URL in the request line, and everything else as without a proxy."""
    monkeypatch.setenv(variable, proxy.url)
    response = ask(headers={"X-Own": "one"})
    assert (response.answer, response.attempts, response.error) == ("by proxy 1", 1, None)
    ((method, target, headers, body),) = proxy.asked
    assert (method, target, headers["host"]) == ("POST", f"{FAR}/query", "rag.invalid:8001")
    assert headers["x-own"] == "one"
    assert json.loads(body)["query"] == "Why?"


def test_a_server_that_needs_no_proxy_is_asked_directly(
    proxy: Proxy, serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`no_proxy` names hosts that are reached without one."""
    monkeypatch.setenv("http_proxy", proxy.url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert ask(serve()).error is None
    assert proxy.asked == []


def test_a_connection_error_names_the_proxy_without_its_login(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever forgot about the variable sees it."""
    monkeypatch.setenv("http_proxy", "http://anna:secret@127.0.0.1:9")
    error = ask().error
    assert error is not None
    assert "(through the proxy http://127.0.0.1:9 of HTTP_PROXY)" in error.message
    assert "secret" not in error.message


def test_a_login_of_the_proxy_is_sent_to_the_proxy(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """As basic authentication, with its escapes undone."""
    monkeypatch.setenv("http_proxy", proxy.url.replace("://", "://anna:a%40b@"))
    assert ask().error is None
    assert proxy.asked[0][2]["proxy-authorization"] == "Basic " + b64encode(b"anna:a@b").decode()


@pytest.mark.parametrize("variable", ["ALL_PROXY", "http_proxy"])
def test_socks_that_is_not_installed_is_refused_by_name(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is asked, with the ways out, and without the login."""
    monkeypatch.setattr("evals.client.http.find_spec", lambda _name: None)
    monkeypatch.setenv(variable, "socks5://anna:secret@127.0.0.1:1080")
    with pytest.raises(ConfigError, match=r"_PROXY names socks5://127\.0\.0\.1:1080, a proxy over SOCKS") as raised:
        proxy_for(FAR)
    assert "rag-evals[socks]" in (raised.value.hint or "")
    assert "NO_PROXY=rag.invalid" in (raised.value.hint or "")


def test_a_kind_of_proxy_that_nobody_speaks_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """SOCKS 4 and FTP."""
    for address in ("socks4://127.0.0.1:9", "ftp://127.0.0.1:9"):
        monkeypatch.setenv("ALL_PROXY", address)
        with pytest.raises(ConfigError, match="a proxy of a kind that is not supported"):
            proxy_for(FAR)


@pytest.mark.parametrize("variable", ["ALL_PROXY", "http_proxy"])
@pytest.mark.parametrize("address", ["socks5://127.0.0.1:9", "http://127.0.0.1:9"])
def test_this_machine_is_asked_without_a_proxy(
    address: str, variable: str, serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy elsewhere would look for the server on its own machine."""
    monkeypatch.setenv(variable, address)
    assert ask(serve()).error is None


@pytest.mark.parametrize(
    ("host", "is_here"),
    [
        ("localhost", True),
        ("api.localhost", True),
        ("127.8.0.1", True),
        ("[::1]", True),
        ("10.0.0.1", False),
        ("a", False),
    ],
)
def test_what_counts_as_this_machine(host: str, is_here: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loopback, by name or number."""
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert (proxy_for(f"http://{host}:1") is None) is is_here
