"""The imitation of the Messages API, as the official SDK sees it."""

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
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
CLAIMS: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["claims", "injection_suspected"],
    "properties": {
        "claims": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["claim", "quote", "context_id", "verdict"],
                "properties": {
                    "claim": {"type": "string"},
                    "quote": {"type": "string"},
                    "context_id": {"type": "string"},
                    "verdict": {"type": "string", "enum": ["supported", "unsupported", "cannot_tell"]},
                },
            },
        },
        "injection_suspected": {"type": "boolean"},
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


def test_without_a_schema_it_says_what_it_is(ask: Any) -> None:
    """Nobody takes its words for those of a model."""
    assert text_of(ask()) == "This is a loopback imitation."


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


def test_a_spent_limit_has_its_code(messages_api: Any, ask: Any) -> None:
    """The code by which a run ends, not the status."""
    messages_api.script({"then": {"status": 429, "error_code": "enforced_spend_limit_reached"}})
    with pytest.raises(anthropic.RateLimitError) as caught:
        ask()
    assert caught.value.error_code == "enforced_spend_limit_reached"


def test_a_dropped_connection_is_a_connection_error(messages_api: Any, ask: Any) -> None:
    """There is no reply at all."""
    messages_api.script({"then": {"drop": True}})
    with pytest.raises(anthropic.APIConnectionError):
        ask()
    assert messages_api.stats()["by_status"] == {"none": 1}


def test_a_slow_reply_runs_into_the_timeout(messages_api: Any, sdk_client: Any) -> None:
    """The client leaves, and the server lets go of the request."""
    messages_api.script({"then": {"slow": 60}})

    async def call() -> None:
        async with sdk_client(messages_api.url).with_options(timeout=0.05) as sdk:
            await sdk.messages.create(model="claude-haiku-5-5", max_tokens=9, messages=HELLO)

    with pytest.raises(anthropic.APITimeoutError):
        asyncio.run(call())


def test_a_slow_reply_can_be_any_other(messages_api: Any, ask: Any) -> None:
    """The wait is before what follows."""
    messages_api.script({"then": {"slow": 0.01, "then": {"status": 529}}})
    with pytest.raises(anthropic.OverloadedError):
        ask()
    assert messages_api.log()[0]["seconds"] >= 0.01


def test_a_refusal_is_a_reply_without_content(messages_api: Any, ask: Any) -> None:
    """Status 200, its category in the details."""
    messages_api.script({"then": {"refuse": "reasoning_extraction"}})
    message = ask(output_config=form(SCHEMA))
    assert (message.stop_reason, message.content) == ("refusal", [])
    assert message.stop_details.category == "reasoning_extraction"


def test_a_reply_can_be_cut_off(messages_api: Any, ask: Any) -> None:
    """By the script, or because it would exceed the limit; thinking counts."""
    messages_api.script({"match": "cut", "then": {"truncate": 10}}, {"match": "think", "then": {"thinking": "t" * 60}})
    cut = ask(output_config=form(SCHEMA), messages=[{"role": "user", "content": "cut"}])
    assert (cut.stop_reason, len(text_of(cut)), cut.usage.output_tokens) == ("max_tokens", 10, 4)
    limited = ask(output_config=form(SCHEMA), max_tokens=5)
    assert (limited.stop_reason, len(text_of(limited)), limited.usage.output_tokens) == ("max_tokens", 15, 5)
    thought = ask(max_tokens=20, messages=[{"role": "user", "content": "think"}])
    assert (thought.stop_reason, [block.type for block in thought.content]) == ("max_tokens", ["thinking"])


def test_json_text_thinking_and_model_can_be_scripted(messages_api: Any, ask: Any) -> None:
    """What a rule says is said as it stands."""
    messages_api.script(
        {"match": "one", "then": {"json": {"a": "é"}, "thinking": "hm", "model": "loopback-judge"}},
        {"match": "two", "then": {"text": '{"a": '}},
    )
    one = ask(messages=[{"role": "user", "content": "one two"}])
    assert ([block.type for block in one.content], one.model) == (["thinking", "text"], "loopback-judge")
    assert json.loads(text_of(one)) == {"a": "é"}
    assert one.usage.output_tokens_details.thinking_tokens == 1
    assert text_of(ask(messages=[{"role": "user", "content": "two"}])) == '{"a": '


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


def test_usage_counts_three_characters_a_token(ask: Any) -> None:
    """Over system and messages, rounded up."""
    message = ask(system="1234", messages=[{"role": "user", "content": "123"}])
    assert message.usage.input_tokens == 3
    assert message.usage.output_tokens == len("This is a loopback imitation.") // 3 + 1
    assert message.usage.cache_creation_input_tokens == 0


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


def test_a_later_breakpoint_builds_on_an_earlier_one(ask: Any) -> None:
    """What is known is read, what follows it is written."""

    def usage(*texts: str) -> tuple[int, int, int]:
        blocks = [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}} for text in texts]
        used = ask(messages=[{"role": "user", "content": blocks}]).usage
        return used.input_tokens, used.cache_creation_input_tokens, used.cache_read_input_tokens

    assert usage("r" * 1800) == (0, 600, 0)
    assert usage("r" * 1800, "c" * 300) == (0, 100, 600)
    assert usage("r" * 1800, "c" * 300) == (0, 0, 700)


def test_tokens_can_be_counted(messages_api: Any, sdk_client: Any) -> None:
    """By the same rule as in usage; a limit is no parameter of that."""

    async def call() -> int:
        async with sdk_client(messages_api.url) as sdk:
            count = await sdk.messages.count_tokens(model="claude-haiku-5-5", system="12345", messages=HELLO)
            return int(count.input_tokens)

    assert asyncio.run(call()) == 5
    assert messages_api.log()[0]["path"] == "/v1/messages/count_tokens"


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


def test_stats_tell_how_many_were_in_flight(
    serving_messages_api: Callable[..., AbstractAsyncContextManager[Any]], sdk_client: Any
) -> None:
    """The same server in the loop of the test, and what is asked at the same time."""

    async def call() -> dict[str, Any]:
        async with serving_messages_api() as api, sdk_client(api.url) as sdk:
            api.script({"match": "fail", "then": {"status": 500}}, {"then": {"slow": 0.05}})
            said = ["a", "b", "c", "fail"]
            asked = (
                sdk.messages.create(
                    model="claude-haiku-5-5", max_tokens=99, messages=[{"role": "user", "content": word}]
                )
                for word in said
            )
            await asyncio.gather(*asked, return_exceptions=True)
            return dict(api.stats())

    stats = asyncio.run(call())
    assert stats["by_status"] == {"200": 3, "500": 1}
    assert (stats["requests"], stats["in_flight"]) == (4, 0)
    assert stats["max_in_flight"] >= 3


def test_every_reply_can_be_delayed(start_messages_api: Callable[..., Any], ask: Any) -> None:
    """For measuring how calls overlap."""
    api = start_messages_api("--delay", "0.02")
    ask(url=api.url)
    assert api.log()[0]["seconds"] >= 0.02


def test_the_judge_responder_goes_by_shared_words(messages_api: Any, ask: Any) -> None:
    """A sentence whose words stand in one context is supported by a verbatim quote, another is not."""
    messages_api.script({"schema_has": "claims", "then": {"python": "judge"}})
    first, second = "Weekly ones are kept for twelve weeks.", "Daily snapshots are kept for 30 days."
    data = {
        "contexts": [{"id": "c1", "text": "Wind is measured."}, {"id": "c2", "text": f"Retention. {second} {first}"}],
        "question": "How long?",
        "answer": "Daily snapshots stay for 30 days [2]. Monthly tapes rot in cellars.",
    }
    content = json.dumps(data, ensure_ascii=False)
    message = ask(messages=[{"role": "user", "content": content}], output_config=form(CLAIMS))
    assert json.loads(text_of(message)) == {
        "claims": [
            {
                "claim": "Daily snapshots stay for 30 days [2].",
                "quote": second,
                "context_id": "c2",
                "verdict": "supported",
            },
            {
                "claim": "Monthly tapes rot in cellars.",
                "quote": "",
                "context_id": "loopback context_id",
                "verdict": "unsupported",
            },
        ],
        "injection_suspected": False,
    }


def test_the_judge_responder_needs_data(messages_api: Any, ask: Any) -> None:
    """A judge that sends no JSON object is a mistake that shows."""
    messages_api.script({"then": {"python": "judge"}})
    with pytest.raises(anthropic.BadRequestError, match="JSON object"):
        ask(output_config=form(CLAIMS))


def test_the_process_ends_when_its_stdin_does() -> None:
    """It prints one line, and is never left behind, even with a request in flight."""
    server = ServerProcess(str(Path(__file__).with_name("server.py")), "--port", "0")
    try:
        assert server.announced.keys() == {"port"}
        assert server.end() == (0, "", "")
    finally:
        server.kill()
