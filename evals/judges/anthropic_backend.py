"""Claude as judge, by the official SDK (2.x).

The SDK's own retries are off: attempts and waiting are ours to count. Sampling parameters no longer exist, forced tools
are refused by current models, and thinking is the model's own: the reply's form is asked for by `output_config`.
"""

import os
from typing import Any

from evals.client.transport import parse_retry_after
from evals.errors import JudgeError
from evals.judges.address import origin_of
from evals.judges.base import BackendError, Call, Reply
from evals.judges.masking import without_keys
from evals.judges.reading import name_of, said_in, text_of, usage_of
from evals.schemas.results import JudgeUsage

TIMEOUT_S = 120.0
_DEFAULT_ORIGIN = "https://api.anthropic.com"
_STOPS = {"refusal": "refused", "max_tokens": "truncated", "model_context_window_exceeded": "truncated"}
_FATAL_ERRORS = frozenset({"enforced_spend_limit_reached", "billing_error"})


class AnthropicBackend:
    """Calls the Messages API.

    Args:
        model: Name of the model.
        api_key: The key; taken from the environment where None.
        base_url: Another address than the default, or than ANTHROPIC_BASE_URL.
    """

    def __init__(self, model: str, *, api_key: str | None = None, base_url: str | None = None) -> None:
        try:
            import anthropic  # noqa: PLC0415 - a second and 80 MB
        except ImportError as error:
            raise JudgeError("the package anthropic is not installed", "pip install 'anthropic>=2,<3'") from error
        self.model = model
        address = base_url or os.environ.get("ANTHROPIC_BASE_URL") or _DEFAULT_ORIGIN
        self.origin = origin_of(address)
        self._sdk = anthropic
        self._client = anthropic.AsyncAnthropic(api_key=api_key, base_url=address, max_retries=0, timeout=TIMEOUT_S)

    async def complete(self, call: Call) -> Reply:
        """Make one call.

        Raises:
            BackendError: There is no reply.
        """
        try:
            return _reply(await self._request(call))
        except BackendError as error:
            raise without_keys(error, [self._client.api_key, self._client.auth_token]) from error

    async def _request(self, call: Call) -> Any:
        """One request.

        Raises:
            BackendError: There is no usable response.
        """
        sdk: Any = self._sdk
        try:
            return await self._client.messages.create(
                model=self.model,
                max_tokens=call.max_tokens,
                system=[{"type": "text", "text": call.system, "cache_control": {"type": "ephemeral"}}],
                messages=[{"role": "user", "content": call.content}],
                output_config={"format": {"type": "json_schema", "schema": call.schema}},
            )
        except sdk.APIStatusError as error:
            raise _status_error(error) from error
        except sdk.APIConnectionError as error:
            raise BackendError(f"{type(error).__name__}: {error}", retryable=True) from error
        except (ValueError, RecursionError) as error:
            raise BackendError(f"the response is no JSON: {error}") from error
        except (sdk.AnthropicError, TypeError) as error:
            raise BackendError(f"{type(error).__name__}: {error}", fatal=True) from error

    async def aclose(self) -> None:
        """Close connections."""
        await self._client.close()


def _reply(message: Any) -> Reply:
    """What the model said; blocks of other kinds than text are passed over.

    Raises:
        BackendError: It is no message.
    """
    if isinstance(message, str):
        raise BackendError("what answers speaks no Messages API", fatal=True)
    content = getattr(message, "content", None)
    if content is None:
        # A gateway whose server failed says so with status 200.
        raise BackendError(f"no content in the response: {getattr(message, 'error', None)}", retryable=True)
    if isinstance(content, list):
        content = [block for block in content if getattr(block, "type", None) == "text"]
    stop: Any = _STOPS.get(str(getattr(message, "stop_reason", None)), "end")
    return Reply(
        text=text_of(content),
        stop=stop,
        model=name_of(getattr(message, "model", None)),
        usage=_usage(getattr(message, "usage", None)),
    )


def _status_error(error: Any) -> BackendError:
    """Refused access and spent limits end the judging; overload and limits of rate pass."""
    fatal = error.status_code in {401, 402, 403, 404} or getattr(error, "error_code", None) in _FATAL_ERRORS
    retryable = not fatal and (error.status_code in {408, 409, 429} or error.status_code >= 500)
    after = parse_retry_after(error.response.headers.get("retry-after"))
    message = f"HTTP {error.status_code}: {said_in(error.body) or error.message}"
    return BackendError(message, retryable=retryable, fatal=fatal, retry_after_s=after)


def _usage(usage: Any) -> JudgeUsage | None:
    """Total input is what is new, what was written to the cache and what was read from it."""
    return usage_of(
        getattr(usage, "input_tokens", None),
        getattr(usage, "output_tokens", None),
        read=getattr(usage, "cache_read_input_tokens", None),
        written=getattr(usage, "cache_creation_input_tokens", None),
        total=False,
    )
