"""Judging by batches of requests, which cost half and take up to a day."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from evals.judges.backends.base import BackendError, Call, JudgeReply
from evals.judges.batch_api import (
    MOST_BYTES,
    MOST_FAILURES,
    MOST_REQUESTS,
    AnthropicBatches,
    BatchLog,
    BatchResult,
    Item,
    LeftError,
    LoggedBatch,
    Pace,
    Post,
    affordable,
    cut,
    item_of,
    last_failure,
)
from evals.judges.cache import StoredReply
from evals.judges.llm_judge import LLMJudge, NotAskedError
from evals.judges.money import BudgetSpentError, Cost, most_tokens
from evals.judges.replies import Decision, Outcome
from evals.schemas.verdicts import JudgeSpending, JudgeVerdict, VerdictRequest
from evals.text.numbers import agree, counted

# Rounds of batches: all that can be asked by now is sent together; what builds on the replies is the next round.


MOST_TRIES = 3
"""Batches for one reply, where requests expire, are cancelled or fail at the vendor."""


_QUIET_TURNS = 100
"""So many turns of the loop without a new request mean that nothing more can be asked; a request takes about ten."""


_READINGS = 4
"""So often are whole results of a batch read that lack some of them."""


class Rounds:
    """Has requests answered by batches.

    Args:
        vendor: Answers them.
        log: Keeps what was sent.
        pace: How long is waited.
        left_usd: What the budget holds by now; None where there is none.
        on_begin: Called when a round was sent, with its number, its requests and its batches.
        on_progress: Called with how many of its replies are there, and of how many.
        on_late: Called when it takes longer than is waited.
    """

    def __init__(
        self,
        vendor: AnthropicBatches,
        log: BatchLog,
        pace: Pace,
        *,
        left_usd: Callable[[], float | None],
        on_begin: Callable[[int, int, int], None],
        on_progress: Callable[[int, int], None],
        on_late: Callable[[], None],
    ) -> None:
        self.run = ""
        """The log of the run that asks."""
        self.leaving = False
        """Whether nobody waits for replies any more."""
        self._vendor = vendor
        self._log = log
        self._pace = pace
        self._post = Post(vendor, log, pace)
        self._left_usd = left_usd
        self._on_begin = on_begin
        self._on_progress = on_progress
        self._on_late = on_late
        self._limits = (MOST_REQUESTS, MOST_BYTES)
        self._number = 0
        self._taken: set[str] = set()
        """The requests of which it is known what became of them."""
        self._waiting: dict[str, Item] = {}
        self._at_vendor: dict[LoggedBatch, dict[str, Item]] = {}
        self._asked = 0
        self._begun = asyncio.Event()
        self._arrived = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """All that is to be judged is known: what can be asked may be sent."""
        self._begun.set()

    async def ask(self, item: Item) -> bool:
        """Wait until the reply of a request is there, which is its `reply` then.

        Returns:
            Whether it is to be paid for by who asked: False where it is another's too.

        Raises:
            BackendError: There is no reply.
            BudgetSpentError: The budget does not hold it.
            LeftError: It is left at the vendor, or was not sent.
            StoreError: What is sent cannot be written down.
        """
        if self.leaving:
            raise LeftError
        same = self._waiting.get(item.custom_id)
        if same is not None:
            item.reply.set_result(await asyncio.shield(same.reply))
            return False
        first = item.custom_id not in self._taken
        self._waiting[item.custom_id] = item
        self._asked += 1
        self._arrived.set()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._work())
        await asyncio.wait([item.reply])
        item.reply.result()
        return first

    def leave(self) -> dict[str, int]:
        """Wait for nothing more; by the name of each batch that stays at the vendor, how many requests it has."""
        self.leaving = True
        if self._task is not None:
            self._task.cancel()
        self._fail_all(LeftError())
        return {logged.batch_id or "a batch": len(items) for logged, items in self._at_vendor.items() if items}

    async def aclose(self) -> None:
        """Let go of everything."""
        self.leave()
        if self._task is not None:
            await asyncio.wait([self._task])
        self._log.close()

    def all_decided(self) -> None:
        """Everything is in the log of the run: be done with its batches."""
        if not self.leaving:
            self._log.remove_done(self.run, self._taken)

    async def _work(self) -> None:
        try:
            while True:
                await self._arrived.wait()
                await self._settled()
                await self._round()
                if not self._waiting:
                    self._arrived.clear()
        except LeftError:
            self._on_late()
        except Exception as error:  # noqa: BLE001 - raised where a decision waits
            if isinstance(error, BackendError):
                error.fatal = True
            self._end(error)

    async def _settled(self) -> None:
        """Wait until decisions can do no more without a reply: they work in this loop and wait for nothing else."""
        await self._begun.wait()
        quiet = 0
        while quiet < _QUIET_TURNS:
            before = self._asked
            await asyncio.sleep(0)
            quiet = quiet + 1 if self._asked == before else 0

    async def _round(self) -> None:
        items = sorted(self._waiting.values(), key=lambda item: item.passed_over)
        await self._claim(items)
        there = {custom_id for claimed in self._at_vendor.values() for custom_id in claimed}
        chosen = self._chosen([item for item in items if item.custom_id not in there])
        for batch in cut(chosen, *self._limits):
            logged = await self._post.send(batch, self.run)
            self._at_vendor[logged] = {item.custom_id: item for item in batch}
        if self._at_vendor:
            self._number += 1
            self._on_begin(self._number, len(there) + len(chosen), len(self._at_vendor))
            await self._collect()

    def _chosen(self, rest: Sequence[Item]) -> list[Item]:
        """What of the requests that were never sent the budget holds; the others wait, or end where nothing comes."""
        left = self._left_usd()
        if left is not None:
            left -= sum(item.ahead().expected for items in self._at_vendor.values() for item in items.values())
        chosen = affordable(rest, left, busy=bool(self._at_vendor))
        taken = {item.custom_id for item in chosen}
        for item in rest:
            if item.custom_id not in taken:
                item.passed_over += 1
                if not chosen and not self._at_vendor:
                    self._end_one(item, BudgetSpentError())
        return chosen

    async def _claim(self, items: Sequence[Item]) -> None:
        """Take up what was sent before, by a process that ended or in an earlier round, and was not looked at yet."""
        for item in items:
            for logged in self._log.holding(item.custom_id):
                if logged.path not in item.looked_into and self._log.claim(logged):
                    self._at_vendor.setdefault(logged, {})[item.custom_id] = item
                    break
        for logged in [logged for logged in self._at_vendor if logged.batch_id is None]:
            if not await self._post.find(logged, logged.at.timestamp()):
                self._log.remove(logged)
                del self._at_vendor[logged]

    async def _collect(self) -> None:
        """Wait for the batches of a round, and hand out their replies.

        Raises:
            LeftError: They take longer than is waited.
        """
        total = sum(map(len, self._at_vendor.values()))
        for interval in self._pace.intervals():
            for logged, items in list(self._at_vendor.items()):
                if await self._is_over(logged, items):
                    del self._at_vendor[logged]
            self._on_progress(total - sum(map(len, self._at_vendor.values())), total)
            if not self._at_vendor:
                return
            await self._pace.wait(interval)

    async def _is_over(self, logged: LoggedBatch, items: dict[str, Item]) -> bool:
        """Whether a batch has ended; its results are handed out then."""
        batch_id = logged.batch_id or ""
        state = await self._pace.persistently(lambda: self._vendor.state(batch_id))
        if state is None:
            self._log.remove(logged)  # its requests are sent anew
            return True
        if state.ended:
            await self._read(logged, batch_id, items)
        return state.ended

    async def _read(self, logged: LoggedBatch, batch_id: str, items: dict[str, Item]) -> None:
        """Hand out the results of a batch as they come in."""
        readings = failures = 0
        for interval in self._pace.intervals():
            try:
                async for result in self._vendor.results(batch_id):
                    self._take(logged, items.pop(result.custom_id, None), result)
                    await asyncio.sleep(0)  # decisions go on meanwhile, so that not all replies are held
                readings += 1
            except BackendError as error:
                failures += 1
                if not error.retryable or failures == MOST_FAILURES:
                    raise
            if not items:
                return
            if readings == _READINGS:
                break
            await self._pace.wait(interval)
        for item in list(items.values()):
            lost = BackendError("its batch has no result of it", retryable=True)
            self._take(logged, items.pop(item.custom_id), BatchResult(item.custom_id, lost))

    def _take(self, logged: LoggedBatch, item: Item | None, result: BatchResult) -> None:
        """Hand out a result; a request that is worth another batch waits on."""
        if item is None:
            return
        item.looked_into.add(logged.path)
        if not isinstance(result.reply, BackendError):
            self._taken.add(item.custom_id)
            del self._waiting[item.custom_id]
            item.reply.set_result(result.reply)
            return
        item.tries += 1
        if not result.reply.retryable or item.tries >= MOST_TRIES:
            self._taken.add(item.custom_id)
            self._end_one(item, last_failure(result.reply, item.tries))

    def _end_one(self, item: Item, error: Exception) -> None:
        self._waiting.pop(item.custom_id, None)
        if not item.reply.done():
            item.reply.set_exception(error)

    def _end(self, error: Exception) -> None:
        """End the waiting: one decision hears why, and the others that nothing comes."""
        first = next(iter(self._waiting.values()), None)
        if first is not None:
            self._end_one(first, error)
        self.leaving = True
        self._fail_all(LeftError())

    def _fail_all(self, error: Exception) -> None:
        for item in list(self._waiting.values()):
            self._end_one(item, error)


# A judge that is asked in batches: the same decisions for half the price, in rounds that take up to a day.


_TOGETHER = 100_000
"""So many decisions wait for replies at the same time."""

_NAMED = 3


class BatchJudge(LLMJudge):
    """Decides as `LLMJudge` does; replies come by batches.

    A decision is recorded only once it is made: what was answered before is at the vendor, and is read again by
    whoever goes on. So nothing is paid for twice, and nothing counted twice.

    Args:
        vendor: Answers batches.
        log: Keeps what was sent.
        pace: How long batches are waited for.
        options: Of `LLMJudge`.
    """

    _hint = "check the key, the model's name and that its API has batches; call by call with --no-judge-batch"

    def __init__(self, vendor: AnthropicBatches, log: BatchLog, pace: Pace, **options: Any) -> None:
        super().__init__(vendor, provider="anthropic", concurrency=_TOGETHER, **options)
        self._vendor = vendor
        self._claims.refuse()  # what another process sent in a batch is known by the log of batches
        self.rounds = Rounds(
            vendor,
            log,
            replace(pace, tell=self._notify_of_trouble),
            left_usd=self._left_usd,
            on_begin=self._notify_of_round,
            on_progress=self._notify_of_progress,
            on_late=self.drain,
        )

    def _notify_of_trouble(self, trouble: str) -> None:
        self.on_phase(f"the judge's API takes nothing for now ({trouble}): asking again, for up to half an hour")

    def _notify_of_progress(self, done: int, total: int) -> None:
        self.on_progress(done, total)

    def _notify_of_round(self, number: int, requests: int, batches: int) -> None:
        of = f" of about {max(number, self.rounds_expected)}" if self.rounds_expected else ""
        several = f"in {batches} batches" if batches > 1 else "in a batch"
        self.on_phase(f"judging, round {number}{of}: {counted(requests, 'request')} {several}")

    def begin(self, run: str) -> None:
        self.rounds.run = run
        self.rounds.begin()

    def all_decided(self) -> None:
        self.rounds.all_decided()

    def drain(self) -> None:
        first = not self._draining
        super().drain()
        if first:
            self._leave()

    def _leave(self) -> None:
        """Leave what is in work to the vendor, and say so."""
        left = self.rounds.leave()
        self.left = sum(left.values())
        if self.left:
            names = ", ".join(sorted(left)[:_NAMED]) + (", …" if len(left) > _NAMED else "")
            self._remark(
                f"API goes on with {counted(self.left, 'request')} in {agree(len(left), 'batch', 'batches')} {names}: "
                "whoever goes on with the run takes the replies, and pays nothing again"
            )

    async def aclose(self) -> None:
        await self.rounds.aclose()
        await super().aclose()

    async def decide_once(
        self,
        request: VerdictRequest,
        repeat: int,
        earlier: JudgeSpending | None = None,
        *,
        on_unusable: Callable[[JudgeVerdict], None] = lambda _verdict: None,
    ) -> Decision | None:
        """Make one decision; None also where its replies are left at the vendor. `on_unusable` is never called."""
        try:
            decision = await super().decide_once(request, repeat, earlier)
        except LeftError:
            return None
        return None if self.rounds.leaving else decision

    def _keep_part(self, whole: Outcome, key: str, stored: StoredReply | None, log: Callable[[], None]) -> None:
        """Keep a part with the whole: what is in the cache is not asked for again, and what it cost not counted."""
        if stored is not None:
            whole.unkept.append((key, stored))

    async def _complete(self, call: Call, request: VerdictRequest, outcome: Outcome) -> JudgeReply:
        if self.over:
            raise NotAskedError
        params = self._vendor.params(call)
        item = item_of(self.identity.origin, params, outcome.repeat, lambda: self._ahead(request, call))
        try:
            mine = await self.rounds.ask(item)
        except BudgetSpentError:
            outcome.prevented = not self.over
            raise NotAskedError from None
        except BackendError as error:
            outcome.spent += JudgeSpending(calls=item.tries)
            self._rejections.count(error)
            raise
        self._rejections.forget()
        reply = self._vendor.masked(item.reply.result(), call)
        if mine:
            outcome.spent += JudgeSpending(calls=item.tries) + self._bill(reply.usage, self._cost_ahead(request, call))
            self._learn(request, call, reply, outcome)
        return reply

    def _left_usd(self) -> float | None:
        limit = self._budget.limit_usd
        return None if limit is None else limit - self.spent_usd

    def _saved_usd(self, stored: StoredReply) -> float | None:
        """What is not written down is not known: calls cost the double of what a batch does."""
        return stored.cost_usd

    def _ahead(self, request: VerdictRequest, call: Call) -> Cost:
        """What a call will cost, and what is held back for it.

        Of calls whose like were made: the upper end of the estimate. Of others the most that they can cost, so that
        under a budget which does not hold that of all, the first batch is a small one to learn from.
        """
        cost = self._cost_ahead(request, call)
        expected = self.forecast.of(request, call)
        if not expected.measured:
            return cost
        upper = (self._cost(expected.usage(expected.thinking[1])) or 0.0) * (1 + expected.slack)
        return Cost(cost.expected, upper)

    def _cost_ahead(self, request: VerdictRequest, call: Call) -> Cost:
        """The same as of a call by itself; what is written to the vendor's cache is kept for an hour here."""
        cost = super()._cost_ahead(request, call)
        if self._budget.limit_usd is None:
            return cost
        most = most_tokens(call)
        kept = most.model_copy(update={"cache_write_1h_tokens": most.cache_write_tokens})
        return Cost(cost.expected, max(cost.most, self._cost(kept) or 0.0))
