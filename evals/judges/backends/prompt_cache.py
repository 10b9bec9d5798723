"""Which beginnings of a call the vendor keeps, so that the calls that share them pay a tenth for them.

The Messages API keeps a prefix where a mark stands (`cache_control`): the form of the reply, then the instructions,
then the data. Writing it costs a quarter more than reading it anew, and a prefix below the model's least size is
silently not kept: so a mark stands only where it will be. A model of another vendor needs no mark, or has no such
cache.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from evals.judges.backends.base import Call

LIFETIME_S = 300.0
"""So long after its last use a prefix is kept."""

_NEW, _OLD = 4.0, 5.0
"""Characters a token at most, by the tokenizers since Sonnet 5 and before: prose has about 3 and 4. No vendor publishes
them, and a mark that claims too much is worth nothing; text in other scripts has more tokens."""
_LEAST: tuple[tuple[str, int, float], ...] = (
    ("claude-haiku-5-5", 512, _NEW),
    ("claude-haiku-4-5", 4096, _OLD),
    ("claude-sonnet-5", 1024, _NEW),
    ("claude-sonnet-4-6", 1024, _OLD),
    ("claude-sonnet-4-5", 1024, _OLD),
    ("claude-opus-5", 512, _NEW),
    ("claude-opus-4-7", 2048, _OLD),
    ("claude-opus-4-6", 4096, _OLD),
    ("claude-opus-4-5", 4096, _OLD),
    ("claude-fable-5", 512, _NEW),
)
"""By the beginning of a model's name: the tokens of the least prefix (Anthropic's documentation, November 2026)."""
_UNKNOWN = ("", 4096, _OLD)
"""The largest of them."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """A beginning of a call that is kept.

    Attributes:
        key: The same for calls that share it.
        characters: Its length, over instructions and data.
    """

    key: str
    characters: int


def least_characters(model: str) -> int:
    """How long a prefix must be to be kept by a model for certain."""
    _, tokens, a_token = next((row for row in _LEAST if model.startswith(row[0])), _UNKNOWN)
    return round(tokens * a_token)


def kept_prefixes(provider: str, model: str, call: Call) -> list[Prefix]:
    """The beginnings of a call that later calls have too and the vendor keeps, the shortest first.

    Args:
        provider: By whose API the model is reached.
        model: Its name.
        call: What is asked.
    """
    if provider != "anthropic":
        return []
    ends = sorted({0, *(min(end, len(call.content)) for end in call.shared)})
    least = least_characters(model)
    lengths = [len(call.system) + end for end in ends if len(call.system) + end >= least]
    return [Prefix(_key(model, call, length), length) for length in lengths]


def _key(model: str, call: Call, length: int) -> str:
    text = [model, call.schema, call.system, call.content[: length - len(call.system)]]
    return sha256(json.dumps(text, sort_keys=True).encode()).hexdigest()


def cut_at(text: str, ends: Sequence[int]) -> list[str]:
    """The text in pieces that end there; what follows the last end is a piece too, where there is something."""
    starts = (0, *ends)
    pieces = [text[start:end] for start, end in zip(starts, (*ends, len(text)), strict=True)]
    return [piece for piece in pieces if piece]
