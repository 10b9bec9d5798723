"""How many requests are in flight, and how many start in a second."""

import asyncio
from collections.abc import Callable

import httpx
import respx

from evals.client import RAGClient, ServerSpec


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


def test_pacing_is_in_no_latency(spec: Callable[..., ServerSpec], mocked: respx.MockRouter) -> None:
    """Time spent waiting for a turn is not the server's."""
    mocked.post("/query").mock(return_value=httpx.Response(200, json={"answer": "a"}))
    clock = Clock()

    async def run() -> list[float | None]:
        async with RAGClient(spec(), rps=0.1, sleep=clock.sleep, clock=clock) as client:
            return [(await client.ask("q")).latency_ms for _ in range(3)]

    assert asyncio.run(run()) == [0.0, 0.0, 0.0]
    assert clock.now == 120.0


def waits(rag: Callable[..., ServerSpec], clock: Clock, questions: int, rps: float | None) -> list[tuple[float, float]]:
    """Ask one question after the other; the latency and the whole time of each, in seconds."""

    async def run() -> list[tuple[float, float]]:
        async with RAGClient(rag(), concurrency=1, rps=rps, sleep=clock.sleep, clock=clock) as client:
            found = [await client.ask("q") for _ in range(questions)]
            return [((one.latency_ms or 0) / 1000, (one.total_ms or 0) / 1000) for one in found]

    return asyncio.run(run())


def test_retries_are_no_latency_and_hidden_from_nobody(
    spec: Callable[..., ServerSpec], mocked: respx.MockRouter
) -> None:
    """Two failures of three seconds and the waiting between them stand in the whole time, of a failure too."""
    clock, statuses = Clock(), iter([503, 503, 200, 503, 503, 503])

    async def answer(request: httpx.Request) -> httpx.Response:
        clock.now += 3
        return httpx.Response(next(statuses), json={"answer": "a"}, headers={"retry-after": "5"})

    mocked.post("/query").mock(side_effect=answer)
    assert waits(spec, clock, 2, rps=None) == [(3, 19), (0, 19)]
