"""Latency and cost: what counts, what does not, and what nobody knows."""

from typing import Any

import pytest
from metrics.records import lack, score

from evals.config import EvalConfig
from evals.judges.money import PriceConfig
from evals.metrics import CostPerQuery, LatencyP50, Price
from evals.metrics.performance import RAN_OUT
from evals.run.checks import check_config
from evals.run.scoring import with_prices
from evals.schemas import ResponseError, TokenUsage

USAGE = TokenUsage(prompt_tokens=2000, completion_tokens=500)
USERS = {"m1": Price(3.0, 15.0, "configuration")}
SERVERS = Price(1.0, 2.0, "server")
LATE = ResponseError(kind="timeout", message="no complete answer within 5 s")
STREAMED = {"time_to_first_token_ms": 200.0, "time_to_last_token_ms": 2200.0, "latency_ms": 2500.0}


@pytest.mark.parametrize("name", ["latency_p50", "latency_p95"])
def test_the_latency_is_that_of_the_answer(name: str) -> None:
    """As the client measured it; a timeout counts with its time, or a slow server would look fast."""
    assert score(name, latency_ms=812.5).value == 812.5
    late = score(name, None, error=LATE, latency_ms=5003.0)
    assert (late.value, late.details) == (5003.0, {RAN_OUT: True})


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
    prices: dict[str, Price], default: Price | None, model: str | None, expected: float, source: str
) -> None:
    """Prices are the user's, else the server's, for a million tokens; a price of 0 is a price."""
    result = score(CostPerQuery(prices, default), usage=USAGE, model=model)
    assert result.value == pytest.approx(expected, abs=1e-12)
    assert result.details == {"price": source}


@pytest.mark.parametrize(("cached", "expected"), [(0.3, 0.000516), (None, 0.003)])
def test_cached_tokens_have_a_price_of_their_own(cached: float | None, expected: float) -> None:
    """Where it is known; else that of the others."""
    usage = TokenUsage(prompt_tokens=1000, completion_tokens=0, cached_tokens=920)
    cost = CostPerQuery({"m1": Price(3, 15, "", cached)})
    assert score(cost, usage=usage, model="m1").value == pytest.approx(expected)


BY_SERVER = {"cost_per_1m_input_tokens": 1, "cost_per_1m_output_tokens": 2}
BY_USER = {"m1": PriceConfig(input=3, output=15)}


@pytest.mark.parametrize(
    ("prices", "facts", "answered_by", "expected"),
    [
        pytest.param({}, {}, None, None, id="nobody knows"),
        pytest.param({}, BY_SERVER, None, 0.003, id="the server's"),
        pytest.param({}, dict.fromkeys(BY_SERVER, 0), None, 0.0, id="the server's 0"),
        pytest.param({}, {"cost_per_1m_input_tokens": 1}, None, None, id="half a price"),
        pytest.param({}, BY_SERVER | {"cost_per_1m_input_tokens": -1}, None, None, id="a negative one"),
        pytest.param(BY_USER, {"llm_model": "m1"}, None, 0.0135, id="the user's, of the model that the server runs"),
        pytest.param(BY_USER, {"llm_model": "m1"}, "m1", 0.0135, id="the same, named by the answer"),
        pytest.param(BY_USER, {"llm_model": "m1"}, "m1-2026-11-01", 0.0135, id="a date behind the name"),
        pytest.param(BY_USER, {"llm_model": "m1"}, "m2", None, id="another model than that of the server"),
    ],
)
def test_prices_come_from_the_user_else_from_what_the_server_says_of_itself(
    prices: dict[str, PriceConfig], facts: dict[str, Any], answered_by: str | None, expected: float | None
) -> None:
    """An answer that names no model is that of the model that the server says it runs."""
    latency, cost = with_prices([LatencyP50(), CostPerQuery()], prices, facts)
    assert isinstance(latency, LatencyP50)
    assert score(cost, usage=USAGE, model=answered_by).value == pytest.approx(expected, abs=1e-12)


(RUNS_M1,) = with_prices([CostPerQuery()], {}, {"llm_model": "m1"})


@pytest.mark.parametrize(
    ("metric", "fields", "reason"),
    [
        (CostPerQuery({}, SERVERS), {}, "the server reported no token usage"),
        (
            CostPerQuery(),
            {"usage": USAGE, "model": "m2"},
            "no price is known for model m2 (give one under `prices:`)",
        ),
        (RUNS_M1, {"usage": USAGE}, "no price is known for model m1 (give one under `prices:`)"),
        (CostPerQuery(USERS), {"usage": USAGE}, "no price is known: neither the answer nor the server names a model"),
        ("output_tokens_per_second", STREAMED, "the server reported no token usage"),
        (
            "output_tokens_per_second",
            STREAMED | {"usage": USAGE, "time_to_last_token_ms": 200.0},
            "all text of the answer came at once",
        ),
    ],
)
def test_what_nobody_measured_is_never_0(metric: Any, fields: dict[str, Any], reason: str) -> None:
    """Without usage, price or time there is a reason, which names the model, and no value."""
    assert lack(score(metric, **fields)) == (None, "not_applicable", reason)


@pytest.mark.parametrize(
    ("name", "value"),
    [("time_to_first_token_p50", 200), ("time_to_first_token_p95", 200), ("output_tokens_per_second", 250)],
)
def test_an_answer_in_pieces_is_timed_by_the_arrival_of_its_text(name: str, value: float) -> None:
    """500 tokens in two seconds; what came after the text took no time of theirs. Of a whole answer nobody knows it."""
    assert score(name, usage=USAGE, **STREAMED).value == value
    whole = score(name, usage=USAGE, latency_ms=2500.0)
    assert whole.value is None
    assert "did not come in pieces" in (whole.reason or "")


@pytest.mark.parametrize("name", ["time_to_first_token_p50", "time_to_first_token_p95"])
def test_a_stream_that_ran_out_of_time_counts_by_when_its_first_token_came(name: str) -> None:
    """Before it, the time that it had is a bound; after it, the first token has its own time; cut off, it has none."""
    never = score(name, None, error=LATE, latency_ms=5000.0, time_to_first_token_ms=5000.0)
    assert (never.value, never.details) == (5000.0, {RAN_OUT: True})
    slow = score(name, None, error=LATE, latency_ms=5000.0, time_to_first_token_ms=200.0)
    assert (slow.value, slow.details) == (200.0, {})
    assert score(name, None, error=LATE, latency_ms=5000.0).missing == "transport"
    cut = ResponseError(kind="broken_off", message="the stream broke off")
    assert score(name, None, error=cut, time_to_first_token_ms=200.0).missing == "transport"


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
