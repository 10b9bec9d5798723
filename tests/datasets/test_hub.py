"""The hub: whether it can be reached."""

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from evals.datasets import hub
from evals.datasets.hub import hub_reachable

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


@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"])
@pytest.mark.parametrize("value", ["1", "true", "YES", " on "])
def test_offline_by_the_environment_asks_nobody(server: str, variable: str, value: str) -> None:
    """The libraries' own switches hold, though the hub would answer."""
    assert hub_reachable({variable: value, "HF_ENDPOINT": server}) is False


@pytest.mark.parametrize("value", ["0", "", "false"])
def test_a_switch_that_is_off_asks_the_hub(server: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any answer, also 404, says that the hub can be reached."""
    for name, hosts in LOOPBACK_ONLY.items():
        monkeypatch.setenv(name, hosts)
    assert hub_reachable({"HF_HUB_OFFLINE": value, "HF_ENDPOINT": server}) is True


def test_a_hub_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits longer than three seconds to hear that there is no hub."""
    assert hub.PROBE_TIMEOUT_S <= 3
    monkeypatch.setattr(hub, "PROBE_TIMEOUT_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert hub_reachable({"HF_ENDPOINT": f"http://127.0.0.1:{silent.getsockname()[1]}"}) is False


@pytest.mark.parametrize("endpoint", ["", "no url", "http://", "http://[::1", "ftp://127.0.0.1"])
def test_an_endpoint_that_is_no_url_is_not_reachable(endpoint: str) -> None:
    """A typing error in HF_ENDPOINT ends in the same message as a dead hub."""
    assert hub_reachable({"HF_ENDPOINT": endpoint}) is False
