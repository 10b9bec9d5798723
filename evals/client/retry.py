"""Retries and rate limiting: `RetryPolicy` sends every question by `retry(throttle(send))`.

A refusal (429, 503) lowers the rate of all questions to four fifths. From there it doubles each second up to just below
the rate at which the server refused, and then creeps, so that a limit is met rarely and an old one is forgotten. Where
the limit is not known yet, or most of what is sent is refused, nothing is sent for a while, and what the server had
taken until then gives the rate to continue with. So does TCP against congestion (Chiu & Jain 1989); the pauses are a
circuit breaker's.
"""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from evals.client.transport import Reply, TransportFailure

# A refusal leaves this of the rate.
_LOWER = 0.8

# Up to this share of the rate at which the server refused, the rate comes back fast; near it, it creeps by this factor
# a second, after so many seconds without a refusal twice as fast, then faster with the square of the time; so far
# above it without a refusal, that rate tells nothing any more.
_NEAR, _CREEP, _PATIENT_S, _FORGOTTEN = 0.97, 1.004, 5.0, 1.25

# A server that refuses more than this of what is sent is left alone for a while; fewer refusals tell nothing.
_MOST_OF, _FEW = 0.5, 3

# Requests in a second that are always tried.
_LEAST = 0.5

LONGEST_PAUSE_S = 30.0

_SHORTEST_PAUSE_S, _LONGEST_OWN_PAUSE_S = 1.0, 8.0


@dataclass(slots=True)
class _Period:
    """What was sent since the rate changed."""

    began: float
    sent: int = 0
    refused: int = 0


class AdaptiveRate:
    """Limits the rate at which requests start, and lowers it when the server refuses some.

    Args:
        sleep: How to wait.
        clock: Monotonic seconds.
    """

    def __init__(self, *, sleep: Callable[[float], Awaitable[None]], clock: Callable[[], float]) -> None:
        self._sleep, self._clock = sleep, clock
        self._turn = asyncio.Lock()
        self._rate = self._limit = math.inf
        """Requests in a second that are sent at most, and the rate at which the server refused."""
        self._next = self._grown = 0.0
        self._changed = -math.inf
        self._paused_until: float | None = None
        self._own_pause_s = _SHORTEST_PAUSE_S
        self._period: _Period | None = None
        self.refused = 0
        """Requests that were refused so far."""

    async def wait(self) -> float:
        """Return when the next request may start, in the order of asking, with the seconds that this took."""
        if self._rate == math.inf and self._paused_until is None and not self._turn.locked():
            self._see_sent(self._clock())
            return 0.0
        asked = self._clock()
        async with self._turn:
            held_back = False
            while (delay := self._delay()) > 0:
                held_back = True
                await self._sleep(delay)
            now = self._clock()
            self._grow(now, held_back)
            self._see_sent(now)
        return now - asked

    def see_refusal(self, started: float | None, retry_after_s: float | None = None) -> None:
        """Slow down.

        Args:
            started: When the refused request was sent; one that was sent before the last change tells nothing new.
            retry_after_s: How long the server asks to wait.
        """
        now, period = self._clock(), self._period
        self.refused += 1
        if period is not None:
            period.refused += 1
        if self._paused_until is not None or (started is not None and started < self._changed):
            return
        is_hopeless = period is None or (period.refused >= _FEW and period.refused > _MOST_OF * period.sent)
        if self._rate == math.inf or is_hopeless:
            wanted = self._own_pause_s if retry_after_s is None else max(retry_after_s, _SHORTEST_PAUSE_S)
            self._paused_until = now + min(wanted, LONGEST_PAUSE_S)
            self._own_pause_s = min(2 * self._own_pause_s, _LONGEST_OWN_PAUSE_S)
        else:
            self._limit = self._rate
            self._rate = max(_LEAST, _LOWER * self._rate)
        self._changed = now

    def release(self) -> None:
        """Hold back no request any more."""
        self._rate, self._paused_until = math.inf, None

    def _see_sent(self, now: float) -> None:
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
            self._resume(now)
        return 0.0 if self._rate == math.inf else self._next - now

    def _resume(self, now: float) -> None:
        """After a pause, continue at four fifths of the rate at which the server took requests before it."""
        period = self._period or _Period(now)
        taken = max(0, period.sent - period.refused) / max(_SHORTEST_PAUSE_S, self._changed - period.began)
        self._limit = taken or math.inf
        if taken:
            self._own_pause_s = _SHORTEST_PAUSE_S
        self._rate = max(_LEAST, _LOWER * min(self._rate, taken))
        self._paused_until = None
        self._changed = self._grown = self._next = now
        self._period = _Period(now)

    def _grow(self, now: float, held_back: bool) -> None:
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


# When a question is asked again, and how long to wait before.

FIRST_WAIT_S = 0.5

LONGEST_WAIT_S = 8.0

LONGEST_RETRY_AFTER_S = 30.0

BUSY_STATUS = frozenset({429, 503})

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 5.0
"""Between two looks at whether the server can be reached."""


@dataclass(slots=True)
class Attempts:
    """The number of attempts, and the waiting between them."""

    count: int = 0
    waited_s: float = 0.0
    began: float | None = None
    """When the first attempt was sent, or was meant to be; None where no attempt was."""


def backoff_s(attempt: int, retry_after_s: float | None, chance: float) -> float:
    """Seconds before the next attempt: exponential with jitter, or Retry-After up to a ceiling.

    Args:
        attempt: How many failed so far.
        retry_after_s: How long the server asks to wait; None where it does not say.
        chance: Between 0 and 1.
    """
    if retry_after_s is not None:
        return min(retry_after_s, LONGEST_RETRY_AFTER_S)
    longest: float = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (attempt - 1))
    return longest * (1 - 0.25 * chance)


class RetryPolicy:
    """Sends requests to one server with retries, rate limiting, and waiting while it is unavailable.

    A server that is busy or cannot be reached took nothing: while there is patience, that is no failed attempt.

    Args:
        patience_s: How long a question waits for a server that refuses it; 0 counts each refusal as a failed attempt.
        reach: Tells whether the server can be reached now.
        sleep: How to wait.
        clock: Monotonic seconds.
        jitter: Chance, between 0 and 1.
    """

    def __init__(
        self,
        patience_s: float,
        *,
        reach: Callable[[], Awaitable[bool]],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.perf_counter,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._patience_s = patience_s
        self._reach, self._sleep, self._clock, self._jitter = reach, sleep, clock, jitter
        self._is_known = False
        """Whether it ever answered: a server that was never there is not waited for."""
        self._looking = asyncio.Lock()
        self._looked = self._came_back = -math.inf
        """When it was last known whether the server is there, and when it was there again after it was not."""
        self._unavailable_since: float | None = None
        self.rate = AdaptiveRate(sleep=sleep, clock=clock)
        self.unavailable: str | None = None
        """What the server said last when patience with it ended; None while it is there, or may come back."""

    async def send(self, send: Callable[[], Awaitable[Reply]], attempts: Attempts, max_attempts: int = 1) -> Reply:
        """Send until it succeeds, fails for good or the attempts are used up.

        Raises:
            TransportFailure: Of the last attempt.
        """
        most = attempts.count + (1 if self.unavailable else max_attempts)
        attempts.count += 1
        refused_since: float | None = None
        while True:
            if self._patience_s and not self.unavailable:
                waited_s = await self.rate.wait()
                attempts.waited_s += waited_s if refused_since is not None else 0.0
            try:
                reply = await send()
            except TransportFailure as failure:
                attempts.began = failure.started if attempts.began is None else attempts.began
                if await self._is_refusal(failure, attempts):
                    refused_since = self._clock() if refused_since is None else refused_since
                    if self._clock() - refused_since < self._patience_s:
                        if failure.retry_after_s:
                            await self._pause(min(failure.retry_after_s, LONGEST_PAUSE_S), attempts)
                        continue
                if attempts.count >= most or not failure.retryable:
                    raise
                await self._pause(backoff_s(attempts.count, failure.retry_after_s, self._jitter()), attempts)
                attempts.count, refused_since = attempts.count + 1, None
            else:
                attempts.began = reply.started if attempts.began is None else attempts.began
                self._see_available(reply)
                return reply

    async def _pause(self, seconds: float, attempts: Attempts) -> None:
        attempts.waited_s += seconds
        await self._sleep(seconds)

    async def _is_refusal(self, failure: TransportFailure, attempts: Attempts) -> bool:
        """Whether the server took nothing for the moment; one that cannot be reached is waited for first."""
        if self._patience_s and failure.error.status in BUSY_STATUS:
            self.rate.see_refusal(failure.started, failure.retry_after_s)
            return not self._is_out_of_patience(failure)
        if failure.error.kind != "connect" or not failure.retryable:
            self._see_available(failure)
            return False
        if not self._is_known:
            return False
        began = self._clock()
        started = began if failure.started is None else failure.started
        async with self._looking:
            if started > self._looked:
                await self._wait_until_reached(failure)
        attempts.waited_s += self._clock() - began
        return self.unavailable is None and started <= self._came_back

    async def _wait_until_reached(self, failure: TransportFailure) -> None:
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
        self._unavailable_since = self.unavailable = None
        self._looked = self._clock()
        if pause_s:
            self._came_back = self._looked

    def _see_available(self, answer: Reply | TransportFailure) -> None:
        self._is_known = True
        self._unavailable_since = self.unavailable = None
        if answer.started is not None:
            self._looked = max(self._looked, answer.started + answer.elapsed_ms / 1000)

    def _is_out_of_patience(self, failure: TransportFailure) -> bool:
        """Whether the server took nothing for as long as the patience lasts."""
        now = self._clock()
        self._unavailable_since = now if self._unavailable_since is None else self._unavailable_since
        if now - self._unavailable_since >= self._patience_s:
            self.unavailable = failure.error.message
            self.rate.release()
        return self.unavailable is not None


class Pacer:
    """Spaces the starts of requests evenly.

    Args:
        rps: Requests in a second; None for no limit.
        sleep: How to wait.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        rps: float | None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._gap = 1 / rps if rps else 0.0
        self._sleep, self._clock = sleep, clock
        self._next = 0.0
        self._due: float | None = None

    def due(self) -> float | None:
        """When the next question is meant to be sent: at its place in an even sequence; None where there is no limit.

        A server that stalls lets questions wait that would have been sent meanwhile. Their users wait too, so that time
        is counted from here on, and not from when there was room for the question (coordinated omission; Tene 2015).
        """
        if not self._gap:
            return None
        due = self._clock() if self._due is None else self._due
        self._due = due + self._gap
        return due

    def restart(self) -> None:
        """Begin the sequence anew with the next question: the sequence is meant to start with it."""
        self._due = None

    async def wait(self) -> None:
        """Return when the next request may start."""
        if not self._gap:
            return
        now = self._clock()
        start = max(now, self._next)
        self._next = start + self._gap
        if start > now:
            await self._sleep(start - now)
