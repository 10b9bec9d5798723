"""Event loops for our work, and threads next to them."""

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


_SWITCH_S = 0.0005
"""How long a thread may keep the others from running while a `SideLoop` is at work."""


def run_anywhere(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end: here where no event loop runs, else in a thread with a loop of its own.

    Ctrl-C cancels the work, lets it clean up, and is raised afterwards.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _run_in_thread(work)


def _run_in_thread(work: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    thread = threading.Thread(target=loop.run_until_complete, args=[asyncio.wait([task])], name="evals")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    finally:
        loop.close()
    return task.result()


_turns = threading.Lock()

_turns_before_s: list[float] = []
"""What the interval was when each of those began who want short turns: one for the process, as the interval is."""


@contextmanager
def short_turns() -> Iterator[None]:
    """Have threads take turns after half a millisecond, not after five: for work parallel to measured times."""
    with _turns:
        _turns_before_s.append(sys.getswitchinterval())
        sys.setswitchinterval(min(_turns_before_s[0], _SWITCH_S))
    try:
        yield
    finally:
        with _turns:
            if len(_turns_before_s) == 1:
                sys.setswitchinterval(_turns_before_s[0])
            _turns_before_s.pop()


class SideLoop:
    """An event loop in a thread of its own, for work that must not hold up the caller's loop.

    While it runs, threads take turns more often than usual, so that a caller who measures times is kept waiting for
    half a millisecond, not for five. For the rest four calls of asyncio do what anyio's blocking portal would.
    """

    def __init__(self, name: str) -> None:
        self._turns = ExitStack()
        self._turns.enter_context(short_turns())
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def call(self, function: Callable[..., object], *arguments: object) -> None:
        """Have a function called there soon; returns at once."""
        self._loop.call_soon_threadsafe(function, *arguments)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end there, and wait for it here; cancelling this cancels the work."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end there, and block this thread until then."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """End the thread; work that still runs is dropped."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._turns.close()
