"""Rounds over HTTP, with processes that end at any stage: a judge that is dropped, and another one with its log."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from evals.judges.batch_api import AnthropicBatches, BatchLog, BatchResult, BatchState, Pace
from messages_api.batches import BatchMode

from evals.judges.batches import BatchJudge
from evals.judges.replies import Decision
from evals.schemas.verdicts import JudgeUsage, VerdictRequest

PACE = Pace(first_s=0.001, limit_s=20.0, grace_s=0.0)
Serving = Callable[..., AbstractAsyncContextManager[Any]]
Work = Callable[[Any, Path], Coroutine[Any, Any, None]]


class Dropped(BaseException):
    """The process ends here."""


class Vendor(AnthropicBatches):
    """Ends the process at a stage.

    Args:
        url: Where the API is.
        stage: The name of it; None for a process that goes to its end.
    """

    def __init__(self, url: str, stage: str | None = None) -> None:
        super().__init__("claude-haiku-5-5", base_url=url, api_key="sk-test-fine")
        self.stage = stage

    async def send_batch(self, requests: Any) -> BatchState:
        if self.stage == "before sending":
            raise Dropped
        state = await super().send_batch(requests)
        if self.stage == "after sending":
            raise Dropped
        return state

    async def state(self, batch_id: str) -> BatchState | None:
        if self.stage == "waiting":
            raise Dropped
        return await super().state(batch_id)

    async def results(self, batch_id: str) -> Any:
        count = 0
        async for result in super().results(batch_id):
            count += 1
            if self.stage == "reading" and count > 2:
                raise Dropped
            yield result


STAGES = ("before sending", "after sending", "waiting", "reading")


def request(number: int) -> VerdictRequest:
    data = {
        "question": f"How long is {number}?",
        "expected_answer": "96 hours.",
        "accepted_variants": [],
        "answer": "It is 96 hours.",
    }
    return VerdictRequest(name="answer_correctness", prompt="answer_correctness", data=data)


@asynccontextmanager
async def judging(api: Any, folder: Path, stage: str | None = None, **options: Any) -> AsyncIterator[BatchJudge]:
    """A judge that may begin; in the end it lets go of its log, as a process that ends does."""
    log = BatchLog(folder, api.url)
    log.prepare()
    pace = options.pop("pace", PACE)
    judge = BatchJudge(Vendor(api.url, stage), log, pace, price=lambda _model, _usage: 0.01, **options)
    judge.begin("run")
    try:
        yield judge
    finally:
        await judge.backend.aclose()
        log.close()


async def decided(judge: BatchJudge, count: int = 5) -> list[Decision | None]:
    return list(await asyncio.gather(*(judge.decide_once(request(n), 0) for n in range(count))))


async def dropped(judge: BatchJudge) -> int:
    """Decide until the process ends; how many decisions were made by then."""
    decisions = [asyncio.ensure_future(judge.decide_once(request(n), 0)) for n in range(5)]
    while judge.rounds._task is None or not judge.rounds._task.done():
        await asyncio.sleep(0.001)
    assert isinstance(judge.rounds._task.exception(), Dropped)
    made = sum(decision.done() for decision in decisions)
    for decision in decisions:
        decision.cancel()
    await asyncio.gather(*decisions, return_exceptions=True)
    return made


@pytest.fixture
def run(serving_messages_api: Serving, tmp_path: Path) -> Callable[[Work], None]:
    """Do something with an imitation of the API in the same loop, and a folder for logs."""

    def do(work: Work) -> None:
        async def within() -> None:
            async with serving_messages_api() as api:
                api.script({"then": {"python": "judge"}})
                await work(api, tmp_path / "log")

        asyncio.run(within())

    return do


def sent(api: Any) -> Counter[str]:
    """How often each request was sent."""
    posts = [entry for entry in api.log() if entry["method"] == "POST"]
    return Counter(each["custom_id"] for entry in posts for each in entry["body"]["requests"])


@pytest.mark.parametrize("stage", STAGES)
def test_who_goes_on_sends_nothing_that_was_sent(run: Callable[[Work], None], stage: str) -> None:
    """Wherever the first one ended; and all replies are paid for once by the two of them."""

    async def work(api: Any, folder: Path) -> None:
        async with judging(api, folder, stage) as judge:
            made = await dropped(judge)
        async with judging(api, folder) as judge:
            decisions = await decided(judge)
            judge.all_decided()
            await judge.rounds.aclose()
        assert all(decision is not None and decision.verdict.reply for decision in decisions)
        assert set(sent(api).values()) == {1}
        assert len(sent(api)) == 5
        assert (made > 0) == (stage == "reading")
        assert list(folder.iterdir()) == []

    run(work)


def test_a_batch_of_somebody_else_is_not_claimed(run: Callable[[Work], None]) -> None:
    """Though it is newer and has as many requests."""

    async def work(api: Any, folder: Path) -> None:
        async with judging(api, folder, "before sending") as judge:
            await dropped(judge)
        other = Vendor(api.url)
        await other.send_batch([(f"theirs-{n}", {"model": "claude-haiku-5-5"}) for n in range(5)])
        await other.aclose()
        async with judging(api, folder) as judge:
            decisions = await decided(judge)
            await judge.rounds.aclose()
        assert all(decision is not None and decision.verdict.reply for decision in decisions)
        assert len(sent(api)) == 10

    run(work)


def test_a_batch_that_the_vendor_forgot_is_sent_again(run: Callable[[Work], None]) -> None:
    """Its replies are kept for a month only."""

    async def work(api: Any, folder: Path) -> None:
        async with judging(api, folder, "waiting") as judge:
            await dropped(judge)
        api.reset()
        api.script({"then": {"python": "judge"}})
        async with judging(api, folder) as judge:
            decisions = await decided(judge)
            await judge.rounds.aclose()
        assert all(decision is not None and decision.verdict.reply for decision in decisions)
        assert len(sent(api)) == 5

    run(work)


def test_what_does_not_fit_into_one_batch_goes_into_several(
    run: Callable[[Work], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By number and by size, in one round."""
    heard: list[tuple[int, int, int]] = []

    async def work(api: Any, folder: Path) -> None:
        async with judging(api, folder) as judge:
            judge.rounds._limits = (2, 10**6)
            judge.tell_round = lambda *told: heard.append(told)  # type: ignore[method-assign]
            await decided(judge)
            await judge.rounds.aclose()
        posts = [entry for entry in api.log() if entry["method"] == "POST"]
        assert [len(entry["body"]["requests"]) for entry in posts] == [2, 2, 1]

    run(work)
    assert heard == [(1, 5, 3)]


def test_one_request_of_two_decisions_is_sent_and_paid_for_once(run: Callable[[Work], None]) -> None:
    """Also where it is a part of two."""

    async def work(api: Any, folder: Path) -> None:
        async with judging(api, folder) as judge:
            calls = [judge.decide_once(request(0), 0) for _ in range(3)]
            found = [decision for decision in await asyncio.gather(*calls) if decision is not None]
            await judge.rounds.aclose()
        assert len(found) == 3
        assert sum(decision.verdict.spent.calls for decision in found) == sum(sent(api).values()) == 1

    run(work)


def test_nothing_is_sent_before_all_is_known(run: Callable[[Work], None]) -> None:
    """What comes while questions are asked waits for the end of that."""

    async def work(api: Any, folder: Path) -> None:
        async with judging(api, folder) as judge:
            judge.rounds._begun.clear()
            waiting = [asyncio.ensure_future(judge.decide_once(request(n), 0)) for n in range(3)]
            await asyncio.sleep(0.05)
            assert api.log() == []
            judge.begin("run")
            await asyncio.gather(*waiting)
            await judge.rounds.aclose()
        assert len(sent(api)) == 3

    run(work)


def test_a_result_that_is_missing_is_looked_for_and_asked_again(
    run: Callable[[Work], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A vendor's list of results may lack one for good."""
    reading = AnthropicBatches.results
    first: list[str] = []

    async def without_first(self: AnthropicBatches, batch_id: str) -> AsyncIterator[BatchResult]:
        first[:] = first or [batch_id]
        skipped = batch_id != first[0]
        async for result in reading(self, batch_id):
            if skipped:
                yield result
            skipped = True

    monkeypatch.setattr(AnthropicBatches, "results", without_first)

    async def work(api: Any, folder: Path) -> None:
        async with judging(api, folder) as judge:
            decisions = await decided(judge)
            await judge.rounds.aclose()
        assert all(decision is not None and decision.verdict.reply for decision in decisions)
        assert sorted(sent(api).values()) == [1, 1, 1, 1, 2]

    run(work)


def test_a_vendor_that_says_nothing_for_long_ends_the_judging(
    run: Callable[[Work], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are left without a word, so that nothing is recorded of them."""

    async def work(api: Any, folder: Path) -> None:
        api.batches(BatchMode(refused=1000, status=503))
        async with judging(api, folder, pace=Pace(first_s=1e-6, limit_s=20.0, grace_s=0.0)) as judge:
            decisions = await decided(judge)
            assert judge.unusable is not None
            assert "--no-judge-batch" in str(judge.unusable.hint)
            assert decisions == [None] * 5
            await judge.rounds.aclose()
        assert list(folder.iterdir()) == []

    run(work)


def test_a_key_in_a_reply_is_masked(run: Callable[[Work], None]) -> None:
    """As with calls one by one."""

    async def work(api: Any, folder: Path) -> None:
        api.script({"then": {"text": '{"verdict": "sk-test-fine"}'}})
        async with judging(api, folder) as judge:
            (decision,) = await decided(judge, 1)
            await judge.rounds.aclose()
        assert decision is not None
        assert "sk-test-fine" not in decision.verdict.model_dump_json()

    run(work)


def test_budgets_know_what_is_kept_for_an_hour(run: Callable[[Work], None]) -> None:
    """The most that a request can cost is that all of it is written there."""

    async def work(api: Any, folder: Path) -> None:
        def price(_model: str, usage: JudgeUsage) -> float:
            return 1e-6 * usage.input_tokens + 1e-6 * usage.cache_write_1h_tokens

        async with judging(api, folder) as judge:
            judge._price, judge._budget.limit_usd = price, 1.0
            ahead = judge._ahead(request(0), judge._call_of(request(0)))
            assert ahead.most > 2 * ahead.expected
            await judge.rounds.aclose()

    run(work)
