"""How long batches are waited for, and how often the vendor is asked for what it did not say."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from evals.judges.backends.base import BackendError

T = TypeVar("T")
MOST_FAILURES = 30
"""So often in a row the vendor may say nothing, or take nothing: about half an hour."""
_GROWTH, _LONGEST = 1.5, 12
"""Of the time between two looks: its growth, and how many times the first it is at most."""
_LONGEST_WAIT_S = 120.0
"""Of what a vendor asks for; asked again too early, it asks again."""


class LeftError(Exception):
    """The reply will come when nobody waits for it any more: whoever goes on takes it then."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long batches are waited for, in seconds.

    Attributes:
        first_s: Between the first two looks at a batch; later ones are further apart.
        limit_s: For the batches of one round.
        grace_s: Until a batch that was sent must be listed at the vendor, if it arrived.
        sleep: How to wait.
        clock: Seconds that only grow.
        tell: Hears that the vendor says nothing, or takes nothing, when that begins.
    """

    first_s: float = 5.0
    limit_s: float = 90_000.0
    grace_s: float = 30.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    tell: Callable[[str], None] = lambda _trouble: None

    def intervals(self) -> Iterator[float]:
        """The times between looks, until the limit is over.

        Raises:
            LeftError: It is.
        """
        interval, began = self.first_s, self.clock()
        while self.clock() - began <= self.limit_s:
            yield interval
            interval = min(interval * _GROWTH, self.first_s * _LONGEST)
        raise LeftError

    def tell_first(self, failures: int, error: BackendError) -> None:
        """Tell of the first failure in a row."""
        if failures == 1:
            self.tell(str(error))

    async def wait(self, interval: float, error: BackendError | None = None) -> None:
        """Wait before the next look, longer where the vendor asks for it."""
        asked = min(error.retry_after_s or 0.0, _LONGEST_WAIT_S) if error is not None else 0.0
        await self.sleep(max(asked, interval))

    async def persistently(self, work: Callable[[], Awaitable[T]]) -> T:
        """Ask the vendor for something again and again.

        Raises:
            BackendError: It does not say it, and will not.
            LeftError: The time is over.
        """
        failures = 0
        intervals = self.intervals()
        while True:
            interval = next(intervals)
            try:
                return await work()
            except BackendError as error:
                failures += 1
                if not error.retryable or failures == MOST_FAILURES:
                    raise
                self.tell_first(failures, error)
                await self.wait(interval, error)
