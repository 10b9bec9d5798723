"""Which proxy of the environment stands between us and a server."""

import re
from base64 import b64encode
from dataclasses import dataclass, field
from importlib.util import find_spec
from ipaddress import ip_address
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from evals.errors import ConfigError

_SOCKS = {"aiohttp": ("socks4", "socks4a", "socks5", "socks5h"), "httpx": ("socks5", "socks5h")}
"""By library of HTTP, the kinds of SOCKS that it speaks."""
_PACKAGES = {"aiohttp": ("aiohttp_socks", "python_socks"), "httpx": ("socksio",)}
_SENDABLE = re.compile(r"[^\s\x00-\x1f\x7f]+")


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
        raise ConfigError(
            f"{variable} names a proxy by what is no address",
            f"name one as http://HOST:PORT, or leave it out for this server: NO_PROXY={host}",
        )
    login, _, place = parts.netloc.rpartition("@")
    shown = urlunsplit((parts.scheme, place, "", "", ""))
    if parts.scheme in _SOCKS.get(library or "", ()):
        return _socks(shown, variable, host, login, library or "")
    if parts.scheme not in {"http", "https"}:
        raise ConfigError(
            f"{variable} names {shown}, a proxy of a kind that is not supported",
            f"name one over http, or leave it out for this server: NO_PROXY={host}",
        )
    return Proxy(shown, _basic(login) if login else None, variable)


def _socks(shown: str, variable: str, host: str, login: str, library: str) -> Proxy:
    if any(find_spec(name) is None for name in _PACKAGES[library]):
        raise ConfigError(
            f"{variable} names {shown}, a proxy over SOCKS, which is not installed",
            f"pip install 'rag-evals[socks]', or leave it out for this server: NO_PROXY={host}",
        )
    user, _, password = login.partition(":")
    return Proxy(shown, None, variable, (unquote(user), unquote(password)) if login else None)


def _parts(address: str) -> SplitResult | None:
    """The parts of an address; None where it has no host, or can be none."""
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - raises where it is no number
    except ValueError:
        return None
    return parts if parts.hostname and _SENDABLE.fullmatch(parts.hostname) else None


def _basic(login: str) -> str:
    user, _, password = login.partition(":")
    return "Basic " + b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
