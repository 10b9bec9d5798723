"""Back off from an overloaded judge, and give up on one that does not answer.

Libraries that retry one call have no state that calls in flight share: each would back off and probe on its own.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from evals.judges.backends.base import (
    LIFETIME_S,
    BackendError,
    OverloadedError,
    Prefix,
    RejectedError,
    UnreachableError,
)
from evals.text.numbers import counted

# Who goes first: a vendor has a prefix in its cache only once a call that wrote it is answered.


_SAFETY = 0.8
"""A call takes a while until it is read by the vendor."""


class PrefixGate:
    """Has the first call with a prefix answered before those that share it go; calls without one do not wait.

    Where the first one fails, the next is the first. A prefix that was not used for as long as it is kept is new again.

    Args:
        clock: Seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._used: dict[str, float] = {}
        """When a call with the prefix was last answered."""
        self._first: dict[str, asyncio.Event] = {}
        """Set when the first call with the prefix is over."""

    @asynccontextmanager
    async def turn(self, prefixes: Sequence[Prefix]) -> AsyncIterator[None]:
        """Wait until a call may go, which is made inside; an error in it means that it was not answered.

        Args:
            prefixes: The shortest first, as all calls give them: so no two calls wait for each other.
        """
        keys = [prefix.key for prefix in prefixes]
        led: set[str] = set()
        try:
            for key in keys:
                led |= {key} if await self._leads(key) else set()
            yield
            self._used.update(dict.fromkeys(keys, self._clock()))
        finally:
            for key in led:
                self._first.pop(key).set()

    async def _leads(self, key: str) -> bool:
        """Whether the call is the first with this prefix; waits for the first one where it is another."""
        while not self._is_kept(key):
            first = self._first.get(key)
            if first is None:
                self._first[key] = asyncio.Event()
                return True
            await first.wait()
        return False

    def _is_kept(self, key: str) -> bool:
        used = self._used.get(key)
        return used is not None and self._clock() - used < _SAFETY * LIFETIME_S


LONGEST_WAIT_S = 120.0
"""A judge that asks for more ends the judging: what was judged is saved, and the rest can be asked another day."""

_LONGEST_BACKOFF_S = 60.0


_LONGEST_OVERLOAD_S = 300.0
"""So long is waited in all for one call to be taken."""

_HINT = "see whether the judge is up, and resume the run when it takes calls; or measure the rest with --no-judge"


_LONGEST_SILENCE_S = 310.0
"""So long are calls made that nothing comes back of; a little more than one call may take, which alone ends nothing."""

_FEWEST_DECISIONS = 8


class Throttle:
    """Decides when the next call may start; all calls to a judge share it.

                  overloaded, or gone                 the wait is over
        OPEN ----------------------------> BACK-OFF -------------------> PROBE
         ^     all calls wait together        ^                          |   |
         |                                    +--- retryable failure ----+   |
         +-------------------- a reply, or another failure ------------------+

    OPEN lets calls start freely, PROBE only one at a time. The judge is gone if it answered before and now no call
    connects. If the wait is too long, or call after call brings no reply, the failure becomes fatal: judging ends.

    Args:
        concurrency: Calls in flight at most, as the caller bounds them.
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
        self._of_one_reply = max_attempts
        self._most_failures = max(_FEWEST_DECISIONS, 2 * concurrency) * max_attempts
        self._sleep = sleep
        self._clock = clock
        self._probe_lock = asyncio.Lock()
        self._backoff_s: float | None = None
        """How long to wait before the next probe; None in the state OPEN."""
        self._backoffs = 0
        """How often the wait was set since the state was OPEN."""
        self._backed_off_s = 0.0
        """How long was waited since then."""
        self._answered = False
        """Whether the judge ever answered."""
        self._failures = 0
        """Retryable failures in a row, over all decisions."""
        self._silent_s = 0.0
        """How long calls were in flight since anything came back, errors included."""
        self._silence_counted_until = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait until a call may start. The call is made inside, and its end decides on the next ones.

        Raises:
            BackendError: The one raised inside; a fatal one instead where no further call is worth making.
        """
        async with AsyncExitStack() as alone:
            probing = False
            if self._backoff_s is not None:
                await alone.enter_async_context(self._probe_lock)
                probing = await self._wait_to_probe()
                if not probing:
                    await alone.aclose()
            start = self._clock()
            try:
                yield
            except BackendError as error:
                self._count_silence(start, error)
                self._on_failure(error, probing=probing)
                raise
            self._count_silence(start)
            self._on_answer(probing=probing)

    async def wait_to_retry(self, error: BackendError, attempt: int) -> None:
        """Back off before the next attempt at the same reply, unless `slot` makes all calls wait for this error."""
        if not _overloaded(error):
            await self._sleep(_backoff(attempt))

    async def _wait_to_probe(self) -> bool:
        """Wait out the back-off; whether one is still on, so that the next call is a probe."""
        waited = 0.0
        while self._backoff_s is not None and waited < self._backoff_s:  # a call in flight may make it longer meanwhile
            rest = self._backoff_s - waited
            await self._sleep(rest)
            waited += rest
        self._backed_off_s += waited
        return self._backoff_s is not None

    def _on_answer(self, *, probing: bool) -> None:
        self._answered, self._failures = True, 0
        if probing:
            self._backoff_s, self._backoffs, self._backed_off_s = None, 0, 0.0

    def _count_silence(self, start: float, error: BackendError | None = None) -> None:
        """Add the time of a call that nothing came back of; time that calls in flight share counts once."""
        now = self._clock()
        if error is None or not (error.unanswered or isinstance(error, UnreachableError)):
            self._silent_s = 0.0
        elif error.unanswered:
            self._silent_s += now - max(start, self._silence_counted_until)
        self._silence_counted_until = now

    def _on_failure(self, error: BackendError, *, probing: bool) -> None:
        if not error.retryable:  # about this call only, so the judge is there
            self._on_answer(probing=probing)
            return
        self._failures += 1
        self._give_up_on_silence(error)
        if _overloaded(error) or self._is_gone(error):
            self._give_up_waiting(error)
            self._back_off(error.retry_after_s, probing=probing)

    def _give_up_on_silence(self, error: BackendError) -> None:
        """End the judging where call after call brings no reply."""
        if self._failures >= self._most_failures:
            raise BackendError(
                f"{self._failures} calls in a row brought no reply, the last: {error}", fatal=True, hint=_HINT
            )
        one_reply = self._answered and self._failures <= self._of_one_reply  # one that never comes ends nothing
        if self._silent_s > _LONGEST_SILENCE_S and not one_reply:
            raise BackendError(
                f"no call was answered for {self._silent_s:,.0f} s, the last: {error}", fatal=True, hint=_HINT
            )

    def _give_up_waiting(self, error: BackendError) -> None:
        """End the judging where the wait would be, or has been, too long."""
        asked = error.retry_after_s
        if asked is not None and asked > LONGEST_WAIT_S:
            raise BackendError(f"it asks to wait {asked:,.0f} s: {error}", fatal=True, hint=_HINT)
        if self._backed_off_s >= _LONGEST_OVERLOAD_S:
            raise BackendError(f"it accepted no call for {self._backed_off_s:,.0f} s: {error}", fatal=True, hint=_HINT)

    def _back_off(self, asked_s: float | None, *, probing: bool) -> None:
        if probing or self._backoff_s is None:  # once for all calls that were in flight together
            self._backoffs += 1
            self._backoff_s = asked_s or _backoff(self._backoffs)
        elif asked_s is not None:
            self._backoff_s = max(self._backoff_s, asked_s)

    def _is_gone(self, error: BackendError) -> bool:
        """Whether as many calls as can be in flight found no server where one had answered: it may be restarting."""
        return self._answered and isinstance(error, UnreachableError) and self._failures >= self._concurrency


def _overloaded(error: BackendError) -> bool:
    return isinstance(error, OverloadedError) or error.retry_after_s is not None


def _backoff(attempt: int) -> float:
    """Seconds before an attempt: twice as many each time, up to a bound, with jitter."""
    longest: float = min(_LONGEST_BACKOFF_S, 2.0 ** min(attempt - 1, 10))
    return longest * random.uniform(0.75, 1)  # noqa: S311 - jitter


# A judge that refuses call after call for one and the same reason: nothing that is asked will ever pass.


_REJECTIONS_HINT = (
    "name another model, or a server that takes such requests; or measure everything else with --no-judge"
)


MOST_REJECTIONS = 8
"""This many calls in a row may be refused alike."""


class Rejections:
    """Counts the calls that were refused alike, with no other end of a call between them."""

    def __init__(self) -> None:
        self._message = ""
        self._count = 0

    def forget(self) -> None:
        """Reset the count after an answered call."""
        self._message, self._count = "", 0

    def count(self, error: BackendError) -> None:
        """Count a failed call.

        Raises:
            BackendError: A fatal one, where this was the last of too many that are alike.
        """
        if not isinstance(error, RejectedError):
            return
        message = str(error)
        self._count = self._count + 1 if message == self._message else 1
        self._message = message
        if self._count >= MOST_REJECTIONS:
            raise BackendError(
                f"it refused {counted(MOST_REJECTIONS, 'call')} in a row for one reason: {message}",
                fatal=True,
                hint=_REJECTIONS_HINT,
            )
