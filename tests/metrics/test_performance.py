"""Latency and cost: what counts, what does not, and what nobody knows."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.judges.money import PriceConfig
from evals.metrics import BaseMetric, CostPerQuery, LatencyP50, LatencyP95, Price
from evals.metrics.performance import (
    RAN_OUT,
    OutputTokensPerSecond,
    TimeToFirstTokenP50,
    TimeToFirstTokenP95,
)
from evals.run.checks import check_config
from evals.run.scoring import with_prices
from evals.schemas import MetricResult, ResponseError, TokenUsage

Measure = Callable[..., MetricResult]
TIMEOUT_MS = 120_000.0
USAGE = TokenUsage(prompt_tokens=2000, completion_tokens=500)
USERS = {"m1": Price(3.0, 15.0, "configuration")}
SERVERS = Price(1.0, 2.0, "server")
every_latency = pytest.mark.parametrize("metric", [LatencyP50(), LatencyP95()], ids=lambda metric: metric.name)


@every_latency
def test_the_latency_is_that_of_the_answer(measure: Measure, metric: BaseMetric) -> None:
    """Milliseconds as the client measured them."""
    assert measure(metric, latency_ms=812.5).value == 812.5


@every_latency
def test_a_timeout_counts_as_at_least_the_timeout(measure: Measure, metric: BaseMetric) -> None:
    """Leaving the slowest questions out would make a slow server look fast."""
    error = ResponseError(kind="timeout", message="no complete answer within 120 s")
    value = measure(metric, answer=None, error=error, latency_ms=TIMEOUT_MS + 3).value
    assert value is not None
    assert value >= TIMEOUT_MS


@pytest.mark.parametrize(
    ("prices", "default", "model", "expected", "source"),
    [
        pytest.param(USERS, None, "m1", 0.0135, "configuration", id="the user's price"),
        pytest.param(USERS, SERVERS, "m1", 0.0135, "configuration", id="the user's before the server's"),
        pytest.param(USERS, SERVERS, "m2", 0.003, "server", id="the server's for another model"),
        pytest.param(USERS, SERVERS, "vendor/m1", 0.0135, "configuration", id="the user's, of a vendor's model"),
        pytest.param({}, SERVERS, None, 0.003, "server", id="the server's for an unnamed model"),
        pytest.param({"m1": Price(0, 0, "configuration")}, SERVERS, "m1", 0.0, "configuration", id="free of charge"),
        pytest.param({}, Price(0, 0, "server"), "m1", 0.0, "server", id="free by the server"),
    ],
)
def test_the_cost_is_tokens_times_price(
    measure: Measure, prices: dict[str, Price], default: Price | None, model: str | None, expected: float, source: str
) -> None:
    """Prices are the user's, else the server's, for a million tokens; a price of 0 is a price."""
    result = measure(CostPerQuery(prices, default), usage=USAGE, model=model)
    assert result.value == pytest.approx(expected, abs=1e-12)
    assert result.details == {"price": source}


@pytest.mark.parametrize(("price", "expected"), [(Price(3, 15, "", 0.3), 0.0005), (Price(3, 15, ""), 0.003)])
def test_cached_tokens_have_a_price_of_their_own(measure: Measure, price: Price, expected: float) -> None:
    """Where it is known; else that of the others."""
    usage = TokenUsage(prompt_tokens=1000, completion_tokens=0, cached_tokens=920)
    value = measure(CostPerQuery({"m1": price}), usage=usage, model="m1").value
    assert value == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(
    ("metric", "record", "reason"),
    [
        pytest.param(
            CostPerQuery({}, SERVERS), {"usage": None}, "the server reported no token usage", id="unknown usage"
        ),
        pytest.param(
            CostPerQuery(),
            {"usage": USAGE, "model": "m2"},
            "no price is known for model m2 (give one under `prices:`)",
            id="unknown price",
        ),
        pytest.param(
            CostPerQuery(USERS),
            {"usage": USAGE},
            "no price is known: neither the answer nor the server names a model",
            id="unknown model",
        ),
    ],
)
def test_an_unknown_cost_is_never_0(
    measure: Measure, metric: CostPerQuery, record: dict[str, Any], reason: str
) -> None:
    """Without usage or price there is a reason and no value."""
    result = measure(metric, **record)
    assert (result.value, result.missing, result.reason) == (None, "not_applicable", reason)


@pytest.mark.parametrize(
    ("prices", "facts", "expected"),
    [
        pytest.param({}, {}, None, id="nobody knows"),
        pytest.param({}, {"cost_per_1m_input_tokens": 1, "cost_per_1m_output_tokens": 2}, 0.003, id="the server's"),
        pytest.param({}, {"cost_per_1m_input_tokens": 0, "cost_per_1m_output_tokens": 0}, 0.0, id="the server's 0"),
        pytest.param({}, {"cost_per_1m_input_tokens": 1}, None, id="half a price"),
        pytest.param({}, {"cost_per_1m_input_tokens": -1, "cost_per_1m_output_tokens": 2}, None, id="a negative one"),
        pytest.param({"m1": PriceConfig(input=3, output=15)}, {"llm_model": "m1"}, 0.0135, id="the user's"),
    ],
)
def test_prices_come_from_the_user_else_from_what_the_server_says_of_itself(
    measure: Measure, prices: dict[str, PriceConfig], facts: dict[str, Any], expected: float | None
) -> None:
    """An answer that names no model is that of the model that the server says it runs."""
    latency, cost = with_prices([LatencyP50(), CostPerQuery()], prices, facts)
    assert isinstance(latency, LatencyP50)
    assert measure(cost, usage=USAGE).value == pytest.approx(expected, abs=1e-12)


def test_an_unknown_price_names_the_model_that_the_server_says_it_runs(measure: Measure) -> None:
    """The reader learns under which name to give a price, also where the answers name no model."""
    (cost,) = with_prices([CostPerQuery()], {}, {"llm_model": "m1"})
    assert measure(cost, usage=USAGE).reason == "no price is known for model m1 (give one under `prices:`)"


@pytest.mark.parametrize(
    ("answered_by", "expected"), [(None, 0.002), ("m1", 0.002), ("m1-2026-11-01", 0.002), ("m2", None)]
)
def test_the_price_of_the_servers_model_is_not_that_of_another(
    measure: Measure, answered_by: str | None, expected: float | None
) -> None:
    """An answer that names another model has no known price; a date behind the name is no other model."""
    (cost,) = with_prices([CostPerQuery()], {"m1": PriceConfig(input=1, output=2)}, {"llm_model": "m1"})
    usage = TokenUsage(prompt_tokens=1000, completion_tokens=500)
    assert measure(cost, usage=usage, model=answered_by).value == (expected and pytest.approx(expected))


STREAMED = {"time_to_first_token_ms": 200.0, "time_to_last_token_ms": 2200.0, "latency_ms": 2500.0}
first_token = pytest.mark.parametrize("metric", [TimeToFirstTokenP50(), TimeToFirstTokenP95()], ids=lambda it: it.name)


@first_token
def test_the_time_to_the_first_token_is_that_of_its_arrival(measure: Measure, metric: BaseMetric) -> None:
    """Of an answer that came whole nobody knows it."""
    assert measure(metric, **STREAMED).value == 200.0
    whole = measure(metric, latency_ms=2500.0)
    assert whole.value is None
    assert "did not come in pieces" in (whole.reason or "")


@first_token
def test_a_stream_that_ran_out_of_time_counts_by_when_its_first_token_came(
    measure: Measure, metric: BaseMetric
) -> None:
    """Before it, the time that it had is a bound; after it, the first token has its own time; cut off, it has none."""
    late = ResponseError(kind="timeout", message="no complete answer within 5 s")
    never = measure(metric, answer=None, error=late, latency_ms=5000.0, time_to_first_token_ms=5000.0)
    assert (never.value, never.details) == (5000.0, {RAN_OUT: True})
    slow = measure(metric, answer=None, error=late, latency_ms=5000.0, time_to_first_token_ms=200.0)
    assert (slow.value, slow.details) == (200.0, {})
    assert measure(metric, answer=None, error=late, latency_ms=5000.0).missing == "transport"
    cut = ResponseError(kind="broken_off", message="the stream broke off")
    assert measure(metric, answer=None, error=cut, time_to_first_token_ms=200.0).missing == "transport"


def test_tokens_in_a_second_are_counted_from_the_first_text_to_the_last(measure: Measure) -> None:
    """500 tokens in two seconds; what came after the text took no time of theirs."""
    assert measure(OutputTokensPerSecond(), **STREAMED, usage=USAGE).value == 250.0


@pytest.mark.parametrize(
    ("over", "reason"),
    [
        ({"usage": None}, "the server reported no token usage"),
        ({"time_to_last_token_ms": 200.0}, "all text of the answer came at once"),
        ({"time_to_first_token_ms": None, "time_to_last_token_ms": None}, "did not come in pieces"),
    ],
)
def test_no_rate_is_made_of_what_nobody_measured(measure: Measure, over: dict[str, Any], reason: str) -> None:
    """Never a rate of a time of zero."""
    result = measure(OutputTokensPerSecond(), **{**STREAMED, "usage": USAGE, **over})
    assert result.value is None
    assert reason in (result.reason or "")


@pytest.mark.parametrize(
    ("suite", "stream", "there"), [("core", True, True), ("core", False, False), ("qa", True, False)]
)
def test_the_core_suite_times_the_tokens_where_the_profile_streams(suite: str, stream: bool, there: bool) -> None:
    """Elsewhere the times would be empty in every run."""
    server = {"stream": {"delta": "data.token"}} if stream else {}
    config = EvalConfig.build({"suite": suite, "server": server, "judge": False})
    names = {metric.name for metric in check_config(config)}
    expected = {"time_to_first_token_p50", "time_to_first_token_p95", "output_tokens_per_second"}
    assert names & expected == (expected if there else set())
