"""What the failures of a judge's SDK mean to us; those of both vendors' SDKs are built alike."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from evals.client.transport import parse_retry_after
from evals.judges.backends.base import BackendError
from evals.judges.replies.reading import said_in

_NO_ACCESS = frozenset({401, 402, 403, 404})
_PASSING = frozenset({408, 409, 429})
_OVERLOADED = frozenset({429, 503, 529})
_UNSENDABLE = frozenset({"LocalProtocolError", "UnsupportedProtocol", "InvalidURL"})
"""Errors of the HTTP client about the request itself."""
_UNSENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError"})
"""Errors of the HTTP client before a request is on its way."""


class OverloadedError(BackendError):
    """A call that the vendor refused because there are too many: other calls now would be refused as well."""


class UnreachableError(BackendError):
    """A call that found nobody, or was cut off: where all calls end so, nobody is there."""


def status_failure(error: Any, *, fatal: bool, remark: str = "") -> BackendError:
    """What an error of status means: refused access ends the judging; overload and limits of rate pass.

    Args:
        error: An `APIStatusError` of either SDK.
        fatal: Whether the vendor's code says that every further call would fail.
        remark: Put behind what the server said.
    """
    status = error.status_code
    fatal = fatal or status in _NO_ACCESS
    retryable = not fatal and (status in _PASSING or status >= 500)
    kind = OverloadedError if retryable and status in _OVERLOADED else BackendError
    message = f"HTTP {status}: {said_in(error.body) or error.message}{remark}"
    return kind(message, retryable=retryable, fatal=fatal, retry_after_s=_retry_after(error.response.headers))


def connection_failure(error: Any) -> BackendError:
    """What an `APIConnectionError` of either SDK means, with its cause, which says more than "Connection error."."""
    cause = error.__cause__
    unsendable = type(cause).__name__ in _UNSENDABLE
    message = f"{type(error).__name__}: {str(cause or '') or error}"
    if unsendable:
        return BackendError(message, fatal=True)
    kind = BackendError if type(error).__name__ == "APITimeoutError" else UnreachableError
    return kind(message, retryable=True, unanswered=type(cause).__name__ not in _UNSENT)


@asynccontextmanager
async def deadline(seconds: float) -> AsyncIterator[None]:
    """Bound a call as a whole: the timeouts of an SDK begin anew with every byte that arrives.

    Raises:
        BackendError: The time is over.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise BackendError(f"no complete reply within {seconds:g} s", retryable=True, unanswered=True) from error


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds; the header in milliseconds, which some vendors send, is the more exact one."""
    milliseconds = parse_retry_after(headers.get("retry-after-ms"))
    return parse_retry_after(headers.get("retry-after")) if milliseconds is None else milliseconds / 1000
