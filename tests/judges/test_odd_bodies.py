"""Responses with status 200 that are none: each is tried again, and a judge that was odd once is still one."""

import asyncio
import gzip
import json
from collections.abc import Callable, Iterator

import pytest
from evals.judges.backends.anthropic import AnthropicBackend
from evals.judges.backends.base import Backend
from evals.judges.backends.openai import OpenAIBackend
from judges.test_llm_judge import RIGHT, several
from raw_server import answering

from evals.judges.llm_judge import LLMJudge
from evals.judges.replies import Decision
from evals.schemas.verdicts import JudgeUsage

SAID = json.dumps({**RIGHT, "quote": ""})
MESSAGE = {
    "type": "message",
    "content": [{"type": "text", "text": SAID}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 1000, "output_tokens": 100},
}
COMPLETION = {
    "choices": [{"index": 0, "message": {"role": "assistant", "content": SAID}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
}
FINE = json.dumps({**MESSAGE, **COMPLETION, "usage": {**MESSAGE["usage"], **COMPLETION["usage"]}}).encode()  # type: ignore[dict-item]
OK = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n"
MAKE: dict[str, Callable[[str], Backend]] = {
    "anthropic": lambda url: AnthropicBackend("m", base_url=url, api_key="sk-test"),
    "openai": lambda url: OpenAIBackend("m", base_url=f"{url}/v1", api_key="sk-test"),
}


def sized(body: bytes, more: bytes = b"", *, lacking: int = 0) -> bytes:
    return OK + more + b"content-length: %d\r\n\r\n" % (len(body) + lacking) + body


GZIPPED = gzip.compress(FINE)
TORN = {
    "cut between chunks": OK + b"transfer-encoding: chunked\r\n\r\n10\r\n" + FINE[:16] + b"\r\n",
    "no chunk": OK + b"transfer-encoding: chunked\r\n\r\nZZ\r\n" + FINE[:16] + b"\r\n",
    "shorter than said": sized(FINE, lacking=100),
    "half of an object": sized(FINE[:-20]),
    "two ends": sized(FINE + b"}"),
    "half of a gzip": sized(GZIPPED[:40], b"content-encoding: gzip\r\n"),
    "no gzip": sized(FINE, b"content-encoding: gzip\r\n"),
    "no text": sized(FINE[:40] + b"\xff\xfe" + FINE[40:]),
    "too deep": sized(b"[" * 100_000),
    "events": sized(b"data: " + FINE + b"\n\n"),
    "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n",
}
"""Nobody knows what they cost."""
FOREIGN = {
    "a page": OK.replace(b"application/json", b"text/html") + b"content-length: 4\r\n\r\n<p>x",
    "null": sized(b"null"),
    "a list": sized(b"[]"),
    "nothing in it": sized(b"{}"),
    "an error": sized(b'{"error": {"message": "no upstream"}}'),
    "no content": b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n",
}
"""Whole, and no reply of the API."""


def decided(vendor: str, first: bytes) -> tuple[Decision, LLMJudge]:
    """Make one decision by a judge that gives this response and then a right one, under a budget."""

    async def no_wait(_: float) -> None:
        return None

    def say(number: int) -> Iterator[bytes | None]:
        yield from (first if number == 0 else sized(FINE), None)

    def price(_model: str, usage: JudgeUsage) -> float:
        return (usage.input_tokens + usage.output_tokens) / 1e6

    async def run(url: str) -> tuple[Decision, LLMJudge]:
        judge = LLMJudge(MAKE[vendor](url), sleep=no_wait, max_cost_usd=1.0, price=price)
        try:
            decision = await judge.decide_once(several(1)[0], 0)
        finally:
            await judge.aclose()
        assert decision is not None
        return decision, judge

    with answering(say) as server:
        return asyncio.run(run(server.url))


@pytest.mark.parametrize("vendor", MAKE)
@pytest.mark.parametrize("first", TORN.values(), ids=TORN)
def test_a_torn_response_is_tried_again_and_counts_at_the_estimate(vendor: str, first: bytes) -> None:
    """It may have been paid for; the verdict is that of the second call."""
    decision, judge = decided(vendor, first)
    assert (decision.verdict.failure, decision.verdict.attempts, decision.verdict.unpriced) == (None, 2, 1)
    assert decision.verdict.cost_usd == pytest.approx(0.0011)
    assert judge.spent_usd > 0.0011
    assert ["counts calls of unknown cost at the estimate" in remark for remark in judge.remarks] == [True]


@pytest.mark.parametrize("vendor", MAKE)
@pytest.mark.parametrize("first", FOREIGN.values(), ids=FOREIGN)
def test_a_whole_response_that_is_no_reply_is_tried_again(vendor: str, first: bytes) -> None:
    """No model wrote it: it costs nothing."""
    decision, judge = decided(vendor, first)
    assert (decision.verdict.failure, decision.verdict.attempts, decision.verdict.unpriced) == (None, 2, 0)
    assert judge.spent_usd == pytest.approx(0.0011)
    assert judge.unusable is None
