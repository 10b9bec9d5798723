"""Any model behind the Chat Completions API as judge: OpenAI's own, or that of vLLM, Ollama, llama.cpp, LM Studio.

By the official SDK (3.x, which speaks httpx2). No temperature is sent: reasoning models refuse it, and what it would
settle is measured by repeats.

The many servers of this API take different parts of it. What one refuses is said in a simpler way, and that way is kept
once it worked (see `_Dialect`).
"""

import json
import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from evals.errors import JudgeError
from evals.judges.backends.base import BackendError, Call, JudgeReply, name_of, text_of, usage_of
from evals.judges.backends.sdk import SdkBackend, client_options, status_failure
from evals.secrets import KEY_VARIABLES, sendable_key

HOME = "https://api.openai.com/v1"


TIMEOUT_S = 300.0
"""A local model writes slowly, and calls wait for each other there."""

_STOPS = {"length": "truncated", "content_filter": "refused"}

_FILTERED_CODES = frozenset({"content_filter", "content_policy_violation"})


_REFUSING_STATUSES = frozenset({400, 422, 500, 501})
"""What servers answer to a parameter they do not know; some let it fail inside."""

_LIMIT = re.compile(r"max_(?:completion_)?tokens")

_FORM = re.compile(r"response_format|json_schema|json_object")


_TOO_LARGE = re.compile(r"large|at most|less than|smaller|exceed|maximum|between|range")
"""In an error about the limit of tokens: its value is wrong, and not its name."""


_LEAST_TOKENS = 128
"""The limit is not lowered below this."""


@dataclass(frozen=True, slots=True)
class _Dialect:
    """The part of the API that a server understands.

    Attributes:
        form: What a reply can be bound to; without a schema there, the instructions give it.
        new_limit: The limit of tokens is named `max_completion_tokens`; else by its former name, `max_tokens`.
        most_tokens: The highest limit that the server takes; None where it took all so far.
    """

    form: Literal["json_schema", "json_object", "text"] = "json_schema"
    new_limit: bool = True
    most_tokens: int | None = None

    def without(self, refused: str, call: Call) -> "_Dialect | None":
        """A simpler dialect that leaves out what an error speaks of; None where there is nothing to leave out."""
        if _LIMIT.search(refused):
            limit = self._limit(call)
            if _TOO_LARGE.search(refused):
                return replace(self, most_tokens=limit // 2) if limit > _LEAST_TOKENS else None
            if self.new_limit and "max_completion_tokens" in refused:
                return replace(self, new_limit=False)
        if self.form != "text" and _FORM.search(refused):
            return replace(self, form="json_object" if self.form == "json_schema" else "text")
        return None

    def _limit(self, call: Call) -> int:
        return call.max_tokens if self.most_tokens is None else min(call.max_tokens, self.most_tokens)

    def request(self, call: Call, effort: str | None = None) -> dict[str, Any]:
        """The parameters of a call; an effort is never left out, for the verdicts are saved under it."""
        bound = self.form == "json_schema"
        system = call.system if bound else f"{call.system}\n{_IN_WORDS}\n{json.dumps(call.schema)}"
        schema = {"json_schema": {"name": "verdict", "strict": True, "schema": call.schema}} if bound else {}
        form = {"type": self.form, **schema}
        return {
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": call.message}],
            **({} if self.form == "text" else {"response_format": form}),
            "max_completion_tokens" if self.new_limit else "max_tokens": self._limit(call),
            **({} if effort is None else {"reasoning_effort": effort}),
        }


_NO_VERSION = " (judge.base_url may lack /v1)"


_IN_WORDS = (
    "Reply with one JSON object and nothing else: no text around it, no code fence. It follows this JSON schema:"
)


_USAGE = {
    "new": "prompt_tokens",
    "output": "completion_tokens",
    "read": "prompt_tokens_details.cached_tokens",
    "kept": "prompt_tokens_details.cache_write_tokens",
    "thought": "completion_tokens_details.reasoning_tokens",
}
"""Cached tokens are counted into the input, and reasoning into the output; some servers count nothing."""


class OpenAIBackend(SdkBackend):
    """Calls a Chat Completions API.

    Args:
        model: Name of the model.
        base_url: Address of the API, with its version: `http://127.0.0.1:11434/v1`.
        api_key: The key; taken from OPENAI_API_KEY where None. Without one, none is sent.
        timeout_s: How long a call may take as a whole.
        effort: How hard the model should think (`reasoning_effort`); None leaves that to it.

    Raises:
        JudgeError: The package openai is not installed, or the key cannot be sent.
        ConfigError: The environment names a proxy for the address that cannot be spoken to.
    """

    _api = "Chat Completions API"
    _page_remark = _NO_VERSION

    def __init__(
        self,
        model: str,
        *,
        base_url: str = HOME,
        api_key: str | None = None,
        timeout_s: float = TIMEOUT_S,
        effort: str | None = None,
    ) -> None:
        try:
            import openai  # noqa: PLC0415 - a second and 40 MB, and an extra
        except ImportError as error:
            raise JudgeError("the package openai is not installed", "pip install 'rag-evals[openai]'") from error
        key = sendable_key(api_key, *KEY_VARIABLES["openai"])
        # The SDK does not start without a key; a server that asks for none gets no made-up one.
        client = openai.AsyncOpenAI(api_key=key or "none", **client_options(openai, base_url, timeout_s))
        self._extra: dict[str, Any] = {} if key else {"extra_headers": {"Authorization": openai.Omit()}}
        super().__init__(
            openai,
            openai.OpenAIError,
            client,
            model=model,
            address=base_url,
            keys=[key],
            timeout_s=timeout_s,
            effort=effort,
        )
        self._dialect = _Dialect()

    async def _ask(self, call: Call) -> JudgeReply:
        """Several requests, where the server turns out not to understand all of the API."""
        dialect = self._dialect
        while True:
            parameters = dialect.request(call, self.effort)
            try:
                completion = await self._client.chat.completions.create(model=self.model, **parameters, **self._extra)
            except self._sdk.APIStatusError as error:
                if error.status_code == 400 and str(error.code) in _FILTERED_CODES:
                    return JudgeReply(text="", stop="refused", model=None, usage=None)
                refused = error.status_code in _REFUSING_STATUSES
                simpler = dialect.without(f"{error.param} {error.body}", call) if refused else None
                if simpler is None:
                    raise
                dialect = simpler
            else:
                # Kept only now: what did not help is no fact about the server.
                self._dialect = dialect
                if isinstance(completion, str):
                    raise self._foreign()
                return _reply(completion)

    def _refusal(self, error: Any, *, fatal: bool) -> BackendError:
        """An unknown model ends the judging, whatever the status."""
        is_unknown = str(error.code) == "model_not_found"
        lacks_version = error.status_code == 404 and error.request.url.path == "/chat/completions" and not is_unknown
        return status_failure(error, fatal=fatal or is_unknown, remark=_NO_VERSION if lacks_version else "")


def _reply(completion: Any) -> JudgeReply:
    """What the model said; the SDK checks no response, so any part of it may be missing.

    Args:
        completion: What the SDK made of the response.

    Raises:
        BackendError: It is no completion.
    """
    choices = getattr(completion, "choices", None)
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(choice, "message", None)
    usage = usage_of(getattr(completion, "usage", None), _USAGE, total=True)
    if message is None:
        # A gateway whose server failed says so with status 200.
        said = f"no choices in the response: {getattr(completion, 'error', None)}"
        raise BackendError(said, retryable=True, usage=usage)
    stop: Any = _STOPS.get(str(getattr(choice, "finish_reason", None)), "end")
    if getattr(message, "refusal", None):
        stop = "refused"
    return JudgeReply(
        text=_text_of(message),
        stop=stop,
        model=name_of(getattr(completion, "model", None)),
        usage=usage,
        request_id=name_of(getattr(completion, "_request_id", None)),
    )


def _text_of(message: Any) -> str:
    """The content; where it is empty, the arguments of tool calls, else the reasoning: some servers put all there."""
    calls = getattr(message, "tool_calls", None)
    functions = [getattr(call, "function", None) for call in calls] if isinstance(calls, list) else []
    arguments = [{"type": "text", "text": getattr(function, "arguments", None)} for function in functions]
    reasoning = [getattr(message, name, None) for name in ("reasoning_content", "reasoning")]
    places = (getattr(message, "content", None), arguments, *reasoning)
    texts = (text_of(place) for place in places)
    return next((text for text in texts if text.strip()), "")
