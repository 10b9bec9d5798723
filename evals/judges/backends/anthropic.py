"""Claude as judge, by the official SDK (2.x).

Sampling parameters no longer exist, forced tools are refused by current models, and thinking is the model's own: the
form of the reply is asked for by `output_config`.
"""

import os
from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from evals.errors import JudgeError
from evals.judges.backends.base import (
    BackendError,
    Call,
    JudgeReply,
    kept_prefixes,
    name_of,
    text_of,
    usage_of,
)
from evals.judges.backends.sdk import SdkBackend, client_options
from evals.secrets import KEY_VARIABLES, sendable_key

TIMEOUT_S = 120.0

_KEY, _TOKEN = KEY_VARIABLES["anthropic"]

_DEFAULT_ORIGIN = "https://api.anthropic.com"

_STOPS = {"refusal": "refused", "max_tokens": "truncated", "model_context_window_exceeded": "truncated"}


_USAGE = {
    "new": "input_tokens",
    "output": "output_tokens",
    "read": "cache_read_input_tokens",
    "kept": "cache_creation_input_tokens",
    "kept_1h": "cache_creation.ephemeral_1h_input_tokens",
    "thought": "output_tokens_details.thinking_tokens",
}
"""Total input is what is new, what was written to the cache and what was read from it."""


class AnthropicBackend(SdkBackend):
    """Calls the Messages API.

    Args:
        model: Name of the model.
        api_key: The key; taken from the environment where None.
        base_url: Another address than the default, or than ANTHROPIC_BASE_URL.
        timeout_s: How long a call may take as a whole.
        effort: How hard the model should think; None leaves that to it.

    Raises:
        JudgeError: The package anthropic is not installed, or the key cannot be sent.
        ConfigError: The environment names a proxy for the address that cannot be spoken to.
    """

    _api = "Messages API"

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
            effort=effort,
        )
        self._messages = client.messages

    async def _ask(self, call: Call) -> JudgeReply:
        message: Any = await self._messages.create(**message_params(self.model, call, self.effort))
        if isinstance(message, str):
            raise self._foreign()
        return read_message(message)


def message_params(model: str, call: Call, effort: str | None = None, *, kept: str | None = None) -> dict[str, Any]:
    """The body of a request to the Messages API for a call; an item of a batch has the same as its `params`.

    Args:
        model: Name of the model.
        call: What is asked.
        effort: How hard the model should think; None leaves that to it.
        kept: How long the vendor keeps marked beginnings: "1h", or five minutes where None.
    """
    form = {"type": "json_schema", "schema": call.schema}
    output = {"format": form} if effort is None else {"format": form, "effort": effort}
    mark = {"cache_control": {"type": "ephemeral"} | ({} if kept is None else {"ttl": kept})}
    ends = [prefix.characters - len(call.system) for prefix in kept_prefixes("anthropic", model, call)]
    cuts = [0, *(end for end in ends if end > 0)]
    content = [_block(call.content[start:end], mark) for start, end in pairwise(cuts)]
    content += map(_block, filter(None, (call.content[cuts[-1] :], call.remark)))
    return {
        "model": model,
        "max_tokens": call.max_tokens,
        "system": [_block(call.system, mark if 0 in ends else {})],
        "messages": [{"role": "user", "content": content if len(cuts) > 1 else call.message}],
        "output_config": output,
    }


def _block(text: str, mark: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
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
    usage = usage_of(getattr(message, "usage", None), _USAGE, total=False)
    if content is None:
        # A gateway whose server failed says so with status 200.
        said = f"no content in the response: {getattr(message, 'error', None)}"
        raise BackendError(said, retryable=True, usage=usage)
    if isinstance(content, list):
        content = [block for block in content if getattr(block, "type", None) == "text"]
    stop: Any = _STOPS.get(str(getattr(message, "stop_reason", None)), "end")
    return JudgeReply(
        text=text_of(content),
        stop=stop,
        model=name_of(getattr(message, "model", None)),
        usage=usage,
        request_id=name_of(getattr(message, "_request_id", None)),
    )
