"""Connections by httpx: one client for each request in flight, with one connection each.

A pool of many connections is scanned at every request, which costs more than the request itself.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import httpx

from evals.client.connections import ErrorKinds, Incoming, Outgoing, Proxy, Surplus, broken, decoded, unread

# Most specific first; a test holds that every error class of the library is covered.
KINDS: ErrorKinds = (
    (httpx.ConnectTimeout, "connect", True),
    (httpx.TimeoutException, "timeout", True),
    (httpx.UnsupportedProtocol, "connect", False),
    (httpx.TransportError, "connect", True),
    (httpx.DecodingError, "malformed", False),
    (httpx.TooManyRedirects, "status", False),
    (httpx.RequestError, "connect", False),
    (httpx.InvalidURL, "connect", False),
)


class HttpxConnections:
    """Connections to one server by httpx.

    Args:
        context: For TLS; None for a server without it.
        timeout_s: Between two pieces of an answer.
        connect_timeout_s: For a connection to be made.
        proxy: Through which all goes; None for none.
        concurrency: How many requests may be in flight.
        surplus: Counts bytes that belong to no answer.
    """

    def __init__(
        self,
        context: ssl.SSLContext | None,
        timeout_s: float,
        connect_timeout_s: float,
        proxy: Proxy | None,
        concurrency: int,
        surplus: Surplus,
    ) -> None:
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
        through = _through(proxy)
        verify: ssl.SSLContext | bool = context or False
        self._timeout = httpx.Timeout(timeout_s, connect=connect_timeout_s, pool=None).as_dict()
        # Redirects, cookies and logins are not the client's business here: its transport is used without it.
        self._all = [httpx.AsyncHTTPTransport(verify=verify, limits=limits, proxy=through) for _ in range(concurrency)]
        self._free: asyncio.LifoQueue[httpx.AsyncHTTPTransport] = asyncio.LifoQueue()
        self._surplus = surplus
        for transport in self._all:
            self._free.put_nowait(transport)

    async def send(self, request: Outgoing) -> Incoming:
        """Send a request.

        Raises:
            BrokenExchangeError: There is no response.
        """
        transport = await self._free.get()
        try:
            await self._clean(transport)
            response = await transport.handle_async_request(self._built(request))
        except BaseException as error:
            self._free.put_nowait(transport)
            if isinstance(error, httpx.HTTPError | httpx.InvalidURL | UnicodeError | ssl.SSLError):
                raise broken(error, KINDS) from error
            raise
        return _Answer(response, partial(self._let_go, transport))

    async def _let_go(self, transport: httpx.AsyncHTTPTransport) -> None:
        try:
            # Bytes that came with the end of an answer belong to none: h11 would take them for the next.
            self._surplus.count += any(state.trailing_data[0] for state in _inside(transport, "_h11_state"))
            if self._surplus.count:
                await transport.aclose()  # its connection: the next request makes another
        finally:
            self._free.put_nowait(transport)

    async def _clean(self, transport: httpx.AsyncHTTPTransport) -> None:
        """Give up a used connection on which something came, or any once something came on one."""
        for stream in _inside(transport, "_network_stream"):
            came = unread(stream.get_extra_info("socket"))
            if came and stream.get_extra_info("ssl_object") is None:  # TLS has messages of its own
                self._surplus.count += 1
            if came is not None or self._surplus.count:
                await transport.aclose()
            else:
                self._surplus.see_reuse()

    def _built(self, request: Outgoing) -> httpx.Request:
        return httpx.Request(
            request.method,
            _parsed(request.url),
            headers=request.headers,
            content=request.body,
            extensions={"timeout": self._timeout},
        )

    async def close(self) -> None:
        """End all of them."""
        for transport in self._all:
            await transport.aclose()


class _Answer:
    """A response of httpx."""

    def __init__(self, response: httpx.Response, let_go: Callable[[], Awaitable[None]]) -> None:
        self._response, self._let_go = response, let_go
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers

    async def pieces(self) -> AsyncGenerator[bytes]:
        try:
            if self._response.is_stream_consumed:  # a response that never was on a wire
                yield self._response.content
                return
            encoding = self._response.headers.get("content-encoding", "")
            async for piece in decoded(self._response.aiter_raw(), encoding):
                yield piece
        except (httpx.HTTPError, UnicodeError, ssl.SSLError) as error:  # httpx lets those of TLS 1.3 through
            raise broken(error, KINDS) from error

    async def close(self) -> None:
        try:
            await self._response.aclose()
        finally:
            await self._let_go()


def _inside(transport: httpx.AsyncHTTPTransport, name: str) -> list[Any]:
    """What the connections of a transport hold under a name that httpcore keeps to itself."""
    connections = getattr(getattr(transport, "_pool", None), "connections", ())
    found = [getattr(getattr(connection, "_connection", None), name, None) for connection in connections]
    return [each for each in found if each is not None]


def _through(proxy: Proxy | None) -> httpx.Proxy | None:
    if proxy is None:
        return None
    if proxy.is_socks:
        return httpx.Proxy(proxy.url, auth=proxy.login)
    return httpx.Proxy(proxy.url, headers={"Proxy-Authorization": proxy.authorization} if proxy.authorization else None)


@lru_cache(maxsize=256)
def _parsed(url: str) -> httpx.URL:
    """The URL, parsed once: most questions go to the same one."""
    return httpx.URL(url)
