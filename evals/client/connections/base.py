"""What a kind of connections is to the transport: a request goes in, pieces of a body come out."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Protocol

from evals.schemas.response import ErrorKind


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request, ready to be sent.

    Attributes:
        method: HTTP method.
        url: Whole, with its parameters.
        headers: All that are to be sent but those of the connection itself (Host, Content-Length).
        body: None sends none.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


class BrokenExchangeError(Exception):
    """An exchange that brought no complete response, by whichever library.

    Attributes:
        kind: As it is recorded.
        retryable: Whether asking again may help.
    """

    def __init__(self, kind: ErrorKind, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.retryable = retryable


class Incoming(Protocol):
    """A response of which the head is there.

    Attributes:
        status: HTTP status.
        headers: By name, whatever its case.
    """

    status: int
    headers: Mapping[str, str]

    def pieces(self, limit: int) -> AsyncGenerator[bytes]:
        """The body as it arrives, without its content-encoding, each piece of bounded size.

        Args:
            limit: Bytes that may come out of an encoding inside another one.

        Raises:
            BrokenExchangeError: It broke off, or cannot be decoded.
        """

    async def close(self) -> None:
        """Let go of the connection: it is used again only where the body was read to its end, and nothing follows."""


class Connections(Protocol):
    """Connections to one server."""

    @property
    def surplus(self) -> int:
        """How many answers were followed at once by bytes that belong to none; their connections were given up."""

    async def send(self, request: Outgoing) -> Incoming:
        """Send a request.

        Raises:
            BrokenExchangeError: There is no response.
        """

    async def close(self) -> None:
        """End all of them."""
