"""What an error of a vendor's SDK means: whether calling again may help, and whether any further call can."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from evals.client.transport import parse_retry_after
from evals.judges.backends.base import BackendError
from evals.judges.replies.reading import error_field, error_message

_NO_ACCESS = frozenset({401, 402, 403, 404})
_TRANSIENT = frozenset({408, 409, 429})
_OVERLOADED = frozenset({429, 503, 529})
_REJECTED = frozenset({400, 422})
_REFUSED_FOR_MONEY = frozenset({400, 403, 429})
_SPENT = re.compile(
    r"credit balance|spend(?:ing)?[ _]limit|specified api usage limits|insufficient_quota"
    r"|billing_(?:error|hard_limit_reached|not_active)",
    re.IGNORECASE,
)
"""How vendors say that an account may spend no more."""
_SPENT_HINT = (
    "raise the spend limit or add credit at the judge's vendor, and resume the run; "
    "or measure everything else with --no-judge"
)
_UNSENDABLE = frozenset({"LocalProtocolError", "UnsupportedProtocol", "InvalidURL"})
"""Errors of the HTTP client about the request itself."""
_UNSENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError"})
"""Errors of the HTTP client before a request is on its way."""
_TORN = "without sending complete message body"


class OverloadedError(BackendError):
    """The vendor takes no further call at the moment: not this one, and no other."""


class RejectedError(BackendError):
    """The vendor does not take this request."""

    kind = "rejected"


class SpendLimitError(BackendError):
    """The account may spend no more: no call is taken until its owner pays or raises the limit."""

    kind = "spend_limit"


class UnreachableError(BackendError):
    """The connection failed or broke off: where all calls end so, the judge is not there."""


def status_failure(error: Any, *, fatal: bool = False, remark: str = "") -> BackendError:
    """What an error status means: refused access is fatal, overload and rate limits are transient.

    Args:
        error: An `APIStatusError` of either SDK.
        fatal: Whether the vendor's code says that every further call would fail.
        remark: Appended to the server's message.
    """
    status = error.status_code
    fatal = fatal or status in _NO_ACCESS
    retryable = not fatal and (status in _TRANSIENT or status >= 500)
    message = f"HTTP {status}: {error_message(error.body) or error.message}{remark}"
    if _is_spent(status, error.body):
        return SpendLimitError(message, fatal=True, hint=_SPENT_HINT)
    if status in _REJECTED and not fatal:
        rejected = RejectedError(message)
        rejected.field = error_field(error.body)
        return rejected
    kind = OverloadedError if retryable and status in _OVERLOADED else BackendError
    return kind(message, retryable=retryable, fatal=fatal, retry_after_s=_retry_after(error.response.headers))


def _is_spent(status: int, body: Any) -> bool:
    return status == 402 or (status in _REFUSED_FOR_MONEY and _SPENT.search(str(body)) is not None)


def connection_failure(error: Any, remark: str = "") -> BackendError:
    """What an `APIConnectionError` of either SDK means; its cause says more than its message, "Connection error.".

    Args:
        error: Of the SDK.
        remark: Appended to the message.
    """
    cause = error.__cause__
    unsendable = type(cause).__name__ in _UNSENDABLE
    message = f"{type(error).__name__}: {str(cause or '') or error}{remark}"
    if unsendable:
        return BackendError(message, fatal=True)
    has_answered = type(error).__name__ == "APITimeoutError" or _TORN in message  # a body that began says who is there
    kind = BackendError if has_answered else UnreachableError
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
