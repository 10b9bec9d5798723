"""The Message Batches API of Anthropic, by the official SDK: what is sent to it, listed there and read of it."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from evals.judges.backends.anthropic import AnthropicBackend, message_params, read_message
from evals.judges.backends.base import BackendError, Call, JudgeReply
from evals.judges.backends.failures import RejectedError, deadline
from evals.judges.replies.reading import error_field, error_message

_SENDING_S = 600.0
"""A batch may have 256 MB."""
_PAGE = 100
_REJECTED = frozenset({"invalid_request_error", "request_too_large"})
_NO_ACCESS = frozenset({"authentication_error", "permission_error", "billing_error", "not_found_error"})


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch as the vendor sees it.

    Attributes:
        id: The vendor's name for it.
        ended: Whether replies can be read.
        count: Its requests.
        done: Those of them that are not in work any more.
        created_at: In seconds since 1970.
    """

    id: str
    ended: bool
    count: int
    done: int
    created_at: float


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What became of one request of a batch: a reply, or why there is none."""

    custom_id: str
    reply: JudgeReply | BackendError


class AnthropicBatches(AnthropicBackend):
    """Sends requests in batches; the identity and the cache's keys are those of calls one by one."""

    def params(self, call: Call) -> dict[str, Any]:
        """What a batch holds of a call.

        Only instructions are marked to be kept, and for an hour: a batch may take longer than five minutes, and what
        but two requests share costs more to keep than it saves.
        """
        return message_params(self.model, replace(call, shared=()), self.effort, kept="1h")

    async def newest_batch(self) -> str | None:
        """The name of the newest batch that is there; None where there is none.

        Raises:
            BackendError: The vendor does not say.
        """
        async with self._asking(self._timeout_s):
            page = await self._batches.list(limit=1)
            found = self._list_in(page)
        return _state(found[0]).id if found else None

    async def batches_since(self, newest: str | None, earliest: float) -> list[BatchState]:
        """The batches that are newer than one, the oldest first.

        Args:
            newest: That one; None where there was none.
            earliest: Seconds since 1970; what was made before is not looked at.

        Raises:
            BackendError: The vendor does not say.
        """
        found: list[BatchState] = []
        async with self._asking(_SENDING_S):
            page = await self._batches.list(limit=_PAGE)
            while True:
                for each in map(_state, self._list_in(page)):
                    if each.id == newest or each.created_at < earliest:
                        return found[::-1]
                    found.append(each)
                if not page.has_next_page():
                    return found[::-1]
                page = await page.get_next_page()

    async def send_batch(self, requests: Sequence[tuple[str, dict[str, Any]]]) -> BatchState:
        """Have requests answered, each with the id by which its reply is known.

        Raises:
            BackendError: Nobody knows whether they will be, unless it says that they were refused.
        """
        listed = [{"custom_id": custom_id, "params": params} for custom_id, params in requests]
        async with self._asking(_SENDING_S):
            return self._state_of(await self._batches.create(requests=listed, timeout=_SENDING_S))

    async def state(self, batch_id: str) -> BatchState | None:
        """How far a batch is; None where the vendor does not know it, or has its replies, any more.

        Raises:
            BackendError: The vendor does not say.
        """
        async with self._asking(self._timeout_s):
            try:
                found = await self._batches.retrieve(batch_id)
            except self._sdk.NotFoundError:
                return None
        state = self._state_of(found)
        return None if state.ended and not getattr(found, "results_url", None) else state

    async def results(self, batch_id: str) -> AsyncGenerator[BatchResult, None]:
        """What became of the requests of a batch that has ended, in any order, as it comes in.

        Raises:
            BackendError: It cannot be read, or breaks off.
        """
        async with self._asking(None):
            lines = await self._batches.results(batch_id)
            try:
                async for line in lines:
                    yield self._result(line)
            finally:
                await lines.close()

    @property
    def _batches(self) -> Any:
        return self._messages.batches

    @asynccontextmanager
    async def _asking(self, seconds: float | None) -> AsyncIterator[None]:
        """Around one or more requests.

        Raises:
            BackendError: There is no response that can be read, or it is an error.
        """
        try:
            with self._failures_mapped():
                if seconds is None:
                    yield
                else:
                    async with deadline(seconds):
                        yield
        except BackendError as error:
            self._masker.clean(error)
            raise
        except self._transport_errors as error:
            broken = BackendError(f"{type(error).__name__}: {error}", retryable=True)
            self._masker.clean(broken)
            raise broken from error

    @property
    def _transport_errors(self) -> type[Exception]:
        """Those of the HTTP client, which the SDK lets through where a stream breaks off."""
        import httpx2  # noqa: PLC0415 - as heavy as the SDK that needs it

        return httpx2.HTTPError

    def _list_in(self, page: Any) -> list[Any]:
        found = getattr(page, "data", None)
        if not isinstance(found, list):
            raise self._foreign("Message Batches API")
        return found

    def _state_of(self, batch: Any) -> BatchState:
        if not isinstance(getattr(batch, "id", None), str):
            raise self._foreign("Message Batches API")
        return _state(batch)

    def _result(self, line: Any) -> BatchResult:
        custom_id, result = str(getattr(line, "custom_id", "")), getattr(line, "result", None)
        try:
            if getattr(result, "type", None) != "succeeded":
                raise _failure(result)
            return BatchResult(custom_id, read_message(getattr(result, "message", None)))
        except BackendError as error:
            self._masker.clean(error)
            return BatchResult(custom_id, error)

    def masked(self, reply: JudgeReply, call: Call) -> JudgeReply:
        """The reply without keys that were not in what was asked."""
        return self._masker.reply(reply, call)


def _state(batch: Any) -> BatchState:
    """What the vendor says of a batch.

    Raises:
        BackendError: That is something else.
    """
    try:
        counts, ended = batch.request_counts, batch.processing_status == "ended"
        done = counts.succeeded + counts.errored + counts.canceled + counts.expired
        return BatchState(batch.id, ended, done + counts.processing, done, batch.created_at.timestamp())
    except (AttributeError, TypeError) as error:
        raise BackendError(f"what answers speaks no Message Batches API: {error}", retryable=True) from error


def _failure(result: Any) -> BackendError:
    """Why a request of a batch has no reply; nothing of it was paid for."""
    kind = getattr(result, "type", None)
    if kind != "errored":
        return BackendError(f"its batch says {kind}", retryable=True)
    told = getattr(getattr(result, "error", None), "error", None)
    name, body = str(getattr(told, "type", "")), {"message": getattr(told, "message", None) or ""}
    message = f"{name}: {error_message(body)}"
    if name in _REJECTED:
        rejected = RejectedError(message)
        rejected.field = error_field(body)
        return rejected
    return BackendError(message, retryable=name not in _NO_ACCESS, fatal=name in _NO_ACCESS)
