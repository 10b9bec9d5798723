"""Connections to a server, independent of the HTTP library."""

import re
import socket
import ssl
import zlib
from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib.util import find_spec
from ipaddress import ip_address
from typing import Any, Protocol
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from evals.client.spec import TlsSpec
from evals.errors import ConfigError
from evals.schemas.response import ErrorKind
from evals.secrets import MASK, masked

# What a kind of connections is to the transport: a request goes in, pieces of a body come out.


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
    """A request without a complete response, whatever the HTTP library.

    Attributes:
        kind: As it is recorded.
        retryable: Whether asking again may help.
    """

    def __init__(self, kind: ErrorKind, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.retryable = retryable


ErrorKinds = tuple[tuple[type[Exception], ErrorKind, bool], ...]
"""Errors of a library, most specific first, each with its kind and whether asking again may help."""


def broken(error: Exception, kinds: ErrorKinds, said: str = "") -> BrokenExchangeError:
    """The failure that an error of a library is; one that is not listed is not tried again."""
    kind, retryable = next((each[1:] for each in kinds if isinstance(error, each[0])), ("connect", False))
    plain = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return BrokenExchangeError(kind, said or plain, retryable=retryable)


class Incoming(Protocol):
    """A response of which the head is there.

    Attributes:
        status: HTTP status.
        headers: By name, whatever its case.
    """

    status: int
    headers: Mapping[str, str]

    def pieces(self) -> AsyncGenerator[bytes]:
        """The body as it arrives, without its content-encoding, each piece of bounded size.

        Raises:
            BrokenExchangeError: It broke off, or cannot be decoded.
        """

    async def close(self) -> None:
        """Release the connection: it is reused only if the body was read to its end and nothing follows."""


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


# A body without its content-encoding, piece by piece: a few bytes can stand for gigabytes.


ACCEPTED = "gzip, deflate"
"""The encodings asked for; any other is a failure with a message."""

_PIECE = 65_536


async def decoded(pieces: AsyncIterator[bytes], encoding: str) -> AsyncGenerator[bytes]:
    """Undo the encoding of one body; no piece that comes out is longer than 64 KiB.

    Args:
        pieces: As they arrive.
        encoding: The header Content-Encoding; empty where there is none.

    Raises:
        BrokenExchangeError: The encoding is another than those that were asked for, or not complete.
    """
    name = encoding.strip().lower()
    if name in {"", "identity"}:
        async for piece in pieces:
            yield piece
        return
    if name not in {"gzip", "x-gzip", "deflate"}:
        said = f"the body has the content-encoding {name[:40]!r}, and {ACCEPTED} was asked for"
        raise BrokenExchangeError("malformed", said)
    async for piece in _inflated(pieces, name):
        yield piece


async def _inflated(pieces: AsyncIterator[bytes], name: str) -> AsyncGenerator[bytes]:
    inflate: zlib._Decompress | None = None
    async for piece in pieces:
        data = piece
        while data:
            try:
                inflate = inflate or zlib.decompressobj(_window_of(name, data))
                out = inflate.decompress(data, _PIECE)
            except zlib.error as error:
                raise BrokenExchangeError("malformed", f"the body is not {name}: {error}") from error
            if out:
                yield out
            data = inflate.unconsumed_tail
            if inflate.eof:  # parts of a gzip follow one another
                data, inflate = inflate.unused_data, None
    if inflate is not None:
        raise BrokenExchangeError("malformed", f"the body's {name} breaks off")


def _window_of(name: str, data: bytes) -> int:
    """The window of zlib: a `deflate` body is one of zlib, as the standard has it, or bare, as some send it."""
    if name != "deflate":
        return 16 + zlib.MAX_WBITS
    is_zlib = len(data) > 1 and data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
    return zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS


# The address of a server and the headers sent there, checked before anything is sent.


_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


_LONGEST_LABEL = 63
"""Characters of a part of a host's name (RFC 1035)."""


def without_login(url: str) -> tuple[str, dict[str, str]]:
    """The URL without user and password, and the header that says the same."""
    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, {}
    user, _, password = login.partition(":")
    token = b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
    return urlunsplit(parts._replace(netloc=host)), {"Authorization": f"Basic {token}"}


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
        shown = masked(f"***@{rest}" if at else url)
        shown = re.sub(r"([?#]).*", rf"\1{MASK}", shown, flags=re.DOTALL)
        raise ConfigError(f"not a URL of a server: {shown!r}", "give one such as http://localhost:8001")
    return url.rstrip("/")


def is_place_of(url: str, text: str) -> bool:
    """Whether a text says only where the server of a URL is, which is no secret: its host, with the port, or all."""
    if not _can_be_asked(url) or "@" in url:
        return False
    parts = urlsplit(url)
    return text.rstrip("/") in {url.rstrip("/"), f"{parts.scheme}://{parts.netloc}", parts.netloc, parts.hostname}


def _can_be_asked(url: str) -> bool:
    """Whether a URL is of http(s), with a host that a name server takes, and nothing after the path."""
    try:
        parts = urlsplit(url)
        host = httpx.URL(url).host.rstrip(".")
        usable = (
            parts.scheme in {"http", "https"}
            and parts.port != 0
            and not parts.netloc.endswith(":")
            and not re.search(r"\s", url)
        )
    except (ValueError, httpx.InvalidURL):  # a UnicodeError of a name is a ValueError too
        return False
    labels = [host] if ":" in host else host.split(".")
    return usable and all(0 < len(label) <= _LONGEST_LABEL for label in labels) and not (parts.query or parts.fragment)


# Which proxy of the environment stands between us and a server.


_SOCKS = {"aiohttp": ("socks4", "socks4a", "socks5", "socks5h"), "httpx": ("socks5", "socks5h")}
"""By library of HTTP, the kinds of SOCKS that it speaks."""

_PACKAGES = {"aiohttp": ("aiohttp_socks", "python_socks"), "httpx": ("socksio",)}

_SENDABLE = re.compile(r"[^\s\x00-\x1f\x7f]+")

_LEAVE_OUT = "leave it out for this server: NO_PROXY="


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy over HTTP or SOCKS.

    Attributes:
        url: Without a login.
        authorization: The header that logs in at one over HTTP; None where it needs none.
        named_by: The variable of the environment that names it.
        login: User and password, of one over SOCKS that wants them.
    """

    url: str
    authorization: str | None
    named_by: str
    login: tuple[str, str] | None = field(default=None, repr=False)

    @property
    def is_socks(self) -> bool:
        """Whether it speaks SOCKS."""
        return self.url.startswith("socks")

    def __str__(self) -> str:
        return f"the proxy {self.url} of {self.named_by}"


def proxy_for(url: str, library: str | None = None) -> Proxy | None:
    """The proxy that the environment names for a URL; None for this machine, for those in NO_PROXY, and where none is.

    Args:
        url: Which is to be reached.
        library: Of HTTP, with which a proxy over SOCKS can be used; None for one that knows no such proxies.

    Raises:
        ConfigError: It is one that cannot be spoken to.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_this_machine(host):
        return None
    proxies = getproxies()
    scheme = next((scheme for scheme in (parts.scheme, "all") if proxies.get(scheme)), None)
    if scheme is None or proxy_bypass(host):
        return None
    return _proxy(proxies[scheme], f"{scheme.upper()}_PROXY", host, library)


def is_this_machine(host: str) -> bool:
    """Whether a host's name or number is that of the loopback."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _proxy(address: str, variable: str, host: str, library: str | None) -> Proxy:
    parts = _parts(address if "://" in address else f"http://{address}")
    if parts is None:
        said, way = f"{variable} names a proxy by what is no address", "name one as http://HOST:PORT"
        raise ConfigError(said, f"{way}, or {_LEAVE_OUT}{host}")
    login, _, place = parts.netloc.rpartition("@")
    user, _, password = map(unquote, login.partition(":"))
    shown = urlunsplit((parts.scheme, place, "", "", ""))
    if library is not None and parts.scheme in _SOCKS[library]:
        if all(find_spec(name) is not None for name in _PACKAGES[library]):
            return Proxy(shown, None, variable, (user, password) if login else None)
        said, way = (
            f"{variable} names {shown}, a proxy over SOCKS, which is not installed",
            "pip install 'rag-evals[socks]'",
        )
    elif parts.scheme in {"http", "https"}:
        return Proxy(shown, f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}" if login else None, variable)
    else:
        said, way = f"{variable} names {shown}, a proxy of a kind that is not supported", "name one over http"
    raise ConfigError(said, f"{way}, or {_LEAVE_OUT}{host}")


def _parts(address: str) -> SplitResult | None:
    """The parts of an address; None where it has no host, or can be none."""
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - raises where it is no number
    except ValueError:
        return None
    return parts if parts.hostname and _SENDABLE.fullmatch(parts.hostname) else None


# Whom a connection trusts, and how it shows who we are.


def tls_context(tls: TlsSpec) -> ssl.SSLContext:
    """The settings of TLS: the authorities of this machine and those that are named, and a certificate of our own.

    Args:
        tls: Files of PEM, and whether the server's certificate is verified.

    Raises:
        ConfigError: A file cannot be read, or is no such file; the message names it.
    """
    context = ssl.create_default_context()
    try:
        if tls.ca is not None:
            key, named = "ca", tls.ca
            hint = "name a file with the certificates of authorities, as PEM"
            context.load_verify_locations(cafile=tls.ca)
        if tls.cert is not None:
            key, named = "cert", tls.cert if tls.key is None else f"{tls.cert} with the key {tls.key}"
            hint = (
                "name the certificate and its key as PEM; the key may have no password, and may stand in the same file"
            )
            context.load_cert_chain(tls.cert, tls.key, password="")
    except OSError as error:  # of which ssl's errors are
        said = error.strerror or getattr(error, "reason", None) or type(error).__name__
        raise ConfigError(f"server.tls.{key} {named} cannot be used: {said}", hint) from error
    if not tls.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
