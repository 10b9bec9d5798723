"""When to call a judge that is overloaded, and when to stop calling one that does not answer."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from evals.judges.backends.base import BackendError
from evals.judges.backends.failures import OverloadedError, UnreachableError

LONGEST_WAIT_S = 120.0
"""A judge that asks for more ends the judging: what was judged is saved, and the rest can be asked another day."""
_LONGEST_BACKOFF_S = 60.0
_LONGEST_OVERLOAD_S = 300.0
"""So long is waited in all for one call to be taken."""
_LONGEST_SILENCE_S = 310.0
"""So long are calls made that nothing comes back of; a little more than one call may take, which alone ends nothing."""
_FEWEST_DECISIONS = 8


class Line:
    """The order in which the calls of one judge are made, shared by all its decisions.

    While the judge says that it is overloaded, or nobody is there who answered before, one call at a time finds out
    whether it is still so. Where call after call brings no reply, or the wait would be too long, the last failure
    becomes a fatal one.

    Args:
        concurrency: Calls in flight.
        max_attempts: Calls for one reply.
        sleep: How to wait, in seconds.
        clock: Seconds, for telling how long calls take.
    """

    def __init__(
        self,
        *,
        concurrency: int,
        max_attempts: int,
        sleep: Callable[[float], Awaitable[None]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._concurrency = concurrency
        self._most_failures = max(_FEWEST_DECISIONS, 2 * concurrency) * max_attempts
        self._sleep = sleep
        self._clock = clock
        self._one_at_a_time = asyncio.Lock()
        self._pause_s: float | None = None
        """How long to wait before the next call; None where calls are taken."""
        self._pauses = 0
        self._waited_s = 0.0
        self._answered = False
        self._failures = 0
        """Calls in a row, of all decisions, that brought nothing and could be made again."""
        self._silent_s = 0.0
        """How long calls were being made since the judge last said anything, be it that it is overloaded."""
        self._silent_until = 0.0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until a call is worth making; the call is made inside, and its end is learned from.

        Raises:
            BackendError: The one raised inside, which is fatal now where no further call is worth making.
        """
        async with AsyncExitStack() as alone:
            probing = False
            if self._pause_s is not None:
                await alone.enter_async_context(self._one_at_a_time)
                probing = await self._waited()
                if not probing:
                    await alone.aclose()
            start = self._clock()
            try:
                yield
            except BackendError as error:
                self._listen(start, error)
                self._learn(error, probing=probing)
                raise
            self._listen(start)
            self._reached(probing=probing)

    async def wait(self, error: BackendError, attempt: int) -> None:
        """Wait before the next attempt at the same reply; for an overloaded judge all wait together, in `turn`."""
        if not _overloaded(error):
            await self._sleep(_backoff(attempt))

    async def _waited(self) -> bool:
        """Wait as long as the judge asks for; whether there was anything to wait for."""
        waited = 0.0
        while self._pause_s is not None and waited < self._pause_s:  # others may be told to wait longer meanwhile
            rest = self._pause_s - waited
            await self._sleep(rest)
            waited += rest
        self._waited_s += waited
        return self._pause_s is not None

    def _reached(self, *, probing: bool) -> None:
        self._answered, self._failures = True, 0
        if probing:
            self._pause_s, self._pauses, self._waited_s = None, 0, 0.0

    def _listen(self, start: float, error: BackendError | None = None) -> None:
        """Count the time of a call that nothing came back of, those that were made meanwhile only once."""
        now = self._clock()
        if error is None or not (error.unanswered or isinstance(error, UnreachableError)):
            self._silent_s = 0.0
        elif error.unanswered:
            self._silent_s += now - max(start, self._silent_until)
        self._silent_until = now

    def _learn(self, error: BackendError, *, probing: bool) -> None:
        if not error.retryable:
            self._reached(probing=probing)
            return
        self._failures += 1
        if self._failures >= self._most_failures:
            raise BackendError(f"{self._failures} calls in a row brought no reply, the last: {error}", fatal=True)
        if self._silent_s > _LONGEST_SILENCE_S:
            raise BackendError(
                f"nothing came back of any call for {self._silent_s:,.0f} s, the last: {error}", fatal=True
            )
        if not _overloaded(error) and not self._has_gone(error):
            return
        asked = error.retry_after_s
        if asked is not None and asked > LONGEST_WAIT_S:
            raise BackendError(f"it asks to wait {asked:,.0f} s: {error}", fatal=True)
        if self._waited_s >= _LONGEST_OVERLOAD_S:
            raise BackendError(f"it took no call for {self._waited_s:,.0f} s: {error}", fatal=True)
        if probing or self._pause_s is None:  # not each of the calls that were refused together
            self._pauses += 1
            self._pause_s = asked or _backoff(self._pauses)
        elif asked is not None:
            self._pause_s = max(self._pause_s, asked)

    def _has_gone(self, error: BackendError) -> bool:
        """Whether all calls in flight found nobody where somebody was: a restart is worth some minutes of waiting."""
        return self._answered and isinstance(error, UnreachableError) and self._failures >= self._concurrency


def _overloaded(error: BackendError) -> bool:
    return isinstance(error, OverloadedError) or error.retry_after_s is not None


def _backoff(attempt: int) -> float:
    """Seconds, twice as many each time, and not the same for everybody."""
    longest: float = min(_LONGEST_BACKOFF_S, 2.0 ** min(attempt - 1, 10))
    return longest * random.uniform(0.75, 1)  # noqa: S311 - jitter
