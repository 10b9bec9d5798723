"""Runs that are judged in batches, by an imitation of the Message Batches API."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.judges.batch_api import Pace
from evals.run import setup
from evals.scoring.prices import PriceConfig

JUDGE = {"then": {"python": "judge"}}


@pytest.fixture
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sent is listed at once."""
    monkeypatch.setattr(setup, "Pace", partial(Pace, grace_s=0.0))


@pytest.fixture
def config(
    golden_server: str, messages_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_grace: None
) -> Callable[..., EvalConfig]:
    """An evaluation of four golden questions, judged in batches; a dollar for a million tokens."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    messages_api.script(JUDGE)
    messages_api.batches(looks=1)

    def make(**keys: Any) -> EvalConfig:
        judge = {"base_url": messages_api.url, "cache": False, "batch": True, "batch_poll_s": 0.01}
        judge |= keys.pop("judge", {})
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
