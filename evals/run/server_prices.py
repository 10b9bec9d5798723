"""What a question costs the server: by the user's prices, else by its own, else by the vendor's list."""

from collections.abc import Mapping, Sequence
from typing import Any

from evals.judges.money import MOST, PriceConfig, list_price
from evals.metrics.base import BaseMetric
from evals.metrics.performance import CostPerQuery, Price
from evals.schemas.response import TokenUsage
from evals.schemas.verdicts import JudgeUsage
from evals.text.numbers import number_or_none


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
        counted = JudgeUsage(
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            cache_read_tokens=usage.cached_tokens or 0,
        )
        known = list_price(provider, model, counted)
        return known if known is not None else list_price(provider, model.rpartition("/")[2], counted)

    table = {
        model: Price(price.input, price.output, "configuration", price.cache_read) for model, price in prices.items()
    }
    priced = CostPerQuery(table, table.get(str(named)) or server_price(facts), listed, str(named or "") or None)
    return [priced if isinstance(metric, CostPerQuery) else metric for metric in metrics]


def server_price(facts: Mapping[str, Any]) -> Price | None:
    """The price that the server gives for its model; None unless it gives both halves."""
    halves = [number_or_none(facts.get(f"cost_per_1m_{half}_tokens")) for half in ("input", "output")]
    known = [half for half in halves if half is not None and 0 <= half <= MOST]
    return Price(known[0], known[1], "server") if len(known) == 2 else None
