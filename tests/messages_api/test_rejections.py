"""What the imitation of the Messages API refuses, as the official SDK sees it."""

from typing import Any

import anthropic
import pytest

HELLO = [{"role": "user", "content": "Is it so?"}]


def form(schema: Any) -> dict[str, Any]:
    return {"format": {"type": "json_schema", "schema": schema}}


def one_property(**part: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "required": ["x"], "properties": {"x": part}}


REFUSED = {
    "sampling": {"temperature": 0},
    "top_p": {"top_p": 1},
    "top_k": {"top_k": 1},
    "forced tools": {"tool_choice": {"type": "any"}, "tools": []},
    "a forced tool": {"tool_choice": {"type": "tool", "name": "x"}, "tools": []},
    "no thinking": {"thinking": {"type": "disabled"}},
    "a budget of thinking": {"thinking": {"type": "enabled", "budget_tokens": 1024}},
    "prefill": {"messages": [*HELLO, {"role": "assistant", "content": "{"}]},
    "an unknown field": {"output_format": {}},
    "no limit": {"max_tokens": None},
    "too high a limit": {"max_tokens": 128_001},
    "no model": {"model": None},
    "no messages": {"messages": []},
    "an empty text": {"messages": [{"role": "user", "content": [{"type": "text", "text": " "}]}]},
    "an unknown effort": {"output_config": {"effort": "extreme"}},
    "another kind of format": {"output_config": {"format": {"type": "json_object"}}},
    "a ttl of its own": {"cache_control": {"type": "ephemeral", "ttl": "1d"}},
    "five breakpoints": {
        "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}} for _ in range(5)]
    },
    "a stream": {"stream": True},
    "a schema that is no object": {"output_config": form({"type": "array", "items": {"type": "string"}})},
    "an open object": {"output_config": form({"type": "object", "properties": {}, "required": []})},
    "an optional property": {"output_config": form(one_property(type="string") | {"required": []})},
    "an open object inside": {"output_config": form(one_property(type="object", properties={}))},
    "a minimum": {"output_config": form(one_property(type="integer", minimum=1))},
    "a maximum": {"output_config": form(one_property(type="integer", maximum=5))},
    "a pattern": {"output_config": form(one_property(type="string", pattern="a"))},
    "a greatest length": {"output_config": form(one_property(type="array", items={"type": "string"}, maxItems=3))},
    "two items at least": {"output_config": form(one_property(type="array", items={"type": "string"}, minItems=2))},
    "a reference to nothing": {"output_config": form(one_property(**{"$ref": "#/$defs/none"}))},
    "a recursive schema": {
        "output_config": form({"$ref": "#/$defs/a", "$defs": {"a": one_property(**{"$ref": "#/$defs/a"})}})
    },
}


@pytest.mark.parametrize("changes", REFUSED.values(), ids=REFUSED.keys())
def test_what_the_api_does_not_take_is_refused(changes: dict[str, Any], ask: Any) -> None:
    """400, with the body of the API's errors."""
    with pytest.raises(anthropic.BadRequestError) as caught:
        ask(**changes)
    assert caught.value.type == "invalid_request_error"
    assert caught.value.body["type"] == "error"
    assert caught.value.body["request_id"] == caught.value.request_id
    assert caught.value.request_id.startswith("req_loopback")


@pytest.mark.parametrize(
    "changes",
    [
        {"thinking": {"type": "adaptive"}},
        {"thinking": {"type": "between_tools"}},
        {"tool_choice": {"type": "auto"}, "tools": []},
        {"output_config": {"effort": "low"}},
        {"max_tokens": 128_000},
        {"messages": [*HELLO, {"role": "assistant", "content": "{"}, *HELLO]},
        {"metadata": {"user_id": "u"}, "stop_sequences": ["x"], "service_tier": "auto"},
    ],
)
def test_what_the_api_takes_is_taken(changes: dict[str, Any], ask: Any) -> None:
    """It is strict, not narrow."""
    assert ask(**changes).stop_reason == "end_turn"


@pytest.mark.parametrize(
    ("key", "error", "kind"),
    [
        ("sk-test-unknown", anthropic.AuthenticationError, "authentication_error"),
        ("sk-test-denied", anthropic.PermissionDeniedError, "permission_error"),
    ],
)
def test_keys_can_be_refused(key: str, error: type[Exception], kind: str, ask: Any) -> None:
    """One key is unknown, one has no rights; every other one is good."""
    with pytest.raises(error) as caught:
        ask(client={"api_key": key})
    assert caught.value.type == kind  # type: ignore[attr-defined]
