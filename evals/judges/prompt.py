"""The judge's prompts: versioned data, one file each."""

import json
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "prompts"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the judge is told, and the form in which it replies.

    Attributes:
        name: Of the file, and of the verdict.
        version: Raised with every change of meaning.
        system: The instructions; the data to examine never stands in them.
        schema: JSON schema of the reply.
        max_tokens: Enough for the reply and for the model's thinking.
        checks: What a reply must hold beside its form (see `checks.py`).
        hash: Over all of it: a changed prompt is another prompt to the cache and to a comparison.
    """

    name: str
    version: int
    system: str
    schema: dict[str, Any]
    max_tokens: int
    checks: list[dict[str, Any]]
    hash: str


@cache
def load_prompt(name: str) -> Prompt:
    """The prompt of this name, which must be one of ours."""
    import yaml  # noqa: PLC0415 - a saved run is shown without it

    data = yaml.safe_load((_FOLDER / f"{name}.yml").read_text(encoding="utf-8"))
    digest = sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
    return Prompt(**data, hash=digest)
