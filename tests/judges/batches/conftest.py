"""Runs that are judged in batches, by an imitation of the Message Batches API."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from evals.judges.batch_api import Pace

from evals.config import EvalConfig
from evals.run import setup

JUDGE = {"then": {"python": "judge"}}


@pytest.fixture
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sent is listed at once."""
    monkeypatch.setattr(setup, "Pace", partial(Pace, grace_s=0.0))


@pytest.fixture
def config(config: Callable[..., EvalConfig], messages_api: Any, no_grace: None) -> Callable[..., EvalConfig]:
    """The same, judged in batches."""
    messages_api.batches(looks=1)

    def make(**keys: Any) -> EvalConfig:
        return config(**{**keys, "judge": {"batch": True, "batch_poll_s": 0.01, **keys.pop("judge", {})}})

    return make
