"""How fast a server may be asked that refuses to be asked faster: all questions slow down, and speed up again.

A refusal (429, 503) lowers the rate to four fifths. From there it doubles each second up to just below the rate at
which the server refused, and then creeps, so that a limit is met rarely and an old one is forgotten. Where the limit is
not known yet, or most of what is sent is refused, nothing is sent for a while, and what the server had taken until then
tells the rate to go on with. So does TCP against congestion (Chiu & Jain 1989); the pauses are a circuit breaker's.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

LOWER = 0.8
"""What a refusal leaves of the rate."""
LONGEST_PAUSE_S = 30.0
_NEAR = 0.97
"""Up to this share of the rate at which the server refused, the rate comes back fast."""
_CREEP = 1.004
"""What the rate grows by in a second near that."""
_PATIENT_S = 5.0
"""After so many seconds without a refusal it creeps twice as fast, then faster with the square of the time."""
_FORGOTTEN = 1.25
"""So far above it without a refusal, that rate tells nothing any more."""
_MOST_OF = 0.5
"""A server that refuses more than this of what is sent is left alone for a while."""
_FEW = 3
"""With fewer refusals than this, that share tells nothing."""
_LEAST = 0.5
"""Requests in a second that are always tried."""
_SHORTEST_PAUSE_S, _LONGEST_OWN_PAUSE_S = 1.0, 8.0


@dataclass(slots=True)
class _Period:
    """What was sent since the rate changed."""

    began: float
    sent: int = 0
    refused: int = 0

    def taken(self) -> int:
        """How many requests the server took."""
        return max(0, self.sent - self.refused)

    def is_hopeless(self) -> bool:
        """Whether the server refuses most of what is sent."""
        return self.refused >= _FEW and self.refused > _MOST_OF * self.sent


class AdaptiveRate:
    """Lets requests start, one after the other where the server wants fewer of them.

    Args:
        sleep: How to wait.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._sleep = sleep
        self._clock = clock
        self._turn = asyncio.Lock()
        self._rate = math.inf
        self._limit = math.inf
        """The rate at which the server refused."""
        self._next = 0.0
        self._grown = 0.0
        self._changed = -math.inf
        self._paused_until: float | None = None
        self._own_pause_s = _SHORTEST_PAUSE_S
        self._period: _Period | None = None
        self.refused = 0
        """Requests that were refused so far."""

    @property
    def rate(self) -> float:
        """Requests in a second that are sent at most; infinite where the server never refused."""
        return self._rate

    async def wait(self) -> None:
        """Return when the next request may start, in the order of asking."""
        if self._is_open() and not self._turn.locked():
            self._sent()
            return
        async with self._turn:
            held_back = False
            while (delay := self._delay()) > 0:
                held_back = True
                await self._sleep(delay)
            self._grow(held_back)
            self._sent()

    def see_refusal(self, started: float | None, retry_after_s: float | None = None) -> None:
        """Slow down.

        Args:
            started: When the refused request was sent; one that was sent before the last change tells nothing new.
            retry_after_s: How long the server asks to wait.
        """
        now = self._clock()
        self.refused += 1
        if self._period is not None:
            self._period.refused += 1
        if self._paused_until is not None or (started is not None and started < self._changed):
            return
        if self._rate == math.inf or self._period is None or self._period.is_hopeless():
            self._pause(now, retry_after_s)
        else:
            self._limit = self._rate
            self._rate = max(_LEAST, LOWER * self._rate)
        self._changed = now

    def release(self) -> None:
        """Hold nobody back any more."""
        self._rate, self._paused_until = math.inf, None

    def _is_open(self) -> bool:
        return self._rate == math.inf and self._paused_until is None

    def _sent(self) -> None:
        now = self._clock()
        if self._period is None:
            self._period = _Period(now)
        self._period.sent += 1
        if self._rate != math.inf:
            gap = 1 / self._rate
            self._next = max(self._next, now - gap) + gap

    def _delay(self) -> float:
        """Seconds until the next request may start, 0 or less where it may now."""
        now = self._clock()
        if self._paused_until is not None:
            if now < self._paused_until:
                return self._paused_until - now
            self._go_on(now)
        if self._rate == math.inf:
            return 0.0
        return self._next - now

    def _pause(self, now: float, retry_after_s: float | None) -> None:
        wanted = self._own_pause_s if retry_after_s is None else max(retry_after_s, _SHORTEST_PAUSE_S)
        self._paused_until = now + min(wanted, LONGEST_PAUSE_S)
        self._own_pause_s = min(2 * self._own_pause_s, _LONGEST_OWN_PAUSE_S)

    def _go_on(self, now: float) -> None:
        """After a pause, at four fifths of the rate at which the server took requests before it."""
        period = self._period or _Period(now)
        taken = period.taken() / max(_SHORTEST_PAUSE_S, self._changed - period.began)
        self._limit = taken or math.inf
        if taken:
            self._own_pause_s = _SHORTEST_PAUSE_S
        self._rate = max(_LEAST, LOWER * min(self._rate, taken))
        self._paused_until = None
        self._changed = self._grown = self._next = now
        self._period = _Period(now)

    def _grow(self, held_back: bool) -> None:
        now = self._clock()
        seconds, self._grown = min(now - self._grown, 1.0), now
        if not held_back or self._rate == math.inf:
            return  # what holds nobody back need not grow
        if self._rate > _FORGOTTEN * self._limit:
            self._limit = math.inf
        near = _NEAR * self._limit
        if self._rate < near:
            self._rate = min(near, self._rate * 2**seconds)
        else:
            patience = (now - self._changed) / _PATIENT_S
            self._rate *= _CREEP ** (seconds * (1 + patience**2))
