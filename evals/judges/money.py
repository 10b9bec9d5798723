"""Money: what tokens of a model cost, and the budget of a run."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple

from pydantic import Field

from evals.judges.models import PROVIDERS, Call
from evals.judges.prompts import CHARACTERS_A_TOKEN
from evals.schemas.base import Finite, Record
from evals.schemas.verdicts import JudgeUsage

PriceOf = Callable[[str, JudgeUsage], float | None]
"""What this many tokens of a model cost in one call, in US dollars; None where no price is known."""

MOST = 1e6
"""Dollars for a million tokens, beyond which a price is a typing error."""

BATCH_SHARE = 0.5


class PriceConfig(Record):
    """US dollars for a million tokens of a model; those of a judge that are cached cost as `input` where None.

    In batches half of it is counted.
    """

    input: Finite = Field(ge=0, le=MOST)
    output: Finite = Field(ge=0, le=MOST)
    cache_read: Finite | None = Field(default=None, ge=0, le=MOST)
    cache_write: Finite | None = Field(default=None, ge=0, le=MOST)

    def cost(self, usage: JudgeUsage) -> float:
        """What the tokens cost."""
        read, written = usage.cache_read_tokens, usage.cache_write_tokens
        cached = read * (self.input if self.cache_read is None else self.cache_read)
        cached += written * (self.input if self.cache_write is None else self.cache_write)
        new = max(0, usage.input_tokens - read - written)
        return (new * self.input + cached + usage.output_tokens * self.output) / 1e6


def judge_price(prices: Mapping[str, PriceConfig], provider: str, base_url: str | None, *, batch: bool) -> PriceOf:
    """What the judge's calls cost: by the user's price of the model, else by the vendor's, else None.

    Prices may depend on the size of a call, so each is priced by itself. Sources differ in the price of cached tokens:
    the result is an estimate, the token counts are facts.

    Args:
        prices: The user's, by model.
        provider: By whose API the judge is reached.
        base_url: Where; a server of one's own has no vendor's prices, whatever its model is called.
        batch: Whether the judge is asked in batches, at half the price.
    """

    def price(model: str, usage: JudgeUsage) -> float | None:
        if model in prices:
            return prices[model].cost(usage) * (BATCH_SHARE if batch else 1)
        listed = PROVIDERS[provider].has_list_prices(base_url)
        return list_price(provider, model, usage, batch=batch) if listed else None

    return price


def list_price(vendor: str | None, model: str, usage: JudgeUsage, *, batch: bool = False) -> float | None:
    """What the tokens cost by the table of genai-prices; None where it does not know the model."""
    from genai_prices import Usage, calc_price  # noqa: PLC0415 - a third of a second

    counts = usage.model_dump(exclude={"thinking_tokens"})
    context = {"processing": "batch"} if batch else None
    try:
        calculation = calc_price(Usage(**counts), model_ref=model, provider_id=vendor, price_context=context)
    except LookupError:
        return None
    return float(calculation.total_price)


# The budget.


THINKING = {"none": 0, "minimal": 100, "low": 250, "medium": 600, "high": 1_200, "xhigh": 2_500, "max": 5_000}
"""Tokens that a call is thought about at most, by effort: an allowance, no fact."""


def thinking_allowance(model: str, effort: str | None) -> int:
    """Tokens of thinking that a call may take."""
    return THINKING[effort or ("high" if model.startswith("claude-sonnet-5-5") else "medium")]


class Ahead(NamedTuple):
    """What a call will cost, in US dollars."""

    expected: float
    most: float
    """An upper estimate: a token for each two bytes that are sent, and a reply as long as it may be."""


def cost_ahead(call: Call, written: int, price: Callable[[JudgeUsage], float | None]) -> Ahead:
    """What a call will cost, whose reply is of this usual length in tokens; nothing where no price is known."""
    sent = call.system + call.message
    usual = JudgeUsage(input_tokens=len(sent) // CHARACTERS_A_TOKEN, output_tokens=written)
    bound = -(-len(sent.encode()) // 2)
    most = JudgeUsage(input_tokens=bound, output_tokens=call.max_tokens, cache_write_tokens=bound)
    expected = price(usual) or 0.0
    return Ahead(expected, max(expected, price(most) or 0.0))


class BudgetSpent(Exception):  # noqa: N818 - what it is
    """The budget does not hold another call of this size."""


class Budget:
    """Lets a call start only if the budget covers its cost, besides what is spent and what is in flight.

    Calls go at the same time as long as the budget covers the most that they can cost, and one by one below that: only
    the last one can exceed the budget, by what it costs above its estimate. Estimates follow what calls cost so far.

    Args:
        limit_usd: US dollars; None is no limit.
    """

    def __init__(self, limit_usd: float | None) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = 0.0
        self._paid_usd = self._estimated_usd = 0.0
        self._held: list[Ahead] = []
        self._released = asyncio.Condition()

    @asynccontextmanager
    async def hold(self, ahead: Ahead) -> AsyncIterator[None]:
        """Wait until a call may start, which is made inside; `bill` counts what it cost before the end.

        Raises:
            BudgetSpent: It may not, and no call is in flight that could leave more than is held back for it.
        """
        if self._estimated_usd:
            ahead = Ahead(min(ahead.expected * self._paid_usd / self._estimated_usd, ahead.most), ahead.most)
        async with self._released:
            while not self._allows(ahead):
                if not self._held:
                    raise BudgetSpent
                await self._released.wait()
            self._held.append(ahead)
        try:
            yield
        finally:
            self._held.remove(ahead)
            async with self._released:
                self._released.notify_all()

    def bill(self, cost: float | None, ahead: Ahead) -> None:
        """Count a call; one of unknown cost counts as expected, for it may have been paid."""
        self.spent_usd += ahead.expected if cost is None else cost
        if cost is not None:
            self._paid_usd += cost
            self._estimated_usd += ahead.expected

    def _allows(self, ahead: Ahead) -> bool:
        if self.limit_usd is None:
            return True
        left = self.limit_usd - self.spent_usd + 1e-9  # sums of many small costs differ in their last digits
        expected = sum(held.expected for held in self._held) + ahead.expected
        most = sum(held.most for held in self._held) + ahead.most
        return left > 1e-9 and expected <= left and (not self._held or most <= left)
