"""When asking many questions stops."""

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from evals.run.asking import StopRule, ask_all
from evals.schemas import EvalQuestion, EvalResponse, ResponseError

ANSWER = EvalResponse(answer="a")


def _failure(kind: str, status: int | None = None) -> EvalResponse:
    return EvalResponse(error=ResponseError.model_validate({"kind": kind, "status": status, "message": f"{kind}!"}))


CONNECT, TIMEOUT = _failure("connect"), _failure("timeout")


class Scripted:
    """A client that gives these responses in turn, and counts what is in flight."""

    def __init__(self, responses: Iterable[EvalResponse]) -> None:
        self.responses = iter(responses)
        self.asked: list[str] = []
        self.flying = self.most = 0
        self.unavailable: str | None = None

    async def ask(self, question: str) -> EvalResponse:
        self.asked.append(question)
        self.flying += 1
        self.most = max(self.most, self.flying)
        await asyncio.sleep(0)
        self.flying -= 1
        return next(self.responses)


def _ask_all(client: Scripted, questions: int, concurrency: int, on_answer: Any = None) -> tuple[StopRule, list[str]]:
    stop, answered = StopRule(concurrency), []

    def note(question: EvalQuestion, response: EvalResponse) -> None:
        answered.append(question.question)
        if on_answer is not None:
            on_answer(question, response)

    todo = [EvalQuestion(question=str(i)) for i in range(questions)]

    async def go() -> None:
        asking = ask_all(lambda question: client.ask(question.question), todo, concurrency=concurrency, stop=stop)
        async for question, response in asking:
            note(question, response)

    asyncio.run(go())
    return stop, answered


def _see(rule: StopRule, *responses: EvalResponse) -> StopRule:
    for response in responses:
        rule.take(response)
    return rule


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("before", [[], [ANSWER] * 10, [TIMEOUT]])
def test_a_refusal_stops_at_once(status: int, before: list[EvalResponse]) -> None:
    """Whatever came before, 401 and 403 end the asking and are marked."""
    rule = _see(StopRule(4), *before)
    assert rule.reason is None
    _see(rule, _failure("status", status))
    assert rule.refused
    assert "refuses the login: status!" in (rule.reason or "")


@pytest.mark.parametrize("failure", [CONNECT, TIMEOUT, _failure("status", 500), _failure("malformed", 200)])
@pytest.mark.parametrize("concurrency", [1, 3])
def test_two_rounds_of_failures_at_the_start_stop(failure: EvalResponse, concurrency: int) -> None:
    """Any kind of failure counts; one less than two rounds goes on."""
    rule = _see(StopRule(concurrency), *[failure] * (2 * concurrency - 1))
    assert rule.reason is None
    _see(rule, failure)
    assert (rule.reason or "").startswith(f"the first {2 * concurrency} questions all failed: {failure.error.message}")  # type: ignore[union-attr]
    assert not rule.refused


def test_the_most_frequent_failure_is_named_and_none_stops_after_an_answer() -> None:
    """One odd failure does not hide the cause; a poor server is evaluated to its end."""
    rule = _see(StopRule(2), TIMEOUT, CONNECT, TIMEOUT, TIMEOUT)
    assert (rule.reason or "").endswith("timeout!")
    assert _see(StopRule(2), ANSWER, *[CONNECT] * 100).reason is None


def test_after_the_stop_nothing_more_is_asked() -> None:
    """What is in flight ends and is reported, so that no answer is lost."""
    client = Scripted([ANSWER] * 5 + [_failure("status", 401)] + [ANSWER] * 50)
    stop, answered = _ask_all(client, 50, 3)
    assert stop.refused
    assert 6 <= len(client.asked) <= 8
    assert sorted(answered) == sorted(client.asked)


def test_an_error_of_ours_ends_the_asking() -> None:
    """A journal that cannot be written stops all workers."""
    client = Scripted([ANSWER] * 100)

    def full(question: EvalQuestion, response: EvalResponse) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        _ask_all(client, 100, 3, full)
    assert len(client.asked) <= 6
