"""What tokens cost: the user's prices, else what the server says of itself, else nobody knows."""

from collections.abc import Mapping, Sequence
from typing import Any

from evals.client.mapping import number_or_none
from evals.config import PriceConfig
from evals.metrics.base import BaseMetric
from evals.metrics.performance import CostPerQuery, Price


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
