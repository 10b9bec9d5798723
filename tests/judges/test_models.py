"""Both vendors' models, by their SDKs over loopback: what is sent, what is read, and what a failure means."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest
from chat_api.server import Behaviour, ChatApi
from messages_api.loopback import LoopbackApi
from raw_server import answering

from evals.errors import JudgeError
from evals.judges import models
from evals.judges.models import PROVIDERS, AnthropicModel, Call, CallFailed, JudgeReply, SdkModel, origin_of
from evals.schemas.verdicts import JudgeUsage

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["verdict"],
    "properties": {"verdict": {"type": "string", "enum": ["correct", "incorrect"]}},
}
CALL = Call(system="You are a judge.", content='{"answer": "yes"}', schema=SCHEMA, max_tokens=3000)
NAMES = {"anthropic": "claude-haiku-5-5", "openai": "gpt-5.4-mini"}


def with_model(vendor: str, work: Callable[[SdkModel], Coroutine[Any, Any, Any]], **options: Any) -> Any:
    """Do something with a model of a vendor."""

    async def main() -> Any:
        model = PROVIDERS[vendor](options.pop("model", NAMES[vendor]), **{"api_key": "sk-test", **options})
        try:
            return await work(model)
        finally:
            await model.aclose()

    return asyncio.run(main())


def ask(vendor: str, url: str, call: Call = CALL, **options: Any) -> JudgeReply:
    reply: JudgeReply = with_model(vendor, lambda model: model.complete(call), base_url=url, **options)
    return reply


def find(vendor: str, url: str) -> None:
    with_model(vendor, lambda model: model.find(), base_url=url)


def fail(vendor: str, url: str, **options: Any) -> CallFailed:
    with pytest.raises(CallFailed) as raised:
        ask(vendor, url, **options)
    return raised.value


@pytest.fixture(params=PROVIDERS)
def api(request: pytest.FixtureRequest, messages_api: LoopbackApi, chat_api: ChatApi) -> tuple[str, LoopbackApi]:
    """Either vendor, and the imitation of its API."""
    return request.param, {"anthropic": messages_api, "openai": chat_api}[request.param]


# What is sent.


def test_claude_is_asked_by_a_schema_with_kept_instructions(messages_api: Any) -> None:
    """No sampling parameters, no forced tool; the data is kept where it will be sent again."""
    ask("anthropic", messages_api.url, effort="low")
    ask("anthropic", messages_api.url, replace(CALL, again=True, remark="Again."))
    first, second = (entry["body"] for entry in messages_api.log())
    kept = {"cache_control": {"type": "ephemeral"}}
    assert first == {
        "model": "claude-haiku-5-5",
        "max_tokens": 3000,
        "system": [{"type": "text", "text": CALL.system, **kept}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": CALL.content}]}],
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}, "effort": "low"},
    }
    data = {"type": "text", "text": CALL.content, **kept}
    assert second["messages"][0]["content"] == [data, {"type": "text", "text": "Again."}]
    assert "effort" not in second["output_config"]


def test_a_chat_api_is_asked_by_a_schema(chat_api: ChatApi) -> None:
    """Instructions and data are apart, and there is no temperature."""
    ask("openai", chat_api.url, effort="high")
    (body,) = chat_api.bodies()
    form = {"name": "verdict", "strict": True, "schema": SCHEMA}
    assert body == {
        "model": "gpt-5.4-mini",
        "messages": [{"role": "system", "content": CALL.system}, {"role": "user", "content": CALL.content}],
        "response_format": {"type": "json_schema", "json_schema": form},
        "max_completion_tokens": 3000,
        "reasoning_effort": "high",
    }


@pytest.mark.parametrize(
    ("behaviour", "requests"),
    [
        (Behaviour(takes_schema=False), 2),
        (Behaviour(takes_form=False), 2),
        (Behaviour(limit="max_tokens"), 2),
        (Behaviour(most_tokens=1000), 2),
        (Behaviour(takes_schema=False, limit="max_tokens", plain_errors=True), 3),
        (Behaviour(takes_form=False, limit="max_tokens", most_tokens=1000), 4),
    ],
)
def test_what_a_server_refuses_is_left_out_from_then_on(chat_api: ChatApi, behaviour: Behaviour, requests: int) -> None:
    """Schema, name of the limit, limit: the second call is made at once as the first one ended."""
    chat_api.behaviour = behaviour
    chat_api.script({"then": {"json": {"verdict": "correct"}}})

    async def twice(model: SdkModel) -> list[JudgeReply]:
        return [await model.complete(CALL) for _ in range(2)]

    replies = with_model("openai", twice, base_url=chat_api.url)
    assert [json.loads(reply.text) for reply in replies] == [{"verdict": "correct"}] * 2
    assert len(chat_api.log()) == requests + 1
    last = chat_api.bodies()[-1]
    in_words = json.dumps(SCHEMA) in last["messages"][0]["content"]
    assert in_words is not ("response_format" in last)


def test_without_a_key_none_is_made_up(chat_api: ChatApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of one's own asks for none; the environment's is taken where it is there."""
    chat_api.behaviour = Behaviour(needs_key=False)
    ask("openai", chat_api.url, api_key=None)
    monkeypatch.setenv("OPENAI_API_KEY", " sk-of-the-environment ")
    ask("openai", chat_api.url, api_key=None)
    sent = [entry["headers"].get("authorization") for entry in chat_api.log()]
    assert sent == [None, "Bearer sk-of-the-environment"]


@pytest.mark.parametrize("vendor", PROVIDERS)
def test_a_key_that_cannot_be_sent_and_a_missing_package_are_named(
    vendor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is asked."""
    with pytest.raises(JudgeError, match="cannot be sent"):
        PROVIDERS[vendor]("m", api_key="schlüssel")
    monkeypatch.setitem(__import__("sys").modules, vendor, None)
    with pytest.raises(JudgeError, match=f"the package {vendor} is not installed"):
        PROVIDERS[vendor]("m")


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434"),
        ("https://user:secret@Gateway.example/team/v1/?key=secret", "https://gateway.example/team/v1"),
        ("https://api.anthropic.com", "https://api.anthropic.com"),
        ("https://gateway.example/one", "https://gateway.example/one"),
    ],
)
def test_an_origin_keeps_the_path_and_no_secret(url: str, origin: str) -> None:
    """It is saved with the run, and is part of the cache's key."""
    assert origin_of(url) == origin


# What is read.


def test_tokens_of_claude_count_its_cache(messages_api: Any) -> None:
    """Input is what is new, written and read; thinking is part of the output."""
    messages_api.script({"then": {"json": {"verdict": "correct"}, "thinking": "x" * 300}})
    long = replace(CALL, system="Judge. " * 400)
    first, second = (ask("anthropic", messages_api.url, long) for _ in range(2))
    assert first.usage == JudgeUsage(input_tokens=939, output_tokens=108, thinking_tokens=100, cache_write_tokens=934)
    assert second.usage == JudgeUsage(input_tokens=939, output_tokens=108, thinking_tokens=100, cache_read_tokens=934)
    assert (first.text, first.model, first.stop) == ('{"verdict": "correct"}', "claude-haiku-5-5", "end")


def completed(chat_api: ChatApi, message: dict[str, Any], **body: Any) -> JudgeReply:
    """What is read from a completion with this message and other parts."""
    choice = {"message": {"role": "assistant", **message}, "finish_reason": "stop"}
    chat_api.script({"then": {"body": {"choices": [choice], "model": "m", **body}}})
    return ask("openai", chat_api.url, api_key="my-secret-key")


@pytest.mark.parametrize("counted", [{"prompt_tokens": 0}, {"prompt_tokens": -3}, {"prompt_tokens": "many"}, {}])
def test_a_count_that_is_none_is_no_count(chat_api: ChatApi, counted: dict[str, Any]) -> None:
    """Then the cost is unknown, and not nothing."""
    assert completed(chat_api, {"content": "{}"}, usage={"completion_tokens": 1, **counted}).usage is None


@pytest.mark.parametrize(
    "then",
    [
        {"filter": True},
        {"status": 400, "error": {"code": "content_filter"}},
        {"status": 400, "error": {"code": "content_policy_violation"}},
    ],
)
def test_a_content_filter_is_a_refusal(chat_api: ChatApi, then: dict[str, Any]) -> None:
    """Before the model, or behind it."""
    chat_api.script({"then": then})
    assert ask("openai", chat_api.url).stop == "refused"


WRITTEN = '{"verdict": "correct"}'
PARTS = [("text", WRITTEN[:9]), ("thinking", "I look"), ("text", WRITTEN[9:])]
CALLED = {"id": "call_1", "type": "function", "function": {"name": "verdict", "arguments": WRITTEN}}


@pytest.mark.parametrize(
    "message",
    [
        {"content": [{"type": kind, "text": text} for kind, text in PARTS]},
        {"content": None, "tool_calls": [CALLED]},
        {"content": "", "reasoning": WRITTEN},
        {"content": " ", "reasoning_content": WRITTEN},
        {"content": WRITTEN, "reasoning": "I look …"},
    ],
)
def test_a_reply_is_read_wherever_a_server_puts_it(chat_api: ChatApi, message: dict[str, Any]) -> None:
    """In parts, as reasoning, or as a tool call; what was thought besides a content is none."""
    assert completed(chat_api, message).text == WRITTEN


def test_the_name_of_a_model_is_kept_short_and_without_keys(chat_api: ChatApi) -> None:
    """It is saved with each verdict; a server that names none says nothing."""
    names = ("my-secret-key-" + "x" * 300, "")
    shown = [completed(chat_api, {"content": "{}"}, model=name).model for name in names]
    assert shown == ["***-" + "x" * 196, None]


# What a failure means.


@pytest.mark.parametrize(
    ("status", "said", "kind", "fatal"),
    [
        (529, "Overloaded", "transport", False),
        (400, "prompt is too long", "rejected", False),
        (413, "too large", "rejected", False),
        (401, "no such key", "transport", True),
        (403, "not allowed", "transport", True),
        (404, "no such model", "transport", True),
        (402, "pay first", "spend_limit", True),
        (400, "Your credit balance is too low", "spend_limit", True),
        (429, "You exceeded your quota: insufficient_quota", "spend_limit", True),
        (403, "Your account is not active: billing_not_active", "spend_limit", True),
        (400, "You have reached your specified API usage limits", "spend_limit", True),
        (429, "The monthly spending limit is reached", "spend_limit", True),
        (429, "Too many requests", "transport", False),
        (422, "no such parameter", "rejected", False),
        (500, "insufficient_quota could not be read", "transport", False),
        (400, "model_not_found", "transport", True),
    ],
)
def test_an_error_says_whether_the_judge_can_be_used(
    api: tuple[str, LoopbackApi], status: int, said: str, kind: str, fatal: bool
) -> None:
    """No access and no money end the judging; a rejected request is lost alone; none of them was paid for."""
    vendor, server = api
    server.script({"then": {"status": status, "message": said, "error": {"message": said}}})
    error = fail(vendor, server.url)
    assert (error.kind, error.fatal, error.sent) == (kind, fatal, False)
    assert f"HTTP {status}: {said}" in str(error)


OK = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n"
SAID = {"content": [{"type": "text", "text": "{}"}], "model": "m", "usage": {"input_tokens": 9, "output_tokens": 1}}
FINE = json.dumps({**SAID, "stop_reason": "end_turn"}).encode()
ODD = {
    "shorter than said": OK + b"content-length: %d\r\n\r\n" % (len(FINE) + 9) + FINE,
    "half of an object": OK + b"content-length: %d\r\n\r\n" % (len(FINE) - 9) + FINE[:-9],
    "no chunk": OK + b"transfer-encoding: chunked\r\n\r\nZZ\r\n" + FINE,
    "a page": OK.replace(b"application/json", b"text/html") + b"content-length: 4\r\n\r\n<p>x",
    "an error with status 200": OK + b'content-length: 17\r\n\r\n{"error":"no gpu"}'[:37],
    "nothing": b"",
}


def whole(**parts: Any) -> Callable[[int], list[bytes | None]]:
    """A response with this object."""
    body = json.dumps(parts).encode()
    return lambda _number: [OK + b"content-length: %d\r\n\r\n" % len(body) + body, None]


@pytest.mark.parametrize("vendor", PROVIDERS)
@pytest.mark.parametrize("response", ODD.values(), ids=ODD)
def test_a_response_that_is_none_is_a_failure_that_may_have_been_paid_for(
    vendor: str, response: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Torn, foreign or empty: nothing is read from it."""
    monkeypatch.setattr(models, "RETRIES", 0)
    with answering(lambda _number: [response, None]) as server:
        error = fail(vendor, server.url)
    assert (error.kind, error.fatal, error.sent) == ("transport", False, True)


@pytest.mark.parametrize("vendor", PROVIDERS)
def test_a_judge_that_is_not_there_was_never_paid(vendor: str) -> None:
    """Nothing was sent."""
    error = fail(vendor, "http://127.0.0.1:1/v1")
    assert (error.kind, error.fatal, error.sent) == ("transport", False, False)


def test_a_call_that_takes_too_long_may_have_been_paid_for(messages_api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its time-outs."""
    monkeypatch.setattr(AnthropicModel, "timeout_s", 0.5)
    monkeypatch.setattr(models, "RETRIES", 0)
    messages_api.script({"then": {"slow": 5}})
    error = fail("anthropic", messages_api.url)
    assert error.sent
    assert "APITimeoutError" in str(error)


@pytest.mark.parametrize("vendor", PROVIDERS)
def test_an_address_of_web_pages_is_no_judge(vendor: str) -> None:
    """Every call would end so: `evals doctor` says it before the first one is made."""
    with answering(whole(id="m", object="model", created=1, owned_by="us")) as server:
        find(vendor, server.url)
    page: list[bytes | None] = [ODD["a page"], None]
    with answering(lambda _number: page) as server, pytest.raises(CallFailed, match="with a page") as raised:
        find(vendor, server.url)
    assert raised.value.fatal


@pytest.mark.parametrize("vendor", PROVIDERS)
def test_a_model_is_looked_for_once(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks whether a judge is there wants to know it now."""
    monkeypatch.setattr(models, "RETRIES", 3)
    asked: list[int] = []

    def overloaded(number: int) -> list[bytes | None]:
        asked.append(number)
        return [b"HTTP/1.1 503 No\r\nconnection: close\r\nretry-after-ms: 1\r\ncontent-length: 0\r\n\r\n", None]

    with answering(overloaded) as server, pytest.raises(CallFailed, match="HTTP 503"):
        find(vendor, server.url)
    assert len(asked) == 1


def test_a_reply_that_the_context_window_ends_is_cut_off() -> None:
    """Like one that reaches its own limit: asked for again it gets more room, and it is not taken for a bad one."""
    with answering(whole(**SAID, stop_reason="model_context_window_exceeded")) as server:
        assert ask("anthropic", server.url).stop == "truncated"


# Keys.


@pytest.mark.parametrize(
    ("variables", "said", "shown"),
    [
        ({}, "bad key my-secret-key!", "bad key ***!"),
        ({"ANTHROPIC_API_KEY": "first-key"}, "first-key", "***"),
        ({"OPENAI_API_KEY": "third-key"}, "third-key", "***"),
        ({"ANTHROPIC_CUSTOM_HEADERS": "x-team: research\nx-gateway-token: topsecret"}, "topsecret", "***"),
        ({}, "Incorrect API key provided: sk-test-********wxyz.", "Incorrect API key provided: ***."),
        ({}, "no such model: risk-assessment-of-ours", "no such model: risk-assessment-of-ours"),
    ],
)
def test_no_key_is_in_an_error(
    api: tuple[str, LoopbackApi], variables: dict[str, str], said: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor half of one: the message is saved with the run."""
    vendor, server = api
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    server.script({"then": {"status": 401, "message": said, "error": {"message": said}}})
    assert shown in str(fail(vendor, server.url, api_key="my-secret-key"))


def test_an_error_is_kept_short(messages_api: Any) -> None:
    """Some servers send pages of them; each is saved with a verdict."""
    messages_api.script({"then": {"status": 400, "message": "too bad " * 1000}})
    assert str(fail("anthropic", messages_api.url)).startswith("HTTP 400: too bad too bad")
    assert len(str(fail("anthropic", messages_api.url))) == 500


def test_no_key_is_in_a_reply_unless_it_is_a_word_of_what_was_asked(messages_api: Any) -> None:
    """A key such as `ollama` is an ordinary word there."""
    messages_api.script({"then": {"text": "my-secret-key says yes"}})
    assert ask("anthropic", messages_api.url, api_key="my-secret-key").text == "*** says yes"
    assert ask("anthropic", messages_api.url, api_key="says").text == "my-secret-key *** yes"
    known = replace(CALL, content='{"answer": "he says yes"}')
    assert ask("anthropic", messages_api.url, known, api_key="says").text == "my-secret-key says yes"
