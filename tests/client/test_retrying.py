"""How long is waited before a question is asked again."""

from collections.abc import Callable
from email.utils import formatdate

import httpx
import pytest

from evals.client.transport import parse_retry_after
from evals.schemas import EvalResponse

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


def test_latency_is_that_of_the_last_attempt_alone(ask: Ask) -> None:
    """Neither earlier attempts nor the back-off between them are in it."""
    ticks = iter([10.0, 17.0, 100.0, 100.25])
    response = ask(httpx.Response(500), {"answer": "a"}, client={"clock": lambda: next(ticks)})
    assert response.latency_ms == pytest.approx(250)
    assert response.waited_ms > 0
