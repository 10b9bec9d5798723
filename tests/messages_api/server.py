"""An imitation of Anthropic's Messages API (version 2026-10-21): what it refuses, and the bodies of its replies."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from messages_api.batches import Batches, BatchMode
from messages_api.loopback import Hung, LoopbackApi, Rejection, text_of
from messages_api.schema_rules import SchemaError, check_schema

VERSION = "2026-10-21"
UNKNOWN_KEY = "sk-test-unknown"
_FIELDS = frozenset(["model", "messages", "max_tokens", "system", "output_config"])
_EFFORTS = frozenset(["low", "medium", "high", "xhigh", "max"])
_LEAST_CACHED = {"claude-haiku-5-5": 512, "claude-opus-5": 512, "claude-sonnet-5": 1024}
"""Tokens of the shortest prefix that a model caches; a shorter one is silently not cached."""


class MessagesApi(LoopbackApi):
    """The API. A rule may also say `thinking`, and `unasked`: what became of a request in a batch without an answer."""

    def reset(self) -> None:
        """Forget rules, log, cache and batches."""
        super().reset()
        self._cached = set[str]()
        self._batches = Batches(self._answer, self._cached)

    def batches(self, **mode: Any) -> None:
        """Say how batches behave from now on: the fields of `BatchMode`."""
        self._batches.mode = BatchMode(**mode)

    def batched(self) -> list[dict[str, Any]]:
        """The requests of all batches that were made, with their `custom_id`, in their order."""
        made = [entry for entry in self._log if entry["path"].endswith("/batches") and entry["method"] == "POST"]
        return [request for entry in made for request in entry["body"]["requests"]]

    def reply(self, entry: dict[str, Any]) -> Any:
        check_head(entry["headers"])
        parts, posted = urlsplit(entry["path"]), entry["method"] == "POST"
        match parts.path.strip("/").split("/")[1:]:
            case ["messages"] if posted:
                message, prefixes = self._answer(entry["body"])
                self._cached |= prefixes
                return message
            case ["messages", "batches"] if posted:
                return self._created(entry["body"]["requests"])
            case ["messages", "batches"]:
                return self._batches.listed(dict(parse_qsl(parts.query)))
            case ["messages", "batches", name]:
                return self._batches.looked_at(name)
            case ["messages", "batches", name, "results"]:
                return self._batches.results(name)
        raise refusal(404, "Not found")

    def _created(self, requests: list[dict[str, Any]]) -> dict[str, Any]:
        mode = self._batches.mode
        if mode.refused:
            mode.refused -= 1
            raise refusal(mode.status)
        made = self._batches.create(requests, self.url)
        if mode.unanswered:
            mode.unanswered -= 1
            raise Hung
        return made

    def _answer(self, request: Any) -> tuple[dict[str, Any], set[str]]:
        """The message, and the prefixes that the cache holds once it is sent."""
        body = check_message(request)
        usage, prefixes = charge(body, self._cached)
        told = "\n".join(block["text"] for role, block in _blocks(body) if role == "user")
        then = self.pick(requested_schema(body), told)
        if "unasked" in then:
            return {"unasked": then["unasked"]}, set()
        if "status" in then:
            raise refusal(then["status"], then.get("message"))
        return compose(then, body, usage), prefixes


def refusal(status: int, message: str | None = None) -> Rejection:
    """An error of the API; tests do not wait before they ask again."""
    kind = "invalid_request_error" if status in {400, 413} else "api_error"
    error = {"type": kind, "message": message or f"scripted status {status}"}
    return Rejection(status, {"type": "error", "error": error}, {"retry-after-ms": "1"})


# What the API refuses, as far as a judge can break it.


def check_head(headers: Mapping[str, str]) -> None:
    """Refuse a request without a key that is known, and one for another version of the API."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    key = token.strip() if scheme.lower() == "bearer" else headers.get("x-api-key")
    if not key or key == UNKNOWN_KEY:
        raise refusal(401, "invalid bearer token" if key else "Authentication is required")
    if headers.get("anthropic-version") != VERSION:
        raise refusal(400, f"anthropic-version: this imitation knows {VERSION} only")


def check_message(body: Any) -> dict[str, Any]:
    """The body of a request for a message, refused where the API would: no sampling, no tools, no empty text."""
    asked = body.get("output_config", {})
    for name in sorted(body.keys() - _FIELDS) + sorted(asked.keys() - {"effort", "format"}):
        raise refusal(400, f"{name}: Extra inputs are not permitted")
    blocks = [block for _, block in _blocks(body)]
    if any(block["type"] != "text" or not block["text"].strip() for block in blocks):
        raise refusal(400, "messages: text content blocks must be non-empty")
    if any(block.keys() - {"type", "text", "cache_control"} for block in blocks):
        raise refusal(400, "messages: Extra inputs are not permitted")
    if not 0 <= body["max_tokens"] <= 128_000 or asked.get("effort", "low") not in _EFFORTS:
        raise refusal(400, "max_tokens or output_config.effort: out of range")
    try:
        if (schema := requested_schema(body)) is not None:
            check_schema(schema)
    except SchemaError as error:
        raise refusal(400, str(error)) from None
    if not body["model"].startswith("claude-"):
        raise refusal(404, f"model: {body['model']}")
    return dict(body)


# What stands in a request, and what it costs.


def requested_schema(body: dict[str, Any]) -> dict[str, Any] | None:
    """The schema that the reply has to follow."""
    form = (body.get("output_config") or {}).get("format") or {}
    return form.get("schema")


def _blocks(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """All texts in the order of the prompt, system first, each with its role."""
    parts = [{"role": "system", "content": body.get("system", [])}, *body["messages"]]
    return ((part["role"], block) for part in parts for block in part["content"])


def _tokens(characters: int) -> int:
    """Three characters a token, rounded up."""
    return -(-characters // 3)


def charge(body: dict[str, Any], cached: set[str]) -> tuple[dict[str, Any], set[str]]:
    """The input half of `usage`, and the prefixes that the cache will hold; another model or form is another prefix."""
    state = hashlib.sha256(json.dumps([body["model"], requested_schema(body)]).encode())
    least = next((tokens for name, tokens in _LEAST_CACHED.items() if body["model"].startswith(name)), 4096)
    characters = known = read = marked = 0
    ttl, prefixes = "5m", set[str]()
    for role, block in _blocks(body):
        state.update(json.dumps([role, block["text"]]).encode())
        characters += len(block["text"])
        prefix, tokens = state.hexdigest(), _tokens(characters)
        known = tokens if prefix in cached else known
        if mark := block.get("cache_control"):
            read = known  # a prefix is looked for at a breakpoint and before it
            if tokens >= least:
                marked, ttl = tokens, mark.get("ttl", "5m")
                prefixes.add(prefix)
    created = max(marked - read, 0)
    lasting = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0, f"ephemeral_{ttl}_input_tokens": created}
    usage = {"input_tokens": _tokens(characters) - read - created, "cache_creation_input_tokens": created}
    return {**usage, "cache_read_input_tokens": read, "cache_creation": lasting, "service_tier": "standard"}, prefixes


def compose(then: Mapping[str, Any], body: dict[str, Any], usage: dict[str, Any]) -> dict[str, Any]:
    """The message that a rule asks for; cut off where it would exceed `max_tokens`, thinking included."""
    asked = next(block["text"] for role, block in _blocks(body) if role == "user")
    thinking, stop = then.get("thinking", ""), "end_turn"
    text = text_of(then, requested_schema(body), lambda: json.loads(asked))
    room = 3 * max(body["max_tokens"] - _tokens(len(thinking)), 0)
    if "truncate" in then or len(text) > room:
        text, stop = text[: min(then.get("truncate", room), room)], "max_tokens"
    content = [{"type": "thinking", "thinking": thinking, "signature": "loopback"}] if thinking else []
    content += [{"type": "text", "text": text}] if text else []
    if "refuse" in then:
        content, text, stop = [], "", "refusal"
    thought = _tokens(len(thinking))
    output = {"output_tokens": _tokens(len(text)) + thought, "output_tokens_details": {"thinking_tokens": thought}}
    return {
        "id": "msg_loopback",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {**usage, **output},
    }
