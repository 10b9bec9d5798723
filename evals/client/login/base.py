"""What a login is to the transport: it takes a request, and sends it with what shows who we are."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeVar

Answer = TypeVar("Answer")
SendWith = Callable[[Mapping[str, str]], Awaitable[Answer]]
"""Sends a request with some headers beside its own."""


class Login(Protocol):
    """Shows a server who we are."""

    async def open(self) -> None:
        """Be ready to send."""

    async def close(self) -> None:
        """Let go of connections."""

    async def check(self) -> None:
        """See that there is a login; raises a `ServerError` where there is none to be had."""

    async def send(self, send: SendWith[Answer]) -> Answer:
        """Send a request with this login; again, where the server took it for none and another one can be had."""
