"""Which model, address, key and effort a configuration of the judge means."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.errors import ConfigError, JudgeError, StoreError
from evals.judges.batches import AnthropicBatches
from evals.judges.models import PROVIDERS, AnthropicModel, OpenAIModel
from evals.judges.money import thinking_allowance
from evals.run.checks import check_config, make_judge

LOCAL = "http://127.0.0.1:11434/v1"
HAIKU = "anthropic:claude-haiku-5-5"


def build(*layers: Any) -> EvalConfig:
    return EvalConfig.build(*({"judge": layer} for layer in layers))


@pytest.mark.parametrize(
    ("layers", "provider", "model"),
    [
        ([{}], "anthropic", "claude-sonnet-5-5"),
        ([True], "anthropic", "claude-sonnet-5-5"),
        ([{"model": "openai:gpt-5.4"}], "openai", "gpt-5.4"),
        ([{"provider": "openai", "model": "qwen3:8b"}], "openai", "qwen3:8b"),
        ([{"provider": "openai", "model": "gpt-5.4"}, {"model": "gpt-6-luna"}], "openai", "gpt-6-luna"),
        ([{"provider": "openai", "model": "gpt-5.4"}, {"model": HAIKU}], "anthropic", "claude-haiku-5-5"),
        ([{"model": "openai:ft:gpt-4o:me::1"}], "openai", "ft:gpt-4o:me::1"),
        ([{"model": "openai:gpt-5.4"}, {"enabled": False}], "openai", "gpt-5.4"),
    ],
)
def test_a_prefix_goes_before_the_provider(layers: list[Any], provider: str, model: str) -> None:
    """Later layers go before earlier ones; a colon after anything but a provider belongs to the name."""
    judge = build(*layers).judge
    assert (judge.provider, judge.model) == (provider, model)
    assert EvalConfig.build(build(*layers).as_written()).judge == judge


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ({"provider": "opnai"}, "no such provider: 'opnai'"),
        ({"provider": "openai"}, "name a model of openai"),
        ({"model": "openai:"}, "name a model of openai"),
        ({"base_url": "127.0.0.1:11434/v1"}, "must begin with http"),
        ({"base_url": "http://"}, "must begin with http"),
        ({"base_url": "http://h:port/v1"}, "[Pp]ort"),
        ({"base_url": "http://me:secret@h/v1"}, "must hold no login"),
        ({"base_url": "http://sk-secret@h/v1"}, "must hold no login"),
        ({"base_url": "http://h/v1?token=1"}, "neither"),
        ({"base_url": "http://h/v1#part"}, "neither"),
        ({"base_url": "http://h:0/v1"}, "must begin with http"),
        ({"effort": "extreme"}, "no such effort: extreme"),
        ({"model": "openai:m", "effort": "max"}, "no such effort: max"),
        ({"model": "openai:m", "batch": True}, "openai has no batches"),
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": 257}, "concurrency"),
        ({"repeats": 0}, "repeats"),
        ({"repeats": 11}, "repeats"),
        ({"max_error_rate": -0.1}, "max_error_rate"),
        ({"max_error_rate": 1.1}, "max_error_rate"),
        ({"max_input_tokens": 999}, "max_input_tokens"),
        ({"max_cost_usd": 0}, "max_cost_usd"),
    ],
)
def test_a_judge_that_cannot_be_is_refused(judge: dict[str, Any], message: str) -> None:
    """Before anything is asked; the message never shows a login."""
    with pytest.raises(ConfigError, match=message) as raised:
        build(judge)
    assert "secret" not in str(raised.value)


def test_another_provider_does_not_take_over_an_address() -> None:
    """Else the key of one would be sent to the server of the other."""
    local = {"model": "openai:qwen3:8b", "base_url": LOCAL}
    with pytest.raises(ConfigError, match="is of openai, and the judge is anthropic's"):
        build(local, {"model": HAIKU})
    assert build(local, {"model": HAIKU, "base_url": None}).judge.base_url is None
    assert build(local, {"model": "openai:qwen3:4b"}).judge.base_url == LOCAL


@pytest.mark.parametrize(
    ("judge", "variables", "missing"),
    [
        ({}, {}, "ANTHROPIC_API_KEY"),
        ({}, {"OPENAI_API_KEY": "k"}, "ANTHROPIC_API_KEY"),
        ({}, {"ANTHROPIC_AUTH_TOKEN": "k"}, None),
        ({}, {"ANTHROPIC_API_KEY": " \n"}, "ANTHROPIC_API_KEY"),
        ({"base_url": "http://127.0.0.1:1"}, {}, "ANTHROPIC_API_KEY"),
        ({"model": "openai:gpt-5.4"}, {}, "OPENAI_API_KEY"),
        ({"model": "openai:gpt-5.4"}, {"OPENAI_API_KEY": "k"}, None),
        ({"model": "openai:qwen3:8b", "base_url": LOCAL}, {}, None),
        ({"model": "openai:qwen3:8b"}, {"OPENAI_BASE_URL": LOCAL}, None),
        ({"model": "openai:gpt-5.4", "base_url": "https://eu.api.openai.com/v1"}, {}, "OPENAI_API_KEY"),
        ({"model": "openai:gpt-5.4", "base_url": "https://notapi.openai.com.example/v1"}, {}, None),
    ],
)
def test_a_key_is_needed_where_the_vendor_judges(
    monkeypatch: pytest.MonkeyPatch, judge: dict[str, Any], variables: dict[str, str], missing: str | None
) -> None:
    """A server of one's own may go without; both ways out are said."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    if missing is None:
        assert check_config(build(judge))
        return
    with pytest.raises(JudgeError, match=f"{missing} is not set") as raised:
        check_config(build(judge))
    assert all(way in (raised.value.hint or "") for way in (f"export {missing}", "--judge-base-url", "--no-judge"))


@pytest.mark.parametrize(
    ("judge", "variables", "kind", "origin"),
    [
        ({}, {}, AnthropicModel, "https://api.anthropic.com"),
        ({}, {"ANTHROPIC_BASE_URL": "http://a:1"}, AnthropicModel, "http://a:1"),
        ({"base_url": "http://b"}, {"ANTHROPIC_BASE_URL": "http://a:1"}, AnthropicModel, "http://b"),
        ({"batch": True}, {}, AnthropicBatches, "https://api.anthropic.com"),
        ({"model": "openai:m"}, {"OPENAI_BASE_URL": LOCAL}, OpenAIModel, "http://127.0.0.1:11434"),
        ({"model": "openai:m"}, {"OPENAI_BASE_URL": ""}, OpenAIModel, "https://api.openai.com"),
    ],
)
def test_the_provider_makes_the_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, judge: Any, variables: dict[str, str], kind: type, origin: str
) -> None:
    """At the configured address, else at the environment's, else at the vendor's; with the effort."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings = EvalConfig.build({"runs_dir": tmp_path, "judge": {**judge, "effort": "low"}})
    made = make_judge(settings)
    assert isinstance(made.model, kind)
    assert made.identity == settings.judge.identity
    assert (made.identity.origin, made.identity.effort) == (origin, "low")


def test_a_batch_is_waited_for_as_long_as_the_vendor_may_take() -> None:
    """Which is a day; given up earlier, a run would be partial although its replies come."""
    assert build({"batch": True}).judge.batch_timeout_s > 24 * 3600


def test_a_cache_that_cannot_be_written_is_known_before_anything_is_paid(tmp_path: Path) -> None:
    """With both ways out; looking leaves nothing in the folder."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot keep replies") as raised:
        make_judge(EvalConfig.build({"runs_dir": tmp_path / "file"}))
    assert "--no-judge-cache" in (raised.value.hint or "")
    make_judge(EvalConfig.build({"runs_dir": tmp_path / "runs"}))
    assert list((tmp_path / "runs" / ".judge-cache").iterdir()) == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_more_effort_is_more_thinking_to_an_estimate(provider: str) -> None:
    """In the words of each vendor, from least to most."""
    efforts = PROVIDERS[provider].efforts
    allowed = [thinking_allowance("m", effort) for effort in efforts]
    assert allowed == sorted(set(allowed))
    assert {"low", "medium", "high"} <= set(efforts)
    assert thinking_allowance("m", None) == thinking_allowance("m", "medium")
    assert thinking_allowance("claude-sonnet-5-5", None) == thinking_allowance("m", "high")


def test_the_flags_choose_provider_model_address_and_effort(evals_cli: Callable[..., Any], tmp_path: Path) -> None:
    """Naming a judge wants one, whatever the file says."""
    (tmp_path / "c.yml").write_text("judge: false\nrag_server_url: http://127.0.0.1:1\ndatasets: [golden]\n")
    flags = f"--judge-model openai:gpt-5.4 --judge-base-url {LOCAL} --judge-effort low --judge-repeats 2".split()
    done = evals_cli("eval", "--config", tmp_path / "c.yml", *flags, "--dry-run", "--json")
    assert (done.code, done.json["judge"]) == (0, "gpt-5.4")
    assert done.json["estimate"]["cost_low_usd"] is None
    wrong = evals_cli("eval", "--config", tmp_path / "c.yml", "--judge-effort", "extreme", "--dry-run")
    assert (wrong.code, "no such effort" in wrong.err) == (2, True)
