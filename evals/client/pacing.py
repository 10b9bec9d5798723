"""At most so many requests in a second. Written here: a package such as `aiolimiter` would stand for one method."""

import asyncio
import time
from collections.abc import Awaitable, Callable


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
