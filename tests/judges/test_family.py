"""Whether the judge is of the family of the model whose answers it judges."""

from typing import Any

import pytest

from evals.judges.record import family_of, same_family


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-sonnet-5-5", "Claude"),
        ("anthropic.claude-haiku-5-5-v1:0", "Claude"),
        ("gpt-5.4-mini", "GPT"),
        ("openai/o3-mini", "GPT"),
        ("models/gemini-3-pro", "Gemini"),
        ("meta-llama/Llama-3.3-70B-Instruct", "Llama"),
        ("mixtral:8x7b", "Mistral"),
        ("qwen3:8b", "Qwen"),
        ("phi-4", "Phi"),
        ("extractive", None),
        ("dolphin", None),
        ("supernova", None),
        ("", None),
    ],
)
def test_a_name_tells_the_family(model: str, family: str | None) -> None:
    """By what vendors call their models; a name that only sounds alike tells nothing."""
    assert family_of(model) == family


@pytest.mark.parametrize(
    ("config", "model"),
    [
        ({"llm_model": "claude-haiku-5-5"}, "claude-haiku-5-5"),
        ({"models": {"chat": "claude-opus-5"}}, "claude-opus-5"),
        ({"llm": "claude-opus-5", "version": "claude"}, "claude-opus-5"),
        ({"llm_model": "gpt-5.4"}, None),
        ({"embedding_model": "claude-embed", "rerank_model": "claude-rank"}, None),
        ({"models": {"embedding": "claude-embed"}}, None),
        ({"llm_model": None, "model_count": 3}, None),
        ({}, None),
    ],
)
def test_the_servers_own_model_is_looked_for_in_its_configuration(config: dict[str, Any], model: str | None) -> None:
    """What embeds or puts in order writes no answers."""
    assert same_family("claude-sonnet-5-5", config) == (("Claude", model) if model else None)
    assert same_family("my-own-judge", config) is None
