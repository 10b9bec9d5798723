"""Prices: what tokens of a model cost."""

from collections.abc import Callable, Mapping

from pydantic import Field

from evals.judges.models import PROVIDERS
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
        listed = PROVIDERS[provider].is_vendors(base_url)
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
