"""Any model behind the Chat Completions API as judge: OpenAI's own, or that of vLLM, Ollama, llama.cpp, LM Studio.

By the official SDK (3.x, which speaks httpx2), with its own retries off: attempts and waiting are ours to count. No
temperature is sent: reasoning models refuse it, and what it would settle is measured by repeats.

The many servers of this API take different parts of it. What one refuses is said in a simpler way, and that way is kept
once it worked (see `_Dialect`).
"""

import json
from dataclasses import dataclass, replace
from typing import Any

from evals.credentials.judge_keys import KEY_VARIABLES, sendable_key
from evals.errors import JudgeError
from evals.judges.backends.address import origin_of
from evals.judges.backends.base import BackendError, Call, Reply
from evals.judges.backends.failures import connection_failure, deadline, status_failure
from evals.judges.masking import KeyMasker
from evals.judges.replies.reading import name_of, text_of, usage_of
from evals.schemas.verdicts import JudgeUsage

HOME = "https://api.openai.com/v1"
TIMEOUT_S = 300.0
"""A local model writes slowly, and calls wait for each other there."""
_STOPS = {"length": "truncated", "content_filter": "refused"}
_FATAL_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "model_not_found"})
_FILTERED_CODES = frozenset({"content_filter", "content_policy_violation"})
_REFUSING_STATUSES = frozenset({400, 422, 500, 501})
"""What servers answer to a parameter they do not know; some let it fail inside."""


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What a server understands of the API.

    Attributes:
        takes_schema: A reply can be bound to a schema; else only to JSON, and the schema is given in the instructions.
        new_limit: The limit of tokens is named `max_completion_tokens`; else by its former name, `max_tokens`.
    """

    takes_schema: bool = True
    new_limit: bool = True

    def without(self, refused: str) -> "_Dialect | None":
        """A simpler dialect that leaves out what an error speaks of; None where there is nothing to leave out."""
        if self.new_limit and "max_completion_tokens" in refused:
            return replace(self, new_limit=False)
        if self.takes_schema and ("response_format" in refused or "json_schema" in refused):
            return replace(self, takes_schema=False)
        return None

    def request(self, call: Call) -> dict[str, Any]:
        """The parameters of a call."""
        system, form = call.system, _bound_to(call.schema)
        if not self.takes_schema:
            system, form = f"{system}\n{_IN_WORDS}\n{json.dumps(call.schema)}", {"type": "json_object"}
        return {
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": call.content}],
            "response_format": form,
            "max_completion_tokens" if self.new_limit else "max_tokens": call.max_tokens,
        }


_NO_VERSION = " (judge.base_url may lack /v1)"
_IN_WORDS = (
    "Reply with one JSON object and nothing else: no text around it, no code fence. It follows this JSON schema:"
)


def _bound_to(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}


class OpenAIBackend:
    """Calls a Chat Completions API.

    Args:
        model: Name of the model.
        base_url: Address of the API, with its version: `http://127.0.0.1:11434/v1`.
        api_key: The key; taken from OPENAI_API_KEY where None. Without one, none is sent.
        timeout_s: How long a call may take as a whole.

    Raises:
        JudgeError: The package openai is not installed, or the key cannot be sent.
    """

    def __init__(
        self, model: str, *, base_url: str = HOME, api_key: str | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        try:
            import openai  # noqa: PLC0415 - a second and 40 MB, and an extra
        except ImportError as error:
            raise JudgeError("the package openai is not installed", "pip install 'rag-evals[openai]'") from error
        self.model = model
        self.origin = origin_of(base_url)
        key = sendable_key(api_key, *KEY_VARIABLES["openai"])
        self._sdk: Any = openai
        self._masker = KeyMasker([key], base_url, model)
        self._timeout_s = timeout_s
        self._answered = False
        self._dialect = _Dialect()
        # The SDK does not start without a key; a server that asks for none gets no made-up one.
        self._extra: dict[str, Any] = {} if key else {"extra_headers": {"Authorization": openai.Omit()}}
        self._client: Any = openai.AsyncOpenAI(
            api_key=key or "none", base_url=base_url, max_retries=0, timeout=timeout_s
        )

    async def complete(self, call: Call) -> Reply:
        """Make one call: several requests, where the server turns out not to understand all of the API.

        Raises:
            BackendError: There is no reply.
        """
        try:
            async with deadline(self._timeout_s):
                reply = await self._complete(call)
        except BackendError as error:
            self._masker.clean(error)
            raise
        self._answered = True
        return self._masker.reply(reply, call)

    async def _complete(self, call: Call) -> Reply:
        dialect = self._dialect
        while True:
            try:
                completion = await self._request(dialect.request(call))
            except self._sdk.APIStatusError as error:
                if _is_filtered(error):
                    return Reply(text="", stop="refused", model=None, usage=None)
                refused = error.status_code in _REFUSING_STATUSES
                simpler = dialect.without(_words_of(error)) if refused else None
                if simpler is None:
                    raise _refusal(error) from error
                dialect = simpler
            else:
                # Kept only now: "max_completion_tokens is too large" is no reason to call it by another name for good.
                self._dialect = dialect
                return _reply(completion, answered=self._answered)

    async def _request(self, parameters: dict[str, Any]) -> Any:
        """One request.

        Raises:
            APIStatusError: The server refused it.
            BackendError: There is no usable response.
        """
        sdk = self._sdk
        try:
            return await self._client.chat.completions.create(model=self.model, **parameters, **self._extra)
        except sdk.APIStatusError:
            raise
        except sdk.APIConnectionError as error:
            raise connection_failure(error) from error
        except (ValueError, RecursionError) as error:
            raise BackendError(f"the response is no JSON: {error}", unanswered=True) from error
        except (sdk.OpenAIError, TypeError) as error:
            raise BackendError(f"{type(error).__name__}: {error}", fatal=True) from error

    async def aclose(self) -> None:
        """Close connections."""
        await self._client.close()


def _reply(completion: Any, *, answered: bool) -> Reply:
    """What the model said; the SDK checks no response, so any part of it may be missing.

    Args:
        completion: What the SDK made of the response.
        answered: Whether this address gave a reply before: then a web page is a gateway's failure, and passes.

    Raises:
        BackendError: It is no completion.
    """
    if isinstance(completion, str):
        problem = f"what answers speaks no Chat Completions API{'' if answered else _NO_VERSION}"
        raise BackendError(problem, retryable=answered, fatal=not answered)
    choices = getattr(completion, "choices", None)
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(choice, "message", None)
    if message is None:
        # A gateway whose server failed says so with status 200.
        raise BackendError(f"no choices in the response: {getattr(completion, 'error', None)}", retryable=True)
    stop: Any = _STOPS.get(str(getattr(choice, "finish_reason", None)), "end")
    if getattr(message, "refusal", None):
        stop = "refused"
    return Reply(
        text=text_of(getattr(message, "content", None), fenced=True),
        stop=stop,
        model=name_of(getattr(completion, "model", None)),
        usage=_usage(getattr(completion, "usage", None)),
        request_id=name_of(getattr(completion, "_request_id", None)),
    )


def _usage(usage: Any) -> JudgeUsage | None:
    """Cached tokens are counted into the input, and reasoning into the output; some servers count nothing."""
    details = getattr(usage, "prompt_tokens_details", None)
    return usage_of(
        getattr(usage, "prompt_tokens", None),
        getattr(usage, "completion_tokens", None),
        read=getattr(details, "cached_tokens", None),
        written=getattr(details, "cache_write_tokens", None),
        total=True,
    )


def _refusal(error: Any) -> BackendError:
    """What an error of status means: beside what it says, a spent quota and an unknown model end the judging."""
    lacks_version = (
        error.status_code == 404 and error.code != "model_not_found" and error.request.url.path == "/chat/completions"
    )
    fatal = bool({str(error.code), str(error.type)} & _FATAL_CODES)
    return status_failure(error, fatal=fatal, remark=_NO_VERSION if lacks_version else "")


def _is_filtered(error: Any) -> bool:
    """Whether a filter before the model refused the question."""
    return error.status_code == 400 and str(error.code) in _FILTERED_CODES


def _words_of(error: Any) -> str:
    return f"{error.param} {error.body}"
