"""How long is waited before a question is asked again."""

import asyncio
from collections.abc import Callable
from email.utils import formatdate

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.client.retry import Attempts, RetryPolicy
from evals.client.transport import Reply, TransportFailure, parse_retry_after
from evals.schemas import EvalResponse, ResponseError

Ask = Callable[..., EvalResponse]
NOW = 1_700_000_000.0


async def _is_reached() -> bool:
    return True


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        (" 0.5 ", 0.5),
        ("0", 0.0),
        (formatdate(NOW + 12, usegmt=True), 12.0),
        (formatdate(NOW - 12, usegmt=True), 0.0),
        (None, None),
        ("", None),
        ("soon", None),
        ("-3", None),
        (".", None),
        ("²", None),
        ("1e3", None),
        ("Fri, 99 Foo 2026 99:99:99 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    """Garbage says nothing; a date in the past means now."""
    assert parse_retry_after(header, now=NOW) == seconds


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.text(max_size=40) | st.from_regex(r"[A-Z][a-z]{2}, \d{1,3} [A-Z][a-z]{2} \d{1,5} [\d:]{1,9}.{0,6}"))
def test_no_header_makes_retry_after_raise(header: str) -> None:
    """Whatever a server writes there, it is a time to wait or nothing."""
    seconds = parse_retry_after(header, now=NOW)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize(
    ("header", "waited"), [("2", 2.0), ("3600", 30.0), ("9" * 400, 30.0), ("0", 0.0)], ids=["2", "hour", "inf", "0"]
)
def test_the_server_says_how_long_to_wait_up_to_a_ceiling(
    header: str, waited: float, ask: Ask, waits: list[float]
) -> None:
    """More than 30 seconds are never waited at once."""
    busy = httpx.Response(429, headers={"Retry-After": header})
    response = ask(busy, busy, {"answer": "a"})
    assert waits == [waited, waited]
    assert (response.attempts, response.waited_ms) == (3, 2000 * waited)


def test_the_wait_grows_where_the_server_says_nothing(ask: Ask, waits: list[float]) -> None:
    """It doubles from half a second to eight, with up to a quarter of jitter taken off; the last failure waits not."""
    bad = httpx.Response(500, headers={"Retry-After": "garbage"})
    response = ask(*[bad] * 7, client={"max_attempts": 7})
    assert response.attempts == 7
    assert len(waits) == 6
    for waited, longest in zip(waits, [0.5, 1, 2, 4, 8, 8], strict=True):
        assert 0.75 * longest <= waited <= longest
    assert response.waited_ms == pytest.approx(1000 * sum(waits))


@pytest.mark.parametrize(("drawn", "waited"), [(0.0, [0.5, 1.0]), (0.5, [0.4375, 0.875]), (1.0, [0.375, 0.75])])
def test_no_two_clients_wait_alike(drawn: float, waited: list[float]) -> None:
    """Up to a quarter of each pause is left to chance, so that those who were refused together come apart."""
    paused: list[float] = []

    async def sleep(seconds: float) -> None:
        paused.append(seconds)

    async def refused() -> Reply:
        raise TransportFailure(ResponseError(kind="status", status=503, message="busy"), retryable=True)

    attempts = Attempts()
    policy = RetryPolicy(0.0, reach=_is_reached, sleep=sleep, jitter=lambda: drawn)
    with pytest.raises(TransportFailure, match="busy"):
        asyncio.run(policy.send(refused, attempts, 3))
    assert paused == pytest.approx(waited)
    assert attempts.waited_s == pytest.approx(sum(waited))


def test_one_attempt_means_one(ask: Ask, waits: list[float]) -> None:
    """Retries can be switched off."""
    response = ask(httpx.Response(500), {"answer": "a"}, client={"max_attempts": 1})
    assert (response.attempts, response.waited_ms, waits) == (1, 0.0, [])


def test_latency_is_that_of_the_last_attempt_alone(ask: Ask) -> None:
    """Neither earlier attempts nor the back-off between them are in it."""
    ticks = iter([10.0, 17.0, 100.0, 100.25])
    response = ask(httpx.Response(500), {"answer": "a"}, client={"clock": lambda: next(ticks)})
    assert response.latency_ms == pytest.approx(250)
    assert response.waited_ms > 0
