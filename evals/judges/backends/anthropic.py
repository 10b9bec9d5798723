"""Claude as judge, by the official SDK (2.x).

Sampling parameters no longer exist, forced tools are refused by current models, and thinking is the model's own: the
form of the reply is asked for by `output_config`.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evals.errors import JudgeError
from evals.judges.backends.base import (
    BackendError,
    Call,
    JudgeReply,
    cut_at,
    kept_prefixes,
    name_of,
    text_of,
    usage_of,
)
from evals.judges.backends.sdk import SdkBackend, client_options, status_failure
from evals.schemas.verdicts import JudgeUsage
from evals.secrets import KEY_VARIABLES, sendable_key

TIMEOUT_S = 120.0

_KEY, _TOKEN = KEY_VARIABLES["anthropic"]

_DEFAULT_ORIGIN = "https://api.anthropic.com"

_STOPS = {"refusal": "refused", "max_tokens": "truncated", "model_context_window_exceeded": "truncated"}


class AnthropicBackend(SdkBackend):
    """Calls the Messages API.

    Args:
        model: Name of the model.
        api_key: The key; taken from the environment where None.
        base_url: Another address than the default, or than ANTHROPIC_BASE_URL.
        timeout_s: How long a call may take as a whole.
        effort: How hard the model is told to think; None leaves that to it.

    Raises:
        JudgeError: The package anthropic is not installed, or the key cannot be sent.
        ConfigError: The environment names a proxy for the address that cannot be spoken to.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_s: float = TIMEOUT_S,
        effort: str | None = None,
    ) -> None:
        try:
            import anthropic  # noqa: PLC0415 - a second and 80 MB
        except ImportError as error:
            raise JudgeError("the package anthropic is not installed", "pip install 'anthropic>=2,<3'") from error
        address = base_url or os.environ.get("ANTHROPIC_BASE_URL") or _DEFAULT_ORIGIN
        key = sendable_key(api_key, _KEY)
        token = sendable_key(None, _TOKEN) if key is None else None
        options = client_options(anthropic, address, timeout_s)
        client = anthropic.AsyncAnthropic(api_key=key, auth_token=token, **options)
        super().__init__(
            anthropic,
            anthropic.AnthropicError,
            client,
            model=model,
            address=address,
            keys=[client.api_key, client.auth_token],
            timeout_s=timeout_s,
        )
        self._messages = client.messages
        self.effort = effort

    async def _ask(self, call: Call) -> JudgeReply:
        with self._failures_mapped():
            message: Any = await self._messages.create(**message_params(self.model, call, self.effort))
        if isinstance(message, str):
            raise self._foreign("Messages API")
        return read_message(message)

    @contextmanager
    def _failures_mapped(self) -> Iterator[None]:
        """Around one request.

        Raises:
            BackendError: There is no response that can be read, or it is an error.
        """
        try:
            with self._errors_mapped():
                yield
        except self._sdk.APIStatusError as error:
            raise status_failure(error) from error


def message_params(model: str, call: Call, effort: str | None = None, *, kept: str | None = None) -> dict[str, Any]:
    """The body of a request to the Messages API for a call; an item of a batch has the same as its `params`.

    Args:
        model: Name of the model.
        call: What is asked.
        effort: How hard the model is told to think; None leaves that to it.
        kept: How long the vendor keeps marked beginnings: "1h", or five minutes where None.
    """
    output: dict[str, Any] = {"format": {"type": "json_schema", "schema": call.schema}}
    if effort is not None:
        output["effort"] = effort
    start = len(call.system)
    ends = [prefix.characters - start for prefix in kept_prefixes("anthropic", model, call)]
    pieces = [end for end in ends if end > 0]
    mark = _mark(kept)
    content = [_block(text, mark if n < len(pieces) else {}) for n, text in enumerate(cut_at(call.content, pieces))]
    content += [_block(call.remark, {})] if call.remark else []
    return {
        "model": model,
        "max_tokens": call.max_tokens,
        "system": [_block(call.system, mark if 0 in ends else {})],
        "messages": [{"role": "user", "content": content if pieces else call.message}],
        "output_config": output,
    }


def _mark(kept: str | None) -> dict[str, Any]:
    return {"cache_control": {"type": "ephemeral", **({} if kept is None else {"ttl": kept})}}


def _block(text: str, mark: dict[str, Any]) -> dict[str, Any]:
    """A part of the prompt; what stands before the end of a marked one is kept by the vendor."""
    return {"type": "text", "text": text, **mark}


def read_message(message: Any) -> JudgeReply:
    """What the model said; blocks of other kinds than text are passed over.

    Args:
        message: What the SDK made of the response.

    Raises:
        BackendError: It is no message.
    """
    content = getattr(message, "content", None)
    if content is None:
        # A gateway whose server failed says so with status 200.
        said = f"no content in the response: {getattr(message, 'error', None)}"
        raise BackendError(said, retryable=True, usage=_usage(getattr(message, "usage", None)))
    if isinstance(content, list):
        content = [block for block in content if getattr(block, "type", None) == "text"]
    stop: Any = _STOPS.get(str(getattr(message, "stop_reason", None)), "end")
    return JudgeReply(
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
        written_1h=getattr(getattr(usage, "cache_creation", None), "ephemeral_1h_input_tokens", None),
        thought=getattr(getattr(usage, "output_tokens_details", None), "thinking_tokens", None),
        total=False,
    )
