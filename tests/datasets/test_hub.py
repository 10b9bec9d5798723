"""The hub: whether it can be reached."""

import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from huggingface_hub import constants

from evals.datasets import hub

LOOPBACK_ONLY = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


class _NotFound(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self.send_response(404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    """The URL of a server that knows no page."""
    with HTTPServer(("127.0.0.1", 0), _NotFound) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


@pytest.fixture
def hub_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., bool]]:
    """Say whether the hub at an address answers; its libraries are as they were afterwards."""
    for name, hosts in LOOPBACK_ONLY.items():
        monkeypatch.setenv(name, hosts)

    def answers(endpoint: str, *, offline: bool = False) -> bool:
        monkeypatch.setattr(constants, "ENDPOINT", endpoint)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
        hub.settle_hub.cache_clear()
        return hub.settle_hub()

    yield answers
    hub.settle_hub.cache_clear()


def test_offline_by_the_environment_asks_nobody(server: str, hub_at: Callable[..., bool]) -> None:
    """The libraries' own switch holds, though the hub would answer."""
    assert hub_at(server, offline=True) is False


def test_any_answer_says_that_the_hub_is_reached(server: str, hub_at: Callable[..., bool]) -> None:
    """Also 404."""
    assert hub_at(server) is True
    assert constants.HF_HUB_OFFLINE is False


def test_a_hub_that_says_nothing_is_given_up(hub_at: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits longer than three seconds to hear that there is no hub."""
    assert hub.PROBE_TIMEOUT_S <= 3
    monkeypatch.setattr(hub, "PROBE_TIMEOUT_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert hub_at(f"http://127.0.0.1:{silent.getsockname()[1]}") is False
    assert constants.HF_HUB_OFFLINE is True


@pytest.mark.parametrize("endpoint", ["", "no url", "http://", "http://[::1", "ftp://127.0.0.1"])
def test_an_endpoint_that_is_no_url_is_not_reachable(endpoint: str, hub_at: Callable[..., bool]) -> None:
    """A typing error in HF_ENDPOINT ends in the same message as a dead hub."""
    assert hub_at(endpoint) is False
