"""How fast a server may be asked that refuses to be asked faster: all questions slow down, and speed up again.

A refusal (429, 503) lowers the rate to four fifths. From there it doubles each second up to just below the rate at
which the server refused, and then creeps, so that a limit is met rarely and an old one is forgotten. Where the limit is
not known yet, or most of what is sent is refused, nothing is sent for a while, and what the server had taken until then
tells the rate to go on with. So does TCP against congestion (Chiu & Jain 1989); the pauses are a circuit breaker's.
"""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from evals.client.transport import Reply, TransportFailure

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


# When a question is asked again, and how long to wait before.


FIRST_WAIT_S = 0.5

LONGEST_WAIT_S = 8.0

LONGEST_RETRY_AFTER_S = 30.0


@dataclass(slots=True)
class Attempts:
    """What it took: how many attempts, and how long was waited between them."""

    count: int = 0
    waited_s: float = 0.0
    began: float | None = None
    """When the first attempt was sent, or was meant to be; None where no attempt was."""

    def see(self, attempt: Reply | TransportFailure) -> None:
        """Note when the first attempt was sent, where it was not said when it was meant to be."""
        if self.began is None:
            self.began = attempt.started

    def total_ms(self, last: Reply | TransportFailure) -> float | None:
        """From then to the end of the last attempt; None where that is not known."""
        if self.began is None or last.started is None:
            return None
        return (last.started - self.began) * 1000 + last.elapsed_ms


def retrying(
    max_attempts: int,
    attempts: Attempts,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    jitter: Callable[[], float] = random.random,
) -> AsyncRetrying:
    """Build the policy: retryable failures only, exponential back-off with jitter, Retry-After up to a ceiling."""

    def wait(state: RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome else None
        asked = failure.retry_after_s if isinstance(failure, TransportFailure) else None
        if asked is not None:
            return min(asked, LONGEST_RETRY_AFTER_S)
        longest: float = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (state.attempt_number - 1))
        return longest * (1 - 0.25 * jitter())

    async def paused(seconds: float) -> None:
        attempts.waited_s += seconds
        await sleep(seconds)

    return AsyncRetrying(
        stop=stop_after_attempt(max_attempts),
        wait=wait,
        retry=retry_if_exception(lambda error: isinstance(error, TransportFailure) and error.retryable),
        sleep=paused,
        reraise=True,
    )


async def send_with_retries(
    send: Callable[[], Awaitable[Reply]],
    max_attempts: int,
    attempts: Attempts,
    sleep: Callable[[float], Awaitable[None]],
) -> Reply:
    """Send until it succeeds, fails for good or the attempts are used up.

    Raises:
        TransportFailure: Of the last attempt.
    """

    async def sent() -> Reply:
        attempts.count += 1
        try:
            reply = await send()
        except TransportFailure as failure:
            attempts.see(failure)
            raise
        attempts.see(reply)
        return reply

    try:
        return await sent()
    except TransportFailure as failure:
        if max_attempts == 1 or not failure.retryable:
            raise
        first = [failure]

    async def again() -> Reply:
        if first:
            raise first.pop()  # the policy counts the attempt that was made before it was needed
        return await sent()

    reply: Reply = await retrying(max_attempts, attempts, sleep)(again)
    return reply


# Patience with a server that is busy, or cannot be reached: its refusals are no attempts while there is patience.


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


# At most so many requests in a second.


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
        self.change(rps)
        self._sleep = sleep
        self._clock = clock
        self._next = 0.0
        self._due: float | None = None

    def change(self, rps: float | None) -> None:
        """Space the starts by this from now on."""
        self._gap = 1 / rps if rps else 0.0

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
        """Begin the sequence anew with the next question: before it, nobody was meant to ask."""
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
