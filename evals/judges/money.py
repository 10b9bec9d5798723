"""Money: what tokens cost, what a call will take, and the budget that no call starts beyond."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from pydantic import Field

from evals.judges.models import PROVIDERS, Call
from evals.judges.prompts import CHARACTERS_A_TOKEN
from evals.metrics.base import BaseMetric
from evals.metrics.performance import CostPerQuery, Price
from evals.schemas.base import Finite, Record
from evals.schemas.response import TokenUsage
from evals.schemas.verdicts import JudgeUsage
from evals.text.numbers import number_or_none

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
        listed = PROVIDERS[provider].is_vendors(base_url)
        return list_price(provider, model, usage, batch=batch) if listed else None

    return price


def list_price(vendor: str | None, model: str, usage: JudgeUsage, *, batch: bool = False) -> float | None:
    """What the tokens cost by the table of genai-prices; None where it does not know the model."""
    from genai_prices import Usage, calc_price  # noqa: PLC0415 - a third of a second

    counts = usage.model_dump(exclude={"thinking_tokens"})
    context = {"processing": "batch"} if batch else None
    try:
        found = calc_price(Usage(**counts), model_ref=model, provider_id=vendor, price_context=context)
    except LookupError:
        return None
    return float(found.total_price)


# What a question costs the server: by the user's prices, else by its own, else by the vendor's list.


def with_prices(
    metrics: Sequence[BaseMetric], prices: Mapping[str, PriceConfig], facts: Mapping[str, Any]
) -> list[BaseMetric]:
    """Give the cost metric its prices; the other metrics stay as they are.

    Args:
        metrics: All metrics of the run.
        prices: The user's, by model.
        facts: What the server says of itself.
    """
    named, provider = facts.get("llm_model"), facts.get("llm_provider") or None

    def listed(model: str | None, usage: TokenUsage) -> float | None:
        model = model or named
        if not isinstance(model, str) or not isinstance(provider, str | None) or (provider is None and ":" in model):
            return None  # with a colon it is the tag of a local model, such as deepseek-r1:8b
        counted = JudgeUsage(input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens)
        return list_price(provider, model, counted)

    table = {model: Price(price.input, price.output, "configuration") for model, price in prices.items()}
    priced = CostPerQuery(table, table.get(str(named)) or server_price(facts), listed, str(named or "") or None)
    return [priced if isinstance(metric, CostPerQuery) else metric for metric in metrics]


def server_price(facts: Mapping[str, Any]) -> Price | None:
    """The price that the server gives for its model; None unless it gives both halves."""
    halves = [number_or_none(facts.get(f"cost_per_1m_{half}_tokens")) for half in ("input", "output")]
    known = [half for half in halves if half is not None and 0 <= half <= MOST]
    return Price(known[0], known[1], "server") if len(known) == 2 else None


# What calls will take.


THINKING: Mapping[str, int] = {
    "none": 0,
    "minimal": 100,
    "low": 250,
    "medium": 600,
    "high": 1200,
    "xhigh": 2500,
    "max": 5000,
}
"""Tokens that a call is thought about at most, by effort: an allowance, no fact."""


def thinking_allowance(model: str, effort: str | None) -> int:
    """Tokens of thinking that a call may take."""
    return THINKING[effort or ("high" if model.startswith("claude-sonnet-5-5") else "medium")]


class Ahead(NamedTuple):
    """What a call will cost, in US dollars."""

    expected: float
    most: float
    """It cannot cost more: no token has fewer than two bytes, and the reply is as long as it may be."""


def cost_ahead(call: Call, written: int, price: Callable[[JudgeUsage], float | None]) -> Ahead:
    """What a call will cost, whose reply is of this usual length in tokens; nothing where no price is known."""
    size, sent = len(call.system) + len(call.message), len((call.system + call.message).encode())
    usual = JudgeUsage(input_tokens=size // CHARACTERS_A_TOKEN, output_tokens=written)
    least = -(-sent // 2)
    most = JudgeUsage(input_tokens=least, output_tokens=call.max_tokens, cache_write_tokens=least)
    expected = price(usual) or 0.0
    return Ahead(expected, max(expected, price(most) or 0.0))


class BudgetSpent(Exception):  # noqa: N818 - what it is
    """The budget does not hold another call of this size."""


class Budget:
    """Lets a call start only if the budget covers its cost, besides what is spent and what is in flight.

    Calls go at the same time as long as even the most that they can cost is there, and one by one below that: only the
    last one can exceed the budget, by what it costs above its estimate.

    Args:
        limit_usd: US dollars; None is no limit.
    """

    def __init__(self, limit_usd: float | None) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = 0.0
        self._held: list[Ahead] = []
        self._released = asyncio.Condition()

    @asynccontextmanager
    async def hold(self, ahead: Ahead) -> AsyncIterator[None]:
        """Wait until a call may start, which is made inside; its true cost must be in `spent_usd` at the end.

        Raises:
            BudgetSpent: It may not, and no call is in flight that could leave more than is held back for it.
        """
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

    def _allows(self, ahead: Ahead) -> bool:
        if self.limit_usd is None:
            return True
        left = self.limit_usd - self.spent_usd + 1e-9  # sums of many small costs differ in their last digits
        expected = sum(held.expected for held in self._held) + ahead.expected
        most = sum(held.most for held in self._held) + ahead.most
        return left > 1e-9 and expected <= left and (not self._held or most <= left)
