"""Whether the judge is of the family of models whose answers it judges: models tend to favour their own.

Panickssery et al. 2024 (arXiv 2404.13076); a judge of another family, or a calibration, tells by how much.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_FAMILIES = {
    "Claude": r"claude",
    "GPT": r"(chat)?gpt|o[134](?=-|$)|davinci",
    "Gemini": r"gemini|gemma|palm",
    "Llama": r"llama|codellama",
    "Mistral": r"mistral|mixtral|ministral|magistral",
    "Qwen": r"qwen|qwq",
    "DeepSeek": r"deepseek",
    "Command": r"command|aya(?=-|$)",
    "Grok": r"grok",
    "Phi": r"phi(?=[-\d]|$)",
    "Nova": r"nova(?=-|$)",
}
_KNOWN = {name: re.compile(rf"(?<![a-z0-9])(?:{pattern})") for name, pattern in _FAMILIES.items()}
_NO_GENERATOR = re.compile(r"embed|rank|judge|token", re.IGNORECASE)


def family_of(model: str) -> str | None:
    """The family that a model's name speaks of; None where it speaks of none that is known."""
    name = model.casefold()
    return next((family for family, pattern in _KNOWN.items() if pattern.search(name)), None)


def same_family(judge: str, config: Mapping[str, Any]) -> tuple[str, str] | None:
    """The family of the judge and the model of the server that is of it as well; None where none is named.

    Args:
        judge: The judge's model.
        config: The server's configuration, as it says itself: keys with "model" or "llm" in them name its models.
    """
    family = family_of(judge)
    named = (model for model in _generators(config) if family is not None and family_of(model) == family)
    model = next(named, None)
    return None if family is None or model is None else (family, model)


def _generators(config: Mapping[str, Any]) -> Iterator[str]:
    """The names of models that may write answers: not those that embed, or put in order."""
    for key, value in config.items():
        if not re.search("model|llm", key, re.IGNORECASE) or _NO_GENERATOR.search(key):
            continue
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from _generators({f"model.{inner}": each for inner, each in value.items()})
