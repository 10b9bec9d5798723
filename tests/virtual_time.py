"""An event loop whose clock jumps to the next thing that happens, so that a minute of waiting takes no time."""

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


class VirtualTime(asyncio.SelectorEventLoop):
    """Nothing outside of it may be waited for."""

    def __init__(self) -> None:
        self._seconds = 0.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        """Seconds that have passed in it."""
        return self._seconds

    def jump(self, seconds: float) -> None:
        """Let time pass."""
        self._seconds += seconds


class _Jumping(selectors.DefaultSelector):
    def __init__(self, loop: VirtualTime) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready now; where nothing is, the time until something is due passes at once."""
        ready = super().select(0)
        if not ready and timeout:
            self._loop.jump(timeout)
        return ready


def run_virtually(work: Callable[[Callable[[], float]], Awaitable[T]]) -> T:
    """Run what is given the clock."""
    with asyncio.Runner(loop_factory=VirtualTime) as runner:

        async def main() -> T:
            return await work(asyncio.get_running_loop().time)

        return runner.run(main())
