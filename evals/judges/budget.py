"""What a run may spend on its judge, with what the calls in flight will cost held back."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from evals.schemas.verdicts import JudgeUsage

PriceOf = Callable[[str, JudgeUsage], float | None]
"""What so many tokens of a model cost, in US dollars; None where no price is known."""
_ROUNDING = 1e-9
"""Sums of many small costs differ in their last digits."""


class BudgetSpentError(Exception):
    """No call of this size may start any more."""


class Cost(NamedTuple):
    """What a call will cost, in US dollars."""

    expected: float
    most: float
    """It cannot cost more than that."""


class Budget:
    """Lets a call start only where the budget holds what it will cost, beside what is spent and what is in flight.

    Calls go at the same time as long as even the most that they can cost is there; one by one below that. So the budget
    is exceeded by no more than what a single call costs above its estimate.

    Args:
        limit_usd: US dollars; None is no limit.
    """

    def __init__(self, limit_usd: float | None) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = 0.0
        self._held: list[Cost] = []
        self._waiting: set[asyncio.Event] = set()

    @asynccontextmanager
    async def hold(self, ahead: Callable[[], Cost]) -> AsyncIterator[Cost]:
        """Wait until a call may start, which is made inside; what it truly cost must be in `spent_usd` at its end.

        Args:
            ahead: What the call will cost, as far as it is known by now: other calls may teach it meanwhile.

        Raises:
            BudgetSpentError: It may not, and no call is in flight that could leave more than was held back for it.
        """
        while not self._allows(cost := ahead()):
            if not self._held:
                raise BudgetSpentError
            await self._release()
        self._held.append(cost)
        try:
            yield cost
        finally:
            self._held.remove(cost)
            for waiting in self._waiting:
                waiting.set()

    def _allows(self, cost: Cost) -> bool:
        if self.limit_usd is None:
            return True
        left = self.limit_usd - self.spent_usd
        expected = sum(held.expected for held in self._held) + cost.expected
        most = sum(held.most for held in self._held) + cost.most
        return left > 0 and expected <= left + _ROUNDING and (not self._held or most <= left + _ROUNDING)

    async def _release(self) -> None:
        """Wait until a call has ended."""
        ended = asyncio.Event()
        self._waiting.add(ended)
        try:
            await ended.wait()
        finally:
            self._waiting.discard(ended)
