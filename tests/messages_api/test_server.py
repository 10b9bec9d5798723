"""The imitation of the Messages API, as the official SDK sees it."""

import json
from pathlib import Path
from typing import Any

import anthropic
import pytest
from servers import ServerProcess

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["why", "verdict", "score", "sure", "notes"],
    "properties": {
        "why": {"type": "string"},
        "verdict": {"type": "string", "enum": ["correct", "incorrect"]},
        "score": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "sure": {"type": "boolean"},
        "notes": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/note"}},
    },
    "$defs": {
        "note": {
            "type": "object",
            "additionalProperties": False,
            "required": ["quote"],
            "properties": {"quote": {"type": "string"}},
        }
    },
}
HELLO = [{"role": "user", "content": "Is it so?"}]


def form(schema: Any) -> dict[str, Any]:
    return {"format": {"type": "json_schema", "schema": schema}}


def text_of(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def test_by_default_the_schema_is_filled_in(ask: Any) -> None:
    """A reply follows the requested schema, with first values, in the order of its properties."""
    message = ask(output_config=form(SCHEMA))
    assert list(json.loads(text_of(message)).items()) == [
        ("why", "loopback why"),
        ("verdict", "correct"),
        ("score", 0),
        ("sure", False),
        ("notes", [{"quote": "loopback quote"}]),
    ]
    assert (message.stop_reason, message.stop_details, message.model) == ("end_turn", None, "claude-haiku-5-5")
    assert message.type == "message"
    assert message.role == "assistant"
    assert message.id.startswith("msg_loopback")
    assert message._request_id.startswith("req_loopback")


STATUSES = {
    402: (anthropic.PaymentRequiredError, "billing_error"),
    429: (anthropic.RateLimitError, "rate_limit_error"),
    500: (anthropic.InternalServerError, "api_error"),
    503: (anthropic.ServiceUnavailableError, "api_error"),
    504: (anthropic.GatewayTimeoutError, "timeout_error"),
    529: (anthropic.OverloadedError, "overloaded_error"),
}


@pytest.mark.parametrize("status", STATUSES)
def test_errors_can_be_scripted(messages_api: Any, status: int, ask: Any) -> None:
    """Each status is the SDK's own exception, with the seconds to wait."""
    error, kind = STATUSES[status]
    messages_api.script({"then": {"status": status, "retry_after": 7}})
    with pytest.raises(error) as caught:
        ask()
    assert caught.value.type == kind
    assert caught.value.response.headers["retry-after"] == "7"


def test_a_reply_can_be_cut_off(messages_api: Any, ask: Any) -> None:
    """By the script, or because it would exceed the limit; thinking counts."""
    messages_api.script({"match": "cut", "then": {"truncate": 10}}, {"match": "think", "then": {"thinking": "t" * 60}})
    cut = ask(output_config=form(SCHEMA), messages=[{"role": "user", "content": "cut"}])
    assert (cut.stop_reason, len(text_of(cut)), cut.usage.output_tokens) == ("max_tokens", 10, 4)
    limited = ask(output_config=form(SCHEMA), max_tokens=5)
    assert (limited.stop_reason, len(text_of(limited)), limited.usage.output_tokens) == ("max_tokens", 15, 5)
    thought = ask(max_tokens=20, messages=[{"role": "user", "content": "think"}])
    assert (thought.stop_reason, [block.type for block in thought.content]) == ("max_tokens", ["thinking"])


def test_rules_fit_by_text_and_schema_and_run_out(messages_api: Any, ask: Any) -> None:
    """The first rule that fits wins as often as it may; text inside JSON is found as it reads."""
    messages_api.script(
        {"match": 'the "best"', "schema_has": "quote", "then": {"json": 1}, "times": 1},
        {"schema_has": "absent", "then": {"json": 2}},
        {"match": "best", "then": {"json": 3}},
    )
    data = [{"role": "user", "content": json.dumps({"answer": 'the "best" one'})}]
    said = [text_of(ask(messages=data, output_config=form(SCHEMA))) for _ in range(2)]
    assert said == ["1", "3"]
    assert [entry["rule"] for entry in messages_api.log()] == [0, 2]


@pytest.mark.parametrize(
    "rule",
    [
        {},
        {"then": {"jsn": 1}},
        {"then": {"json": 1, "text": "x"}},
        {"then": {"python": "none"}},
        {"then": {"refuse": "x"}},
        {"then": {"model": "claude-x"}},
        {"when": "x", "then": {}},
    ],
)
def test_a_rule_that_is_not_understood_is_refused(messages_api: Any, rule: dict[str, Any]) -> None:
    """A slip in a test does not pass unseen."""
    with pytest.raises(ValueError, match=r"."):
        messages_api.script(rule)


def test_a_long_prefix_is_written_once_and_then_read(ask: Any) -> None:
    """The parts of the input add up; another schema or model is another prefix, and a short one is not cached."""

    def usage(rubric: str, question: str, **changes: Any) -> tuple[int, int, int]:
        system = [{"type": "text", "text": rubric, "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
        used = ask(system=system, messages=[{"role": "user", "content": question}], **changes).usage
        assert used.cache_creation.ephemeral_1h_input_tokens in {0, used.cache_creation_input_tokens}
        return used.input_tokens, used.cache_creation_input_tokens, used.cache_read_input_tokens

    rubric = "r" * 1536
    assert usage(rubric, "abc") == (1, 512, 0)
    assert usage(rubric, "abcdef") == (2, 0, 512)
    assert usage(rubric, "abc", model="claude-opus-5-5") == (1, 512, 0)
    assert [usage(rubric, "abc", model="claude-sonnet-5-5") for _ in range(2)] == [(513, 0, 0)] * 2
    assert usage(2 * rubric, "abc", model="claude-sonnet-5-5") == (1, 1024, 0)
    assert usage(rubric, "abc", output_config=form(SCHEMA)) == (1, 512, 0)
    assert usage(rubric, "abc", output_config=form(SCHEMA)) == (1, 0, 512)
    assert usage(rubric[3:], "abc") == usage(rubric[3:], "abc") == (512, 0, 0)


def test_the_log_holds_everything_but_the_key(messages_api: Any, ask: Any) -> None:
    """Body, head, status and time of each request."""
    ask(client={"api_key": "sk-test-secret"})
    (entry,) = messages_api.log()
    assert entry["body"]["messages"] == HELLO
    assert (entry["method"], entry["path"], entry["status"]) == ("POST", "/v1/messages", 200)
    assert entry["headers"]["authorization"] == "***"
    assert "sk-test-secret" not in json.dumps(entry)
    messages_api.reset()
    assert messages_api.log() == []


def test_the_process_ends_when_its_stdin_does() -> None:
    """It prints one line, and is never left behind, even with a request in flight."""
    server = ServerProcess(str(Path(__file__).with_name("server.py")), "--port", "0")
    try:
        assert server.announced.keys() == {"port"}
        assert server.end() == (0, "", "")
    finally:
        server.kill()
