"""Claude as judge, by the official SDK (2.x).

The SDK's own retries are off: attempts and waiting are ours to count. Sampling parameters no longer exist, forced tools
are refused by current models, and thinking is the model's own: the reply's form is asked for by `output_config`.
"""

import os
from typing import Any

from evals.credentials.judge_keys import KEY_VARIABLES, sendable_key
from evals.errors import JudgeError
from evals.judges.backends.address import origin_of
from evals.judges.backends.base import BackendError, Call, Reply
from evals.judges.backends.failures import connection_failure, deadline, status_failure
from evals.judges.masking import KeyMasker
from evals.judges.replies.reading import name_of, text_of, usage_of
from evals.schemas.verdicts import JudgeUsage

TIMEOUT_S = 120.0
_KEY, _TOKEN = KEY_VARIABLES["anthropic"]
_DEFAULT_ORIGIN = "https://api.anthropic.com"
_STOPS = {"refusal": "refused", "max_tokens": "truncated", "model_context_window_exceeded": "truncated"}
_FATAL_ERRORS = frozenset({"enforced_spend_limit_reached", "billing_error"})


class AnthropicBackend:
    """Calls the Messages API.

    Args:
        model: Name of the model.
        api_key: The key; taken from the environment where None.
        base_url: Another address than the default, or than ANTHROPIC_BASE_URL.
        timeout_s: How long a call may take as a whole.

    Raises:
        JudgeError: The package anthropic is not installed, or the key cannot be sent.
    """

    def __init__(
        self, model: str, *, api_key: str | None = None, base_url: str | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        try:
            import anthropic  # noqa: PLC0415 - a second and 80 MB
        except ImportError as error:
            raise JudgeError("the package anthropic is not installed", "pip install 'anthropic>=2,<3'") from error
        self.model = model
        address = base_url or os.environ.get("ANTHROPIC_BASE_URL") or _DEFAULT_ORIGIN
        self.origin = origin_of(address)
        key = sendable_key(api_key, _KEY)
        token = sendable_key(None, _TOKEN) if key is None else None
        self._sdk = anthropic
        self._timeout_s = timeout_s
        self._answered = False
        self._client = anthropic.AsyncAnthropic(
            api_key=key, auth_token=token, base_url=address, max_retries=0, timeout=timeout_s
        )
        self._masker = KeyMasker([self._client.api_key, self._client.auth_token], address, model)

    async def complete(self, call: Call) -> Reply:
        """Make one call.

        Raises:
            BackendError: There is no reply.
        """
        try:
            async with deadline(self._timeout_s):
                reply = _reply(await self._request(call), answered=self._answered)
        except BackendError as error:
            self._masker.clean(error)
            raise
        self._answered = True
        return self._masker.reply(reply, call)

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
            fatal = getattr(error, "error_code", None) in _FATAL_ERRORS
            raise status_failure(error, fatal=fatal) from error
        except sdk.APIConnectionError as error:
            raise connection_failure(error) from error
        except (ValueError, RecursionError) as error:
            raise BackendError(f"the response is no JSON: {error}", unanswered=True) from error
        except (sdk.AnthropicError, TypeError) as error:
            raise BackendError(f"{type(error).__name__}: {error}", fatal=True) from error

    async def aclose(self) -> None:
        """Close connections."""
        await self._client.close()


def _reply(message: Any, *, answered: bool) -> Reply:
    """What the model said; blocks of other kinds than text are passed over.

    Args:
        message: What the SDK made of the response.
        answered: Whether this address gave a reply before: then a web page is a gateway's failure, and passes.

    Raises:
        BackendError: It is no message.
    """
    if isinstance(message, str):
        raise BackendError("what answers speaks no Messages API", retryable=answered, fatal=not answered)
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
        request_id=name_of(getattr(message, "_request_id", None)),
    )


def _usage(usage: Any) -> JudgeUsage | None:
    """Total input is what is new, what was written to the cache and what was read from it."""
    return usage_of(
        getattr(usage, "input_tokens", None),
        getattr(usage, "output_tokens", None),
        read=getattr(usage, "cache_read_input_tokens", None),
        written=getattr(usage, "cache_creation_input_tokens", None),
        total=False,
    )
