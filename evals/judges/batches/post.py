"""Sending batches such that none is paid for twice: written down before, and looked for where in doubt."""

import time
from collections.abc import Sequence

from evals.judges.backends.base import BackendError
from evals.judges.batches.item import Item
from evals.judges.batches.pace import MOST_FAILURES, Pace
from evals.judges.batches.vendor import AnthropicBatches, BatchState
from evals.store.batches import BatchLog, LoggedBatch

_SKEW_S = 86_400.0
"""How far this machine's clock may be from the vendor's."""


class Post:
    """Sends batches to a vendor.

    Args:
        vendor: Answers them.
        log: Keeps what was sent.
        pace: How long is waited.
    """

    def __init__(self, vendor: AnthropicBatches, log: BatchLog, pace: Pace) -> None:
        self._vendor = vendor
        self._log = log
        self._pace = pace

    async def send(self, batch: Sequence[Item], run: str) -> LoggedBatch:
        """Send a batch, which is written down before.

        Args:
            batch: The requests.
            run: The log of the run that wants it.

        Raises:
            BackendError: The vendor takes none.
            LeftError: The time is over.
            StoreError: It cannot be written down: nothing was sent.
        """
        newest = await self._pace.persistently(self._vendor.newest_batch)
        logged = self._log.intend([item.custom_id for item in batch], run=run, newest=newest)
        failures = 0
        for interval in self._pace.intervals():
            sent_at = time.time()
            try:
                state = await self._vendor.send_batch([(item.custom_id, item.params) for item in batch])
            except BackendError as error:
                failures += 1
                if not error.retryable or failures == MOST_FAILURES:
                    if not error.unanswered:
                        self._log.remove(logged)
                    raise
                self._pace.tell_first(failures, error)
                # It may have arrived all the same.
                if await self.find(logged, sent_at if error.unanswered else 0.0):
                    break
                await self._pace.wait(interval, error)
            else:
                self._log.sent(logged, state.id)
                break
        return logged

    async def find(self, logged: LoggedBatch, sent_at: float) -> bool:
        """Look at the vendor for a batch that was sent, but has no name here; whether it is there.

        Args:
            logged: What was sent, or was about to be.
            sent_at: When, in seconds since 1970: it may not be listed at once.

        Raises:
            BackendError: The vendor does not say.
            LeftError: The time is over.
        """
        others = self._log.names
        for interval in self._pace.intervals():
            for state in await self._since(logged):
                if state.id in others or state.count != len(logged.requests):
                    continue
                others.add(state.id)
                if await self._is(state, logged):
                    self._log.sent(logged, state.id)
                    return True
            if time.time() - sent_at >= self._pace.grace_s:
                break
            await self._pace.wait(interval)
        return False

    async def _since(self, logged: LoggedBatch) -> list[BatchState]:
        """The batches that may be it."""
        earliest = logged.at.timestamp() - _SKEW_S
        return await self._pace.persistently(lambda: self._vendor.batches_since(logged.newest, earliest))

    async def _is(self, state: BatchState, logged: LoggedBatch) -> bool:
        """Whether a batch at the vendor is the one that was sent; its requests are known once it has ended."""
        for interval in self._pace.intervals():
            now = await self._pace.persistently(lambda: self._vendor.state(state.id))
            if now is None:
                return False
            if now.ended:
                break
            await self._pace.wait(interval)
        return await self._pace.persistently(lambda: self._begins_like(state.id, logged))

    async def _begins_like(self, batch_id: str, logged: LoggedBatch) -> bool:
        results = self._vendor.results(batch_id)
        try:
            async for result in results:
                return result.custom_id in logged.requests
        finally:
            await results.aclose()
        return False
