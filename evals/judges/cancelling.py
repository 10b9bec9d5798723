"""Work that a judge can end from elsewhere, without ending who waits for it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def sleep_by(sleep: Callable[[float], Awaitable[None]], seconds: float) -> None:
    """Sleep in the way given, as a coroutine, which a task can be made of."""
    await sleep(seconds)


async def cancellable(work: Coroutine[Any, Any, T], group: set[asyncio.Task[Any]]) -> T | None:
    """Run work as a task of a group; None where the judge cancelled the tasks of that group."""
    task = asyncio.ensure_future(work)
    group.add(task)
    try:
        await asyncio.wait([task])
        return None if task.cancelled() else task.result()
    finally:
        group.discard(task)
        task.cancel()
