"""A server that is too busy, or away for a moment, is waited for: its refusals are no attempts while there is patience.

All questions share the rate at which it is asked (`adaptive_rate`). A server that took nothing for as long as the
patience lasts is gone: from then on nobody waits for it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from evals.client.adaptive_rate import LONGEST_PAUSE_S, AdaptiveRate
from evals.client.retrying import Attempts
from evals.client.transport import Reply, TransportFailure

BUSY_STATUS = frozenset({429, 503})


class Endurance:
    """What one client knows of how its server bears being asked.

    Args:
        patience_s: How long a question waits for a server that refuses it; 0 counts each refusal as a failed attempt.
        concurrency: So many failed connections in a row are more than an accident.
        sleep: How to wait.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        patience_s: float,
        *,
        concurrency: int,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._patience_s = patience_s
        self._concurrency = concurrency
        self._sleep = sleep
        self._clock = clock
        self._is_known = False
        """Whether it ever answered: nobody waits for a server that was never there."""
        self._unconnected_in_row = 0
        self._away_since: float | None = None
        self.rate = AdaptiveRate(sleep=sleep, clock=clock)
        self.away: str | None = None
        """What the server said last when patience with it ended; None while it is there, or may come back."""

    async def send(self, send: Callable[[], Awaitable[Reply]], attempts: Attempts) -> Reply:
        """Send one attempt, again and again while the server only refuses it.

        Raises:
            TransportFailure: It failed, or was refused and there is no patience left.
        """
        if not self._patience_s:
            return await send()
        refused_since: float | None = None
        while True:
            await self._turn(attempts, refused_since)
            try:
                reply = await send()
            except TransportFailure as failure:
                attempts.see(failure)
                if not self._is_refusal(failure):
                    raise
                refused_since = self._clock() if refused_since is None else refused_since
                if self._is_out_of_patience(refused_since, failure):
                    raise
                await self._honour(failure, attempts)
            else:
                self._there()
                return reply

    async def _turn(self, attempts: Attempts, refused_since: float | None) -> None:
        began = self._clock()
        if not self.away:
            await self.rate.wait()
        if refused_since is not None:
            attempts.waited_s += self._clock() - began

    def _is_refusal(self, failure: TransportFailure) -> bool:
        """Whether the server only wants to be asked later; one lost connection is a failure, a row of them is not."""
        if failure.error.status in BUSY_STATUS:
            self._unconnected_in_row = 0
            return True
        if failure.error.kind != "connect" or not failure.retryable:
            self._there()
            return False
        self._unconnected_in_row += 1
        return self._is_known and self._unconnected_in_row > max(3, self._concurrency)

    def _there(self) -> None:
        self._is_known = True
        self._unconnected_in_row = 0
        self._away_since = self.away = None

    def _is_out_of_patience(self, refused_since: float, failure: TransportFailure) -> bool:
        now = self._clock()
        self.rate.see_refusal(failure.started, failure.retry_after_s)
        self._away_since = now if self._away_since is None else self._away_since
        if now - self._away_since >= self._patience_s:
            self.away = failure.error.message
            self.rate.release()
        return self.away is not None or now - refused_since >= self._patience_s

    async def _honour(self, failure: TransportFailure, attempts: Attempts) -> None:
        """Wait as long as the server asks this question to, within bounds."""
        if failure.retry_after_s:
            seconds = min(failure.retry_after_s, LONGEST_PAUSE_S)
            attempts.waited_s += seconds
            await self._sleep(seconds)
