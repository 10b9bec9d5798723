"""The address of a server and the headers sent there, checked before anything is sent."""

import re
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx

from evals.credentials.known import masked
from evals.credentials.stored import MASK
from evals.errors import ConfigError

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
