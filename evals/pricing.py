"""What tokens cost: the user's prices, else what the server says of itself, else nobody knows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evals.client.mapping import number_or_none
from evals.config import PriceConfig
from evals.metrics.base import BaseMetric
from evals.metrics.performance import CostPerQuery, Price
from evals.schemas.results import JudgeUsage


def with_prices(
    metrics: Sequence[BaseMetric], prices: Mapping[str, PriceConfig], facts: Mapping[str, Any]
) -> list[BaseMetric]:
    """Give the cost metric its prices; the other metrics stay as they are.

    Args:
        metrics: All metrics of the run.
        prices: The user's, by model.
        facts: What the server says of itself.
    """
    table = {model: Price(price.input, price.output, "configuration") for model, price in prices.items()}
    default = table.get(str(facts.get("llm_model"))) or server_price(facts)
    return [CostPerQuery(table, default) if isinstance(metric, CostPerQuery) else metric for metric in metrics]


def server_price(facts: Mapping[str, Any]) -> Price | None:
    """The price that the server gives for its model; None unless it gives both halves."""
    prompt = number_or_none(facts.get("cost_per_1m_input_tokens"))
    completion = number_or_none(facts.get("cost_per_1m_output_tokens"))
    if prompt is None or completion is None or prompt < 0 or completion < 0:
        return None
    return Price(prompt, completion, "server")


def judge_price(prices: Mapping[str, PriceConfig]) -> Callable[[str, JudgeUsage], float | None]:
    """What the judge's tokens cost: the user's price of the model, else the table of genai-prices, else None.

    Prices of cached tokens differ between sources, so treat the result as an estimate; the token counts are facts.
    """

    def price(model: str, usage: JudgeUsage) -> float | None:
        own = prices.get(model)
        if own is not None:
            return (usage.input_tokens * own.input + usage.output_tokens * own.output) / 1e6
        return _table_price(model, usage)

    return price


def _table_price(model: str, usage: JudgeUsage) -> float | None:
    from genai_prices import Usage, calc_price  # noqa: PLC0415 - a third of a second

    counted = Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    try:
        return float(calc_price(counted, model_ref=model).total_price)
    except LookupError:
        return None
