"""The bodies of replies with status 200, and the scripted errors."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from messages_api.content import Charge, count_tokens, requested_schema, user_data
from messages_api.rejection import Rejection
from messages_api.schema_filling import fill

Responder = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]
_MESSAGES = {429: "This request would exceed your rate limit.", 500: "Internal server error", 529: "Overloaded"}


def scripted_error(then: dict[str, Any]) -> Rejection:
    """The error that a rule asks for."""
    status = then["status"]
    message = then.get("message") or _MESSAGES.get(status, f"scripted status {status}")
    after = then.get("retry_after")
    headers = {"retry-after-ms": "1"} if after is None else {"retry-after": str(after)}  # tests do not wait
    return Rejection(status, message, error_code=then.get("error_code"), headers=headers)


def compose(
    then: dict[str, Any], body: dict[str, Any], charge: Charge, number: int, responders: Mapping[str, Responder]
) -> dict[str, Any]:
    """The message that a rule asks for; cut off where it would exceed ``max_tokens``, thinking included."""
    thinking = then.get("thinking")
    text, stop = _text(then, body, responders), "end_turn"
    thought = count_tokens(len(thinking or ""))
    room = 3 * max(body["max_tokens"] - thought, 0)
    if "truncate" in then or len(text) > room:
        text, stop = text[: min(then.get("truncate", room), room)], "max_tokens"
    content = [{"type": "text", "text": text, "citations": None}] if text else []
    if "refuse" in then:
        content, stop = [], "refusal"
    elif thinking is not None:
        content.insert(0, {"type": "thinking", "thinking": thinking, "signature": "loopback"})
    spoken = count_tokens(len(text)) if content else 0
    usage = charge.usage() | {"output_tokens": spoken + thought, "output_tokens_details": {"thinking_tokens": thought}}
    return {
        "id": f"msg_loopback{number:06d}",
        "type": "message",
        "role": "assistant",
        "model": then.get("model", body["model"]),
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "stop_details": _refusal(then["refuse"]) if "refuse" in then else None,
        "usage": usage | {"service_tier": "standard"},
    }


def _refusal(category: str | None) -> dict[str, Any]:
    return {"type": "refusal", "category": category, "explanation": "Scripted by a test."}


def _text(then: dict[str, Any], body: dict[str, Any], responders: Mapping[str, Responder]) -> str:
    """What the model says, before it is cut off."""
    if "text" in then:
        return str(then["text"])
    if "json" in then:
        return json.dumps(then["json"], ensure_ascii=False)
    schema = requested_schema(body)
    if "python" not in then:
        return "This is a loopback imitation." if schema is None else json.dumps(fill(schema), ensure_ascii=False)
    data = user_data(body)
    if schema is None or not data:
        raise Rejection(400, f"the responder {then['python']} needs a schema and a JSON object in the user's message")
    return json.dumps(responders[then["python"]](schema, data), ensure_ascii=False)
