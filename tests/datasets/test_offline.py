"""What is remembered of the hub in a process, and what its libraries are told."""

import os
import sys
from types import SimpleNamespace

import pytest

from evals.datasets import hub

SWITCH = "HF_HUB_OFFLINE"


class Network:
    """Whether the hub answers, how long it takes to say so, and how often it was asked."""

    def __init__(self) -> None:
        self.now, self.up, self.takes_s, self.asked = 1000.0, False, 0.01, 0

    def monotonic(self) -> float:
        return self.now

    def answers(self) -> bool:
        if os.environ.get(SWITCH) == "1":
            return False
        self.asked += 1
        self.now += self.takes_s
        return self.up


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    """A process that knows nothing of the hub yet."""
    network = Network()
    monkeypatch.setattr(hub, "_hub", hub._Hub())
    monkeypatch.setattr(hub, "hub_reachable", network.answers)
    monkeypatch.setattr(hub, "time", network)
    monkeypatch.setenv(SWITCH, "")  # so that it is as it was afterwards
    monkeypatch.delenv(SWITCH)
    for name in ("huggingface_hub.constants", "datasets.config"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(HF_HUB_OFFLINE=False))  # type: ignore[arg-type]
    return network


def told() -> list[bool]:
    """What the libraries are told in their modules."""
    return [sys.modules[name].HF_HUB_OFFLINE for name in ("huggingface_hub.constants", "datasets.config")]


@pytest.mark.parametrize("before", [None, "0"])
def test_a_hub_that_comes_back_is_noticed_and_the_libraries_are_let_go(
    network: Network, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    """The environment is as the user left it, and no library keeps to its cache."""
    if before is not None:
        monkeypatch.setenv(SWITCH, before)
    assert hub.settle_hub() is False
    assert hub.settle_hub() is False
    assert (os.environ.get(SWITCH), told()) == (before, [True, True])
    network.up = True
    assert hub.settle_hub() is True
    assert (os.environ.get(SWITCH), told()) == (before, [False, False])


def test_a_hub_that_answered_is_not_asked_again(network: Network) -> None:
    """One look a process, as long as all is well."""
    network.up = True
    assert [hub.settle_hub() for _ in range(12)] == [True] * 12
    assert network.asked == 1
    assert told() == [False, False]


def test_a_silent_hub_is_left_alone_for_a_while(network: Network) -> None:
    """Twelve subsets cost one wait, and half a minute later it is asked again."""
    network.takes_s = 3.0
    assert [hub.settle_hub() for _ in range(12)] == [False] * 12
    assert network.asked == 1
    network.now, network.up = network.now + 31, True
    assert hub.settle_hub() is True


def test_the_switch_of_the_user_stays_on(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who wants to be offline is, though the hub would answer."""
    monkeypatch.setenv(SWITCH, "1")
    network.up = True
    assert [hub.settle_hub(), hub.settle_hub()] == [False, False]
    assert network.asked == 0
    assert os.environ[SWITCH] == "1"
