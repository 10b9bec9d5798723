"""Where a judge is reached."""

from urllib.parse import urlsplit

_VERSION = "/v1"
"""Nearly every API has this path, so it distinguishes none; an origin leaves it out."""


def origin_of(url: str) -> str:
    """Scheme, host, port and path of an address: no login and no query, so that it may be saved and shown.

    Two models may be behind two paths of one host, as they often are behind a gateway. A path that is only the API's
    version is left out: `http://127.0.0.1:11434/v1` is `http://127.0.0.1:11434`.
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower() + ("" if path == _VERSION else path)


def problem_with_address(url: str) -> str | None:
    """Why an address cannot be a judge's; None where it can.

    Args:
        url: As configured. It is saved with the run, so it must hold no secret.
    """
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises where it is no number
    except ValueError:
        return "is no URL"
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return "must begin with http:// or https:// and name a host"
    if parts.username is not None or parts.password is not None:
        return "must hold no login: it would be saved with the run; put the key into the environment"
    if parts.query or parts.fragment:
        return "must hold neither ? nor #: a path is appended to it"
    return None
