"""The bodies of replies with status 200."""

import json
from typing import Any

from messages_api.responder import respond
from messages_api.schema_filling import fill

_MARK = "JSON schema:\n"


def compose(then: dict[str, Any], body: dict[str, Any], number: int) -> dict[str, Any]:
    """The completion that a rule asks for."""
    if "body" in then:
        return dict(then["body"])
    text: str | None = _text(then, body)
    finish = "stop"
    if "truncate" in then:
        text, finish = text[: then["truncate"]], "length"
    if "filter" in then:
        text, finish = "", "content_filter"
    refusal = then.get("refuse")
    message = {"role": "assistant", "content": None if refusal else text, "refusal": refusal}
    if then.get("place") == "reasoning_content":
        message.update(content="", reasoning_content=text)
    elif then.get("place") == "tool_calls":
        call = {"id": "call_1", "type": "function", "function": {"name": "verdict", "arguments": text}}
        message, finish = {**message, "content": None, "tool_calls": [call]}, "tool_calls"
    return {
        "id": f"chatcmpl-loopback{number}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": then.get("model", f"{body['model']}-2026-10-01"),
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": _usage(body, text) if then.get("usage", True) else None,
    }


def schema_of(body: dict[str, Any]) -> dict[str, Any] | None:
    """The schema of the reply, whether it is a parameter or stands in the instructions."""
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        return dict(form["json_schema"]["schema"])
    said = body["messages"][0]["content"]
    return dict(json.loads(said.partition(_MARK)[2])) if _MARK in said else None


def _text(then: dict[str, Any], body: dict[str, Any]) -> str:
    if "text" in then:
        return str(then["text"])
    if "json" in then:
        return json.dumps(then["json"])
    schema = schema_of(body)
    if schema is None:
        return "This is a loopback imitation."
    data = json.loads(body["messages"][-1]["content"])
    return json.dumps(respond(schema, data) if then.get("judge") else fill(schema))


def _usage(body: dict[str, Any], text: str) -> dict[str, Any]:
    """A token a word; the instructions count as read from the cache."""
    words = [len(message["content"].split()) for message in body["messages"]]
    spoken = len(text.split())
    return {
        "prompt_tokens": sum(words),
        "completion_tokens": spoken,
        "total_tokens": sum(words) + spoken,
        "prompt_tokens_details": {"cached_tokens": words[0], "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
