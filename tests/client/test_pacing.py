"""How many requests are in flight, and how many start in a second."""

import asyncio
from collections.abc import Callable

import httpx
import pytest
import respx

from evals.client import RAGClient, ServerSpec
from evals.client.pacing import Pacer


class Clock:
    """A time that only passes by sleeping."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, until)


@pytest.mark.parametrize("concurrency", [1, 5])
def test_no_more_requests_than_allowed_are_in_flight(
    concurrency: int, spec: Callable[..., ServerSpec], mocked: respx.MockRouter
) -> None:
    """Sixty questions at once share the few clients there are, and use all of them."""
    flying, most = 0, 0

    async def handle(request: httpx.Request) -> httpx.Response:
        nonlocal flying, most
        flying += 1
        most = max(most, flying)
        for _ in range(5):
            await asyncio.sleep(0)
        flying -= 1
        return httpx.Response(200, json={"answer": "a"})

    mocked.post("/query").mock(side_effect=handle)

    async def run() -> list[str | None]:
        async with RAGClient(spec(), concurrency=concurrency) as client:
            responses = await asyncio.gather(*(client.ask(f"q{i}") for i in range(60)))
            return [response.answer for response in responses]

    assert asyncio.run(run()) == ["a"] * 60
    assert most == concurrency


def test_requests_start_evenly_spaced() -> None:
    """At four in a second the tenth starts nine quarters after the first, however many are waiting."""
    clock = Clock()
    pacer = Pacer(4, sleep=clock.sleep, clock=clock)
    starts: list[float] = []

    async def one() -> None:
        await pacer.wait()
        starts.append(clock())

    async def run() -> None:
        for _ in range(10):
            await one()

    asyncio.run(run())
    assert starts == pytest.approx([100 + i / 4 for i in range(10)])


def test_an_idle_time_is_not_made_up_for() -> None:
    """After a pause the next two requests are still a gap apart."""
    clock = Clock()
    pacer = Pacer(1, sleep=clock.sleep, clock=clock)

    async def run() -> list[float]:
        await pacer.wait()
        clock.now += 50
        starts = []
        for _ in range(2):
            await pacer.wait()
            starts.append(clock())
        return starts

    assert asyncio.run(run()) == [150.0, 151.0]


def test_without_a_limit_nothing_waits() -> None:
    """No limit asks neither the clock nor for sleep."""

    async def never(seconds: float) -> None:
        raise AssertionError(seconds)

    asyncio.run(Pacer(None, sleep=never).wait())


def test_pacing_is_in_no_latency(spec: Callable[..., ServerSpec], mocked: respx.MockRouter) -> None:
    """Time spent waiting for a turn is not the server's."""
    mocked.post("/query").mock(return_value=httpx.Response(200, json={"answer": "a"}))
    clock = Clock()

    async def run() -> list[float | None]:
        async with RAGClient(spec(), rps=0.1, sleep=clock.sleep, clock=clock) as client:
            return [(await client.ask("q")).latency_ms for _ in range(3)]

    assert asyncio.run(run()) == [0.0, 0.0, 0.0]
    assert clock.now == 120.0
