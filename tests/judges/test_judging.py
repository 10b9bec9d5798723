"""Judging in the background: what is handed out when, what is let go, what is bounded, what is taken over."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evals.judges.backends.base import BackendError, Call, JudgeReply
from servers import PATIENCE_S

from evals.errors import JudgeError, StoreError
from evals.judges.cache import JudgeCache, StoredReply
from evals.judges.llm_judge import LLMJudge
from evals.metrics.base import BaseMetric
from evals.metrics.registry import select
from evals.run import judging as judging_module
from evals.run.judging import Judging
from evals.run.observer import Observer
from evals.schemas import EvalQuestion, EvalResponse, JudgeVerdict
from evals.schemas.verdicts import JudgeRecord, JudgeUsage
from evals.scoring.settings import ScoreSettings
from evals.store.journal import Journal

USAGE = JudgeUsage(input_tokens=10, output_tokens=1)
RESPONSE = EvalResponse(answer="It is 96 hours.", chunks=[])
REPLY = {"justification": "same", "quote": "", "verdict": "correct", "injection_suspected": False}
Act = Callable[[int], Awaitable[None]]


class Backend:
    """Replies as it is asked to, after `act` was awaited with the number of the call."""

    def __init__(self, act: Act | None = None, *, model: str = "m", origin: str = "o") -> None:
        self.model, self.origin = model, origin
        self.act = act
        self.calls = 0

    async def complete(self, _call: Call) -> JudgeReply:
        self.calls += 1
        if self.act is not None:
            await self.act(self.calls)
        return JudgeReply(json.dumps(REPLY), "end", self.model, USAGE)

    async def aclose(self) -> None:
        """Nothing to close."""


def question(number: int = 0) -> EvalQuestion:
    return EvalQuestion(id=f"q{number}", question=f"How long is {number}?", expected_answer="It is 96 hours.")


def metrics() -> list[BaseMetric]:
    return select([], ["answer_correctness"])


def make(
    backend: Backend,
    journal: Any,
    *,
    before: JudgeRecord | None = None,
    heard: list[str] | None = None,
    **options: Any,
) -> Judging:
    judge, observer = LLMJudge(backend, price=lambda _model, _usage: 1.0, **options), Observer()
    observer.note = (heard if heard is not None else []).append  # type: ignore[method-assign]
    cases = ScoringContext(ScoreSettings(judged=True))
    return Judging(judge, metrics(), cases, journal, before=before, observer=observer)


def logged(path: Path) -> list[JudgeVerdict]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [JudgeVerdict.model_validate(json.loads(line)["verdict"]) for line in lines]


def judge_all(
    path: Path, backend: Backend, known: Sequence[JudgeVerdict] = (), questions: int = 1, **options: Any
) -> Judging:
    """Judge questions; the first one has known verdicts."""

    async def run() -> Judging:
        with Journal(path) as journal:
            judging = make(backend, journal, **options)
            for number in range(questions):
                judging.add(question(number), RESPONSE, known if number == 0 else ())
            try:
                judging.start()
                await judging.finish()
            except JudgeError:
                await judging.stop()
            return judging

    return asyncio.run(run())


def refusing_the_third() -> Act:
    """Refuse the third of four calls once all are in flight, and let the others end after that."""
    together, refused = asyncio.Event(), asyncio.Event()

    async def act(number: int) -> None:
        if number == 4:
            together.set()
        await together.wait()
        if number == 3:
            refused.set()
            raise BackendError("HTTP 402: no money", fatal=True)
        await refused.wait()
        for _ in range(50):  # the refusal is known by then
            await asyncio.sleep(0)

    return act


@pytest.mark.parametrize("repeats", [1, 3])
def test_calls_in_flight_when_the_judge_refuses_us_are_not_lost(tmp_path: Path, repeats: int) -> None:
    """Each repeat is handed out when it is there, and the call that was refused is counted."""
    backend = Backend(refusing_the_third())
    judging = judge_all(tmp_path / "log", backend, questions=6, concurrency=4, repeats=repeats)
    found = logged(tmp_path / "log")
    assert (backend.calls, len(found)) == (4, 4)
    assert [verdict.failure for verdict in found].count("transport") == 1
    record = judging.record()
    assert (record.calls, record.cost_usd, record.unpriced) == (4, 3.0, 0)


@pytest.mark.parametrize("answered", [False, True])
def test_an_unusable_reply_is_in_the_log_before_it_is_asked_for_once_more(tmp_path: Path, answered: bool) -> None:
    """Whoever kills the run then finds what it cost; a reply of before that does not fit any more stays beside it."""
    path = tmp_path / "log"
    seen: list[JudgeVerdict] = []

    class Rambling(Backend):
        async def complete(self, call: Call) -> JudgeReply:
            seen.extend(logged(path))
            said = await super().complete(call)
            return replace(said, text="hm") if self.calls == 1 else said

    old = JudgeVerdict(request="answer_correctness", reply=REPLY, prompt_hash="old", attempts=1, cost_usd=3.0, key="k")
    judging = judge_all(path, Rambling(), [old] if answered else [])
    (first,) = seen
    assert (first.failure, first.reply) == ((None, REPLY) if answered else ("unparsable", None))
    assert (first.spent.calls, first.spent.cost_usd) == ((2, 4.0) if answered else (1, 1.0))
    assert (judging.record().calls, judging.record().cost_usd) == ((3, 5.0) if answered else (2, 2.0))
    assert logged(path)[-1].reply == REPLY


def interrupted(
    path: Path, ends: Callable[[int], bool], patience_s: float, monkeypatch: pytest.MonkeyPatch
) -> tuple[Judging, list[str]]:
    """A judging that is stopped while its two calls are in flight, and what it tells.

    Args:
        path: Of the log.
        ends: Whether the call of this number ends, once it was told that calls in flight are waited for.
        patience_s: How long they are.
        monkeypatch: Of the test.
    """
    monkeypatch.setattr(judging_module, "PATIENCE_S", patience_s)
    heard: list[str] = []

    async def act(number: int) -> None:
        while not (heard and ends(number)):
            await asyncio.sleep(0.005)

    backend = Backend(act)

    async def run() -> Judging:
        with Journal(path) as journal:
            judging = make(backend, journal, concurrency=2, heard=heard)
            for number in range(4):
                judging.judge(question(number), RESPONSE)
            while backend.calls < 2:
                await asyncio.sleep(0.01)
            await judging.stop()
            return judging

    return asyncio.run(run()), heard


def test_an_interrupted_run_takes_what_is_in_flight_and_begins_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two calls are paid for, so their verdicts are in the log; the other two questions wait for a resume."""
    judging, heard = interrupted(tmp_path / "log", lambda _number: True, PATIENCE_S, monkeypatch)
    assert heard == ["waits 60 s at most for 2 calls to the judge, as they are paid for"]
    assert [verdict.reply for verdict in logged(tmp_path / "log")] == [REPLY, REPLY]
    assert (judging.record().calls, judging.record().cost_usd, judging.record().prevented) == (2, 2.0, 0)


def test_a_call_that_had_to_be_cut_off_is_counted_at_unknown_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for ever, and nobody says that it was free."""
    judging, _ = interrupted(tmp_path / "log", lambda number: number == 1, 0.3, monkeypatch)
    assert sorted(str(verdict.failure) for verdict in logged(tmp_path / "log")) == ["None", "transport"]
    assert (judging.record().calls, judging.record().cost_usd, judging.record().unpriced) == (2, 1.0, 1)


def test_waiting_for_an_overloaded_judge_does_not_hold_up_an_interrupted_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits is no call in flight."""
    monkeypatch.setattr(judging_module, "PATIENCE_S", 10 * PATIENCE_S)

    async def overloaded(_number: int) -> None:
        raise BackendError("HTTP 529", retryable=True, retry_after_s=60)

    async def run() -> int:
        backend = Backend(overloaded)
        with Journal(tmp_path / "log") as journal:
            judging = make(backend, journal)
            judging.judge(question(), RESPONSE)
            while not backend.calls:
                await asyncio.sleep(0.01)
            await asyncio.wait_for(judging.stop(), timeout=PATIENCE_S)
        return backend.calls

    assert asyncio.run(run()) == 1
    assert [verdict.failure for verdict in logged(tmp_path / "log")] == ["transport"]


class BrokenCache(JudgeCache):
    """Cannot keep a reply."""

    def put(self, key: str, reply: StoredReply) -> None:
        assert logged(self.log), "the log comes first"
        raise StoreError(f"no room for {key[:4]} {reply.model}")

    log: Path


def test_a_cache_that_fails_becomes_a_note_and_loses_no_verdict(tmp_path: Path) -> None:
    """The verdict is in the log before the cache is tried, and the judging goes on."""
    cache = BrokenCache(tmp_path / "cache")
    cache.log = tmp_path / "log"
    judging = judge_all(tmp_path / "log", Backend(), questions=3, cache=cache, concurrency=1)
    assert len(logged(tmp_path / "log")) == 3
    assert [("no longer kept" in note, "no room" in note) for note in judging.notes({})] == [(True, True)]
    assert not judging.incomplete


def test_decisions_that_the_budget_prevented_are_no_failures(tmp_path: Path) -> None:
    """There is no verdict on them; the record says how many there are, and so does a note."""
    judging = judge_all(tmp_path / "log", Backend(), questions=5, concurrency=1, max_cost_usd=2.0)
    verdicts = [verdict for found in judging.verdicts.values() for verdict in found]
    assert [verdict.failure for verdict in verdicts] == [None, None]
    assert (judging.record().prevented, judging.incomplete) == (3, True)
    assert judging.notes({}) == ["the judge's budget is spent: 3 decisions were not made"]


def test_few_tasks_are_alive_however_many_questions_wait(tmp_path: Path) -> None:
    """Waiting for thousands of decisions costs no more for each than waiting for a few."""
    alive: list[int] = []

    async def count(_number: int) -> None:
        alive.append(len(asyncio.all_tasks()))

    judge_all(tmp_path / "log", Backend(count), questions=500, concurrency=2)
    assert len(alive) == 500
    assert max(alive) < 30


def known_verdicts(path: Path, **options: Any) -> list[JudgeVerdict]:
    return judge_all(path, Backend(), **options).verdicts["q0"]


def test_verdicts_that_fit_are_taken_and_those_that_lack_are_asked_for(tmp_path: Path) -> None:
    """Two of three repeats are there."""
    known = known_verdicts(tmp_path / "first", repeats=3)
    backend = Backend()
    judging = judge_all(tmp_path / "log", backend, known[:2], repeats=3)
    assert backend.calls == 1
    assert sorted(verdict.repeat for verdict in judging.verdicts["q0"]) == [0, 1, 2]
    assert judging.record().calls == 3


@pytest.mark.parametrize(
    "change",
    [
        {"reply": {"x": 1}},
        {"reply": {**REPLY, "verdict": "perfect"}},
        {"prompt_hash": "0123456789abcdef"},
        {"key": "0" * 64},
        {"key": None},
    ],
)
def test_a_saved_verdict_that_does_not_fit_is_asked_for_again(tmp_path: Path, change: dict[str, Any]) -> None:
    """What it cost is counted all the same; one without a key is of nobody knows which judge."""
    known = [verdict.model_copy(update=change) for verdict in known_verdicts(tmp_path / "first")]
    backend = Backend()
    judging = judge_all(tmp_path / "log", backend, known)
    assert backend.calls == 1
    assert [verdict.reply for verdict in judging.verdicts["q0"]] == [REPLY]
    assert (judging.record().calls, judging.record().cost_usd) == (2, 2.0)
    assert [verdict.spent.calls for verdict in logged(tmp_path / "log")] == [2]


def test_a_verdict_of_a_former_version_is_taken_where_the_run_had_the_same_judge(tmp_path: Path) -> None:
    """It says nothing of address and data itself."""
    known = [verdict.model_copy(update={"key": None}) for verdict in known_verdicts(tmp_path / "first")]
    for origin, calls in (("o", 0), ("elsewhere", 1)):
        backend = Backend()
        judge_all(tmp_path / "log", backend, known, before=JudgeRecord(model="m", origin=origin))
        assert backend.calls == calls


@pytest.mark.parametrize("moved", [Backend(origin="elsewhere"), Backend(model="n")])
def test_a_judge_that_moved_is_noted_and_asked_again(tmp_path: Path, moved: Backend) -> None:
    """Verdicts of two judges do not make one run."""
    known = known_verdicts(tmp_path / "first")
    judging = judge_all(tmp_path / "log", moved, known, before=JudgeRecord(model="m", origin="o"))
    assert moved.calls == 1
    assert any("was another before: m at o" in note for note in judging.notes({}))


def test_a_judge_that_refuses_us_replaces_no_verdict_that_was_paid_for(tmp_path: Path) -> None:
    """A run resumed with a wrong address keeps what it has, and counts the call."""

    async def refuse(_number: int) -> None:
        raise BackendError("HTTP 401", fatal=True)

    known = known_verdicts(tmp_path / "first")
    judging = judge_all(tmp_path / "log", Backend(refuse, origin="elsewhere"), known)
    assert [verdict.reply for verdict in judging.verdicts["q0"]] == [REPLY]
    assert (judging.record().calls, judging.record().cost_usd) == (2, 1.0)
    backend = Backend()
    judge_all(tmp_path / "log", backend, judging.verdicts["q0"])
    assert backend.calls == 0


def test_verdicts_known_before_anything_is_asked_are_there(tmp_path: Path) -> None:
    """A resumed run that is interrupted while it warms up loses none; one that cannot be read is money alone."""
    good = known_verdicts(tmp_path / "first")
    bad = [verdict.model_copy(update={"reply": {"x": 1}}) for verdict in good]
    with Journal(tmp_path / "log") as journal:
        for known, replies in ((good, [REPLY]), (bad, [None])):
            judging = make(Backend(), journal)
            judging.add(question(), RESPONSE, known)
            assert [verdict.reply for verdict in judging.verdicts["q0"]] == replies
            assert (judging.record().calls, judging.record().cost_usd) == (1, 1.0)


def test_notes_are_told_in_the_thread_that_began(tmp_path: Path) -> None:
    """A terminal is written by one thread."""
    heard: list[tuple[str, bool]] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()
        judge, observer = LLMJudge(Backend(), max_cost_usd=1.0), Observer()

        def note(message: str) -> None:
            heard.append((message, asyncio.get_running_loop() is loop))

        observer.note = note  # type: ignore[method-assign]
        with Journal(tmp_path / "log") as journal:
            cases = ScoringContext(ScoreSettings(judged=True))
            judging = Judging(judge, metrics(), cases, journal, observer=observer)
            judging.judge(question(), RESPONSE)
            await judging.finish()

    asyncio.run(run())
    ((said, at_home),) = heard
    assert at_home
    assert said.startswith("the judge's budget (judge.max_cost_usd) has no effect")
