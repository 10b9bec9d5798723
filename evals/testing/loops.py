"""Asynchronous work for tests that are not asynchronous."""

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Any, Self, TypeVar

_T = TypeVar("_T")


class InItsLoop:
    """Has an event loop of its own, in which all its work is done, and what was opened is closed at the end."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()

    def __enter__(self) -> Self:
        try:
            self.run(self.open(self._stack))
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    async def open(self, stack: AsyncExitStack) -> None:
        """Open what is needed; the stack closes it."""

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Do it, and wait for it."""
        return self._runner.run(work)

    def _close(self) -> None:
        try:
            self.run(self._stack.aclose())
        finally:
            self._runner.close()
