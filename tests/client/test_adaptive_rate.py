"""How fast a server is asked that limits its rate: simulated in virtual time, with the limiters that servers have."""

import asyncio
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from virtual_time import run_virtually

from evals.client.retry import Attempts, RetryPolicy
from evals.client.transport import Reply, TransportFailure
from evals.schemas import ResponseError

Clock = Callable[[], float]
MINUTE = (5.0, 65.0)
"""What is looked at: a minute, after five seconds in which the rate is found."""


class Bucket:
    """A token bucket: so many in a second, and as many at once."""

    def __init__(self, limit: float) -> None:
        self._limit, self._tokens, self._filled = limit, limit, 0.0

    def takes(self, now: float) -> bool:
        """Take a token, if there is one."""
        self._tokens = min(self._limit, self._tokens + (now - self._filled) * self._limit)
        self._filled = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def retry_after(self, now: float) -> float:
        """A second, which is the least that the header can say."""
        return 1.0


class Window:
    """So many in each second of the clock."""

    def __init__(self, limit: float) -> None:
        self._limit, self._second, self._count = limit, -1, 0

    def takes(self, now: float) -> bool:
        """Count it in its second."""
        if int(now) != self._second:
            self._second, self._count = int(now), 0
        self._count += 1
        return self._count <= self._limit

    def retry_after(self, now: float) -> float:
        """To the next second."""
        return float(math.ceil(int(now) + 1 - now))


class Away:
    """Takes nothing between two moments."""

    def __init__(self, since: float, until: float) -> None:
        self._since, self._until = since, until

    def takes(self, now: float) -> bool:
        """Whether it is there."""
        return not self._since <= now < self._until

    def retry_after(self, now: float) -> float:
        """It does not know."""
        return 0.0


async def _is_reached() -> bool:
    return True


@dataclass
class Trial:
    """What came of asking."""

    taken: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    failures: list[TransportFailure] = field(default_factory=list)
    waited_s: float = 0.0

    def in_minute(self) -> tuple[int, int]:
        """Requests taken and refused in the minute that is looked at."""
        taken, refused = (
            [moment for moment in moments if MINUTE[0] <= moment < MINUTE[1]] for moments in (self.taken, self.refused)
        )
        return len(taken), len(refused)


def ask_for_a_while(
    limiter: Any, *, concurrency: int, says_when: bool = False, patience_s: float = 60.0, seconds: float = 66.0
) -> Trial:
    """Ask a server with this limiter, which answers after some 50 ms, as fast as it lets us."""

    async def work(clock: Clock) -> Trial:
        trial, chance = Trial(), random.Random(1)  # noqa: S311 - no secret
        policy = RetryPolicy(patience_s, reach=_is_reached, clock=clock)

        async def send() -> Reply:
            started = clock()
            await asyncio.sleep(0.002)
            if not limiter.takes(clock()):
                trial.refused.append(started)
                error = ResponseError(kind="status", status=429, message="HTTP 429")
                after = limiter.retry_after(clock()) if says_when else None
                raise TransportFailure(error, retryable=True, started=started, retry_after_s=after)
            trial.taken.append(started)
            await asyncio.sleep(chance.uniform(0.025, 0.075))
            return Reply(200, {}, b"{}", 50.0, started)

        async def worker() -> None:
            while clock() < seconds and not policy.unavailable:
                attempts = Attempts()
                try:
                    await policy.send(send, attempts)
                except TransportFailure as failure:
                    trial.failures.append(failure)
                trial.waited_s += attempts.waited_s

        await asyncio.gather(*(worker() for _ in range(concurrency)))
        return trial

    return run_virtually(work)


@pytest.mark.parametrize("concurrency", [4, 64])
@pytest.mark.parametrize("says_when", [False, True], ids=["silent", "retry-after"])
@pytest.mark.parametrize("limiter", [Bucket, Window])
def test_a_limit_is_found_and_kept(limiter: Callable[[float], Any], says_when: bool, concurrency: int) -> None:
    """Of ten in a second at least eight are used, few are refused, and none fails."""
    trial = ask_for_a_while(limiter(10), concurrency=concurrency, says_when=says_when)
    taken, refused = trial.in_minute()
    assert taken >= 0.8 * 600
    assert refused <= 0.05 * (taken + refused)
    assert trial.failures == []


@pytest.mark.parametrize("limit", [3, 40])
@pytest.mark.parametrize("limiter", [Bucket, Window])
def test_other_limits_are_found_too(limiter: Callable[[float], Any], limit: float) -> None:
    """Nothing in it is made for ten in a second."""
    taken, refused = ask_for_a_while(limiter(limit), concurrency=16).in_minute()
    assert taken >= 0.8 * 60 * limit
    assert refused <= 0.1 * (taken + refused)


def test_ten_seconds_away_lose_no_question() -> None:
    """They are waited out, with a request now and then, and afterwards the old rate comes back."""
    trial = ask_for_a_while(Away(10, 20), concurrency=16)
    assert trial.failures == []
    assert len(trial.refused) < 80
    assert len([moment for moment in trial.taken if moment > 40]) > 0.8 * 300 * 26
    assert trial.waited_s > 100


def test_the_patience_of_a_question_ends_too() -> None:
    """A server that takes others and never this one gets a failed attempt from it."""

    async def work(clock: Clock) -> float:
        policy = RetryPolicy(5.0, reach=_is_reached, clock=clock)

        async def refuse() -> Reply:
            raise TransportFailure(
                ResponseError(kind="status", status=429, message="HTTP 429"), retryable=True, started=clock()
            )

        async def take() -> Reply:
            return Reply(200, {}, b"{}", 1.0, clock())

        async def others() -> None:
            for _ in range(30):
                await policy.send(take, Attempts())
                await asyncio.sleep(0.5)

        busy = asyncio.create_task(others())
        with pytest.raises(TransportFailure):
            await policy.send(refuse, Attempts())
        failed = clock()
        await busy
        assert policy.unavailable is None
        return failed

    assert 5 <= run_virtually(work) < 10
