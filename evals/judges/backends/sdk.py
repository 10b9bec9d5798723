"""Shared code of backends by vendor SDKs."""

import asyncio
import json
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

from evals.client.http import proxy_for, retry_after_s
from evals.errors import ConfigError
from evals.judges.backends.base import (
    BackendError,
    Call,
    JudgeReply,
    OverloadedError,
    RejectedError,
    SpendLimitError,
    UnreachableError,
    error_message,
    origin_of,
)
from evals.secrets import MASK, Masker, secrets_in_environment, secrets_in_url

# What an error of a vendor's SDK means: whether calling again may help, and whether any further call can.


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


def status_failure(error: Any, *, fatal: bool = False, remark: str = "") -> BackendError:
    """What an error status means: refused access is fatal, overload and rate limits are transient.

    Args:
        error: An `APIStatusError` of either SDK.
        fatal: Whether every further call would fail.
        remark: Appended to the server's message.
    """
    status, headers = error.status_code, error.response.headers
    fatal = fatal or status in _NO_ACCESS
    retryable = not fatal and (status in _TRANSIENT or status >= 500)
    message = f"HTTP {status}: {error_message(error.body) or error.message}{remark}"
    if _is_spent(status, error.body):
        return SpendLimitError(message, fatal=True, hint=_SPENT_HINT)
    if status in _REJECTED and not fatal:
        return RejectedError(message)
    kind = OverloadedError if retryable and status in _OVERLOADED else BackendError
    return kind(message, retryable=retryable, fatal=fatal, retry_after_s=retry_after_s(headers))


def _is_spent(status: int, body: Any) -> bool:
    return status == 402 or (status in _REFUSED_FOR_MONEY and _SPENT.search(str(body)) is not None)


def connection_failure(error: Any, remark: str = "") -> BackendError:
    """What an `APIConnectionError` of either SDK means; its cause says more than its message, "Connection error.".

    Args:
        error: Of the SDK.
        remark: Appended to the message.
    """
    cause = type(error.__cause__).__name__
    message = f"{type(error).__name__}: {str(error.__cause__ or '') or error}{remark}"
    if cause in _UNSENDABLE:
        return BackendError(message, fatal=True)
    has_answered = type(error).__name__ == "APITimeoutError" or _TORN in message  # a body that began says who is there
    kind = BackendError if has_answered else UnreachableError
    return kind(message, retryable=True, unanswered=cause not in _UNSENT)


# Keys are masked in whatever comes from a judge, because some servers repeat what they were sent.


_LIKE_A_KEY = re.compile(r"(?<![A-Za-z0-9])sk-[\w*-]{9,}")

_LONGEST_MESSAGE, _LONGEST_NAME = 500, 200


class KeyMasker:
    """Masks the keys that were sent, those in the environment, and the password of the address.

    Args:
        keys: Those that were sent.
        address: Where the judge is.
        model: Its name, which is masked in no case.
    """

    def __init__(self, keys: Iterable[str | None], address: str, model: str) -> None:
        self._secrets = {*filter(None, keys), *secrets_in_environment(), *secrets_in_url(address)}
        self._model = model

    def clean(self, error: BackendError) -> None:
        """Make the message of an error fit to be saved and shown: keys are masked, then it is cut."""
        text = Masker(self._secrets).text(str(error).encode("utf-8", "replace").decode())
        error.args = (_LIKE_A_KEY.sub(MASK, text)[:_LONGEST_MESSAGE],)

    def reply(self, reply: JudgeReply, call: Call) -> JudgeReply:
        """The reply without keys, and with names of bounded length. Keys are looked for in the parsed JSON.

        A key that stands in what the judge was sent is not masked: a key such as `ollama` is an ordinary word there.
        """
        given = f"{self._model}\n{call.system}\n{call.content}\n{json.dumps(call.schema)}"
        masker = Masker(secret for secret in self._secrets if Masker([secret]).text(given) == given)
        return replace(
            reply,
            text=_without_secrets(reply.text, masker),
            model=reply.model and masker.text(reply.model)[:_LONGEST_NAME],
            request_id=reply.request_id and masker.text(reply.request_id)[:_LONGEST_NAME],
        )


def _without_secrets(text: str, masker: Masker) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _LIKE_A_KEY.sub(MASK, masker.text(text))
    masked = masker.value(value)
    return text if masked == value else json.dumps(masked, ensure_ascii=False)


_LOOK_S = 10.0


def client_options(sdk: ModuleType, address: str, timeout_s: float) -> dict[str, Any]:
    """What the client of either SDK is made with: no retries, and the rules about proxies of the RAG server.

    Raises:
        ConfigError: The environment names a proxy for the address that cannot be spoken to.
    """
    import httpx2  # noqa: PLC0415 - as the SDK that needs it

    proxy = proxy_for(address)
    if proxy is not None and proxy.is_socks:
        said = f"{proxy.named_by} names {proxy.url}, a proxy over SOCKS, through which no judge is called"
        raise ConfigError(said, f"leave it out for this address: NO_PROXY={httpx2.URL(address).host}")
    through = None if proxy is None else httpx2.Proxy(proxy.url, auth=proxy.login)
    # With a transport of its own, a client looks for no proxy in the environment, and still for certificates.
    transport = httpx2.AsyncHTTPTransport(proxy=through, limits=sdk.DEFAULT_CONNECTION_LIMITS)
    client = sdk.DefaultAsyncHttpxClient(transport=transport)
    return {"base_url": address, "max_retries": 0, "timeout": timeout_s, "http_client": client}


class SdkBackend(ABC):
    """Bounds a call as a whole, maps errors of the SDK, and masks keys in what comes back.

    A subclass makes the request and reads the response (`_ask`). The client's own retries must be off: `LLMJudge`
    counts attempts and waits between them.

    Args:
        sdk: The package.
        root_error: The class of all its errors.
        client: Its client.
        model: Name of the model.
        address: Where the API is.
        keys: What is sent as a key or a token.
        timeout_s: How long a call may take as a whole.
        effort: How hard the model should think; None leaves that to it.
    """

    _api: str
    """What is expected to answer."""
    _page_remark = ""
    """What to check where a web page answers instead."""

    def __init__(
        self,
        sdk: ModuleType,
        root_error: type[Exception],
        client: Any,
        *,
        model: str,
        address: str,
        keys: Iterable[str | None],
        timeout_s: float,
        effort: str | None,
    ) -> None:
        self.model = model
        self.origin = origin_of(address)
        self.effort = effort
        self._sdk: Any = sdk
        self._root_error = root_error
        self._client = client
        proxy = proxy_for(address)
        self._masker = KeyMasker([*keys, *(proxy.login if proxy and proxy.login else ())], address, model)
        self._through = f" (through {proxy})" if proxy is not None else ""
        self._timeout_s = timeout_s
        self._answered = False

    async def complete(self, call: Call) -> JudgeReply:
        """Make one call.

        Raises:
            BackendError: There is no reply.
        """
        async with self._asking(self._timeout_s):
            reply = await self._ask(call)
        self._answered = True
        return self._masker.reply(reply, call)

    async def find_model(self) -> None:
        """See that the API is there, takes the key and knows the model; costs nothing.

        Raises:
            BackendError: It is not there, refuses the key, or knows no such model.
        """
        async with self._asking(_LOOK_S, fatal=True):
            found = await self._client.models.retrieve(self.model)
            if isinstance(found, str):  # what either SDK makes of a body that is not sent as JSON
                raise BackendError("the address answers with a page, and not as the API does", fatal=True)

    @abstractmethod
    async def _ask(self, call: Call) -> JudgeReply:
        """Make one call, of one or more requests; errors of the SDK may pass.

        Raises:
            BackendError: There is no reply.
        """

    @asynccontextmanager
    async def _asking(self, seconds: float | None, *, fatal: bool = False) -> AsyncIterator[None]:
        """Bound requests as a whole: the timeouts of an SDK begin anew with every byte that arrives.

        Args:
            seconds: For all of them; None for no bound.
            fatal: Whether every error status is.

        Raises:
            BackendError: There is no response that can be read in time, or it is an error.
        """
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError as error:
            failure = BackendError(f"no complete reply within {seconds:g} s", retryable=True, unanswered=True)
            raise failure from error
        except Exception as error:
            failure = error if isinstance(error, BackendError) else self._failure(error, fatal=fatal)
            self._masker.clean(failure)
            if failure is error:
                raise
            raise failure from error

    def _failure(self, error: Exception, *, fatal: bool) -> BackendError:
        """What an error of the SDK, or of the client below it, means; any other is raised."""
        import httpx2  # noqa: PLC0415 - as the SDK that needs it

        if isinstance(error, self._sdk.APIStatusError):
            return self._refusal(error, fatal=fatal)
        if isinstance(error, self._sdk.APIConnectionError):
            return connection_failure(error, self._through)
        if isinstance(error, httpx2.HTTPError):  # which the SDK lets through where a stream breaks off
            return BackendError(f"{type(error).__name__}: {error}", retryable=True)
        if isinstance(error, (ValueError, RecursionError)):
            return BackendError(f"the response is no JSON: {error}", retryable=True, unanswered=True)
        if isinstance(error, (self._root_error, TypeError)):
            return BackendError(f"{type(error).__name__}: {error}", fatal=True)
        raise error

    def _refusal(self, error: Any, *, fatal: bool) -> BackendError:
        """What an error status of this vendor means."""
        return status_failure(error, fatal=fatal)

    def _foreign(self) -> BackendError:
        """The failure where a text came instead of JSON, usually a web page.

        Either a gateway has no server behind it yet, which passes, or the address is wrong: so it is where the page
        comes again and again, unless the API has replied there before.
        """
        remark = "" if self._answered else self._page_remark
        said = f"the address does not answer as the {self._api}{remark}"
        return BackendError(said, retryable=True, fatal_if_lasting=not self._answered)

    async def aclose(self) -> None:
        """Close connections."""
        await self._client.close()
