"""What a kind of connections is to the transport: a request goes in, pieces of a body come out."""

import socket
from collections.abc import AsyncGenerator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

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


ASKED: ContextVar[str | None] = ContextVar("ASKED", default=None)
"""The name of the question that requests are about; None outside of one."""


@dataclass(slots=True)
class Surplus:
    """Bytes of one server that belong to no answer.

    HTTP/1.1 does not number answers: what comes late on a connection is the answer to the request that was sent on it
    next. So from the first such byte on, each connection serves one request.

    Attributes:
        count: How many answers they followed.
        at_risk: The questions asked on a connection that had served another, before the first of them was seen.
    """

    count: int = 0
    at_risk: dict[str, None] = field(default_factory=dict)

    def see_reuse(self) -> None:
        """Note that a request is sent on a connection that served another."""
        if (asked := ASKED.get()) is not None:
            self.at_risk[asked] = None


def unread(place: Any) -> bytes | None:
    """The first byte that came on an idle connection, empty where its end came; None where nothing did.

    Args:
        place: Its socket; None where there is none.
    """
    if place is None or place.fileno() < 0:
        return None
    try:
        with place.dup() as look:
            look.settimeout(0)
            first: bytes = look.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return None
    except OSError:
        return b""
    return first


class Connections(Protocol):
    """Connections to one server."""

    async def send(self, request: Outgoing) -> Incoming:
        """Send a request.

        Raises:
            BrokenExchangeError: There is no response.
        """

    async def close(self) -> None:
        """End all of them."""
