"""Replies of a judge of which a part is not what the API promises: never a crash, and never a made-up number."""

import asyncio
import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from evals.judges.backends.anthropic import AnthropicBackend
from evals.judges.backends.base import Backend, BackendError, Call, JudgeReply
from evals.judges.backends.openai import OpenAIBackend
from raw_server import answering

from evals.judges.llm_judge import LLMJudge
from evals.schemas.verdicts import JudgeUsage, VerdictRequest

CALL = Call(system="You are a judge.", content='{"answer": "yes"}', schema={"type": "object"}, max_tokens=3000)
SAID = '{"verdict": "correct"}'
NO_COUNTS = ("many", 12.5, -1, [3], {"n": 3}, 10**400, 1e308)
MANY = json.dumps({"claims": [{"id": n, "passages": [{"id": 1}]} for n in range(60)]})
"""More brackets than JSON may be deep."""
TEXT = {"type": "text", "text": SAID}
Ask = Callable[[str, Any], JudgeReply]


def completion(**changes: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": changes.pop("content", SAID)}
    choice = {"index": 0, "message": message, "finish_reason": changes.pop("finish_reason", "stop")}
    return {"model": "m-1", "choices": [choice], "usage": None, **changes}


def message(**changes: Any) -> dict[str, Any]:
    usage = {"input_tokens": 7, "output_tokens": 2}
    return {"model": "m-1", "content": [TEXT], "stop_reason": "end_turn", "usage": usage, **changes}


@pytest.fixture
def backend(any_api: SimpleNamespace) -> Callable[[str], Backend]:
    """A backend of either vendor for the server that answers anything."""

    def make(vendor: str) -> Backend:
        if vendor == "openai":
            return OpenAIBackend("m", base_url=f"{any_api.url}/v1", api_key="sk-test")
        return AnthropicBackend("m", base_url=any_api.url, api_key="sk-test")

    return make


@pytest.fixture
def ask(any_api: SimpleNamespace, backend: Callable[[str], Backend]) -> Ask:
    """Make one call to a vendor's API that answers with a body."""

    def call(vendor: str, body: Any) -> JudgeReply:
        any_api.body = body

        async def main() -> JudgeReply:
            judge = backend(vendor)
            try:
                return await judge.complete(CALL)
            finally:
                await judge.aclose()

        return asyncio.run(main())

    return call


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        *(("prompt_tokens", wrong) for wrong in NO_COUNTS),
        ("completion_tokens", 12.5),
        ("cached_tokens", "many"),
        ("cache_write_tokens", -1),
    ],
)
def test_tokens_that_are_no_count_are_no_usage_of_a_completion(ask: Ask, field: str, wrong: Any) -> None:
    """What the call cost is unknown then, and what the model said counts all the same."""
    usage: dict[str, Any] = {"prompt_tokens": 7, "completion_tokens": 2}
    if field in usage:
        usage[field] = wrong
    else:
        usage["prompt_tokens_details"] = {field: wrong}
    assert ask("openai", completion(usage=usage)) == JudgeReply(SAID, "end", "m-1", None)


@pytest.mark.parametrize("usage", ["many", 5, [1], {}, None])
def test_usage_that_counts_nothing_is_none(ask: Ask, usage: Any) -> None:
    """Unknown is None, not zero tokens."""
    assert ask("openai", completion(usage=usage)).usage is None
    assert ask("anthropic", message(usage=usage)).usage is None


@pytest.mark.parametrize(("sent", "written"), [(7, None), (None, 2), (0, 0), (0, 2)])
def test_half_a_count_is_none(ask: Ask, sent: int | None, written: int | None) -> None:
    """Half of what a call took is not what it took: a budget counts it at the estimate. No call sends nothing."""
    assert ask("openai", completion(usage={"prompt_tokens": sent, "completion_tokens": written})).usage is None
    assert ask("anthropic", message(usage={"input_tokens": sent, "output_tokens": written})).usage is None


def test_a_call_that_sends_only_what_the_vendor_keeps_is_counted(ask: Ask) -> None:
    """Nothing of it is new then."""
    usage = {"input_tokens": 0, "output_tokens": 2, "cache_read_input_tokens": 7}
    expected = JudgeUsage(input_tokens=7, output_tokens=2, cache_read_tokens=7)
    assert ask("anthropic", message(usage=usage)).usage == expected


def test_whole_numbers_written_as_floats_are_counts(ask: Ask) -> None:
    """7.0 tokens are seven."""
    expected = JudgeUsage(input_tokens=7, output_tokens=2)
    assert ask("openai", completion(usage={"prompt_tokens": 7.0, "completion_tokens": 2})).usage == expected


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": '{"verdict": '}, {"type": "text", "text": '"correct"}'}], SAID),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, TEXT], SAID),
        ("", ""),
        (None, ""),
        ([], ""),
        ('{"quote": "a ``` b"}', '{"quote": "a ``` b"}'),
        ("\ud800", "?"),
        ('{"quote": "\\ud800"}', '{"quote": "?"}'),
        ('{"quote": "\\ud83d\\ude00"}', '{"quote": "😀"}'),
    ],
)
def test_what_a_completion_says_is_read(ask: Ask, content: Any, text: str) -> None:
    """Texts in parts are joined, and nothing else is changed but what no file can hold."""
    assert ask("openai", completion(content=content)).text == text


@pytest.mark.parametrize(
    "content",
    [
        5,
        {"verdict": "correct"},
        ["a"],
        [None],
        [[TEXT]],
        [TEXT, {"type": "image_url", "image_url": "x"}],
        [{"type": "text"}],
        [{"type": "text", "text": 5}],
        [{"type": ["text"], "text": "a"}],
        "[" * 50_000,
    ],
)
def test_content_that_is_no_text_is_a_malformed_reply(
    any_api: SimpleNamespace, backend: Callable[[str], Backend], content: Any
) -> None:
    """The judge counts it as unparsable, with a message that shows it; a tower of brackets is no reply either."""
    any_api.body = completion(content=content)
    judge = LLMJudge(backend("openai"))
    data = {"question": "q", "expected_answer": "a", "accepted_variants": [], "answer": "a"}
    request = VerdictRequest(name="answer_correctness", prompt="answer_correctness", data=data)

    async def decide() -> Any:
        try:
            return await judge.decide(request)
        finally:
            await judge.aclose()

    (verdict,) = asyncio.run(decide())
    assert (verdict.failure, verdict.reply) == ("unparsable", None)
    assert "not JSON: '<no " in (verdict.message or "").replace('"', "'")
    verdict.model_dump_json()


@pytest.mark.parametrize("content", [[], [{"type": "new"}], ["a", None, 3]])
def test_blocks_of_other_kinds_are_passed_over(ask: Ask, content: list[Any]) -> None:
    """Thinking, and what the vendor may add."""
    blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}, *content, TEXT]
    assert ask("anthropic", message(content=blocks)).text == SAID


@pytest.mark.parametrize("wrong", [5, ["length"], {"a": 1}, True, None])
def test_a_reason_or_name_that_is_no_text_is_none(ask: Ask, wrong: Any) -> None:
    """The reply counts as ended, and who gave it is not known."""
    reply = JudgeReply(SAID, "end", None, None)
    assert ask("openai", completion(finish_reason=wrong, model=wrong)) == reply
    assert ask("anthropic", message(stop_reason=wrong, model=wrong, usage=None)) == reply


@pytest.mark.parametrize("body", [[], [1], 5, None, {"choices": 5}, {"choices": {"a": 1}}, {"choices": "ab"}])
def test_a_response_of_another_shape_is_a_failure_of_the_call(ask: Ask, body: Any) -> None:
    """It can be tried again, and is counted as a failure of transport."""
    for vendor in ("openai", "anthropic"):
        with pytest.raises(BackendError, match="in the response") as caught:
            ask(vendor, body)
        assert caught.value.retryable


def test_a_web_page_is_no_judge(ask: Ask) -> None:
    """It may be a gateway's, so it is asked again; where it stays, every further call would bring the same page."""
    for vendor in ("openai", "anthropic"):
        with pytest.raises(BackendError, match="does not answer as the") as caught:
            ask(vendor, b"<html>Welcome</html>")
        error = caught.value
        assert (error.fatal, error.retryable, error.fatal_if_lasting) == (False, True, True)


@pytest.mark.parametrize(("vendor", "good"), [("openai", completion()), ("anthropic", message())])
def test_a_web_page_after_a_reply_is_a_failure_that_passes(
    any_api: SimpleNamespace, backend: Callable[[str], Backend], vendor: str, good: Any
) -> None:
    """A gateway's page, now and then, does not end a run whose judge is there."""

    async def three_times() -> BackendError:
        judge = backend(vendor)
        try:
            any_api.body = good
            await judge.complete(CALL)
            any_api.body = b"<html>Back soon</html>"
            with pytest.raises(BackendError, match="does not answer as the") as caught:
                await judge.complete(CALL)
            any_api.body = good
            await judge.complete(CALL)
            return caught.value
        finally:
            await judge.aclose()

    error = asyncio.run(three_times())
    assert (error.fatal, error.retryable) == (False, True)


@pytest.mark.parametrize("make", [OpenAIBackend, AnthropicBackend])
def test_a_reply_that_drips_ends_at_the_deadline(make: Callable[..., Backend]) -> None:
    """The timeout holds for the call as a whole, not for each byte of it, of which one arrives all the time."""

    def drip(_number: int) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n"
        while not server.over.wait(0.02):
            yield b" "

    async def call(url: str) -> None:
        judge = make("m", base_url=url, api_key="sk-test", timeout_s=0.3)
        try:
            await asyncio.wait_for(judge.complete(CALL), 30)
        finally:
            await judge.aclose()

    with answering(drip) as server, pytest.raises(BackendError, match=r"no complete reply within 0.3 s") as caught:
        asyncio.run(call(server.url))
    assert caught.value.retryable
