"""Judging by batches of requests, which cost half and take up to a day."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import islice
from typing import Any

from evals.judges.backends.base import BackendError, Call, JudgeReply
from evals.judges.batch_api import (
    MOST_BYTES,
    MOST_REQUESTS,
    AnthropicBatches,
    BatchLog,
    Item,
    LeftError,
    LoggedBatch,
    Pace,
    cut,
)
from evals.judges.cache import StoredReply
from evals.judges.llm_judge import LLMJudge, NotAskedError
from evals.judges.money import ROUNDING, BudgetSpentError, Cost, most_tokens
from evals.judges.replies import Decision, Outcome
from evals.schemas.verdicts import JudgeSpending, JudgeVerdict, VerdictRequest
from evals.text.numbers import agree, counted


def affordable(items: Sequence[Item], left_usd: float | None, *, busy: bool) -> list[Item]:
    """Those that a budget holds together, in their order.

    Args:
        items: What could be sent.
        left_usd: What is not spent and not held back; None where there is no budget.
        busy: Whether other requests are at the vendor. Where none are, a single one may be sent for which the budget
            holds what is expected, as with calls one by one.
    """
    if left_usd is None:
        return list(items)
    found: list[Item] = []
    held = 0.0
    for item in items:
        ahead = item.ahead()
        alone = not busy and not found and ahead.expected <= left_usd + ROUNDING
        if left_usd > 0 and (alone or held + ahead.most <= left_usd + ROUNDING):
            found.append(item)
            held += ahead.most
    return found


# Rounds of batches: all that can be asked by now is sent together; what builds on the replies is the next round.


MOST_TRIES = 3
"""Batches for one reply, where requests expire, are cancelled or fail at the vendor."""


_QUIET_TURNS = 100
"""This many turns of the loop without a new request mean that nothing more can be asked; a request takes about ten."""


_READINGS = 4
"""So often are whole results of a batch read that lack some of them."""


_SKEW_S = 86_400.0
"""How far this machine's clock may be from the vendor's."""


class Rounds:
    """Has requests answered by batches, none of which is paid for twice: each is written down before it is sent.

    Args:
        vendor: Answers them.
        log: Keeps what was sent.
        pace: How long is waited.
        judge: Says what its budget holds by now, and hears how rounds begin, continue and come too late.
    """

    def __init__(self, vendor: AnthropicBatches, log: BatchLog, pace: Pace, judge: "BatchJudge") -> None:
        self.run = ""
        """The log of the run that asks."""
        self.leaving = False
        """Whether replies are no longer waited for."""
        self._vendor = vendor
        self._log = log
        self._pace = pace
        self._judge = judge
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
        self._fail_all()
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
            self._judge.drain()
        except Exception as error:  # noqa: BLE001 - raised where a decision waits
            if isinstance(error, BackendError):
                error.fatal = True
            # One decision hears why, and the others that nothing comes.
            for first in list(self._waiting.values())[:1]:
                self._fail(first, error)
            self.leaving = True
            self._fail_all()

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
            logged = await self._send(batch)
            self._at_vendor[logged] = {item.custom_id: item for item in batch}
        if self._at_vendor:
            self._number += 1
            self._judge.tell_round(self._number, len(there) + len(chosen), len(self._at_vendor))
            await self._collect()

    def _chosen(self, rest: Sequence[Item]) -> list[Item]:
        """What of the requests that were never sent the budget holds; the others wait, or end where nothing comes."""
        left = self._judge.left_usd
        if left is not None:
            left -= sum(item.ahead().expected for items in self._at_vendor.values() for item in items.values())
        chosen = affordable(rest, left, busy=bool(self._at_vendor))
        taken = {item.custom_id for item in chosen}
        for item in rest:
            if item.custom_id not in taken:
                item.passed_over += 1
                if not chosen and not self._at_vendor:
                    self._fail(item, BudgetSpentError())
        return chosen

    async def _claim(self, items: Sequence[Item]) -> None:
        """Take up what was sent before, by a process that ended or in an earlier round, and was not looked at yet."""
        for item in items:
            for logged in self._log.holding(item.custom_id):
                if logged.path not in item.looked_into and self._log.claim(logged):
                    self._at_vendor.setdefault(logged, {})[item.custom_id] = item
                    break
        for logged in [logged for logged in self._at_vendor if logged.batch_id is None]:
            batch_id = await self._find(logged, logged.at.timestamp())
            if batch_id is None:
                self._log.remove(logged)
                del self._at_vendor[logged]
            else:
                self._log.sent(logged, batch_id)

    async def _send(self, batch: Sequence[Item]) -> LoggedBatch:
        """Send a batch, which is written down before.

        Raises:
            BackendError: The vendor takes none.
            LeftError: The time is over.
            StoreError: It cannot be written down: nothing was sent.
        """
        logged = self._log.intend([item.custom_id for item in batch], run=self.run)

        async def attempt() -> str:
            sent_at = time.time()
            try:
                return (await self._vendor.send_batch([(item.custom_id, item.params) for item in batch])).id
            except BackendError as error:  # it may have arrived all the same
                found = await self._find(logged, sent_at if error.unanswered else 0.0) if error.retryable else None
                if found is None:
                    raise
                return found

        try:
            batch_id = await self._pace.persistently(attempt)
        except BackendError as error:
            if not error.unanswered:
                self._log.remove(logged)
            raise
        self._log.sent(logged, batch_id)
        return logged

    async def _find(self, logged: LoggedBatch, sent_at: float) -> str | None:
        """The vendor's name for a batch that was sent, or was about to be; None where it is not there.

        Args:
            logged: The batch.
            sent_at: When, in seconds since 1970: it may not be listed at once.

        Raises:
            BackendError: The vendor does not say.
            LeftError: The time is over.
        """
        others, earliest = self._log.names, logged.at.timestamp() - _SKEW_S
        for interval in self._pace.intervals():
            for state in await self._pace.persistently(lambda: self._vendor.batches_since(earliest)):
                if state.id not in others and state.size == len(logged.requests):
                    others.add(state.id)
                    if await self._holds_one_of(state.id, logged.requests):
                        return state.id
            if time.time() - sent_at >= self._pace.grace_s:
                break
            await self._pace.sleep(interval)
        return None

    async def _holds_one_of(self, batch_id: str, requests: frozenset[str]) -> bool:
        """Whether a batch at the vendor begins with one of these requests, which is known once it has ended."""

        async def first() -> str | None:
            async with aclosing(self._vendor.results(batch_id)) as results:
                async for custom_id, _ in results:
                    return custom_id
            return None

        for interval in self._pace.intervals():
            state = await self._pace.persistently(lambda: self._vendor.state(batch_id))
            if state is None:
                break
            if state.ended:
                return await self._pace.persistently(first) in requests
            await self._pace.sleep(interval)
        return False

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
            self._judge.on_progress(total - sum(map(len, self._at_vendor.values())), total)
            if not self._at_vendor:
                return
            await self._pace.sleep(interval)

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

        async def read() -> None:
            async for custom_id, reply in self._vendor.results(batch_id):
                if custom_id in items:
                    self._take(logged, items.pop(custom_id), reply)
                await asyncio.sleep(0)  # decisions go on meanwhile, so that not all replies are held

        for interval in islice(self._pace.intervals(), _READINGS):
            await self._pace.persistently(read)
            if not items:
                return
            await self._pace.sleep(interval)
        for custom_id in list(items):
            self._take(logged, items.pop(custom_id), BackendError("its batch has no result of it", retryable=True))

    def _take(self, logged: LoggedBatch, item: Item, reply: JudgeReply | BackendError) -> None:
        """Hand out a result; a request that is worth another batch waits on."""
        item.looked_into.add(logged.path)
        if not isinstance(reply, BackendError):
            self._taken.add(item.custom_id)
            del self._waiting[item.custom_id]
            item.reply.set_result(reply)
            return
        item.tries += 1
        if not reply.retryable or item.tries >= MOST_TRIES:
            self._taken.add(item.custom_id)
            several = BackendError(f"{reply} ({item.tries} batches)", fatal=reply.fatal)
            self._fail(item, reply if item.tries == 1 else several)

    def _fail(self, item: Item, error: Exception) -> None:
        self._waiting.pop(item.custom_id, None)
        if not item.reply.done():
            item.reply.set_exception(error)

    def _fail_all(self) -> None:
        for item in list(self._waiting.values()):
            self._fail(item, LeftError())


# A judge that is asked in batches: the same decisions for half the price, in rounds that take up to a day.


_TOGETHER = 100_000
"""This many decisions wait for replies at the same time."""

_NAMED = 3


class BatchJudge(LLMJudge):
    """Decides as `LLMJudge` does; replies come by batches.

    A decision is recorded only once it is made: what was answered before is at the vendor, and is read again by
    a resumed run. So nothing is paid for twice, and nothing counted twice.

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
        self._may_claim = False  # what another process sent in a batch is known by the log of batches
        self.rounds = Rounds(vendor, log, replace(pace, tell=self._tell_trouble), self)

    @property
    def left_usd(self) -> float | None:
        """What the budget holds by now; None where there is none."""
        limit = self._budget.limit_usd
        return None if limit is None else limit - self.spent_usd

    def _tell_trouble(self, trouble: str) -> None:
        self.on_phase(f"the judge's API accepts no requests for now ({trouble}): asking again, for up to half an hour")

    def tell_round(self, number: int, requests: int, batches: int) -> None:
        """Say that a round was sent."""
        of = f" of about {max(number, self.rounds_expected)}" if self.rounds_expected else ""
        several = f"in {batches} batches" if batches > 1 else "in a batch"
        self.on_phase(f"judging, round {number}{of}: {counted(requests, 'request')} {several}")

    def begin(self, run: str) -> None:
        self.rounds.run = run
        self.rounds.begin()

    def all_decided(self) -> None:
        self.rounds.all_decided()

    def drain(self) -> None:
        """Leave what is in work to the vendor, and say so."""
        first = not self._draining
        super().drain()
        left = self.rounds.leave() if first else {}
        self.left += sum(left.values())
        if left:
            names = ", ".join(sorted(left)[:_NAMED]) + (", …" if len(left) > _NAMED else "")
            self._remark(
                f"API continues {counted(self.left, 'request')} in {agree(len(left), 'batch', 'batches')} {names}: "
                "resuming the run takes the replies, and pays nothing again"
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

    def _keep_part(self, whole: Outcome, part: Outcome) -> None:
        """Keep a part with the whole: what is in the cache is not asked for again, and what it cost not counted."""
        stored = part.stored()
        if stored is not None:
            whole.unkept.append((part.key, stored))

    async def _complete(self, call: Call, outcome: Outcome) -> JudgeReply:
        if self.over:
            raise NotAskedError
        request, params = outcome.request, self._vendor.params(call)
        item = Item.of(self.identity.origin, params, outcome.repeat, lambda: self._ahead(request, call))
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
            self._learn(call, reply, outcome)
        return reply

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
