"""The token in use: renewed before it expires, and never twice at once."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

_LONGEST_MARGIN_S = 30.0
_MARGIN = 0.1
"""Part of a token's life at whose end it is not used any more, so that it is valid still when it arrives."""


@dataclass(slots=True, eq=False)
class Token:
    """What a token server gave.

    Attributes:
        value: The secret.
        life_s: How long it is valid; None where nobody said.
        replaces_refused: Whether it was fetched because the one before was refused.
        is_taken: Whether the server under evaluation took it once.
    """

    value: str
    life_s: float | None
    replaces_refused: bool = False
    is_taken: bool = False

    @property
    def fresh_s(self) -> float:
        """How long it is used, from when it was asked for."""
        if self.life_s is None:
            return float("inf")
        return self.life_s - min(_LONGEST_MARGIN_S, _MARGIN * self.life_s)


class Tokens:
    """Keeps the token that is in use.

    Args:
        fetch: Gets a new one.
        clock: Monotonic seconds.
    """

    def __init__(self, fetch: Callable[[], Awaitable[Token]], clock: Callable[[], float] = time.perf_counter) -> None:
        self._fetch = fetch
        self._clock = clock
        self._token: Token | None = None
        self._until = 0.0
        self._fetching: asyncio.Task[Token] | None = None

    async def current(self) -> Token:
        """The token to send; everything that `fetch` raises, to all who wait for it."""
        if self._token is None or self._clock() >= self._until:
            return await self._renewed()
        return self._token

    async def instead_of(self, refused: Token) -> Token | None:
        """Another token than one that the server refused; None where a new one would be refused as well.

        That is so where the refused one was itself fetched for a refused one, and was never taken.
        """
        if self._token is refused:
            if refused.replaces_refused and not refused.is_taken:
                return None
            token = await self._renewed()
            token.replaces_refused = True
            return token
        return await self.current()

    async def _renewed(self) -> Token:
        """A new token, of one request however many wait for it; who stops waiting does not end it for the others."""
        if self._fetching is None:
            self._fetching = asyncio.create_task(self._new())
            self._fetching.add_done_callback(self._fetched)
        return await asyncio.shield(self._fetching)

    async def _new(self) -> Token:
        asked = self._clock()
        token = await self._fetch()
        self._token, self._until = token, asked + token.fresh_s
        return token

    def _fetched(self, task: asyncio.Task[Token]) -> None:
        self._fetching = None
        if not task.cancelled():
            task.exception()  # seen, though nobody may wait for it any more

    async def close(self) -> None:
        """Give up what is being fetched."""
        if self._fetching is not None:
            self._fetching.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await self._fetching
