"""Prices of tokens: the user's, else the server's, else those of a table, else unknown."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import Field

from evals.metrics.base import BaseMetric
from evals.metrics.performance import CostPerQuery, Price
from evals.schemas.base import Finite, Record
from evals.schemas.response import TokenUsage
from evals.schemas.verdicts import JudgeUsage
from evals.text.numbers import number_or_none

BATCH_SHARE = 0.5
"""Of a price, what is left of it in a batch."""


MOST = 1e6
"""Dollars for a million tokens, beyond which a price is a typing error, and costs no number to reckon with."""


class PriceConfig(Record):
    """US dollars for a million tokens of a model; those of a judge that are cached cost as `input` where None.

    In batches half of it is counted.
    """

    input: Finite = Field(ge=0, le=MOST)
    output: Finite = Field(ge=0, le=MOST)
    cache_read: Finite | None = Field(default=None, ge=0, le=MOST)
    cache_write: Finite | None = Field(default=None, ge=0, le=MOST)


def with_prices(
    metrics: Sequence[BaseMetric], prices: Mapping[str, PriceConfig], facts: Mapping[str, Any]
) -> list[BaseMetric]:
    """Give the cost metric its prices; the other metrics stay as they are.

    Args:
        metrics: All metrics of the run.
        prices: The user's, by model.
        facts: What the server says of itself.
    """
    table = {
        model: Price(price.input, price.output, "configuration", price.cache_read) for model, price in prices.items()
    }
    default = table.get(str(facts.get("llm_model"))) or server_price(facts)
    named = str(facts.get("llm_model") or "") or None
    priced = CostPerQuery(table, default, _listed(facts), named)
    return [priced if isinstance(metric, CostPerQuery) else metric for metric in metrics]


def _listed(facts: Mapping[str, Any]) -> Callable[[str | None, TokenUsage], float | None]:
    """The list price of the server's provider; where it names none, of the vendor of the model."""
    provider, named = facts.get("llm_provider") or None, facts.get("llm_model")

    def price(model: str | None, usage: TokenUsage) -> float | None:
        model = model or named
        if not isinstance(model, str) or not isinstance(provider, str | None):
            return None
        if provider is None and ":" in model:
            return None  # the tag of a local model, such as deepseek-r1:8b
        counted = JudgeUsage(
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            cache_read_tokens=usage.cached_tokens or 0,
        )
        known = _table_price(provider, model, counted)
        return known if known is not None else _table_price(provider, model.rpartition("/")[2], counted)

    return price


def server_price(facts: Mapping[str, Any]) -> Price | None:
    """The price that the server gives for its model; None unless it gives both halves."""
    prompt = number_or_none(facts.get("cost_per_1m_input_tokens"))
    completion = number_or_none(facts.get("cost_per_1m_output_tokens"))
    if prompt is None or completion is None or not (0 <= prompt <= MOST and 0 <= completion <= MOST):
        return None
    return Price(prompt, completion, "server")


def judge_price(
    prices: Mapping[str, PriceConfig], vendor: str | None, *, batch: bool = False
) -> Callable[[str, JudgeUsage], float | None]:
    """What the judge's tokens cost: the user's price of the model, else the table of genai-prices, else None.

    Args:
        prices: The user's, by model.
        vendor: Whose prices to take from the table; None where a server of one's own judges, whose model may be called
            like a vendor's.
        batch: Whether the judge is asked in batches, at half the price.

    A price may depend on the size of a request, so give it one call at a time. Prices of cached tokens differ between
    sources, so treat the result as an estimate; the token counts are facts.
    """

    def price(model: str, usage: JudgeUsage) -> float | None:
        own = prices.get(model)
        if own is not None:
            return _own_price(own, usage) * (BATCH_SHARE if batch else 1)
        return None if vendor is None else _table_price(vendor, model, usage, batch=batch)

    return price


def _own_price(own: PriceConfig, usage: JudgeUsage) -> float:
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    new = max(0, usage.input_tokens - read - written)
    of_cache = read * (own.input if own.cache_read is None else own.cache_read)
    of_cache += written * (own.input if own.cache_write is None else own.cache_write)
    return (new * own.input + of_cache + usage.output_tokens * own.output) / 1e6


def _table_price(vendor: str | None, model: str, usage: JudgeUsage, *, batch: bool = False) -> float | None:
    from genai_prices import Usage, calc_price  # noqa: PLC0415 - a third of a second

    counted = Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cache_write_1h_tokens=usage.cache_write_1h_tokens,
    )
    context = {"processing": "batch"} if batch else None
    try:
        return float(calc_price(counted, model_ref=model, provider_id=vendor, price_context=context).total_price)
    except LookupError:
        return None
