"""What a run says that its judge cost, held against what the imitations of both APIs say that they replied."""

import time
from typing import Any

import pytest
from chat_api.server import ChatApi
from judges.money_of import JUDGE, Configure, money, scores, verdicts_of
from messages_api.loopback import LoopbackApi

from evals.config import EvalConfig
from evals.judges import models
from evals.judges.money import PriceConfig
from evals.runner import run_evaluation


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
    price = PriceConfig(input=1, output=8, cache_read=0.1, cache_write=1.25)
    judge = {"model": request.param, "base_url": api.url, "concurrency": 1}

    def make(**keys: Any) -> EvalConfig:
        prices = {request.param.partition(":")[2]: price}
        return config(**{**keys, "prices": prices, "judge": {**judge, **keys.pop("judge", {})}})

    return make, api


@pytest.mark.parametrize(
    "rule",
    [
        {"times": 0},
        *({"times": 3, "then": {"status": status}} for status in (408, 429, 500, 503, 529)),
        {"times": 1, "then": {"text": "I think that it is fine."}},
        {"schema_has": "claims", "times": 1, "then": {"truncate": 5}},
    ],
)
def test_a_run_says_what_was_charged(judged: tuple[Configure, LoopbackApi], rule: dict[str, Any]) -> None:
    """What cannot be used is paid for, calls that got an error are not; a second run costs nothing."""
    configure, api = judged
    api.script(rule, JUDGE)
    first = run_evaluation(configure(judge={"cache": True}))
    assert (first.status, first.outcomes.judge) == ("complete", {})
    assert money(first)[:2] == (len(replies(api)), pytest.approx(charged(api), rel=1e-9))
    second = run_evaluation(configure(judge={"cache": True}))
    assert (len(replies(api)), money(second), scores(second)) == (money(first)[0], (0, 0.0, 0), scores(first))


@pytest.mark.parametrize(
    ("then", "failure", "attempts"),
    [
        ({"refuse": "cyber"}, "refused", 1),
        ({"truncate": 5}, "truncated", 2),
        ({"text": "I think that it is fine."}, "unparsable", 2),
        ({"status": 400}, "rejected", 1),
        ({"status": 529}, "transport", 1),
    ],
)
def test_what_is_lost_is_counted_and_paid_and_makes_the_run_partial(
    judged: tuple[Configure, LoopbackApi], then: dict[str, Any], failure: str, attempts: int
) -> None:
    """By kind; the metrics say why they have no value; a setting says how much may be lost."""
    configure, api = judged
    api.script({"schema_has": "claims", "then": then}, JUDGE)
    run = run_evaluation(configure())
    assert (run.status, set(run.outcomes.judge)) == ("partial", {failure})
    lost = [verdict.attempts for verdict in verdicts_of(run) if verdict.failure]
    assert set(lost) == {attempts}
    calls = len(replies(api)) + (len(lost) if "status" in then else 0)
    assert money(run)[:2] == (calls, pytest.approx(charged(api), rel=1e-9))
    reasons = {score.reason for record in run.records() for score in record.scores if score.missing == "judge"}
    assert any((reason or "").startswith(f"judge {failure}") for reason in reasons)
    assert run_evaluation(configure(judge={"max_error_rate": 1.0})).status == "complete"


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
