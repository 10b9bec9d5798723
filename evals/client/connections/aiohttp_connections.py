"""Connections by aiohttp: a fifth of the time that httpx takes for a request, with one pool for all."""

import selectors
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from functools import lru_cache
from typing import Any
from weakref import WeakSet

import aiohttp
from yarl import URL

from evals.client.connections.base import BrokenExchangeError, Incoming, Outgoing
from evals.client.connections.decoding import Decoder
from evals.client.connections.proxies import Proxy
from evals.schemas.response import ErrorKind

_IDLE_S = 4.0
"""How long a connection waits for its next request: less than the five seconds after which common servers close."""
_LONGEST_HEADER = 65_536
_Selector: Callable[[], selectors.BaseSelector] = getattr(selectors, "PollSelector", selectors.DefaultSelector)
"""For one look at one socket: on Linux the default one opens a file and closes it again."""

# The first that fits; what a library of its own makes of the same fault is in `httpx_connections`.
_KINDS: tuple[tuple[type[Exception], ErrorKind, bool], ...] = (
    (aiohttp.InvalidURL, "connect", False),
    (aiohttp.ClientError, "connect", True),
    (OSError, "connect", True),
    (ValueError, "connect", False),
)


class CleanConnector(aiohttp.TCPConnector):
    """Never uses a connection again on which something arrived after the end of an answer, and counts these.

    aiohttp gives up those on which it came at once, and would take what comes later for the next answer. What comes
    after the next request was sent cannot be told from its answer.

    Attributes:
        surplus: How many answers were followed so.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.surplus = 0
        self._used: WeakSet[Any] = WeakSet()

    def _release(self, key: Any, protocol: Any, *, should_close: bool = False) -> None:
        self.surplus += bool(getattr(protocol, "_buffer", None) or getattr(protocol, "_tail", None))
        self._used.add(protocol)
        super()._release(key, protocol, should_close=should_close)

    async def connect(self, req: Any, traces: Any, timeout: Any) -> Any:
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            if protocol is None or not (protocol.should_close or self._has_more(protocol)):
                return connection
            connection.close()

    def _has_more(self, protocol: Any) -> bool:
        """Whether something came on a used connection that nobody has read yet."""
        if protocol not in self._used or not _is_readable(protocol.transport):
            return False
        self.surplus += not protocol.transport.get_extra_info("sslcontext")  # TLS has messages of its own
        return True


def _connector(proxy: Proxy | None, **options: Any) -> CleanConnector:
    if proxy is None or not proxy.is_socks:
        return CleanConnector(**options)
    from evals.client.connections.socks import socks_connector  # noqa: PLC0415 - an extra

    return socks_connector(proxy, **options)


def _is_readable(transport: Any) -> bool:
    place = transport.get_extra_info("socket") if transport is not None else None
    if place is None or place.fileno() < 0:
        return False
    with _Selector() as selector:
        selector.register(place.fileno(), selectors.EVENT_READ)
        return bool(selector.select(0))


class AiohttpConnections:
    """Connections to one server by aiohttp.

    Args:
        context: For TLS; None for a server without it.
        connect_timeout_s: For a connection to be made.
        proxy: Through which all goes; None for none.
    """

    def __init__(self, context: ssl.SSLContext | None, connect_timeout_s: float, proxy: Proxy | None) -> None:
        self._connector = _connector(proxy, limit=0, ssl=context or True, keepalive_timeout=_IDLE_S)
        self._session = aiohttp.ClientSession(
            connector=self._connector,
            cookie_jar=aiohttp.DummyCookieJar(),  # no question may see the session of the one before
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout_s),
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )
        proxy = None if proxy is None or proxy.is_socks else proxy  # SOCKS is the connector's business
        login = {"Proxy-Authorization": proxy.authorization} if proxy is not None and proxy.authorization else {}
        self._through: dict[str, Any] = {"proxy": proxy.url, "proxy_headers": login} if proxy is not None else {}
        self._login = {} if context else login
        """Of the proxy, where it sees the request: elsewhere it is asked for a tunnel alone."""

    @property
    def surplus(self) -> int:
        """How many answers were followed at once by bytes that belong to none."""
        return self._connector.surplus

    async def send(self, request: Outgoing) -> Incoming:
        """Send a request.

        Raises:
            BrokenExchangeError: There is no response.
        """
        try:
            response = await self._session.request(
                request.method,
                _parsed(request.url),
                headers={**request.headers, **self._login} if self._login else request.headers,
                data=request.body,
                allow_redirects=False,
                **self._through,
            )
        except _EXPECTED as error:
            raise _broken(error) from error
        return _Answer(response)

    async def close(self) -> None:
        """End all of them."""
        await self._session.close()


class _Answer:
    """A response of aiohttp."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers

    async def pieces(self, limit: int) -> AsyncGenerator[bytes]:
        encodings = ",".join(self._response.headers.getall("Content-Encoding", ()))
        try:
            if not encodings:
                async for piece in self._response.content.iter_any():
                    yield piece
                return
            decoder = Decoder(encodings, limit)
            async for piece in self._response.content.iter_any():
                for part in decoder.feed(piece):
                    yield part
            decoder.finish()
        except _EXPECTED as error:
            raise _broken(error) from error

    async def close(self) -> None:
        if self._response.content.at_eof():
            self._response.release()
        else:
            self._response.close()


_EXPECTED = tuple(cls for cls, _, _ in _KINDS)


@lru_cache(maxsize=256)
def _parsed(url: str) -> URL:
    """The URL, parsed once: most questions go to the same one."""
    return URL(url, encoded=True)


def _broken(error: Exception) -> BrokenExchangeError:
    for cls, kind, retryable in _KINDS:
        if isinstance(error, cls):
            return BrokenExchangeError(kind, _said(error), retryable=retryable)
    raise TypeError(f"no kind of failure is {type(error).__name__}") from error


def _said(error: Exception) -> str:
    """What went wrong, in words that do not name the library."""
    for cls, say in _WORDS:
        if isinstance(error, cls):
            return say(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _place(error: Any) -> str:
    return f"{error.host}:{error.port}"


_WORDS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], Callable[[Any], str]], ...] = (
    (aiohttp.ClientConnectorDNSError, lambda error: f"no address is known for {error.host}"),
    (
        (aiohttp.ClientConnectorCertificateError, aiohttp.ClientSSLError),
        lambda error: f"no secure connection to {_place(error)}: {error.__cause__ or error}",
    ),
    (
        aiohttp.ClientConnectorError,
        lambda error: f"cannot connect to {_place(error)}: {error.os_error.strerror or error.os_error}",
    ),
    (aiohttp.ServerDisconnectedError, lambda _: "the connection was closed without an answer"),
    (aiohttp.ClientPayloadError, lambda _: "the answer broke off"),
    (TimeoutError, lambda _: "no connection within the time for it"),
    (aiohttp.ClientResponseError, lambda error: f"no valid HTTP: {error.message}"),
)
"""Most specific first."""
