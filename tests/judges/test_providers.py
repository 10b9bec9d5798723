"""Which provider, address, key and price a configuration of the judge means."""

from typing import Any

import pytest
from evals.judges.backends.anthropic import AnthropicBackend
from evals.judges.backends.openai import OpenAIBackend
from evals.judges.backends.providers import PROVIDERS, split_model
from evals.scoring.prices import PriceConfig, judge_price

from evals.config import EvalConfig
from evals.errors import ConfigError, JudgeError
from evals.run.checks import check_config, make_judge
from evals.schemas.verdicts import JudgeUsage

LOCAL = "http://127.0.0.1:11434/v1"
MILLION = JudgeUsage(input_tokens=1_000_000, output_tokens=1_000_000)


def build(*judges: Any) -> EvalConfig:
    return EvalConfig.build({"datasets": ["golden"]}, *({"judge": judge} for judge in judges))


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        ("openai:gpt-5.4-mini", ("openai", "gpt-5.4-mini")),
        ("openai:qwen3:8b", ("openai", "qwen3:8b")),
        ("anthropic:claude-haiku-5-5", ("anthropic", "claude-haiku-5-5")),
        ("claude-haiku-5-5", (None, "claude-haiku-5-5")),
        ("qwen3:8b", (None, "qwen3:8b")),
        ("ft:gpt-4o:me::1", (None, "ft:gpt-4o:me::1")),
        ("OpenAI:x", (None, "OpenAI:x")),
        ("openai", (None, "openai")),
    ],
)
def test_only_a_provider_is_a_prefix(model: str, parts: tuple[str | None, str]) -> None:
    """A colon after anything else belongs to the model's name."""
    assert split_model(model) == parts


@pytest.mark.parametrize(
    ("layers", "provider", "model"),
    [
        ([{}], "anthropic", "claude-sonnet-5-5"),
        ([True], "anthropic", "claude-sonnet-5-5"),
        ([{"model": "openai:gpt-5.4"}], "openai", "gpt-5.4"),
        ([{"provider": "openai", "model": "gpt-5.4"}], "openai", "gpt-5.4"),
        ([{"provider": "openai", "model": "gpt-5.4"}, {"model": "gpt-6-luna"}], "openai", "gpt-6-luna"),
        (
            [{"provider": "openai", "model": "gpt-5.4"}, {"model": "anthropic:claude-haiku-5-5"}],
            "anthropic",
            "claude-haiku-5-5",
        ),
        ([{"model": "openai:gpt-5.4"}, {"enabled": False}], "openai", "gpt-5.4"),
    ],
)
def test_a_prefix_goes_before_the_provider(layers: list[Any], provider: str, model: str) -> None:
    """Later layers go before earlier ones, and a name alone leaves the provider as it is."""
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
        ({"base_url": "localhost"}, "must begin with http"),
        ({"base_url": "http://"}, "must begin with http"),
        ({"base_url": "http://h:port/v1"}, "is no URL"),
        ({"base_url": "http://me:secret@h/v1"}, "must hold no login"),
        ({"base_url": "http://h/v1?token=1"}, "neither"),
    ],
)
def test_a_judge_that_cannot_be_is_refused(judge: dict[str, Any], message: str) -> None:
    """Before anything is asked; the message never shows a login."""
    with pytest.raises(ConfigError, match=message) as caught:
        build(judge)
    assert "secret" not in str(caught.value)


def test_another_provider_does_not_take_over_an_address() -> None:
    """Else the key of one would be sent to the server of the other."""
    local = {"model": "openai:qwen3:8b", "base_url": LOCAL}
    with pytest.raises(ConfigError, match="is of openai, and the judge is anthropic's") as caught:
        build(local, {"model": "anthropic:claude-haiku-5-5"})
    assert "--judge-base-url" in (caught.value.hint or "")
    moved = build(local, {"model": "anthropic:claude-haiku-5-5", "base_url": None}).judge
    assert (moved.provider, moved.base_url) == ("anthropic", None)
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
        ({"model": "openai:gpt-5.4"}, {"ANTHROPIC_API_KEY": "k"}, "OPENAI_API_KEY"),
        ({"model": "openai:gpt-5.4"}, {"OPENAI_API_KEY": "k"}, None),
        ({"model": "openai:qwen3:8b", "base_url": LOCAL}, {}, None),
        ({"model": "openai:qwen3:8b", "base_url": "https://models.example/v1"}, {}, None),
        ({"model": "openai:qwen3:8b"}, {"OPENAI_BASE_URL": LOCAL}, None),
        ({"model": "openai:gpt-5.4", "base_url": "https://api.openai.com/v1"}, {}, "OPENAI_API_KEY"),
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
    with pytest.raises(JudgeError, match=f"{missing} is not set") as caught:
        check_config(build(judge))
    for way in (f"export {missing}", "--judge-base-url", "--no-judge"):
        assert way in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("judge", "variables", "kind", "origin"),
    [
        ({}, {}, AnthropicBackend, "https://api.anthropic.com"),
        ({}, {"ANTHROPIC_BASE_URL": "http://a:1"}, AnthropicBackend, "http://a:1"),
        ({"base_url": "http://b"}, {"ANTHROPIC_BASE_URL": "http://a:1"}, AnthropicBackend, "http://b"),
        ({"model": "openai:m"}, {}, OpenAIBackend, "https://api.openai.com"),
        ({"model": "openai:m"}, {"OPENAI_BASE_URL": LOCAL}, OpenAIBackend, "http://127.0.0.1:11434"),
        ({"model": "openai:m"}, {"OPENAI_BASE_URL": ""}, OpenAIBackend, "https://api.openai.com"),
        ({"model": "openai:m", "base_url": LOCAL}, {"OPENAI_BASE_URL": "http://o"}, OpenAIBackend, LOCAL[:-3]),
    ],
)
def test_the_provider_makes_the_backend(
    monkeypatch: pytest.MonkeyPatch, judge: dict[str, Any], variables: dict[str, str], kind: type, origin: str
) -> None:
    """At the configured address, else at the environment's, else at the vendor's."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    backend = make_judge(build(judge)).backend
    assert isinstance(backend, kind)
    assert backend.origin == origin


@pytest.mark.parametrize(
    ("provider", "base_url", "model", "expected"),
    [
        ("anthropic", None, "claude-sonnet-5-5", 12.0),
        ("anthropic", "http://gateway.example", "claude-sonnet-5-5", 12.0),
        ("openai", None, "gpt-4o-mini", 0.75),
        ("openai", "https://eu.api.openai.com/v1", "gpt-4o-mini", 0.75),
        ("openai", LOCAL, "gpt-oss-20b", None),
        ("openai", None, "qwen3:8b", None),
        ("openai", None, "claude-sonnet-5-5", None),
        ("openai", LOCAL, "mine", 3.0),
        ("openai", None, "mine", 3.0),
    ],
)
def test_a_price_is_the_users_else_the_vendors_else_unknown(
    provider: str, base_url: str | None, model: str, expected: float | None
) -> None:
    """A model of one's own has no vendor's price, even under a vendor's name: None, never 0."""
    price = judge_price({"mine": PriceConfig(input=1, output=2)}, PROVIDERS[provider].price_table(base_url))
    assert price(model, MILLION) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("prices", "expected"),
    [({}, 10.0 + 20.0), ({"cache_read": 1}, 4 + 3 + 3 * 1.0 + 20), ({"cache_read": 0, "cache_write": 20}, 4 + 60 + 20)],
)
def test_cached_tokens_have_a_price_of_their_own_where_one_is_named(prices: dict[str, float], expected: float) -> None:
    """Else they cost as any other input."""
    million = 1_000_000
    usage = JudgeUsage(
        input_tokens=10 * million, output_tokens=million, cache_read_tokens=3 * million, cache_write_tokens=3 * million
    )
    price = judge_price({"mine": PriceConfig(input=1, output=20, **prices)}, None)
    assert price("mine", usage) == pytest.approx(expected)


def test_every_provider_names_a_key_and_an_address() -> None:
    """Messages and the environment of tests go by them."""
    for name, provider in PROVIDERS.items():
        assert all(variable.startswith(name.upper()) for variable in provider.key_variables)
        assert provider.address_variable == f"{name.upper()}_BASE_URL"
        assert provider.address(None) == provider.home
