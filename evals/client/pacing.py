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
        self._gap = 1 / rps if rps else 0.0
        self._sleep = sleep
        self._clock = clock
        self._next = 0.0

    async def wait(self) -> None:
        """Return when the next request may start."""
        if not self._gap:
            return
        now = self._clock()
        start = max(now, self._next)
        self._next = start + self._gap
        if start > now:
            await self._sleep(start - now)
