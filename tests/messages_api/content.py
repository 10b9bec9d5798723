"""What stands in a request: its texts, the data in them, and what they cost."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_LEAST_CACHED = {"claude-haiku-5-5": 512, "claude-opus-5": 512, "claude-fable-5": 512, "claude-sonnet-5": 1024}


def least_cached(model: str) -> int:
    """Tokens of the shortest prefix that a model caches; a shorter one is silently not cached."""
    return next((tokens for name, tokens in _LEAST_CACHED.items() if model.startswith(name)), 4096)


@dataclass(frozen=True)
class Block:
    """A text of the request; ``ttl`` is set where the prefix up to here is to be cached."""

    role: str
    text: str
    ttl: str | None


def blocks_of(body: dict[str, Any]) -> list[Block]:
    """All texts in the order of the prompt: system, then messages."""
    found = list(_content("system", body.get("system", "")))
    for message in body["messages"]:
        found += _content(message["role"], message["content"])
    if (mark := body.get("cache_control")) is not None:
        found[-1] = Block(found[-1].role, found[-1].text, mark.get("ttl", "5m"))
    return found


def _content(role: str, content: Any) -> Iterator[Block]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks:
        if block["type"] == "text" and block["text"]:
            mark = block.get("cache_control")
            yield Block(role, block["text"], None if mark is None else mark.get("ttl", "5m"))


def user_text(body: dict[str, Any]) -> str:
    """What the user says."""
    return "\n".join(block.text for block in blocks_of(body) if block.role == "user")


def user_data(body: dict[str, Any]) -> dict[str, Any]:
    """The JSON object that the user's first text begins with."""
    return next((_first_object(block.text) or {} for block in blocks_of(body) if block.role == "user"), {})


def _first_object(text: str) -> dict[str, Any] | None:
    start = text.find("{")
    try:
        found, _ = json.JSONDecoder().raw_decode(text, max(start, 0))
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def strings_in(value: Any) -> Iterator[str]:
    """All strings in JSON data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings_in(item)


def requested_schema(body: dict[str, Any]) -> dict[str, Any] | None:
    """The schema that the reply has to follow."""
    form = (body.get("output_config") or {}).get("format") or {}
    return form.get("schema")


def count_tokens(characters: int) -> int:
    """Three characters a token, rounded up."""
    return -(-characters // 3)


@dataclass(frozen=True)
class Charge:
    """The input tokens of one request: read from the cache, written to it, and the rest.

    Attributes:
        written: The prefixes that the cache holds once the request is answered.
    """

    total: int
    read: int
    created: int
    ttl: str
    written: frozenset[str]

    def usage(self) -> dict[str, Any]:
        """The input half of the field ``usage``."""
        created = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}
        created[f"ephemeral_{self.ttl}_input_tokens"] = self.created
        return {
            "input_tokens": self.total - self.read - self.created,
            "cache_creation_input_tokens": self.created,
            "cache_read_input_tokens": self.read,
            "cache_creation": created,
        }


class PromptCache:
    """Remembers prefixes for good; another model or another output format is another prefix, as with the real cache."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def look_up(self, body: dict[str, Any]) -> Charge:
        """What a request costs now; :meth:`store` it once it is answered."""
        state = hashlib.sha256(json.dumps([body["model"], requested_schema(body), body.get("tools")]).encode())
        characters = read = marked = 0
        ttl, seen, written = "5m", 0, set()
        for block in blocks_of(body):
            state.update(json.dumps([block.role, block.text]).encode())
            characters += len(block.text)
            prefix, tokens = state.hexdigest(), count_tokens(characters)
            seen = tokens if prefix in self._known else seen
            if block.ttl is not None:
                read = seen  # a prefix is looked for at a breakpoint and before it
                if tokens >= least_cached(body["model"]):
                    marked, ttl = tokens, block.ttl
                    written.add(prefix)
        return Charge(count_tokens(characters), read, max(marked - read, 0), ttl, frozenset(written))

    def store(self, charge: Charge) -> None:
        """Remember the prefixes of a request that was answered."""
        self._known |= charge.written
