"""The hub: whether it can be reached."""

import socket
from collections.abc import Callable, Iterator

import pytest
from huggingface_hub import constants
from raw_server import answering

from evals.datasets.base import PROBE_TIMEOUT_S, probe_hub

HubAt = Callable[..., bool]


@pytest.fixture
def hub_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubAt]:
    """Say whether the hub at an address answers; its libraries are as they were afterwards."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")

    def answers(endpoint: str, *, offline: bool = False) -> bool:
        monkeypatch.setattr(constants, "ENDPOINT", endpoint)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
        probe_hub.cache_clear()
        return probe_hub()

    yield answers
    probe_hub.cache_clear()


def test_any_answer_says_that_the_hub_is_reached(hub_at: HubAt) -> None:
    """Also 404; the libraries' own switch holds, though the hub would answer."""
    with answering(lambda _: [b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"]) as server:
        assert (hub_at(server.url), constants.HF_HUB_OFFLINE) == (True, False)
        assert hub_at(server.url, offline=True) is False
        assert len(server.asked) == 1


def test_a_hub_that_says_nothing_is_given_up(hub_at: HubAt, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits longer than three seconds to hear that there is no hub."""
    assert PROBE_TIMEOUT_S <= 3
    monkeypatch.setattr("evals.datasets.base.PROBE_TIMEOUT_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert hub_at(f"http://127.0.0.1:{silent.getsockname()[1]}") is False
    assert constants.HF_HUB_OFFLINE is True


@pytest.mark.parametrize("endpoint", ["", "no url", "http://", "http://[::1", "ftp://127.0.0.1"])
def test_an_endpoint_that_is_no_url_is_not_reachable(endpoint: str, hub_at: HubAt) -> None:
    """A typing error in HF_ENDPOINT ends in the same message as a dead hub."""
    assert hub_at(endpoint) is False
