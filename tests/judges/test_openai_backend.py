"""The backend for Chat Completions APIs, by the real SDK against an imitation on loopback."""

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from evals.judges.backends.base import BackendError, Call, JudgeReply, OverloadedError
from evals.judges.backends.openai import OpenAIBackend

from evals.errors import JudgeError
from evals.schemas.verdicts import JudgeUsage

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["verdict"],
    "properties": {"verdict": {"type": "string", "enum": ["correct", "incorrect"]}},
}
CALL = Call(system="You are a judge.", content='{"answer": "yes"}', schema=SCHEMA, max_tokens=3000)
Ask = Callable[..., Any]


@pytest.fixture
def asking(chat_api: Any) -> Callable[..., Any]:
    """Do something with a backend for the imitation; keywords replace its arguments."""

    def run(work: Callable[[OpenAIBackend], Coroutine[Any, Any, Any]], **changes: Any) -> Any:
        async def main() -> Any:
            backend = OpenAIBackend(
                **{"model": "gpt-5.4-mini", "base_url": chat_api.url, "api_key": "sk-test", **changes}
            )
            try:
                return await work(backend)
            finally:
                await backend.aclose()

        return asyncio.run(main())

    return run


@pytest.fixture
def ask(asking: Callable[..., Any]) -> Ask:
    """Make one call."""
    return lambda **changes: asking(lambda backend: backend.complete(CALL), **changes)


@pytest.fixture
def fail(ask: Ask) -> Callable[..., BackendError]:
    """Make one call that brings no reply."""

    def get(**changes: Any) -> BackendError:
        with pytest.raises(BackendError) as caught:
            ask(**changes)
        return caught.value

    return get


def test_a_verdict_comes_back_with_model_and_tokens(chat_api: Any, ask: Ask) -> None:
    """Cached tokens are part of the input; the model is the one that answered."""
    chat_api.script({"then": {"json": {"verdict": "correct"}}})
    assert ask() == JudgeReply(
        text='{"verdict": "correct"}',
        stop="end",
        model="gpt-5.4-mini-2026-10-01",
        usage=JudgeUsage(input_tokens=6, output_tokens=2, cache_read_tokens=4),
    )


def test_the_reply_is_bound_to_the_schema_and_nothing_else_is_sent(chat_api: Any, ask: Ask) -> None:
    """Instructions and data are apart, and there is no temperature."""
    ask()
    (body,) = chat_api.bodies()
    assert body == {
        "model": "gpt-5.4-mini",
        "messages": [
            {"role": "system", "content": CALL.system},
            {"role": "user", "content": CALL.content},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA},
        },
        "max_completion_tokens": 3000,
    }


@pytest.mark.parametrize(
    ("then", "stop", "text"),
    [
        ({"refuse": "I cannot help with that."}, "refused", ""),
        ({"filter": True}, "refused", ""),
        ({"truncate": 5}, "truncated", '{"ver'),
        ({"status": 400, "error": {"code": "content_filter"}}, "refused", ""),
        ({"text": "I think it is fine."}, "end", "I think it is fine."),
    ],
)
def test_how_a_reply_ended_is_told(chat_api: Any, ask: Ask, then: dict[str, Any], stop: str, text: str) -> None:
    """Refusals by the model and by filters before and behind it, and what was cut off."""
    chat_api.script({"then": then})
    reply = ask()
    assert (reply.stop, reply.text) == (stop, text)


@pytest.mark.parametrize(
    ("then", "retryable", "fatal", "retry_after"),
    [
        ({"status": 429, "headers": {"retry-after": "7"}}, True, False, 7.0),
        ({"status": 429, "error": {"code": "rate_limit_exceeded", "type": "requests"}}, True, False, None),
        ({"status": 429, "error": {"code": "insufficient_quota", "type": "insufficient_quota"}}, False, True, None),
        ({"status": 429, "error": {"type": "insufficient_quota"}}, False, True, None),
        ({"status": 400, "error": {"code": "model_not_found"}}, False, True, None),
        ({"status": 400, "error": {"code": "context_length_exceeded"}}, False, False, None),
        ({"status": 402}, False, True, None),
        ({"status": 408}, True, False, None),
        ({"status": 413}, False, False, None),
        ({"status": 500}, True, False, None),
        ({"status": 503, "headers": {"retry-after": "2"}}, True, False, 2.0),
        ({"status": 429, "headers": {"retry-after": "2", "retry-after-ms": "1500"}}, True, False, 1.5),
        ({"status": 429, "headers": {"retry-after": "2", "retry-after-ms": "soon"}}, True, False, 2.0),
    ],
)
def test_a_failure_says_whether_to_call_again(
    chat_api: Any,
    fail: Callable[..., BackendError],
    then: dict[str, Any],
    retryable: bool,
    fatal: bool,
    retry_after: Any,
) -> None:
    """Overload passes, a spent quota does not; the SDK itself never calls twice."""
    chat_api.script({"then": then})
    error = fail()
    assert (error.retryable, error.fatal, error.retry_after_s) == (retryable, fatal, retry_after)
    assert f"HTTP {then['status']}: scripted" in str(error)
    assert len(chat_api.log) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"api_key": "sk-test-unknown"}, "HTTP 401: Incorrect API key"),
        ({"api_key": "sk-test-denied"}, "HTTP 403"),
        ({"model": "claude-haiku-5-5"}, "HTTP 404: The model `claude-haiku-5-5` does not exist"),
    ],
)
def test_no_access_and_no_such_model_are_fatal(
    fail: Callable[..., BackendError], changes: dict[str, Any], message: str
) -> None:
    """Every further call would fail the same way."""
    error = fail(**changes)
    assert error.fatal
    assert message in str(error)


@pytest.mark.parametrize("plain_errors", [False, True])
@pytest.mark.parametrize(
    ("changes", "form", "limit", "requests"),
    [
        ({"takes_schema": False}, "json_object", "max_completion_tokens", 3),
        ({"limit": "max_tokens"}, "json_schema", "max_tokens", 3),
        ({"takes_schema": False, "limit": "max_tokens"}, "json_object", "max_tokens", 4),
    ],
)
def test_what_a_server_refuses_is_said_more_simply_and_remembered(
    chat_api: Any,
    asking: Callable[..., Any],
    changes: dict[str, Any],
    form: str,
    limit: str,
    requests: int,
    plain_errors: bool,
) -> None:
    """The first call finds out, and the second asks at once as the server understands it."""
    chat_api.behaviour = type(chat_api.behaviour)(plain_errors=plain_errors, **changes)
    chat_api.script({"then": {"json": {"verdict": "correct"}}})

    async def twice(backend: OpenAIBackend) -> list[JudgeReply]:
        return [await backend.complete(CALL), await backend.complete(CALL)]

    assert [reply.text for reply in asking(twice)] == ['{"verdict": "correct"}'] * 2
    assert [entry["status"] for entry in chat_api.log] == [400] * (requests - 2) + [200, 200]
    last = chat_api.bodies()[-1]
    assert last["response_format"]["type"] == form
    assert limit in last


def test_a_server_without_schemas_is_given_the_schema_in_the_instructions(chat_api: Any, ask: Ask) -> None:
    """Behind the instructions of the prompt, which stay as they are."""
    chat_api.behaviour = type(chat_api.behaviour)(takes_schema=False)
    ask()
    said = chat_api.bodies()[-1]["messages"][0]["content"]
    assert said.startswith(CALL.system)
    assert json.loads(said[said.index("\n{") :]) == SCHEMA


@pytest.mark.parametrize(
    "changes", [{"takes_schema": False, "takes_object": False}, {"takes_form": False}], ids=["text only", "no form"]
)
@pytest.mark.parametrize("plain_errors", [False, True])
def test_a_server_that_binds_no_reply_is_asked_in_words(
    chat_api: Any, ask: Ask, changes: dict[str, Any], plain_errors: bool
) -> None:
    """It knows no `response_format`, or only `type: text`: the schema stands in the instructions alone."""
    chat_api.behaviour = type(chat_api.behaviour)(**changes, plain_errors=plain_errors)
    chat_api.script({"then": {"json": {"verdict": "correct"}}})
    assert ask().text == '{"verdict": "correct"}'
    last = chat_api.bodies()[-1]
    assert "response_format" not in last
    assert json.dumps(SCHEMA) in last["messages"][0]["content"]
    assert len(chat_api.log) == 3


@pytest.mark.parametrize("limit", ["max_completion_tokens", "max_tokens"])
def test_a_limit_that_is_too_high_for_a_server_is_lowered_and_remembered(
    chat_api: Any, asking: Callable[..., Any], limit: str
) -> None:
    """By halves, since messages name the limit in many ways; the name of the parameter stays what it is."""
    chat_api.behaviour = type(chat_api.behaviour)(limit=limit, most_tokens=1024)

    async def twice(backend: OpenAIBackend) -> list[JudgeReply]:
        return [await backend.complete(CALL), await backend.complete(CALL)]

    assert [reply.stop for reply in asking(twice)] == ["end", "end"]
    assert [body[limit] for body in chat_api.bodies() if limit in body] == [3000, 1500, 750, 750]


def test_a_server_without_room_for_any_reply_fails_with_its_own_words(
    chat_api: Any, fail: Callable[..., BackendError]
) -> None:
    """It is asked a few times, and what it said last is shown."""
    chat_api.behaviour = type(chat_api.behaviour)(most_tokens=10, plain_errors=True)
    error = fail()
    assert "This model supports at most 10 tokens" in str(error)
    assert (error.retryable, error.fatal) == (False, False)
    assert len(chat_api.log) < 10


@pytest.mark.parametrize("place", ["reasoning_content", "tool_calls"])
def test_a_reply_beside_the_content_is_read(chat_api: Any, ask: Ask, place: str) -> None:
    """Some servers take the whole reply for thoughts, or for the arguments of a tool."""
    chat_api.script({"then": {"json": {"verdict": "correct"}, "place": place}})
    reply = ask()
    assert (reply.text, reply.stop) == ('{"verdict": "correct"}', "end")


def test_thoughts_beside_a_reply_are_not_read(chat_api: Any, ask: Ask) -> None:
    """What was only considered is no verdict."""
    message = {"content": '{"verdict": "correct"}', "reasoning_content": '{"verdict": "incorrect"}'}
    chat_api.script({"then": {"raw": json.dumps({"choices": [{"message": message}]})}})
    assert ask().text == '{"verdict": "correct"}'


def test_without_a_key_none_is_made_up(chat_api: Any, ask: Ask) -> None:
    """A server that needs none sees no Authorization at all."""
    chat_api.behaviour = type(chat_api.behaviour)(needs_key=False, models="qwen")
    assert ask(api_key=None, model="qwen3:8b").stop == "end"
    assert "authorization" not in chat_api.log[0]["headers"]


def test_the_key_is_taken_from_the_environment(chat_api: Any, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """OPENAI_API_KEY, where none is given."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-env")
    ask(api_key=None)
    assert chat_api.log[0]["headers"]["authorization"] == "Bearer sk-test-env"


def test_a_response_without_a_reply_says_what_it_took(chat_api: Any, fail: Callable[..., BackendError]) -> None:
    """It is paid for; a gateway that failed says no tokens, and took none."""
    usage = '{"prompt_tokens": 1000, "completion_tokens": 200}'
    chat_api.script({"then": {"raw": f'{{"choices": [], "usage": {usage}}}'}})
    found = fail().usage
    assert found is not None
    assert (found.input_tokens, found.output_tokens) == (1000, 200)
    chat_api.script({"then": {"raw": '{"error": {"message": "upstream is down"}}'}})
    assert fail().usage is None


def test_a_server_that_is_not_there_can_be_tried_again(chat_api: Any, fail: Callable[..., BackendError]) -> None:
    """The message says more than "Connection error."."""
    chat_api.close()
    error = fail()
    assert error.retryable
    assert "onnect" in str(error).removeprefix("APIConnectionError")


def test_an_address_without_its_version_is_told(chat_api: Any, fail: Callable[..., BackendError]) -> None:
    """The commonest mistake with servers of one's own."""
    error = fail(base_url=chat_api.url.removesuffix("/v1"))
    assert error.fatal
    assert "may lack /v1" in str(error)


def test_without_its_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message is a command that helps."""
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(JudgeError, match="openai is not installed") as caught:
        OpenAIBackend("gpt-5.4-mini")
    assert caught.value.hint == "pip install 'rag-evals[openai]'"


@pytest.mark.parametrize(("status", "overloaded"), [(429, True), (503, True), (529, True), (500, False), (408, False)])
def test_an_overloaded_server_is_told_from_one_that_failed(
    chat_api: Any, fail: Callable[..., BackendError], status: int, overloaded: bool
) -> None:
    """One refuses every call for a while, the other may have failed on this one."""
    chat_api.script({"then": {"status": status}})
    assert isinstance(fail(), OverloadedError) is overloaded
