"""Send requests to one server: a complete response or a typed failure within a deadline.

The HTTP libraries stand behind `connections`. aiohttp is the default; `server.transport: httpx` takes the other one.
"""

import asyncio
import json as jsonlib
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import urljoin

import httpx

from evals import __version__
from evals.client.connections import (
    ACCEPTED,
    BrokenExchangeError,
    Connections,
    Outgoing,
    Surplus,
    check_url,
    checked_headers,
    proxy_for,
    tls_context,
    without_login,
)
from evals.client.spec import TlsSpec
from evals.client.streams import Collector, UnusableError
from evals.errors import ConfigError
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse, ResponseError
from evals.secrets import MASK, public_url

SendWith = Callable[[Mapping[str, str]], Awaitable["Reply"]]
"""Sends a request with some headers in addition to its own."""


# How an exchange joins the traces of the server that is asked.


Told = Callable[[EvalResponse], None]
"""Hears how the exchange ended."""


class Tracing:
    """Tracing interface; this base class traces nothing."""

    @contextmanager
    def question(self, question: EvalQuestion) -> Iterator[Told]:
        """Attribute the requests made inside to this question.

        Args:
            question: The one that is asked.
        """
        yield lambda _response: None

    def headers(self) -> Mapping[str, str]:
        """Headers sent with a request, so that the server's own traces join ours."""
        return {}


CONNECT_TIMEOUT_S = 10.0

_METHOD_NOT_ALLOWED = 405

_REDIRECTS = frozenset({301, 302, 303, 307, 308})

_PORTS = {"http": 80, "https": 443}

_LONGEST_SAID = 300

_DRAIN_S = 0.25

RETRYABLE_STATUS = frozenset({408, 425, 429, *range(500, 600)})

HttpLibrary = Literal["aiohttp", "httpx"]


class TransportFailure(Exception):  # noqa: N818 - it is a value that travels to the record, not an error to report
    """A request without an answer.

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
    stream: Collector | None = None
    """What took the body as it came, of an answer in pieces."""


class Transport:
    """Sends requests to one base URL, at most `concurrency` at a time.

    Args:
        url: Base URL, without trailing slash needed.
        headers: Sent with every request.
        timeout_s: For a whole exchange, from sending to the last byte.
        concurrency: How many requests may be in flight.
        max_body_bytes: A longer body is `too_large`.
        library: Which HTTP library connects.
        tls: Whom to trust behind https; None for the authorities of this machine.
        redact: Masks secrets in messages.
        clock: Monotonic seconds.

    Attributes:
        authorize: Sends each request with what shows who we are; None where headers do. It is set before requests are
            sent.
        tracing: How requests are traced; it is set before questions are asked.
        surplus: Bytes that the server sent and that belong to no answer.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 120.0,
        concurrency: int = 4,
        max_body_bytes: int = 16 * 1024 * 1024,
        library: HttpLibrary = "aiohttp",
        tls: TlsSpec | None = None,
        redact: Callable[[str], str] = str,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.base, login = without_login(check_url(url))
        given = checked_headers(headers or {})
        own = {"Accept": "*/*", "Accept-Encoding": ACCEPTED, "User-Agent": f"evals/{__version__}", **login}
        self._headers = _laid_over(own, given)
        self._json_headers = _laid_over({"Content-Type": "application/json"}, self._headers)
        self._timeout_s = timeout_s
        self._concurrency = concurrency
        self._max_body = max_body_bytes
        self._library = library
        self._tls = tls or TlsSpec()
        self._redact = redact
        self._clock = clock
        self._proxy = proxy_for(self.base, library)
        self._free = asyncio.Semaphore(concurrency)
        self._connections: Connections | None = None
        self.authorize: Callable[[SendWith], Awaitable[Reply]] | None = None
        self.tracing = Tracing()
        self.surplus = Surplus()

    async def __aenter__(self) -> "Transport":
        context = tls_context(self._tls) if self.base.startswith("https") else None
        connect_timeout_s = min(CONNECT_TIMEOUT_S, self._timeout_s)
        if self._library == "httpx":
            from evals.client.httpx_transport import HttpxConnections  # noqa: PLC0415 - one of the two

            self._connections = HttpxConnections(
                context, self._timeout_s, connect_timeout_s, self._proxy, self._concurrency, self.surplus
            )
        else:
            from evals.client.aiohttp_transport import AiohttpConnections  # noqa: PLC0415 - one of the two

            self._connections = AiohttpConnections(context, connect_timeout_s, self._proxy, self.surplus)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._connections is not None:
            connections, self._connections = self._connections, None
            await connections.close()

    async def send(
        self,
        method: str,
        path: str,
        *,
        timeout_s: float | None = None,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        json: Any = None,
        form: Mapping[str, str] | None = None,
        files: Any = None,
        stream: Collector | None = None,
    ) -> Reply:
        """Make one exchange; waiting for a free place is not part of its time.

        Args:
            method: HTTP method.
            path: Path below the base URL.
            timeout_s: Shorter than the client's own, for calls that must not hang.
            headers: In addition to those of every request, and before them.
            params: Of the URL.
            json: The body; None sends none.
            form: The fields of a form, as the body.
            files: A multipart body, as httpx takes it.
            stream: Takes the body of a success as it arrives, so that the time of each piece is known.

        Raises:
            TransportFailure: There is no complete response, or its status is no success.
        """
        limit = timeout_s or self._timeout_s
        if traced := self.tracing.headers():
            headers = {**(headers or {}), **traced}
        request = self._request(method, path, headers or {}, params, json, form=form, files=files)
        if self.authorize is None:
            return await self._send(request, limit, stream)
        return await self.authorize(
            lambda shown: self._send(replace(request, headers=_laid_over(request.headers, shown)), limit, stream)
        )

    async def reaches(self, path: str | None, timeout_s: float) -> bool:
        """Whether the server answers a GET of a path with success; without a path, whether it takes a new connection.

        Args:
            path: Below the base URL. Behind a proxy, which takes any connection, None stands for the base URL itself.
            timeout_s: For all of it.
        """
        try:
            if path is not None or self._proxy is not None:
                await self.send("GET", path or "", timeout_s=timeout_s)
            else:
                url = httpx.URL(self.base)
                async with asyncio.timeout(timeout_s):
                    _, writer = await asyncio.open_connection(url.host, url.port or _PORTS[url.scheme])
                writer.close()
        except (OSError, TransportFailure):
            return False
        return True

    async def _send(self, request: Outgoing, limit: float, stream: Collector | None) -> Reply:
        if self._connections is None:
            raise RuntimeError("the client is not open: use it as `async with RAGClient(...) as client`")
        async with self._free:
            start = self._clock()
            try:
                async with asyncio.timeout(limit):
                    status, received, body, end = await self._exchange(self._connections, request, stream, start)
            except (TimeoutError, BrokenExchangeError, UnusableError) as error:
                failure = self._failed(error, limit, start)
                raise (failure if stream is None else with_received(failure, stream)) from error
            elapsed = (end - start) * 1000
        if not 200 <= status < 300:
            raise self._refused(request, status, received, body, elapsed, start)
        return Reply(status, received, body, elapsed, start, stream)

    def _request(
        self, method: str, path: str, headers: Mapping[str, str], params: Any, json: Any, *, form: Any, files: Any
    ) -> Outgoing:
        url = f"{self.base}/{path.removeprefix('/')}"
        try:
            url = str(httpx.URL(url, params=params)) if params else _normal(url)
        except httpx.InvalidURL as error:
            said = self._redact(f"no URL can be made of the path {path!r}: {error}")
            raise ConfigError(said, "look at the paths of server") from None
        ours = self._headers if json is None else self._json_headers
        sent = _laid_over(ours, headers) if headers else ours
        if files is not None or form:
            encoded = httpx.Request(method, url, files=files, data=form)
            kind = {"Content-Type": encoded.headers["content-type"]}
            return Outgoing(method, url, _laid_over(sent, kind), encoded.read())
        if json is None:
            return Outgoing(method, url, sent)
        body = jsonlib.dumps(json, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        return Outgoing(method, url, sent, body)

    async def _exchange(
        self, connections: Connections, request: Outgoing, stream: Collector | None, start: float
    ) -> tuple[int, Mapping[str, str], bytes, float]:
        answer = await connections.send(request)
        collector = stream if 200 <= answer.status < 300 else None
        body = bytearray() if collector is None else collector.received
        try:
            async with aclosing(answer.pieces()) as pieces:
                async for piece in pieces:
                    if collector is None:
                        body += piece
                    else:
                        collector.take(piece, (self._clock() - start) * 1000)
                    if len(body) > self._max_body:
                        said = f"the body is longer than {self._max_body:,} bytes (server.max_body_bytes)"
                        error = ResponseError(kind="too_large", status=answer.status, message=said)
                        raise TransportFailure(error, retryable=False, body=bytes(body[:4096]))
                    if collector is not None and collector.is_done:
                        break
                end = self._clock()
                if collector is not None:
                    collector.finish((end - start) * 1000)
                    # The rest is read where its end is near, so that the connection can serve again.
                    with suppress(TimeoutError, BrokenExchangeError):
                        async with asyncio.timeout(_DRAIN_S):
                            async for _ in pieces:
                                pass
        finally:
            await answer.close()
        return answer.status, answer.headers, bytes(body), end

    def _failed(self, error: Exception, limit: float, start: float) -> TransportFailure:
        """The failure of an exchange that brought no complete answer that can be read."""
        elapsed, kind, retryable = (self._clock() - start) * 1000, getattr(error, "kind", "timeout"), True
        said = self._redact(str(error))
        if isinstance(error, UnusableError):
            retryable = False
        elif isinstance(error, BrokenExchangeError) and kind != "timeout":
            through = f" (through {self._proxy})" if self._proxy else ""
            said, retryable = f"{' '.join(said.split())[:_LONGEST_SAID]}{self._redact(through)}", error.retryable
        else:
            said, elapsed = f"no complete answer within {limit:g} s", max(elapsed, limit * 1000)
        failed = ResponseError(kind=kind, message=said)
        return TransportFailure(failed, retryable=retryable, elapsed_ms=elapsed, started=start)

    def _refused(
        self, request: Outgoing, status: int, headers: Mapping[str, str], body: bytes, elapsed_ms: float, start: float
    ) -> TransportFailure:
        said = " ".join(self._redact(body.decode("utf-8", "replace"))[:2000].split())[:200]
        way = self._way_out(request, status, headers)
        message = f"HTTP {status}{way}" + (f": {said}" if said else "")
        return TransportFailure(
            ResponseError(kind="status", status=status, message=message),
            retryable=status in RETRYABLE_STATUS,
            retry_after_s=parse_retry_after(headers.get("retry-after")),
            elapsed_ms=elapsed_ms,
            started=start,
            body=body,
        )

    def _way_out(self, request: Outgoing, status: int, headers: Mapping[str, str]) -> str:
        """What a refusal says of how to ask instead, in brackets; nothing where it does not."""
        if status == _METHOD_NOT_ALLOWED:
            allowed = headers.get("allow", "").strip()[:80]
            return f" ({request.method} was sent{f', and the server allows {allowed}' if allowed else ''})"
        if status not in _REDIRECTS or not (place := headers.get("location")):
            return ""
        try:
            place = self._redact(public_url(urljoin(request.url, self._redact(place)[:500])))
        except ValueError:  # what is no address is masked
            place = MASK
        asked = public_url(request.url).removeprefix(self.base)
        return f" (it redirects to {place}: set server.url to {place.removesuffix(asked)}, if that is right)"


def with_received(failure: TransportFailure, stream: Collector) -> TransportFailure:
    """The failure of a stream, with how far it had come and what it brought.

    Once a text arrived, it is not retryable: the server began to answer, and a user would have seen half of it.
    """
    error = failure.error
    if error.kind == "timeout" and stream.received:
        error = error.model_copy(update={"message": f"{error.message}: the stream brought {stream.so_far}"})
    elif error.kind == "connect" and stream.received:
        message = f"the stream broke off; it brought {stream.so_far} ({error.message})"
        error = error.model_copy(update={"kind": "broken_off", "message": message})
    return TransportFailure(
        error,
        retryable=failure.retryable and stream.first_ms is None,
        elapsed_ms=failure.elapsed_ms,
        started=failure.started,
        body=failure.body or bytes(stream.received),
    )


def _laid_over(below: Mapping[str, str], above: Mapping[str, str]) -> dict[str, str]:
    """Headers with those of the second before those of the first, whatever the case of their names."""
    named = {name.lower() for name in above}
    return {**{name: value for name, value in below.items() if name.lower() not in named}, **above}


@lru_cache(maxsize=256)
def _normal(url: str) -> str:
    """The URL as it goes over the wire, made once: most questions go to the same one."""
    return str(httpx.URL(url))


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
