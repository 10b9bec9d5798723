"""How many requests are in flight, and how many start in a second."""

import asyncio

import httpx
import respx
from asking import ask_all

MOCKED = "http://rag.test"


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


def test_pacing_is_in_no_latency(mocked: respx.MockRouter) -> None:
    """Time spent waiting for a turn is not the server's."""
    mocked.post("/query").mock(return_value=httpx.Response(200, json={"answer": "a"}))
    clock = Clock()

    responses = ask_all({"url": MOCKED}, *"qqq", rps=0.1, sleep=clock.sleep, clock=clock)
    assert [response.latency_ms for response in responses] == [0.0, 0.0, 0.0]
    assert clock.now == 120.0


def test_retries_are_no_latency_and_hidden_from_nobody(mocked: respx.MockRouter) -> None:
    """Two failures of three seconds and the waiting between them stand in the whole time, of a failure too."""
    clock, statuses = Clock(), iter([503, 503, 200, 503, 503, 503])

    async def answer(request: httpx.Request) -> httpx.Response:
        clock.now += 3
        return httpx.Response(next(statuses), json={"answer": "a"}, headers={"retry-after": "5"})

    mocked.post("/query").mock(side_effect=answer)
    keys = {"url": MOCKED, "patience_s": 0}
    responses = ask_all(keys, *"qq", concurrency=1, sleep=clock.sleep, clock=clock)
    assert [(response.latency_ms, response.total_ms) for response in responses] == [(3000, 19_000), (None, 19_000)]
