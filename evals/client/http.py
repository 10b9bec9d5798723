"""The one way to a server: HTTP by httpx over aiohttp, retried by tenacity.

`HttpClient.send` makes one exchange: a complete reply or an `ExchangeError` within a deadline. `Retrying` decides
whether a request is sent again, when, and how many are in flight.
"""

import asyncio
import os
import re
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from functools import lru_cache
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport
from tenacity import AsyncRetrying, RetryCallState, wait_exponential_jitter

from evals import __version__
from evals.client.mapping import UnusableError
from evals.client.spec import TlsSpec
from evals.client.streams import Collector
from evals.errors import ConfigError
from evals.schemas.response import ErrorKind
from evals.secrets import masked, public_url

REFUSED = frozenset({401, 403})
"""The statuses by which a server says that it does not know us, or does not let us in."""

BUSY = frozenset({429, 503})

RETRYABLE = BUSY | {408, 425} | set(range(500, 600))

_CONNECT_TIMEOUT_S = 10.0

_IDLE_S = 4.0
"""How long a connection waits for its next request: less than the five seconds after which common servers close."""

_HEADERS = {"Accept": "*/*", "Accept-Encoding": "gzip, deflate", "User-Agent": f"evals/{__version__}"}

_LONGEST_HEADER = 65_536

_INFLATED_AT_ONCE = 65_536

_DRAIN_S = 0.25
"""How long the rest of a stream is read after its end, so that its connection can serve again."""


@dataclass(eq=False)
class ExchangeError(UnusableError):
    """A request without an answer.

    Attributes:
        retryable: Whether asking again may help.
        retry_after_s: How long the server asks us to wait.
        started: When it began, by the clock of the client; None where it was not sent.
        elapsed_ms: How long the attempt took.
        body: What was received, if anything.
    """

    retryable: bool = False
    retry_after_s: float | None = None
    started: float | None = None
    elapsed_ms: float = 0.0
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete response of a success.

    Attributes:
        started: When the request was sent, by the clock of the client.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    elapsed_ms: float
    started: float


# One exchange.


@dataclass(eq=False, repr=False)
class HttpClient:
    """Sends requests to one base URL.

    Attributes:
        url: Base URL; a login in it is sent as Basic.
        headers: Sent with every request.
        timeout_s: For a whole exchange, from sending to the last byte.
        max_body_bytes: A longer body is `too_large`.
        tls: Whom to trust behind https.
        auth: Shows who we are; None where headers or the URL do.
        redact: Masks secrets in messages.
        transport: Sends requests instead of aiohttp; for tests.
        clock: Monotonic seconds.
        base: The URL without a login and without a slash at its end.

    Raises:
        ConfigError: The URL is none of a server, or a header or proxy cannot be used.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 120.0
    max_body_bytes: int = 16 * 1024 * 1024
    tls: TlsSpec | None = None
    auth: httpx.Auth | None = None
    redact: Callable[[str], str] = str
    transport: httpx.AsyncBaseTransport | None = None
    clock: Callable[[], float] = time.perf_counter

    def __post_init__(self) -> None:
        whole = httpx.URL(check_url(self.url))
        self.base = str(whole.copy_with(userinfo=b"")).rstrip("/")
        self._headers = httpx.Headers(_HEADERS)
        if whole.userinfo:
            self._headers["Authorization"] = aiohttp.encode_basic_auth(whole.username, whole.password, "utf-8")
        self._headers.update(_checked(self.headers))
        self._proxy, self._opened = proxy_for(self.base), self.transport

    async def __aenter__(self) -> "HttpClient":
        tls = self.tls if self.base.startswith("https") else None
        self._opened = self.transport or _transport(tls, self._proxy)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._opened is not None:
            await self._opened.aclose()

    async def send(
        self,
        method: str,
        path: str,
        *,
        timeout_s: float | None = None,
        stream: Collector | None = None,
        cookies: httpx.Cookies | None = None,
        headers: Mapping[str, str] | None = None,
        **parts: Any,
    ) -> Reply:
        """Make one exchange.

        Args:
            method: HTTP method.
            path: Path below the base URL.
            timeout_s: Shorter than the client's own, for calls that must not hang.
            stream: Takes the body of a success as it arrives.
            cookies: Are sent, and take those of the reply; None for none.
            headers: Of this request.
            parts: `params`, `json`, `data` and `files`, as `httpx.Request` takes them.

        Raises:
            ExchangeError: There is no complete response, or its status is no success.
        """
        transport, sent = self._opened, self._headers
        if transport is None:
            raise RuntimeError("the client is not open: use it as `async with RAGClient(...) as client`")
        try:
            url = _parsed(f"{self.base}/{path.removeprefix('/')}")
        except httpx.InvalidURL as error:
            message = self.redact(f"no URL can be made of the path {path!r}: {error}")
            raise ConfigError(message, "look at the paths of server") from None
        if headers:
            sent = sent.copy()
            sent.update(headers)
        timeouts = {"connect": min(_CONNECT_TIMEOUT_S, self.timeout_s)}
        request = httpx.Request(method, url, headers=sent, extensions={"timeout": timeouts}, **parts)
        if cookies:
            cookies.set_cookie_header(request)
        limit, request.extensions["started"] = timeout_s or self.timeout_s, self.clock()
        try:
            async with asyncio.timeout(limit):
                if self.auth is not None:  # httpx's client drives the login
                    client = httpx.AsyncClient(transport=transport, auth=self.auth, trust_env=False)
                    response = await client.send(request, stream=True)
                else:  # it would add a third to the CPU of a request, and keeps cookies
                    response = await transport.handle_async_request(request)
                    response.request = request
                reply = await self._read(response, stream if response.is_success else None)
        except ExchangeError:
            raise
        except (httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError, OSError, ValueError, UnusableError) as error:
            raise self._failed(error, request, limit, stream) from error
        if not response.is_success:
            raise self._bad_status(response, reply)
        if cookies is not None and "set-cookie" in response.headers:
            cookies.extract_cookies(response)
        return reply

    async def _read(self, response: httpx.Response, stream: Collector | None) -> Reply:
        """The whole response; its time ends with the body, or with the last event of a stream."""
        started: float = response.request.extensions["started"]
        body, pieces = bytearray() if stream is None else stream.received, _decoded(response)
        try:
            async for piece in pieces:
                if stream is None:
                    body += piece
                else:
                    stream.take(piece, (self.clock() - started) * 1000)
                if len(body) > self.max_body_bytes:
                    message = f"the body is longer than {self.max_body_bytes:,} bytes (server.max_body_bytes)"
                    raise ExchangeError(message, "too_large", response.status_code, body=bytes(body[:4096]))
                if stream is not None and stream.is_done:
                    break
            elapsed_ms = (self.clock() - started) * 1000
            if stream is not None:
                stream.finish(elapsed_ms)
                with suppress(TimeoutError, httpx.HTTPError, UnusableError):
                    async with asyncio.timeout(_DRAIN_S):
                        async for _ in pieces:
                            pass
        finally:
            await response.aclose()
        return Reply(response.status_code, response.headers, bytes(body), elapsed_ms, started)

    def _failed(
        self, error: Exception, request: httpx.Request, limit: float, stream: Collector | None
    ) -> ExchangeError:
        """The failure of an exchange that brought no complete answer that can be read."""
        received = bytes(stream.received) if stream is not None else b""
        started: float = request.extensions["started"]
        elapsed_ms = (self.clock() - started) * 1000
        # httpx-aiohttp makes one error of a dropped connection, a refused one and an unknown host.
        cause = error.__cause__ if isinstance(error.__cause__, aiohttp.ClientError) else error
        kind: ErrorKind = "connect"
        if isinstance(cause, UnusableError):
            kind, message = cause.kind, cause.message
        elif isinstance(cause, TimeoutError | httpx.TimeoutException) and not isinstance(cause, _NO_CONNECTION):
            kind, message = "timeout", f"no complete answer within {limit:g} s"
            elapsed_ms = max(elapsed_ms, limit * 1000)
        else:
            through = f" (through the proxy {self._proxy.url})" if self._proxy is not None else ""
            message = " ".join(_described(cause).split())[:300] + through
        retryable = isinstance(cause, _PASSING) and not isinstance(cause, _LASTING)
        if stream is not None and received and retryable:
            # Once a text arrived it is not asked again: the server began to answer, and a user would have seen it.
            retryable, kind = stream.first_ms is None, kind if kind == "timeout" else "broken_off"
            message = f"{message}; the stream brought {stream.so_far}"
        message = self.redact(message)
        return ExchangeError(message, kind, retryable=retryable, started=started, elapsed_ms=elapsed_ms, body=received)

    def _bad_status(self, response: httpx.Response, reply: Reply) -> ExchangeError:
        """The failure that a status is, with what the response says of how to ask instead."""
        status, headers, hint = reply.status, response.headers, ""
        if status == httpx.codes.METHOD_NOT_ALLOWED:
            hint = f" ({response.request.method} was sent; the server allows {headers.get('allow', 'another')[:80]})"
        elif response.has_redirect_location:
            target = public_url(self.redact(headers["location"])[:500])
            hint = f" (it redirects to {target}, and nothing is sent there: correct the URL, if that is right)"
        excerpt = " ".join(self.redact(reply.body.decode("utf-8", "replace"))[:2000].split())[:200]
        failure = ExchangeError(f"HTTP {status}{hint}" + (f": {excerpt}" if excerpt else ""), "status", status)
        failure.retryable, failure.retry_after_s = status in RETRYABLE, retry_after_s(headers)
        failure.started, failure.elapsed_ms, failure.body = reply.started, reply.elapsed_ms, reply.body
        return failure

    async def reaches(self, path: str | None, timeout_s: float) -> bool:
        """Whether the server answers a GET of a path with success; without a path, whether it takes a new connection.

        Args:
            path: Below the base URL. Behind a proxy, which takes any connection, None stands for the base URL itself.
            timeout_s: For all of it.
        """
        url = httpx.URL(self.base)
        port = url.port or {"http": 80, "https": 443}[url.scheme]
        try:
            if path is None and self._proxy is None:
                _, writer = await asyncio.wait_for(asyncio.open_connection(url.host, port), timeout_s)
                writer.close()
            else:
                await self.send("GET", path or "", timeout_s=timeout_s)
        except (OSError, ExchangeError):
            return False
        return True


_NO_CONNECTION = (aiohttp.ConnectionTimeoutError, httpx.ConnectTimeout)

_PASSING, _LASTING = (
    (httpx.TransportError, aiohttp.ClientError, OSError),
    (httpx.UnsupportedProtocol, aiohttp.InvalidURL),
)
"""Errors after which asking again may help, and those of them after which it does not."""


def _described(error: Exception) -> str:
    """What went wrong with a connection."""
    if not isinstance(error, aiohttp.ClientConnectorError):
        return f"{type(error).__name__}: {error}".removesuffix(": ")
    system = error.os_error  # whose text may be "Connect call failed"
    has_number = (system.errno or 0) > 0 and not isinstance(system, ssl.SSLError)
    why = os.strerror(system.errno or 0) if has_number else system.strerror
    return f"cannot connect to {error.host}:{error.port}: {why or system}"


_parsed = lru_cache(maxsize=256)(httpx.URL)
"""The URL, parsed once: most questions go to the same one."""


async def _decoded(response: httpx.Response) -> AsyncIterator[bytes]:
    """The body without its content-encoding, a little at a time: a few bytes can stand for gigabytes."""
    name = response.headers.get("content-encoding", "").strip().lower() or "identity"
    if name not in {"identity", "gzip", "deflate"}:
        raise UnusableError(f"the body has the content-encoding {name[:40]!r}, and gzip, deflate was asked for")
    inflate, rest = zlib.decompressobj(32 + zlib.MAX_WBITS), b""
    stream: Any = response.stream  # without the counting of `aiter_raw`
    async for piece in stream:
        rest = b"" if name == "identity" else piece
        if not rest:
            yield piece
        try:
            while rest and not inflate.eof:
                yield inflate.decompress(rest, _INFLATED_AT_ONCE)
                rest = inflate.unconsumed_tail
        except zlib.error as error:
            raise UnusableError(f"the body is not {name}: {error}") from error
        if rest:  # no end of what follows the end is waited for
            break
    if name != "identity" and (rest or inflate.unused_data or not inflate.eof):
        raise UnusableError(f"the body's {name} breaks off, or something follows it")


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that a response asks to wait: retry-after-ms, or Retry-After in seconds or as a date."""
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        value = headers.get(name, "").strip()
        if value.isascii() and value.replace(".", "", 1).isdigit():
            return float(value) / unit
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


# Connections by aiohttp.


class _CleanConnector(aiohttp.TCPConnector):
    """Gives up a connection on which bytes came after an answer: they would be taken for the next one."""

    async def connect(self, req: Any, traces: Any, timeout: Any) -> Any:
        connection: Any = await super().connect(req, traces, timeout)
        while connection.protocol.should_close:
            connection.close()
            connection = await super().connect(req, traces, timeout)
        return connection


def _transport(tls: TlsSpec | None, proxy: httpx.Proxy | None) -> httpx.AsyncBaseTransport:
    """Httpx's transport over a session of aiohttp that keeps no cookies and repeats nothing by itself."""
    options: dict[str, Any] = {"limit": 0, "ssl": _tls_context(tls) if tls else True, "keepalive_timeout": _IDLE_S}
    is_socks = proxy is not None and proxy.url.scheme.startswith("socks")

    def session() -> aiohttp.ClientSession:
        made = aiohttp.ClientSession(
            connector=_socks_connector(proxy, options) if proxy and is_socks else _CleanConnector(**options),
            cookie_jar=aiohttp.DummyCookieJar(),
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )
        made._retry_connection = False
        return made

    through = None
    if proxy is not None and not is_socks:  # aiohttp makes a header for the proxy of this one
        login = {"Authorization": aiohttp.encode_basic_auth(*proxy.auth)} if proxy.auth else {}
        through = httpx.Proxy(proxy.url, headers=login)
    return AiohttpTransport(client=session, proxy=through, verify=False)  # the connector's context verifies


def _socks_connector(proxy: httpx.Proxy, options: dict[str, Any]) -> aiohttp.BaseConnector:
    from aiohttp_socks import ProxyConnector, ProxyError  # noqa: PLC0415 - an extra

    class SocksConnector(ProxyConnector):
        async def connect(self, *args: Any, **kwargs: Any) -> Any:
            try:
                return await super().connect(*args, **kwargs)
            except ProxyError as error:
                raise aiohttp.ClientConnectionError(f"the proxy does not connect us: {error}") from error

    (username, password), port = proxy.auth or (None, None), proxy.url.port or 1080
    return SocksConnector(proxy.url.host, port, username=username, password=password, rdns=True, **options)


def _tls_context(tls: TlsSpec) -> ssl.SSLContext:
    """The settings of TLS: the authorities of this machine and those that are named, and a certificate of our own.

    Raises:
        ConfigError: A file cannot be read, or is no such file; the message names it.
    """
    context, key, named = ssl.create_default_context(), "ca", tls.ca
    try:
        if tls.ca is not None:
            context.load_verify_locations(cafile=tls.ca)
        if tls.cert is not None:
            key, named = "cert", tls.cert + (f" with the key {tls.key}" if tls.key else "")
            context.load_cert_chain(tls.cert, tls.key, password="")
    except OSError as error:  # of which ssl's errors are
        reason = error.strerror or getattr(error, "reason", None) or type(error).__name__
        hint = "name PEM files; a key has no password, and may stand in the file of its certificate"
        raise ConfigError(f"server.tls.{key} {named} cannot be used: {reason}", hint) from error
    if not tls.verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


# The address of a server, the headers sent there, and the proxy before it, checked before anything is sent.


def check_url(url: str) -> str:
    """The base URL without trailing slash.

    Raises:
        ConfigError: It is no http(s) URL with a host and, if any, a port that can be asked.
    """
    try:
        parsed = httpx.URL(url)
        usable = bool(parsed.host) and parsed.scheme in {"http", "https"} and not re.search(r"[\s?#]", url)
        usable = usable and (parsed.port is None or 0 < parsed.port < 65_536)
    except httpx.InvalidURL:
        usable = False
    if not usable:
        shown = masked(re.split(r"[?#]", url.rpartition("@")[2], maxsplit=1)[0])
        raise ConfigError(f"not a URL of a server: {shown!r}", "give one such as http://localhost:8001")
    return url.rstrip("/")


def _checked(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers without the white space around their values, which a secret read from a file often ends with.

    Raises:
        ConfigError: A header cannot be sent; the message does not hold its value.
    """
    stripped = {name: value.strip() for name, value in headers.items()}
    for name, value in stripped.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or not (value.isascii() and value.isprintable()):
            raise ConfigError(f"server.headers.{name} cannot be sent", "check its name and value: printable ASCII only")
    return stripped


_THIS_MACHINE = re.compile(r"(?:.+\.)?localhost|127(?:\.\d+){3}|::1")
"""The names and addresses of the loopback."""


def proxy_for(url: str) -> httpx.Proxy | None:
    """The proxy that the environment names for a URL; None for this machine, for those in NO_PROXY, and where none is.

    Raises:
        ConfigError: It cannot be used.
    """
    parts, proxies = urlsplit(url), getproxies()
    host, address = parts.hostname or "", proxies.get(parts.scheme) or proxies.get("all")
    if not address or _THIS_MACHINE.fullmatch(host) or proxy_bypass(host):
        return None
    proxy = None
    with suppress(httpx.InvalidURL, ValueError):
        proxy = httpx.Proxy(address if "://" in address else f"http://{address}")
    if proxy is None or (proxy.url.scheme.startswith("socks") and find_spec("aiohttp_socks") is None):
        message = f"the proxy of {parts.scheme.upper()}_PROXY or ALL_PROXY cannot be used"
        ways = "http://HOST:PORT, or socks5://HOST:PORT with pip install 'rag-evals[socks]'"
        raise ConfigError(message, f"name {ways}, or leave it out for this server: NO_PROXY={host}")
    return proxy


# When a request is sent again, by tenacity: whether, after how long, and how often.


_LONGEST_RETRY_AFTER_S = 30.0

_BACKOFF = wait_exponential_jitter(multiplier=0.5, max=8.0, jitter=0.25)


def _wait_s(state: RetryCallState) -> float:
    """What the server asks for, up to 30 s; else twice as long each time."""
    failure = state.outcome.exception() if state.outcome is not None else None
    asked = getattr(failure, "retry_after_s", None)
    return _BACKOFF(state) if asked is None else min(asked, _LONGEST_RETRY_AFTER_S)


@dataclass(slots=True)
class Attempts:
    """What one request took.

    Attributes:
        failed: Attempts that failed, without those that the server had no room for.
        began: When the first attempt was sent; None where none was.
        waited_s: How long was waited between them.
        away_since: Since when the server took none of them; None where it took the last one.
    """

    failed: int = 0
    began: float | None = None
    waited_s: float = 0.0
    away_since: float | None = None


class AdaptiveLimit:
    """Bounds the requests in flight: half as many after a refusal, one more after each round of answers.

    Args:
        most: How many at most.
    """

    def __init__(self, most: int) -> None:
        self.free = asyncio.Semaphore(most)
        """The places that are free; whoever acquires one gives it back by `release`."""
        self._most = self._allowed = self._places = most
        self._answers, self._changed = 0, -float("inf")

    def release(self, *, answered: bool) -> None:
        """Give a place back, after an answer or a failure."""
        if answered and self._allowed < self._most:
            self._answers += 1
            if self._answers >= self._allowed:
                self._allowed, self._answers = self._allowed + 1, 0
        self._places -= 1
        while self._places < self._allowed:
            self._places += 1
            self.free.release()

    def shrink(self, started: float | None, now: float) -> None:
        """Take a refusal into account; one of a request that was sent before the last change tells nothing new."""
        if started is None or started >= self._changed:
            self._allowed, self._changed, self._answers = max(1, self._allowed // 2), now, 0


@dataclass(slots=True, eq=False)
class Retrying:
    """Sends requests to one server, again where that may help.

    A server that is busy (429, 503) or cannot be reached took nothing: while there is patience, that is no failed
    attempt. One that was never there is not waited for.

    Attributes:
        limit: Bounds the requests in flight.
        patience_s: How long a request waits for a server that has no room for it; 0 counts each refusal as an attempt.
        reach: Tells whether the server can be reached now.
        sleep: How to wait.
        clock: Monotonic seconds.
        name: What the server is called in messages.
        tell: Hears once when waiting for a server begins that cannot be reached.
        throttled: How many requests the server refused for being too many.
        unavailable: Why no more is asked, when patience with the server ended; None while it may still answer.
        is_known: Whether it ever answered.
        away: Why it takes nothing, `overloaded` or `gone`, and since when; None where it took the last request.
    """

    limit: AdaptiveLimit
    patience_s: float
    reach: Callable[[], Awaitable[bool]]
    sleep: Callable[[float], Awaitable[None]]
    clock: Callable[[], float]
    name: str = "the server"
    tell: Callable[[str], None] = lambda _: None
    throttled: int = 0
    unavailable: str | None = None
    is_known: bool = False
    away: tuple[str, float] | None = None

    def alone(self, **changes: Any) -> "Retrying":
        """The same for one request after the other, which do not count among the others."""
        return replace(self, limit=AdaptiveLimit(1), unavailable=None, away=None, **changes)

    async def send(self, send: Callable[[], Awaitable[Reply]], attempts: Attempts, max_attempts: int) -> Reply:
        """Send until it succeeds, fails for good, or attempts or patience are used up.

        Raises:
            ExchangeError: Of the last attempt.
        """
        await self.limit.free.acquire()
        reply: Reply | None = None
        try:
            reply = await send()
        except ExchangeError as failure:  # most requests succeed at once, and tenacity takes a fifth of their CPU
            reply = await self._again(failure, send, attempts, max_attempts)
        finally:
            self.limit.release(answered=reply is not None)
        attempts.began = reply.started if attempts.began is None else attempts.began
        self.is_known, self.away, self.unavailable = True, None, None
        return reply

    async def _again(
        self, failure: ExchangeError, send: Callable[[], Awaitable[Reply]], attempts: Attempts, max_attempts: int
    ) -> Reply:
        """Repeat by tenacity, of which the attempt that failed is the first."""
        first = [failure]

        async def attempt() -> Reply:
            if first:
                raise first.pop()
            return await send()

        async def is_worth_it(state: RetryCallState) -> bool:
            error = state.outcome.exception() if state.outcome is not None else None
            if not isinstance(error, ExchangeError):
                return False
            await self._count(error, attempts)
            return error.retryable

        def is_enough(_: RetryCallState) -> bool:
            is_patient = attempts.away_since is None or self.clock() - attempts.away_since < self.patience_s
            return self.unavailable is not None or not is_patient or attempts.failed >= max_attempts

        async def pause(seconds: float) -> None:
            attempts.waited_s += seconds
            await self.sleep(seconds)

        again = AsyncRetrying(retry=is_worth_it, stop=is_enough, wait=_wait_s, sleep=pause, reraise=True)
        return await again(attempt)

    async def _count(self, failure: ExchangeError, attempts: Attempts) -> None:
        """Take a failure into account: as a failed attempt, or as a server that took nothing for the moment."""
        attempts.began = failure.started if attempts.began is None else attempts.began
        is_busy = self.patience_s > 0 and failure.status in BUSY
        is_cut_off = self.is_known and failure.kind == "connect" and failure.retryable
        if not is_busy and not (is_cut_off and not await self.reach()):
            attempts.failed, attempts.away_since = attempts.failed + 1, None
            self.is_known = self.is_known or failure.kind != "connect"
            self.away = self.unavailable = None
            return
        why, now = "overloaded" if is_busy else "gone", self.clock()
        attempts.away_since = now if attempts.away_since is None else attempts.away_since
        self.throttled += is_busy
        self.limit.shrink(failure.started, now)
        if self.away is None or self.away[0] != why:
            self.away = why, now
            if self.patience_s and not is_busy:
                self.tell(f"{self.name} does not answer; waiting up to {self.patience_s:g} s")
        if now - self.away[1] >= self.patience_s:
            self.unavailable = f"the server is {why}: {failure.message}"
