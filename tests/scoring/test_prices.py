"""What tokens cost, and who says so."""

from typing import Any

import pytest

from evals.metrics.performance import CostPerQuery
from evals.metrics.registry import select
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, TokenUsage
from evals.schemas.verdicts import JudgeUsage
from evals.scoring.notes import AnswerTally
from evals.scoring.prices import PriceConfig, judge_price, server_price, with_prices
from evals.scoring.settings import ScoreSettings, ScoringContext

USAGE = TokenUsage(prompt_tokens=1_000_000, completion_tokens=1_000_000)
SERVER = {"llm_model": "m", "cost_per_1m_input_tokens": 1, "cost_per_1m_output_tokens": "2"}
MINE = {"m": PriceConfig(input=10, output=20)}


@pytest.mark.parametrize(
    ("prices", "facts", "model", "cost"),
    [
        (MINE, SERVER, "m", 30.0),
        (MINE, SERVER, None, 30.0),
        (MINE, {**SERVER, "llm_model": "other"}, "other", 3.0),
        ({}, SERVER, None, 3.0),
        ({}, {}, "m", None),
        (MINE, {}, "other", None),
        (MINE, {}, "m", 30.0),
    ],
)
def test_the_users_price_goes_before_the_servers(
    prices: dict[str, PriceConfig], facts: dict[str, Any], model: str | None, cost: float | None
) -> None:
    """Yours, else the server's own, else nobody knows: never 0 for unknown."""
    (metric,) = with_prices([CostPerQuery()], prices, facts)
    result = metric.compute(EvalQuestion(question="Who?"), EvalResponse(answer="x", usage=USAGE, model=model))
    assert result.value == cost
    assert (result.reason is None) == (cost is not None)


@pytest.mark.parametrize("key", ["cost_per_1m_input_tokens", "cost_per_1m_output_tokens"])
@pytest.mark.parametrize("value", [None, -1, "free", True])
def test_half_a_price_is_none(key: str, value: object) -> None:
    """A server that gives one half, or nonsense, gives no price."""
    assert server_price(SERVER) is not None
    assert server_price({**SERVER, key: value}) is None


def test_other_metrics_stay_as_they_are() -> None:
    """Only the cost metric learns prices, at its place."""
    metrics = select(["core"], [])
    priced = with_prices(metrics, MINE, {})
    assert [metric.name for metric in priced] == [metric.name for metric in metrics]
    assert sum(old is not new for old, new in zip(metrics, priced, strict=True)) == 1


@pytest.mark.parametrize(
    ("facts", "model", "known"),
    [
        ({"llm_provider": "anthropic", "llm_model": "claude-haiku-5-5"}, None, True),
        ({"llm_provider": "anthropic"}, "claude-haiku-5-5", True),
        ({"llm_model": "claude-haiku-5-5"}, None, True),
        ({}, "gpt-4o-mini", True),
        ({}, "openai/gpt-4o-mini", True),
        ({}, "somebody/their-own", False),
        ({"llm_provider": ""}, "gpt-4o-mini-2024-07-18", True),
        ({}, "deepseek-r1:8b", False),
        ({}, "somebodys-own", False),
        ({}, None, False),
        ({"llm_provider": "anthropic", "llm_model": "somebodys-own"}, None, False),
        ({"llm_provider": "ollama", "llm_model": "claude-haiku-5-5"}, None, False),
    ],
)
def test_a_named_model_has_its_list_price(facts: dict[str, Any], model: str | None, known: bool) -> None:
    """Of the provider that the server names, else of the model's vendor; a tag of a local model has no vendor."""
    (metric,) = with_prices([CostPerQuery()], {}, facts)
    usage = TokenUsage(prompt_tokens=1000, completion_tokens=1000)
    result = metric.compute(EvalQuestion(question="Who?"), EvalResponse(answer="x", usage=usage, model=model))
    assert (result.value is not None and result.value > 0) is known
    assert result.details.get("price") == ("list price (genai-prices)" if known else None)


@pytest.mark.parametrize(("prices", "told"), [({}, True), ({"gpt-4o-mini": PriceConfig(input=1, output=1)}, False)])
def test_a_run_says_that_its_cost_is_by_list_prices(prices: dict[str, PriceConfig], told: bool) -> None:
    """Who has another contract knows by the note what to configure."""
    question, response = EvalQuestion(question="Who?"), EvalResponse(answer="x", usage=USAGE, model="gpt-4o-mini")
    (metric,) = with_prices([CostPerQuery()], prices, {})
    record = EvalRecord(question=question, response=response, scores=[metric.compute(question, response)])
    notes = AnswerTally()
    notes.add(record, ScoringContext(ScoreSettings()).of(record))
    assert [note for note in notes.notes(concurrency=1, usage_limit=None) if "list price" in note] == (
        ["cost_per_query is by the list prices of genai-prices: name what you pay in `prices:`"] if told else []
    )


@pytest.mark.parametrize(("price", "told"), [(1, True), (0, False)])
def test_a_run_says_that_its_cost_is_approximate_where_it_costs(price: int, told: bool) -> None:
    """Tokens of parallel questions are counted together, which changes nothing where they are free."""
    question, response = EvalQuestion(question="Who?"), EvalResponse(answer="x", usage=USAGE, model="gpt-4o-mini")
    (metric,) = with_prices([CostPerQuery()], {"gpt-4o-mini": PriceConfig(input=price, output=price)}, {})
    record = EvalRecord(question=question, response=response, scores=[metric.compute(question, response)])
    notes = AnswerTally()
    notes.add(record, ScoringContext(ScoreSettings()).of(record))
    assert any(note.startswith("cost is approximate") for note in notes.notes(concurrency=4, usage_limit=1)) is told


@pytest.mark.parametrize("prices", [{}, {"claude-sonnet-5-5": PriceConfig(input=3, output=9, cache_write=4)}])
def test_a_batch_costs_half(prices: dict[str, PriceConfig]) -> None:
    """By the table and by the user's own prices."""
    usage = JudgeUsage(input_tokens=9000, output_tokens=1000, cache_read_tokens=2000, cache_write_tokens=2000)
    direct = judge_price(prices, "anthropic")("claude-sonnet-5-5", usage)
    batched = judge_price(prices, "anthropic", batch=True)("claude-sonnet-5-5", usage)
    assert direct is not None
    assert batched == pytest.approx(direct / 2)


def test_what_is_kept_for_an_hour_costs_more_than_what_is_kept_for_minutes() -> None:
    """Twice the input instead of a quarter more, by the table."""
    usage = JudgeUsage(input_tokens=9000, cache_write_tokens=9000)
    price = judge_price({}, "anthropic")
    plain = price("claude-sonnet-5-5", JudgeUsage(input_tokens=9000)) or 0.0
    assert price("claude-sonnet-5-5", usage) == pytest.approx(1.25 * plain)
    hour = usage.model_copy(update={"cache_write_1h_tokens": 9000})
    assert price("claude-sonnet-5-5", hour) == pytest.approx(2 * plain)
