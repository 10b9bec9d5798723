"""A server that is reached by a proxy of the environment."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any

import asking
import pytest
from raw_server import RawServer, answering

from evals.client.http import proxy_for
from evals.errors import ConfigError
from evals.schemas import EvalResponse

FAR = "http://rag.invalid:8001"
"""A host that no name server knows: only a proxy can answer for it."""


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[RawServer]:
    """A proxy that the environment does not name yet, in an environment that names no other; it answers itself."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with answering(lambda _: [b'HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n{"answer": "by proxy"}']) as server:
        yield server


def ask(url: str = FAR, **over: Any) -> EvalResponse:
    """Ask one question, without waiting between attempts."""
    return asking.ask({"url": url, **over}, sleep=asking.no_sleep, concurrency=1)


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy", "ALL_PROXY"])
def test_a_question_goes_through_the_proxy_of_the_environment(
    variable: str, proxy: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the server's whole URL in the request line, and everything else as without a proxy."""
    monkeypatch.setenv(variable, proxy.url)
    response = ask(headers={"X-Own": "one"})
    assert (response.answer, response.attempts, response.error) == ("by proxy", 1, None)
    ((_, request),) = proxy.asked
    head, _, body = request.decode().partition("\r\n\r\n")
    line, *headers = head.lower().split("\r\n")
    assert line == f"post {FAR}/query http/1.1"
    assert {"host: rag.invalid:8001", "x-own: one"} <= set(headers)
    assert json.loads(body)["query"] == "Why?"


def test_a_server_that_needs_no_proxy_is_asked_directly(
    proxy: RawServer, serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
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
    assert "(through the proxy http://127.0.0.1:9)" in error.message
    assert "secret" not in error.message


def test_a_login_of_the_proxy_is_sent_to_the_proxy(proxy: RawServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """As basic authentication, with its escapes undone."""
    monkeypatch.setenv("http_proxy", proxy.url.replace("://", "://anna:a%40b@"))
    assert ask().error is None
    assert b"Proxy-Authorization: Basic " + b64encode(b"anna:a@b") in proxy.asked[0][1]


@pytest.mark.parametrize("variable", ["ALL_PROXY", "http_proxy"])
def test_socks_that_is_not_installed_is_refused_by_name(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is asked, with the ways out, and without the login."""
    monkeypatch.setattr("evals.client.http.find_spec", lambda _name: None)
    monkeypatch.setenv(variable, "socks5://anna:secret@127.0.0.1:1080")
    with pytest.raises(ConfigError, match="the proxy of HTTP_PROXY or ALL_PROXY cannot be used") as raised:
        proxy_for(FAR)
    assert "rag-evals[socks]" in (raised.value.hint or "")
    assert "NO_PROXY=rag.invalid" in (raised.value.hint or "")


def test_a_kind_of_proxy_that_nobody_speaks_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """SOCKS 4 and FTP."""
    for address in ("socks4://127.0.0.1:9", "ftp://127.0.0.1:9"):
        monkeypatch.setenv("ALL_PROXY", address)
        with pytest.raises(ConfigError, match="the proxy of HTTP_PROXY or ALL_PROXY cannot be used"):
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
        *((host, True) for host in ("localhost", "api.localhost", "127.8.0.1", "[::1]")),
        ("10.0.0.1", False),
        ("a", False),
    ],
)
def test_what_counts_as_this_machine(host: str, is_here: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loopback, by name or number."""
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert (proxy_for(f"http://{host}:1") is None) is is_here
