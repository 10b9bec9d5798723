"""Calls that a judge took and gave no whole reply to: what they cost nobody knows, which is not nothing."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest
from evals.judges.backends.anthropic import AnthropicBackend
from evals.judges.backends.base import Backend, BackendError, Call
from evals.judges.backends.openai import OpenAIBackend
from evals.judges.throttle import Throttle
from raw_server import answering
from servers import PATIENCE_S

CALL = Call(system="You are a judge.", content='{"answer": "yes"}', schema={"type": "object"}, max_tokens=3000)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
TORN = HEAD + b'content-length: 900\r\n\r\n{"content": ['
NO_JSON = HEAD + b'content-length: 13\r\n\r\n{"content": ['
REFUSED = b"HTTP/1.1 500 Oh\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
MAKE = {
    "anthropic": lambda url, wait: AnthropicBackend("m", base_url=url, api_key="sk-test", timeout_s=wait),
    "openai": lambda url, wait: OpenAIBackend("m", base_url=f"{url}/v1", api_key="sk-test", timeout_s=wait),
}


def failure_of(backend: Backend) -> BackendError:
    async def main() -> BackendError:
        try:
            with pytest.raises(BackendError) as caught:
                await backend.complete(CALL)
            return caught.value
        finally:
            await backend.aclose()

    return asyncio.run(main())


@pytest.mark.parametrize("vendor", MAKE)
@pytest.mark.parametrize(
    ("said", "unanswered"),
    [(TORN, True), (b"", True), (NO_JSON, True), (None, True), (REFUSED, False)],
    ids=["torn", "hung up", "no JSON", "too late", "an error"],
)
def test_a_call_without_a_whole_response_may_have_been_paid_for(
    vendor: str, said: bytes | None, unanswered: bool
) -> None:
    """Torn, cut off before it began, no JSON, too late; an error that came back whole is no such call."""

    def say(_number: int) -> Iterator[bytes | None]:
        if said is None:
            server.over.wait()
        yield from (said, None)

    with answering(say) as server:
        backend = MAKE[vendor](server.url, 0.3 if said is None else PATIENCE_S)
        assert failure_of(backend).unanswered is unanswered


@pytest.mark.parametrize("vendor", MAKE)
def test_a_call_that_found_nobody_was_never_made(vendor: str) -> None:
    """Nothing is sent before there is a connection."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    assert failure_of(MAKE[vendor](f"http://127.0.0.1:{port}", PATIENCE_S)).unanswered is False


class Clock:
    """A throttle, with calls that take as long as they say."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.throttle = Throttle(concurrency=8, max_attempts=4, sleep=self._wait, clock=lambda: self.now)

    async def _wait(self, seconds: float) -> None:
        self.now += seconds

    async def call(self, seconds: float, error: BackendError | None = None) -> None:
        async with self.throttle.slot():
            self.now += seconds
            if error is not None:
                raise error


SILENT = BackendError("no complete reply within 120 s", retryable=True, unanswered=True)


async def fails(clock: Clock, error: BackendError, seconds: float = 120.0) -> bool:
    """Make a call that fails; whether that ended the judging."""
    with pytest.raises(BackendError) as caught:
        await clock.call(seconds, error)
    return caught.value.fatal


def test_a_judge_that_takes_calls_and_never_answers_ends_the_judging() -> None:
    """After about five minutes of calls, however few there were; the time between them does not count."""

    async def main() -> list[bool]:
        clock, ends = Clock(), []
        for _ in range(3):
            ends.append(await fails(clock, SILENT))
            clock.now += 1000
        return ends

    assert asyncio.run(main()) == [False, False, True]


def test_one_reply_that_never_comes_does_not_end_a_judge_that_answers() -> None:
    """Its attempts alone take longer than the silence that ends the judging; another reply's attempt ends it."""

    async def main() -> list[bool]:
        clock = Clock()
        await clock.call(1)
        return [await fails(clock, SILENT) for _ in range(5)]

    assert asyncio.run(main()) == [False, False, False, False, True]


@pytest.mark.parametrize("sign", [None, BackendError("HTTP 500: oh", retryable=True)])
def test_a_sign_of_life_ends_the_silence(sign: BackendError | None) -> None:
    """A reply or an error that came back: the minutes are counted from there."""

    async def main() -> list[bool]:
        clock, ends = Clock(), []
        for _ in range(6):
            ends += [await fails(clock, SILENT), await fails(clock, SILENT)]
            with suppress(BackendError):
                await clock.call(1, sign)
        return ends

    assert not any(asyncio.run(main()))


def test_calls_that_are_silent_together_count_once() -> None:
    """Eight calls of two minutes at once are two minutes."""

    async def main() -> list[bool]:
        clock, together = Clock(), asyncio.Barrier(8)

        async def one() -> None:
            async with clock.throttle.slot():
                await together.wait()
                clock.now = 1120.0
                raise SILENT

        async def call() -> bool:
            with pytest.raises(BackendError) as caught:
                await one()
            return caught.value.fatal

        return await asyncio.gather(*(call() for _ in range(8)))

    assert asyncio.run(main()) == [False] * 8
