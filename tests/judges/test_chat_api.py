"""What the imitation of the Chat Completions API refuses: what passes here, the real one takes too."""

from typing import Any

import httpx
import pytest

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["x"],
    "properties": {"x": {"type": "string"}},
}
BODY = {"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": '{"answer": "so"}'}]}


def form(schema: Any = SCHEMA, **changes: Any) -> dict[str, Any]:
    bound = {"name": "verdict", "strict": True, "schema": schema, **changes}
    return {"response_format": {"type": "json_schema", "json_schema": bound}}


def post(api: Any, changes: dict[str, Any], *, path: str = "/chat/completions", key: str = "sk-test") -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with httpx.Client(trust_env=False) as client:
        return client.post(api.url + path, json={**BODY, **changes}, headers=headers)


@pytest.mark.parametrize("changes", [{}, form(), {"max_completion_tokens": 1}])
def test_what_the_api_takes_is_answered(chat_api: Any, changes: dict[str, Any]) -> None:
    """The least that is asked for, and what a judge asks for."""
    reply = post(chat_api, changes)
    assert reply.status_code == 200
    assert reply.json()["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"temperature": 0}, "temperature"),
        ({"top_p": 1}, "top_p"),
        ({"max_tokens": 100}, "max_tokens"),
        ({"max_completion_tokens": 0}, "max_completion_tokens"),
        ({"output_config": {}}, None),
        ({"stream": True}, "stream"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user", "content": " "}]}, "messages[0].content"),
        ({"messages": [{"role": "judge", "content": "x"}]}, "messages[0]"),
        ({"response_format": {"type": "json_object"}}, "messages"),
        ({"response_format": {"type": "xml"}}, "response_format"),
        (form(name="a verdict"), "response_format"),
        (form(strict=False), "response_format"),
        (form({**SCHEMA, "required": []}), "response_format"),
        (form({"type": "object", "properties": {}, "required": []}), "response_format"),
    ],
)
def test_what_the_api_does_not_take_is_refused(chat_api: Any, changes: dict[str, Any], param: str | None) -> None:
    """400, with the parameter that is wrong."""
    reply = post(chat_api, changes)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param)
