"""How many may be at something at a time, where that changes meanwhile; a semaphore of asyncio keeps its size."""

import asyncio
from collections import deque


class Room:
    """Lets so many in, in the order of their coming."""

    def __init__(self) -> None:
        self._size = 1
        self._inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def resize(self, size: int) -> None:
        """Let so many in from now on; where more are in already, nobody else until they are fewer."""
        self._size = size
        self._let_in()

    async def __aenter__(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._let_in()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._leave()

    def _leave(self) -> None:
        self._inside -= 1
        self._let_in()

    def _let_in(self) -> None:
        while self._waiting and self._inside < self._size:
            turn = self._waiting.popleft()
            if not turn.cancelled():
                self._inside += 1
                turn.set_result(None)
