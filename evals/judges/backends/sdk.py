"""What backends by different SDKs have in common: the SDKs are built alike, down to the names of their errors."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from evals.client.connections.proxies import Proxy
from evals.judges.backends.address import origin_of
from evals.judges.backends.base import BackendError, Call, JudgeReply
from evals.judges.backends.failures import connection_failure, deadline, status_failure
from evals.judges.masking import KeyMasker

_LOOK_S = 10.0


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
        proxy: Through which the API is reached; None for none.
    """

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
        proxy: Proxy | None = None,
    ) -> None:
        self.model = model
        self.origin = origin_of(address)
        self.effort: str | None = None
        """How hard the model is told to think; None leaves that to it."""
        self._sdk: Any = sdk
        self._root_error = root_error
        self._client = client
        login = None if proxy is None else proxy.authorization
        self._masker = KeyMasker([*keys, login], address, model)
        self._through = f" (through {proxy})" if proxy is not None else ""
        self._timeout_s = timeout_s
        self._answered = False

    async def complete(self, call: Call) -> JudgeReply:
        """Make one call.

        Raises:
            BackendError: There is no reply.
        """
        try:
            async with deadline(self._timeout_s):
                reply = await self._ask(call)
        except BackendError as error:
            self._masker.clean(error)
            raise
        self._answered = True
        return self._masker.reply(reply, call)

    async def find_model(self) -> None:
        """See that the API is there, takes the key and knows the model; costs nothing.

        Raises:
            BackendError: It is not there, refuses the key, or knows no such model.
        """
        try:
            async with deadline(_LOOK_S):
                await self._look_for_model()
        except BackendError as error:
            self._masker.clean(error)
            raise

    async def _look_for_model(self) -> None:
        try:
            with self._errors_mapped():
                found = await self._client.models.retrieve(self.model)
        except self._sdk.APIStatusError as error:
            raise status_failure(error, fatal=True) from error
        if isinstance(found, str):  # what either SDK makes of a body that is not sent as JSON
            raise BackendError("the address answers with a page, and not as the API does", fatal=True)

    @abstractmethod
    async def _ask(self, call: Call) -> JudgeReply:
        """Make one call, of one or more requests.

        Raises:
            BackendError: There is no reply.
        """

    @contextmanager
    def _errors_mapped(self) -> Iterator[None]:
        """Around one request.

        Raises:
            APIStatusError: Of the SDK; what the server refused, and whether for good, is for the subclass to read.
            BackendError: There is no response that can be read.
        """
        try:
            yield
        except self._sdk.APIStatusError:
            raise
        except self._sdk.APIConnectionError as error:
            raise connection_failure(error, self._through) from error
        except (ValueError, RecursionError) as error:
            raise BackendError(f"the response is no JSON: {error}", retryable=True, unanswered=True) from error
        except (self._root_error, TypeError) as error:
            raise BackendError(f"{type(error).__name__}: {error}", fatal=True) from error

    def _foreign(self, api: str, remark: str = "") -> BackendError:
        """The failure where a text came instead of JSON, usually a web page.

        Either a gateway has no server behind it yet, which passes, or the address is wrong: so it is where the page
        comes again and again, unless the API has replied there before.

        Args:
            api: What was expected.
            remark: What to check where the address is wrong.
        """
        if self._answered:
            return BackendError(f"what answers speaks no {api}", retryable=True)
        return BackendError(f"what answers speaks no {api}{remark}", retryable=True, fatal_if_lasting=True)

    async def aclose(self) -> None:
        """Close connections."""
        await self._client.close()
