"""Runs that a judge takes part in, and imitations of the Chat Completions API and of what is no API at all."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_api.server import ChatApi
from judges.money_of import JUDGE, Configure

from evals.config import EvalConfig
from evals.judges import models
from evals.judges.money import PriceConfig


@pytest.fixture(autouse=True)
def _few_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "RETRIES", 1)


@pytest.fixture
def config(golden_server: str, messages_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """An evaluation of eight golden questions by a judge without a cache; a dollar for a million tokens.

    Keywords replace keys of the configuration, those of `judge` one by one.
    """
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    messages_api.script(JUDGE)

    def make(**keys: Any) -> EvalConfig:
        judge = {"base_url": messages_api.url, "cache": False, **keys.pop("judge", {})}
        base = {
            "datasets": ["golden"],
            "samples_per_dataset": 8,
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
