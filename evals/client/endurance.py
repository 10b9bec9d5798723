"""Patience with a server that is busy, or cannot be reached: its refusals are no attempts while there is patience.

All questions share the rate at which it is asked (`adaptive_rate`). A connection that fails while the server can be
reached is a failure of its question alone. A server that took nothing for as long as the patience lasts is gone: from
then on nobody waits for it.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable

from evals.client.adaptive_rate import LONGEST_PAUSE_S, AdaptiveRate
from evals.client.retrying import Attempts
from evals.client.transport import Reply, TransportFailure

BUSY_STATUS = frozenset({429, 503})
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 5.0
"""Between two looks at whether the server can be reached."""


class Endurance:
    """What one client knows of how its server bears being asked.

    Args:
        patience_s: How long a question waits for a server that refuses it; 0 counts each refusal as a failed attempt.
        reach: Tells whether the server can be reached now.
        sleep: How to wait.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        patience_s: float,
        *,
        reach: Callable[[], Awaitable[bool]],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._patience_s = patience_s
        self._reach = reach
        self._sleep = sleep
        self._clock = clock
        self._is_known = False
        """Whether it ever answered: nobody waits for a server that was never there."""
        self._looking = asyncio.Lock()
        self._looked = self._came_back = -math.inf
        """When it was last known whether the server is there, and when it was there again after it was not."""
        self._away_since: float | None = None
        self.rate = AdaptiveRate(sleep=sleep, clock=clock)
        self.away: str | None = None
        """What the server said last when patience with it ended; None while it is there, or may come back."""

    async def send(self, send: Callable[[], Awaitable[Reply]], attempts: Attempts) -> Reply:
        """Send one attempt, again and again while the server only refuses it.

        Raises:
            TransportFailure: It failed, or was refused and there is no patience left.
        """
        refused_since: float | None = None
        while True:
            if self._patience_s and not self.away:
                await self._turn(attempts, refused_since)
            try:
                reply = await send()
            except TransportFailure as failure:
                attempts.see(failure)
                if not await self._is_refusal(failure, attempts):
                    raise
                refused_since = self._clock() if refused_since is None else refused_since
                if self._clock() - refused_since >= self._patience_s:
                    raise
                await self._honour(failure, attempts)
            else:
                self._there(reply)
                return reply

    async def _turn(self, attempts: Attempts, refused_since: float | None) -> None:
        began = self._clock()
        await self.rate.wait()
        if refused_since is not None:
            attempts.waited_s += self._clock() - began

    async def _is_refusal(self, failure: TransportFailure, attempts: Attempts) -> bool:
        """Whether the server took nothing for the moment; one that cannot be reached is waited for first."""
        if self._patience_s and failure.error.status in BUSY_STATUS:
            self.rate.see_refusal(failure.started, failure.retry_after_s)
            return not self._is_out_of_patience(failure)
        if failure.error.kind == "connect" and failure.retryable:
            return self._is_known and await self._was_away(failure, attempts)
        self._there(failure)
        return False

    async def _was_away(self, failure: TransportFailure, attempts: Attempts) -> bool:
        """Whether a request failed while the server could not be reached, and now it can."""
        began = self._clock()
        started = began if failure.started is None else failure.started
        async with self._looking:
            if started > self._looked:
                await self._look(failure)
        attempts.waited_s += self._clock() - began
        return self.away is None and started <= self._came_back

    async def _look(self, failure: TransportFailure) -> None:
        """Return when the server can be reached, answers anything, or is out of patience."""
        began, pause_s = self._clock(), 0.0
        while not await self._reach():
            pause_s = min(max(_FIRST_PAUSE_S, 2 * pause_s), _LONGEST_PAUSE_S)
            if self._looked > began:
                return
            if self._is_out_of_patience(failure):
                self._looked = self._clock()
                return
            await self._sleep(pause_s)
        self._away_since = self.away = None
        self._looked = self._clock()
        if pause_s:
            self._came_back = self._looked

    def _there(self, answer: Reply | TransportFailure) -> None:
        self._is_known = True
        self._away_since = self.away = None
        if answer.started is not None:
            self._looked = max(self._looked, answer.started + answer.elapsed_ms / 1000)

    def _is_out_of_patience(self, failure: TransportFailure) -> bool:
        """Whether the server took nothing for as long as the patience lasts."""
        now = self._clock()
        self._away_since = now if self._away_since is None else self._away_since
        if now - self._away_since >= self._patience_s:
            self.away = failure.error.message
            self.rate.release()
        return self.away is not None

    async def _honour(self, failure: TransportFailure, attempts: Attempts) -> None:
        """Wait as long as the server asks this question to, within bounds."""
        if failure.retry_after_s:
            seconds = min(failure.retry_after_s, LONGEST_PAUSE_S)
            attempts.waited_s += seconds
            await self._sleep(seconds)
