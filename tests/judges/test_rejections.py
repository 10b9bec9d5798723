"""A judge that refuses every call alike, or whose first responses are none: when a run ends, and what it is told."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from evals.judges.backends.base import RejectedError
from evals.judges.backends.openai import OpenAIBackend
from judges.test_llm_judge import RIGHT, Scripted, says, several

from evals.errors import JudgeError
from evals.judges.llm_judge import LLMJudge
from evals.judges.record import tally_of
from evals.schemas import JudgeVerdict

FINE = says({**RIGHT, "quote": ""})


def refused(message: str = "HTTP 400: effort: Input should be 'low'") -> RejectedError:
    return RejectedError(message)


def judge_of(*script: Any) -> tuple[LLMJudge, Scripted]:
    async def no_wait(_: float) -> None:
        return None

    backend = Scripted(*script)
    return LLMJudge(backend, sleep=no_wait, concurrency=1), backend


def verdicts(judge: LLMJudge, count: int) -> list[JudgeVerdict]:
    async def run() -> list[JudgeVerdict]:
        found = []
        for request in several(count):
            found += await judge.decide(request)
        return found

    return asyncio.run(run())


def test_eight_calls_refused_alike_end_the_judging() -> None:
    """Not a thousand failed verdicts; the message says what the API dislikes."""
    judge, backend = judge_of(refused())
    with pytest.raises(JudgeError, match=r"8 calls in a row for one reason: HTTP 400: effort") as told:
        verdicts(judge, 20)
    assert len(backend.calls) == 8
    assert told.value.hint


@pytest.mark.parametrize(
    "script",
    [
        [*[refused()] * 7, FINE, *[refused()] * 7, FINE],
        [refused(f"HTTP 400: prompt is too long: {n} tokens") for n in range(16)],
        [*[refused("HTTP 400: one"), refused("HTTP 400: other")] * 8],
    ],
)
def test_requests_that_are_refused_one_by_one_end_nothing(script: list[Any]) -> None:
    """A reply between them, or another reason, says that others pass."""
    judge, _ = judge_of(*script)
    found = verdicts(judge, len(script))
    assert {verdict.failure for verdict in found} <= {"rejected", None}
    assert judge.unusable is None


def test_rejected_requests_are_told_with_the_ways_out() -> None:
    """They are no trouble of the connection: asking again brings the same."""
    judge, _ = judge_of(refused("HTTP 400: prompt is too long"), FINE)
    found = verdicts(judge, 2)
    (note,) = [note for note in tally_of({"q": found}).notes(judge.identity, prevented=0) if "rejected" in note][1:]
    assert "1 decision" in note
    assert "judge.max_input_tokens" in note


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (402, {"type": "billing_error", "message": "Payment required"}),
        (400, {"message": "Your credit balance is too low to access the API."}),
        (400, {"message": "You have reached your specified API usage limits."}),
        (429, {"type": "insufficient_quota", "code": "insufficient_quota", "message": "You exceeded your quota."}),
        (403, {"code": "billing_hard_limit_reached", "message": "Billing hard limit has been reached"}),
        (429, {"message": "no", "error_code": "enforced_spend_limit_reached"}),
    ],
)
def test_a_spend_limit_ends_the_judging_with_its_own_way_out(
    any_api: SimpleNamespace, status: int, error: dict[str, Any]
) -> None:
    """It is no matter of the key or of the model's name."""
    any_api.status, any_api.body = status, {"error": error}

    async def decide() -> tuple[JudgeVerdict, JudgeError]:
        judge = LLMJudge(OpenAIBackend("m", base_url=f"{any_api.url}/v1", api_key="sk-test"))
        try:
            decision = await judge.decide_once(several(1)[0], 0)
        finally:
            await judge.aclose()
        assert decision is not None
        assert judge.unusable is not None
        return decision.verdict, judge.unusable

    verdict, unusable = asyncio.run(decide())
    assert (verdict.failure, verdict.attempts) == ("spend_limit", 1)
    assert "raise the spend limit or add credit" in (unusable.hint or "")


def call(any_api: SimpleNamespace, *bodies: Any) -> tuple[list[JudgeVerdict], LLMJudge]:
    """Make one decision by a server that gives these bodies, one after the other."""

    async def run() -> tuple[list[JudgeVerdict], LLMJudge]:
        waiting = list(bodies)
        any_api.body = waiting.pop(0)

        async def next_body(_: float) -> None:
            any_api.body = waiting.pop(0) if waiting else any_api.body

        judge = LLMJudge(OpenAIBackend("m", base_url=f"{any_api.url}/v1", api_key="sk-test"), sleep=next_body)
        try:
            return [v for v in [await judge.decide_once(several(1)[0], 0)] if v], judge  # type: ignore[misc]
        finally:
            await judge.aclose()

    return asyncio.run(run())


def completion() -> dict[str, Any]:
    message = {"role": "assistant", "content": FINE.text}
    return {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": None}


@pytest.mark.parametrize(
    "first",
    [b"<html>Starting up</html>", b'{"choices": [', b"", {"error": "upstream"}],
    ids=["page", "torn", "empty", "error"],
)
def test_a_first_response_that_is_none_is_tried_again(any_api: SimpleNamespace, first: Any) -> None:
    """A gateway whose server is not up yet, or a body that broke off with status 200."""
    (decision,), judge = call(any_api, first, completion())
    assert decision.verdict.failure is None  # type: ignore[attr-defined]
    assert judge.unusable is None


def test_a_page_that_comes_again_and_again_is_no_judge(any_api: SimpleNamespace) -> None:
    """The address is wrong then."""
    _, judge = call(any_api, b"<html>Welcome</html>")
    assert judge.unusable is not None
    assert "does not answer as the Chat Completions API" in judge.unusable.message
