"""Claims of cache keys: of processes that want the same reply at once, one asks for it."""

from collections.abc import Awaitable, Callable

from filelock import FileLock

from evals.errors import StoreError
from evals.judges.cache import JudgeCache

LEASE_S = 600.0
"""So long a decision waits for another process that asks for the same reply; then it is asked here too."""
_POLL_S = 0.25
_BESIDE_CALLS = 100
"""A claim takes a file descriptor, of which a process may have few."""


class ReplyClaims:
    """Holds the claims of one judge.

    Args:
        cache: Where other processes look for replies; None where there is no cache, and nothing to claim.
        concurrency: Calls in flight.
        sleep: How to wait.
        remark: Hears why there are no claims, where they cannot be made.
    """

    def __init__(
        self,
        cache: JudgeCache | None,
        concurrency: int,
        sleep: Callable[[float], Awaitable[None]],
        remark: Callable[[str], None],
    ) -> None:
        self._cache = cache
        self._most = concurrency + _BESIDE_CALLS
        self._sleep = sleep
        self._remark = remark
        self._held: dict[str, FileLock] = {}

    async def take(self, key: str, is_over: Callable[[], bool]) -> None:
        """Claim a key; while another process holds it, wait until that ends or the lease is over."""
        waited = 0.0
        while self._cache is not None and waited < LEASE_S and not is_over():
            claim = self._try(key, self._cache)
            if claim is not None:
                self._held[key] = claim
                return
            await self._sleep(_POLL_S)
            waited += _POLL_S

    def _try(self, key: str, cache: JudgeCache) -> FileLock | None:
        if len(self._held) >= self._most:
            return None
        try:
            return cache.claim(key)
        except StoreError as error:
            self.refuse()
            self._remark(f"replies are not shared with other processes at work: {error.message}")
            return None

    def refuse(self) -> None:
        """Claim nothing from here on."""
        self._cache = None

    def release(self, key: str | None) -> None:
        """Release a claim, where there is one."""
        claim = self._held.pop(key or "", None)
        if claim is not None:
            JudgeCache.release(claim)

    def release_all(self) -> None:
        """Release every claim."""
        for key in list(self._held):
            self.release(key)
