"""What a run says that its judge cost, held against what the imitations of both APIs say that they replied."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from chat_api.server import ChatApi
from judges.money_of import money, scores
from messages_api.loopback import LoopbackApi

from evals.config import EvalConfig
from evals.judges import models
from evals.judges.money import PriceConfig
from evals.runner import run_evaluation

JUDGE = {"then": {"python": "judge"}}
PRICES = {"cache_read": 0.1, "cache_write": 1.25}
"""Dollars for a million tokens, beside one for others that are read, and eight for those that are written."""

Configure = Callable[..., EvalConfig]


def replies(api: LoopbackApi) -> list[dict[str, Any]]:
    """The replies of an imitation; errors are none, nor is what it says of its models."""
    return [entry["reply"] for entry in api.log() if entry["method"] == "POST" and entry["status"] == 200]


def charged(api: LoopbackApi) -> float:
    """What all of them cost, by the tokens that they name."""
    return sum(map(_price, replies(api)))


def _price(reply: dict[str, Any]) -> float:
    usage = reply["usage"]
    if "prompt_tokens" in usage:
        read = usage["prompt_tokens_details"]["cached_tokens"]
        return (usage["prompt_tokens"] - 0.9 * read + 8 * usage["completion_tokens"]) / 1e6
    cached = 0.1 * usage["cache_read_input_tokens"] + 1.25 * usage["cache_creation_input_tokens"]
    return (usage["input_tokens"] + cached + 8 * usage["output_tokens"]) / 1e6


@pytest.fixture(params=["anthropic:claude-sonnet-5-5", "openai:gpt-local"])
def judged(
    request: pytest.FixtureRequest, config: Configure, messages_api: Any, chat_api: ChatApi, monkeypatch: Any
) -> tuple[Configure, LoopbackApi]:
    """The configuration of a run that is judged by either API, one call after the other, and the API."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-fine")
    monkeypatch.setattr(models, "RETRIES", 4)
    api: LoopbackApi = chat_api if request.param.startswith("openai") else messages_api
    price = PriceConfig(input=1, output=8, **PRICES)
    judge = {"model": request.param, "base_url": api.url, "concurrency": 1}

    def make(**keys: Any) -> EvalConfig:
        prices = {request.param.partition(":")[2]: price}
        return config(**{**keys, "prices": prices, "judge": {**judge, **keys.pop("judge", {})}})

    return make, api


@pytest.mark.parametrize(
    ("rule", "failure"),
    [
        ({"times": 0}, None),
        ({"times": 3, "then": {"status": 429}}, None),
        ({"times": 3, "then": {"status": 529}}, None),
        ({"times": 1, "then": {"text": "I think that it is fine."}}, None),
        ({"schema_has": "claims", "times": 1, "then": {"truncate": 5}}, None),
        ({"schema_has": "claims", "then": {"truncate": 5}}, "truncated"),
        ({"schema_has": "claims", "then": {"refuse": "cyber"}}, "refused"),
        ({"schema_has": "claims", "then": {"text": "I think that it is fine."}}, "unparsable"),
    ],
)
def test_a_run_says_what_was_charged(
    judged: tuple[Configure, LoopbackApi], rule: dict[str, Any], failure: str | None
) -> None:
    """Refused, cut and useless replies are paid for, calls that got an error are not; a second run costs nothing."""
    configure, api = judged
    api.script(rule, JUDGE)
    first = run_evaluation(configure(judge={"cache": True}))
    assert set(first.outcomes.judge) == {failure} - {None}
    assert money(first)[0] == len(replies(api))
    assert money(first)[1] == pytest.approx(charged(api), rel=1e-9)
    if failure is None:
        second = run_evaluation(configure(judge={"cache": True}))
        assert (len(replies(api)), money(second), scores(second)) == (money(first)[0], (0, 0.0, 0), scores(first))


def test_a_call_that_timed_out_and_was_repeated_counts_once(
    judged: tuple[Configure, LoopbackApi], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vendor may charge the reply as well that nobody waited for: a run cannot know."""
    configure, api = judged
    for model in models.PROVIDERS.values():
        monkeypatch.setattr(model, "timeout_s", 1.0)
    api.script({"times": 1, "then": {"slow": 2.0, **JUDGE["then"]}}, JUDGE)
    run = run_evaluation(configure())
    while api.stats()["in_flight"]:
        time.sleep(0.05)
    assert (run.status, money(run)[0]) == ("complete", len(replies(api)) - 1)
    assert money(run)[1] == pytest.approx(charged(api) - _price(replies(api)[0]), rel=1e-9)
