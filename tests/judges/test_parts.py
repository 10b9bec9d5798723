"""Long lists in several calls, replies with room for all that is asked, and requests that are too long to make."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from evals.judges.backends.base import BackendError, Call, Identity, JudgeReply
from evals.judges.prompt import MOST_ITEMS, joined, load_prompt, parts_of, room_for, stand_in_reply, why_too_long
from hypothesis import given
from hypothesis import strategies as st
from judges.test_llm_judge import USAGE, says

from evals.config import EvalConfig
from evals.judges.cache import JudgeCache
from evals.judges.llm_judge import LLMJudge
from evals.judges.record import tally_of
from evals.judges.replies import Decision, call_of, fits, problem_with
from evals.run.checks import check_config, estimate_of
from evals.run.estimate import Known
from evals.schemas import EvalQuestion, EvalResponse, JudgeVerdict, RetrievedChunk
from evals.schemas.verdicts import VerdictRequest

JUDGE = Identity("judge-1", "http://judge", "")


def texts(count: int, size: int = 40) -> list[dict[str, Any]]:
    return [
        {"id": n, "text": f"Passage {n} says that it lasts {n} hours. ".ljust(size, "x")} for n in range(1, count + 1)
    ]


def relevance(count: int, size: int = 40) -> VerdictRequest:
    data = {"question": "How long?", "expected_answer": "96 hours", "contexts": texts(count, size)}
    return VerdictRequest(name="context_relevance", prompt="context_relevance", data=data)


def compared(answer: int, reference: int) -> VerdictRequest:
    data = {
        "question": "How long?",
        "expected_answer": "96 hours",
        "answer": "Long.",
        "answer_claims": texts(answer),
        "reference_claims": texts(reference),
    }
    return VerdictRequest(name="claims_compared", prompt="claims_compared", data=data)


def claims_of(answer: str) -> VerdictRequest:
    return VerdictRequest(
        name="answer_claims", prompt="answer_claims", data={"question": "How long?", "answer": answer}
    )


class Judge:
    """A backend that says of each passage that it could not tell, and fails on calls of these numbers."""

    model, origin = JUDGE.model, JUDGE.origin

    def __init__(self, *failing: int) -> None:
        self.failing = failing
        self.calls: list[Call] = []

    async def complete(self, call: Call) -> JudgeReply:
        self.calls.append(call)
        number = len(self.calls)
        await asyncio.sleep(0)
        if number in self.failing:
            raise BackendError("gone")
        said = stand_in_reply(load_prompt("context_relevance"), json.loads(call.content))
        items = [{**item, "quote": "", "verdict": "cannot_tell"} for item in said["contexts"]]
        return says({**said, "contexts": items, "injection_suspected": number == 2})

    async def aclose(self) -> None:
        """Nothing to close."""


def decide(backend: Judge, request: VerdictRequest, **options: Any) -> tuple[JudgeVerdict | None, list[JudgeVerdict]]:
    """The verdict, and those that were logged on the way to it."""
    logged: list[JudgeVerdict] = []

    async def run() -> Decision | None:
        most = options.pop("max_input_tokens", None)
        judge = LLMJudge(backend, **{"price": lambda _model, _usage: 0.1, **options})
        judge.max_input_tokens = most or judge.max_input_tokens
        decision = await judge.decide_once(request, 0, on_unusable=logged.append)
        if decision is not None:
            judge.keep(decision)
        return decision

    decision = asyncio.run(run())
    return (decision.verdict if decision else None), logged


@given(st.integers(0, 200), st.integers(0, 200))
def test_parts_hold_every_item_once_and_in_order(answer: int, reference: int) -> None:
    """None has more of a list than one call takes; all else stands in each."""
    whole = compared(answer, reference)
    parts = parts_of(whole)
    for name in ("answer_claims", "reference_claims"):
        assert [item for part in parts for item in part.data[name]] == whole.data[name]
        assert max(len(part.data[name]) for part in parts) <= MOST_ITEMS
    assert {part.data["answer"] for part in parts} == {"Long."}
    assert len(parts) == max(1, -(-max(answer, reference) // MOST_ITEMS))


@pytest.mark.parametrize("request_", [relevance(20), compared(20, 20), claims_of("x" * 5000)])
def test_what_fits_into_one_call_is_asked_as_it_is(request_: VerdictRequest) -> None:
    """Its key in the cache stays what it was."""
    assert parts_of(request_) == [request_]


@given(st.integers(1, 150))
def test_joined_stand_ins_have_the_form_of_the_whole(count: int) -> None:
    """What the parts say, one behind the other, is a reply to the whole request."""
    request = relevance(count)
    prompt = load_prompt(request.prompt)
    whole = joined([stand_in_reply(prompt, part.data) for part in parts_of(request)])
    assert problem_with(prompt, whole, request.data) is None


def test_a_hundred_passages_take_five_calls_and_one_verdict() -> None:
    """It has every passage, its key is that of the whole request, and all calls are counted."""
    backend, request = Judge(), relevance(100)
    verdict, _ = decide(backend, request)
    assert verdict is not None
    assert verdict.reply is not None
    assert [item["id"] for item in verdict.reply["contexts"]] == list(range(1, 101))
    assert verdict.reply["injection_suspected"] is True
    assert (len(backend.calls), verdict.attempts, verdict.cost_usd) == (5, 5, pytest.approx(0.5))
    assert verdict.usage == sum([USAGE] * 4, USAGE)
    assert verdict.key == JudgeCache.key(JUDGE, call_of(request), 0)
    assert fits(verdict, request, JUDGE)


def test_parts_are_kept_by_themselves(tmp_path: Path) -> None:
    """After a failure only the part that failed is asked for again; nothing is paid for twice."""
    cache, request = JudgeCache(tmp_path), relevance(60)
    failed, _ = decide(Judge(3), request, cache=cache)
    assert failed is not None
    assert (failed.reply, failed.failure, failed.attempts) == (None, "transport", 3)
    again = Judge()
    verdict, _ = decide(again, request, cache=cache)
    assert verdict is not None
    assert verdict.reply is not None
    assert len(verdict.reply["contexts"]) == 60
    assert (len(again.calls), verdict.attempts, verdict.cost_usd) == (1, 1, 0.1)
    nobody = Judge(1)
    third, _ = decide(nobody, request, cache=cache)
    assert third is not None
    assert (third.reply, third.cached, third.cost_usd, nobody.calls) == (verdict.reply, True, 0.0, [])


def test_what_each_part_took_is_logged_before_the_next_is_there() -> None:
    """A run that is killed on the way has recorded every call that it paid for."""
    _, logged = decide(Judge(), relevance(60), concurrency=1)
    assert [verdict.attempts for verdict in logged] == [1, 2, 3]
    assert [verdict.failure for verdict in logged] == ["transport", "transport", None]


def test_a_budget_that_ends_between_parts_loses_no_cost() -> None:
    """What was paid is in the verdict, which has no reply."""
    verdict, _ = decide(Judge(), relevance(60), concurrency=1, max_cost_usd=0.15)
    assert verdict is not None
    assert (verdict.reply, verdict.failure, verdict.attempts) == (None, "transport", 1)
    assert verdict.cost_usd == pytest.approx(0.1)
    assert "1 of 3 parts" in (verdict.message or "")


def test_a_budget_that_is_spent_asks_for_no_part() -> None:
    """There is no verdict then, as of any other decision."""
    judge = LLMJudge(Judge(), max_cost_usd=0.1)
    judge.spent_usd = 0.1
    assert asyncio.run(judge.decide_once(relevance(60), 0)) is None
    assert judge.prevented == 1


def test_a_reply_has_room_for_all_that_is_asked() -> None:
    """More items, and more passages that may be quoted for each, may take more; never less than the prompt says."""
    least = load_prompt("claims_in_contexts").max_tokens

    def room(claims: int, contexts: int) -> int:
        data = {"contexts": texts(contexts), "question": "q", "claims": texts(claims)}
        return room_for(VerdictRequest(name="n", prompt="claims_in_contexts", data=data))

    assert room(1, 1) == least
    assert room(20, 10) > room(20, 1) >= least
    assert room_for(claims_of("x" * 60_000)) > room_for(claims_of("x" * 500))
    assert room_for(claims_of("x" * 10**6)) == 16_000


def test_the_calls_have_that_room() -> None:
    """And not that of the whole list, nor of the prompt alone."""
    backend = Judge()
    decide(backend, relevance(100))
    assert {call.max_tokens for call in backend.calls} == set(map(room_for, parts_of(relevance(100))))


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (claims_of("The warranty lasts. " * 10_000), "tokens to read, more than judge.max_input_tokens (50,000)"),
        (relevance(20, 10_000), "tokens to read"),
        (
            VerdictRequest(
                name="faithfulness",
                prompt="faithfulness",
                data={"contexts": texts(1), "question": "q", "answer": "It lasts. " * 8_000},
            ),
            "tokens to write",
        ),
    ],
)
def test_what_is_too_long_is_not_asked(request_: VerdictRequest, why: str) -> None:
    """It costs nothing, counts as missing for the judge, and a note says how to have it judged."""
    backend = Judge()
    verdict, _ = decide(backend, request_)
    assert verdict is not None
    assert (verdict.failure, verdict.attempts, verdict.cost_usd, backend.calls) == ("too_long", 0, 0.0, [])
    assert why in (verdict.message or "")
    notes = tally_of({"q": [verdict]}).notes(JUDGE, prevented=0)
    assert any("judge.max_input_tokens" in note and "losses are not random" in note for note in notes)


def test_the_limit_is_a_setting() -> None:
    """A request within it is asked."""
    assert why_too_long(relevance(20, 10_000), 50_000) is not None
    verdict, _ = decide(Judge(), relevance(20, 10_000), max_input_tokens=100_000)
    assert verdict is not None
    assert verdict.reply is not None


@pytest.mark.parametrize(("chunks", "calls", "limit"), [(20, 2, 50_000), (45, 5, 50_000), (45, 0, 1_000)])
def test_an_estimate_counts_the_calls_of_every_part(chunks: int, calls: int, limit: int, tmp_path: Path) -> None:
    """And none of what is too long to ask."""
    question = EvalQuestion(id="q", question="How long?", expected_answer="It lasts 96 hours.")
    found = [RetrievedChunk(chunk_id=str(n), text="It lasts 96 hours. " * 40) for n in range(chunks)]
    judge = {"model": "claude-haiku-5-5", "max_input_tokens": limit}
    config = EvalConfig(datasets=["golden"], runs_dir=tmp_path, judge=judge, metrics=["context_precision"])  # type: ignore[arg-type]
    metrics = check_config(config, asking=False)
    known = Known({"q": EvalResponse(answer="It lasts 96 hours.", chunks=found)})
    estimate = estimate_of(config, metrics, [question], known=known)
    assert estimate is not None
    assert estimate.calls == calls
