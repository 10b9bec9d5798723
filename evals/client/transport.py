"""HTTP: the only module that knows the HTTP library and its errors.

One client per concurrent request, each with one connection, all sharing one SSL context: a pool of many connections is
scanned at every request, which costs more than the request itself.
"""

import asyncio
import re
import ssl
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from evals.errors import ConfigError
from evals.schemas import ResponseError
from evals.schemas.response import ErrorKind

CONNECT_TIMEOUT_S = 10.0
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_METHOD_NOT_ALLOWED = 405
_LONGEST_LABEL = 63
"""Characters of a part of a host's name (RFC 1035)."""
RETRYABLE_STATUS = frozenset({408, 425, 429, *range(500, 600)})


class TransportFailure(Exception):  # noqa: N818 - it is a value that travels to the record, not an error to report
    """An exchange that brought no answer.

    Attributes:
        error: What happened, as it is recorded.
        retryable: Whether asking again may help.
        retry_after_s: How long the server asks us to wait.
        elapsed_ms: How long the attempt took.
        started: When it began, by the clock of the transport; None where that is not known.
        body: What was received, if anything.
    """

    def __init__(
        self,
        error: ResponseError,
        *,
        retryable: bool,
        elapsed_ms: float = 0.0,
        started: float | None = None,
        retry_after_s: float | None = None,
        body: bytes = b"",
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.retryable = retryable
        self.elapsed_ms = elapsed_ms
        self.started = started
        self.retry_after_s = retry_after_s
        self.body = body


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete HTTP response."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    elapsed_ms: float
    started: float
    """When the request was sent, by the clock of the transport."""


# Most specific first; a test holds that every error class of the library is covered.
_KINDS: tuple[tuple[type[Exception], ErrorKind, bool], ...] = (
    (httpx.TimeoutException, "timeout", True),
    (httpx.UnsupportedProtocol, "connect", False),
    (httpx.TransportError, "connect", True),
    (httpx.DecodingError, "malformed", False),
    (httpx.TooManyRedirects, "status", False),
    (httpx.RequestError, "connect", False),
    (httpx.InvalidURL, "connect", False),
)


def classify(error: Exception) -> tuple[ErrorKind, bool]:
    """The kind of a library error, and whether asking again may help."""
    for cls, kind, retryable in _KINDS:
        if isinstance(error, cls):
            return kind, retryable
    return "connect", False


@lru_cache(maxsize=256)
def _parsed(url: str) -> httpx.URL:
    """The URL, parsed once: most questions go to the same one."""
    return httpx.URL(url)


class _Connection(NamedTuple):
    """A client of one connection, and the transport below it where nothing of the client is needed in between."""

    client: httpx.AsyncClient
    direct: httpx.AsyncHTTPTransport | None

    async def send(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the body is still to be read."""
        if self.direct is None:
            return await self.client.send(request, stream=True)
        response = await self.direct.handle_async_request(request)
        response.request = request
        return response


def _connect(
    url: str, headers: Mapping[str, str], timeout: httpx.Timeout, context: ssl.SSLContext | bool
) -> _Connection:
    """Make a client of one connection.

    Redirects, cookies and logins are not the client's business here, so its transport is used without it: a tenth of
    a millisecond a request. Only where the environment names a proxy does the client choose the transport.
    """
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
    if _is_proxied(url):
        client = httpx.AsyncClient(headers=headers, timeout=timeout, verify=context, limits=limits)
        return _Connection(client, None)
    transport = httpx.AsyncHTTPTransport(verify=context, limits=limits)
    return _Connection(httpx.AsyncClient(headers=headers, timeout=timeout, transport=transport), transport)


def _is_proxied(url: str) -> bool:
    parts = urlsplit(url)
    proxies = getproxies()
    return bool({parts.scheme, "all"} & proxies.keys()) and not proxy_bypass(parts.hostname or "")


class Transport:
    """Sends requests to one base URL, at most `concurrency` at a time.

    Args:
        url: Base URL, without trailing slash needed.
        headers: Sent with every request.
        timeout_s: For a whole exchange, from sending to the last byte.
        concurrency: How many requests may be in flight.
        max_body_bytes: A longer body is `too_large`.
        redact: Masks secrets in messages.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 120.0,
        concurrency: int = 4,
        max_body_bytes: int = 16 * 1024 * 1024,
        redact: Callable[[str], str] = str,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.base, login = _without_login(check_url(url))
        given = checked_headers(headers or {})
        self._headers = given if "authorization" in {name.lower() for name in given} else {**login, **given}
        self._timeout_s = timeout_s
        self._concurrency = concurrency
        self._max_body = max_body_bytes
        self._redact = redact
        self._clock = clock
        self._clients: list[httpx.AsyncClient] = []
        self._free: asyncio.LifoQueue[_Connection] = asyncio.LifoQueue()

    async def __aenter__(self) -> "Transport":
        context = ssl.create_default_context() if self.base.startswith("https") else False
        timeout = httpx.Timeout(self._timeout_s, connect=min(CONNECT_TIMEOUT_S, self._timeout_s), pool=None)
        for _ in range(self._concurrency):
            connection = _connect(self.base, self._headers, timeout, context)
            self._clients.append(connection.client)
            self._free.put_nowait(connection)
        return self

    async def __aexit__(self, *_: object) -> None:
        for client in self._clients:
            await client.aclose()

    async def send(self, method: str, path: str, *, timeout_s: float | None = None, **request: Any) -> Reply:
        """Make one exchange; waiting for a free client is not part of its time.

        Args:
            method: HTTP method.
            path: Path below the base URL.
            timeout_s: Shorter than the client's own, for calls that must not hang.
            request: As httpx takes it: json, params, headers, files.

        Raises:
            TransportFailure: There is no complete response, or its status is no success.
        """
        limit = timeout_s or self._timeout_s
        url = f"{self.base}/{path.removeprefix('/')}"
        if not self._clients:
            raise RuntimeError("the client is not open: use it as `async with RAGClient(...) as client`")
        connection = await self._free.get()
        start = self._clock()
        try:
            async with asyncio.timeout(limit):
                status, headers, body = await self._exchange(connection, method, url, request)
        except TimeoutError as error:
            raise self._timed_out(limit, start) from error
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise self._failed(error, limit, start) from error
        finally:
            connection.client.cookies.clear()  # no question may see the session of the one before
            self._free.put_nowait(connection)
        elapsed = (self._clock() - start) * 1000
        if not 200 <= status < 300:
            raise self._refused(method, status, headers, body, elapsed, start)
        return Reply(status, headers, body, elapsed, start)

    async def _exchange(
        self, connection: "_Connection", method: str, url: str, request: Mapping[str, Any]
    ) -> tuple[int, Mapping[str, str], bytes]:
        response = await connection.send(connection.client.build_request(method, _parsed(url), **request))
        try:
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > self._max_body:
                    message = f"the body is longer than {self._max_body:,} bytes (server.max_body_bytes)"
                    raise TransportFailure(
                        ResponseError(kind="too_large", status=response.status_code, message=message),
                        retryable=False,
                        body=bytes(body[:4096]),
                    )
            return response.status_code, response.headers, bytes(body)
        finally:
            await response.aclose()

    def _timed_out(self, limit: float, start: float) -> TransportFailure:
        elapsed = max((self._clock() - start) * 1000, limit * 1000)
        error = ResponseError(kind="timeout", message=f"no complete answer within {limit:g} s")
        return TransportFailure(error, retryable=True, elapsed_ms=elapsed, started=start)

    def _failed(self, error: Exception, limit: float, start: float) -> TransportFailure:
        kind, retryable = classify(error)
        if kind == "timeout" and not isinstance(error, httpx.ConnectTimeout):
            return self._timed_out(limit, start)
        kind = "connect" if kind == "timeout" else kind
        message = self._redact(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
        elapsed = (self._clock() - start) * 1000
        failed = ResponseError(kind=kind, message=message)
        return TransportFailure(failed, retryable=retryable, elapsed_ms=elapsed, started=start)

    def _refused(
        self, method: str, status: int, headers: Mapping[str, str], body: bytes, elapsed_ms: float, start: float
    ) -> TransportFailure:
        said = self._redact(" ".join(body[:2000].decode("utf-8", "replace").split()))[:200]
        way = f" ({_not_allowed(method, headers)})" if status == _METHOD_NOT_ALLOWED else ""
        message = f"HTTP {status}{way}" + (f": {said}" if said else "")
        return TransportFailure(
            ResponseError(kind="status", status=status, message=message),
            retryable=status in RETRYABLE_STATUS,
            retry_after_s=parse_retry_after(headers.get("retry-after")),
            elapsed_ms=elapsed_ms,
            started=start,
            body=body,
        )


def _not_allowed(method: str, headers: Mapping[str, str]) -> str:
    """Which method was sent, and which ones the server says it takes instead."""
    allowed = headers.get("allow", "").strip()
    return f"{method} was sent, and the server allows {allowed[:80]}" if allowed else f"{method} was sent"


def _without_login(url: str) -> tuple[str, dict[str, str]]:
    """The URL without user and password, and the header that says the same."""
    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, {}
    user, _, password = login.partition(":")
    token = b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
    return urlunsplit(parts._replace(netloc=host)), {"Authorization": f"Basic {token}"}


def parse_retry_after(value: str | None, now: float | None = None) -> float | None:
    """Seconds that a Retry-After header asks to wait, in either of its forms; None where it says nothing usable."""
    if not value:
        return None
    value = value.strip()
    if value.isascii() and value.replace(".", "", 1).isdigit():
        return float(value)
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - rarely needed

    try:
        until = parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, until - (time.time() if now is None else now))


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers without the white space around their values, which a secret read from a file often ends with.

    Raises:
        ConfigError: A header cannot be sent; the message does not hold its value.
    """
    checked = {name: value.strip() for name, value in headers.items()}
    for name, value in checked.items():
        if not _HEADER_NAME.fullmatch(name) or not (value.isascii() and value.isprintable()):
            raise ConfigError(f"server.headers.{name} cannot be sent", "check its name and value: printable ASCII only")
    return checked


def check_url(url: str) -> str:
    """The base URL without trailing slash.

    Raises:
        ConfigError: It is no http(s) URL with a host and, if any, a port that can be asked.
    """
    if not _can_be_asked(url):
        _, at, rest = url.rpartition("@")
        shown = f"***@{rest}" if at else url
        raise ConfigError(f"not a URL of a server: {shown!r}", "give one such as http://localhost:8001")
    return url.rstrip("/")


def _can_be_asked(url: str) -> bool:
    """Whether a URL is of http(s), with a host that a name server takes, and nothing after the path."""
    try:
        parts = urlsplit(url)
        host = httpx.URL(url).host.rstrip(".")
        usable = parts.scheme in {"http", "https"} and parts.port != 0 and not re.search(r"\s", url)
    except (ValueError, httpx.InvalidURL):  # a UnicodeError of a name is a ValueError too
        return False
    labels = [host] if ":" in host else host.split(".")
    return usable and all(0 < len(label) <= _LONGEST_LABEL for label in labels) and not (parts.query or parts.fragment)
