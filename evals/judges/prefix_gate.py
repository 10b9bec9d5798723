"""Who goes first: a vendor has a prefix in its cache only once a call that wrote it is answered."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from evals.judges.backends.prompt_cache import LIFETIME_S, Prefix

_SAFETY = 0.8
"""A call takes a while until it is read by the vendor."""


class PrefixGate:
    """Has the first call with a prefix answered before those that share it go; calls without wait for nobody.

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
