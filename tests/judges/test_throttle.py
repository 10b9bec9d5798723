"""Calls of a judge that is overloaded or gone: when they are made, and when no more are."""

import asyncio
from typing import Any

import pytest
from evals.judges.backends.base import BackendError, Call, JudgeReply, OverloadedError, UnreachableError

from evals.errors import JudgeError
from evals.judges.llm_judge import LLMJudge
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import VerdictRequest

SAID = '{"justification": "same", "quote": "", "verdict": "incorrect", "injection_suspected": false}'
GONE = UnreachableError("Connection refused", retryable=True)
BROKEN = BackendError("HTTP 500: oh", retryable=True)
TURNS = 50
"""How often a call lets all others go on before it ends: each has begun by then that can."""
FULL = OverloadedError("HTTP 529: Overloaded", retryable=True)


def asks_to_wait(seconds: float) -> BackendError:
    return OverloadedError("HTTP 429: slow down", retryable=True, retry_after_s=seconds)


class Scripted:
    """A backend that gives the ends of a script, then the last one for good; it knows how many calls met."""

    model, origin = "judge-1", "http://judge"

    def __init__(self, *script: BackendError | None) -> None:
        self.script = list(script)
        self.calls = self.in_flight = 0
        self.met: list[int] = []

    async def complete(self, _call: Call) -> JudgeReply:
        self.calls += 1
        self.in_flight += 1
        self.met.append(self.in_flight)
        end = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        for _ in range(TURNS):
            await asyncio.sleep(0)
        self.in_flight -= 1
        if end is not None:
            raise end
        return JudgeReply(text=SAID, stop="end", model=None, usage=None)

    async def aclose(self) -> None:
        return None


def ask(backend: Scripted, decisions: int, **options: Any) -> tuple[list[JudgeVerdict], list[float]]:
    """The verdicts of so many different decisions, and how long the judge was waited for."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    def request(number: int) -> VerdictRequest:
        data = {"question": "q", "expected_answer": "a", "accepted_variants": [], "answer": f"a{number}"}
        return VerdictRequest(name="answer_correctness", prompt="answer_correctness", data=data)

    async def run() -> list[JudgeVerdict]:
        judge = LLMJudge(backend, sleep=sleep, **options)
        found = await asyncio.gather(*(judge.decide(request(n)) for n in range(decisions)))
        return [verdict for verdicts in found for verdict in verdicts]

    return asyncio.run(run()), waits


@pytest.mark.parametrize(("concurrency", "most"), [(1, 32), (8, 64)])
def test_a_judge_that_never_answers_ends_the_judging(concurrency: int, most: int) -> None:
    """After as many calls as some decisions take, and not after those of all hundred."""
    backend = Scripted(GONE)
    with pytest.raises(JudgeError, match=f"{most} calls in a row brought no reply, the last: Connection refused"):
        ask(backend, 100, concurrency=concurrency)
    assert most <= backend.calls < most + concurrency


@pytest.mark.parametrize("end", [None, BackendError("HTTP 413: too large")])
def test_a_judge_that_answers_now_and_then_goes_on(end: BackendError | None) -> None:
    """Whatever answers is there: failures count in a row only."""
    backend = Scripted(*[*[BROKEN] * 20, end] * 10, None)
    assert len(ask(backend, 100, concurrency=8)[0]) == 100


def test_an_overloaded_judge_is_asked_by_one_call_at_a_time() -> None:
    """Those in flight are refused together; then one finds out whether calls are taken again, and all go on."""
    backend = Scripted(*[FULL] * 8, FULL, None)
    verdicts, waits = ask(backend, 40, concurrency=8)
    assert {verdict.failure for verdict in verdicts} == {None}
    assert backend.met[:10] == [*range(1, 9), 1, 1]
    assert max(backend.met[10:]) == 8
    assert backend.calls == 40 + 9
    assert [0.75 <= waits[0] <= 1, 1.5 <= waits[1] <= 2, len(waits)] == [True, True, 2]


def test_all_calls_wait_as_long_as_the_judge_asks() -> None:
    """The longest wait that any of the refused calls was told counts, once for all."""
    verdicts, waits = ask(Scripted(asks_to_wait(7), asks_to_wait(100), None), 2)
    assert (waits, [verdict.attempts for verdict in verdicts]) == ([7, 93], [2, 2])


def test_a_judge_that_asks_for_a_long_wait_ends_the_judging() -> None:
    """Nobody waits for an hour: what was judged is kept, and the message says how long it would take."""
    backend = Scripted(None, asks_to_wait(3600))
    with pytest.raises(JudgeError, match="asks to wait 3,600 s: HTTP 429: slow down"):
        ask(backend, 100, concurrency=1)
    assert backend.calls == 2


def test_a_judge_that_stays_overloaded_ends_the_judging() -> None:
    """After some minutes of waiting, in which hardly any call was made."""
    backend = Scripted(FULL)
    with pytest.raises(JudgeError, match=r"it accepted no call for 3\d\d s: HTTP 529: Overloaded"):
        ask(backend, 100, concurrency=8)
    assert backend.calls < 8 + 15


def test_an_error_of_the_server_keeps_no_other_call_waiting() -> None:
    """It may be about one question only."""
    backend = Scripted(BROKEN, None)
    _, waits = ask(backend, 8, concurrency=8)
    assert max(backend.met) == 8
    assert len(waits) == 1


def test_a_judge_that_restarts_is_waited_for() -> None:
    """Once it has answered, an outage costs waiting and no decision; before, nobody may ever be there."""
    backend = Scripted(None, *[GONE] * 14, None)
    verdicts, waits = ask(backend, 60, concurrency=4)
    assert {verdict.failure for verdict in verdicts} == {None}
    assert sum(waits) > 60


def test_a_judge_that_is_gone_for_good_ends_the_judging() -> None:
    """After some minutes, in which hardly any call was made."""
    backend = Scripted(*[None] * 20, GONE)
    with pytest.raises(JudgeError, match=r"it accepted no call for 3\d\d s: Connection refused"):
        ask(backend, 100, concurrency=8)
    assert backend.calls < 20 + 8 + 8 + 15
