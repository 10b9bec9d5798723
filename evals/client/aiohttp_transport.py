"""Connections by aiohttp, with one pool; a request takes a fifth of the time that it takes with httpx."""

import ssl
from collections.abc import AsyncGenerator, Mapping
from functools import lru_cache
from typing import Any
from weakref import WeakSet

import aiohttp
from yarl import URL

from evals.client.connections import (
    BrokenExchangeError,
    ErrorKinds,
    Incoming,
    Outgoing,
    Proxy,
    Surplus,
    broken,
    decoded,
    unread,
)

_IDLE_S = 4.0
"""How long a connection waits for its next request: less than the five seconds after which common servers close."""

_LONGEST_HEADER = 65_536


_KINDS: ErrorKinds = (
    (aiohttp.InvalidURL, "connect", False),
    (aiohttp.ClientError, "connect", True),
    (OSError, "connect", True),
    (ValueError, "connect", False),
)


class CleanConnector(aiohttp.TCPConnector):
    """Gives up a connection on which something arrived after the end of an answer, before it is used again.

    aiohttp gives up those on which it came at once, and would take what comes later for the next answer.

    Args:
        surplus: Counts what arrived so.
        options: Of any connector.
    """

    def __init__(self, surplus: Surplus, **options: Any) -> None:
        super().__init__(**options)
        self._surplus = surplus
        self._used: WeakSet[Any] = WeakSet()

    def _release(self, key: Any, protocol: Any, *, should_close: bool = False) -> None:
        self._surplus.count += bool(getattr(protocol, "_buffer", None) or getattr(protocol, "_tail", None))
        self._used.add(protocol)
        super()._release(key, protocol, should_close=should_close or self._surplus.count > 0)

    async def connect(self, req: Any, traces: Any, timeout: Any) -> Any:
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            if protocol is None or protocol not in self._used:
                return connection
            transport: Any = protocol.transport
            came = unread(transport.get_extra_info("socket")) if transport is not None else None
            if came and not transport.get_extra_info("sslcontext"):  # TLS has messages of its own
                self._surplus.count += 1
            if came is None and not protocol.should_close and not self._surplus.count:
                self._surplus.see_reuse()
                return connection
            connection.close()


def _connector(proxy: Proxy | None, **options: Any) -> CleanConnector:
    if proxy is None or not proxy.is_socks:
        return CleanConnector(**options)
    from evals.client.socks import SocksConnector, socks_options  # noqa: PLC0415 - an extra

    class CleanSocksConnector(CleanConnector, SocksConnector):
        """A clean connector through the proxy."""

    return CleanSocksConnector(**socks_options(proxy), **options)


class AiohttpConnections:
    """Connections to one server by aiohttp.

    Args:
        context: For TLS; None for a server without it.
        connect_timeout_s: For a connection to be made.
        proxy: Through which all goes; None for none.
        surplus: Counts bytes that belong to no answer.
    """

    def __init__(
        self, context: ssl.SSLContext | None, connect_timeout_s: float, proxy: Proxy | None, surplus: Surplus
    ) -> None:
        self._session = aiohttp.ClientSession(
            connector=_connector(proxy, surplus=surplus, limit=0, ssl=context or True, keepalive_timeout=_IDLE_S),
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

    async def pieces(self) -> AsyncGenerator[bytes]:
        encoding = ",".join(self._response.headers.getall("Content-Encoding", ()))
        try:
            async for piece in decoded(self._response.content.iter_any(), encoding):
                yield piece
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
    said = ""
    if isinstance(error, aiohttp.ClientConnectorError):
        why = error.__cause__ if isinstance(error, aiohttp.ClientSSLError) else error.os_error.strerror
        said = f"cannot connect to {error.host}:{error.port}: {why or error.os_error}"
    return broken(error, _KINDS, said)
