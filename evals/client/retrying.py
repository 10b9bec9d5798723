"""When a question is asked again, and how long to wait before."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from evals.client.transport import Reply, TransportFailure

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 8.0
LONGEST_RETRY_AFTER_S = 30.0


@dataclass(slots=True)
class Attempts:
    """What it took: how many attempts, and how long was waited between them."""

    count: int = 0
    waited_s: float = 0.0
    began: float | None = None
    """When the first attempt was sent, or was meant to be; None where no attempt was."""

    def see(self, attempt: Reply | TransportFailure) -> None:
        """Note when the first attempt was sent, where it was not said when it was meant to be."""
        if self.began is None:
            self.began = attempt.started

    def total_ms(self, last: Reply | TransportFailure) -> float | None:
        """From then to the end of the last attempt; None where that is not known."""
        if self.began is None or last.started is None:
            return None
        return (last.started - self.began) * 1000 + last.elapsed_ms


def retrying(
    max_attempts: int,
    attempts: Attempts,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    jitter: Callable[[], float] = random.random,
) -> AsyncRetrying:
    """Build the policy: retryable failures only, exponential back-off with jitter, Retry-After up to a ceiling."""

    def wait(state: RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome else None
        asked = failure.retry_after_s if isinstance(failure, TransportFailure) else None
        if asked is not None:
            return min(asked, LONGEST_RETRY_AFTER_S)
        longest: float = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (state.attempt_number - 1))
        return longest * (1 - 0.25 * jitter())

    async def paused(seconds: float) -> None:
        attempts.waited_s += seconds
        await sleep(seconds)

    return AsyncRetrying(
        stop=stop_after_attempt(max_attempts),
        wait=wait,
        retry=retry_if_exception(lambda error: isinstance(error, TransportFailure) and error.retryable),
        sleep=paused,
        reraise=True,
    )


async def send_with_retries(
    send: Callable[[], Awaitable[Reply]],
    max_attempts: int,
    attempts: Attempts,
    sleep: Callable[[float], Awaitable[None]],
) -> Reply:
    """Send until it succeeds, fails for good or the attempts are used up.

    Raises:
        TransportFailure: Of the last attempt.
    """

    async def sent() -> Reply:
        attempts.count += 1
        try:
            reply = await send()
        except TransportFailure as failure:
            attempts.see(failure)
            raise
        attempts.see(reply)
        return reply

    try:
        return await sent()
    except TransportFailure as failure:
        if max_attempts == 1 or not failure.retryable:
            raise
        first = [failure]

    async def again() -> Reply:
        if first:
            raise first.pop()  # the policy counts the attempt that was made before it was needed
        return await sent()

    reply: Reply = await retrying(max_attempts, attempts, sleep)(again)
    return reply
