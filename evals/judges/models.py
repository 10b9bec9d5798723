"""The judging models: Claude by Anthropic's SDK, and any model behind a Chat Completions API by OpenAI's.

The SDKs connect, find proxies, retry and heed `Retry-After`. To add a vendor: a class with `complete`, an entry in
`PROVIDERS`, and the variables of its key in `evals/secrets.py`.
"""

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ClassVar, Literal, Protocol
from urllib.parse import urlsplit

from pydantic import ValidationError

from evals.errors import JudgeError
from evals.schemas.verdicts import JudgeFailure, JudgeUsage
from evals.secrets import KEY_VARIABLES, MASK, Masker, key_in, secrets_in_environment, sendable_key
from evals.text.decoding import without_surrogates

RETRIES = 8
"""By the SDKs, with half a second to eight between them: about 40 seconds, or as long as `Retry-After` asks for."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who judges.

    Attributes:
        model: The model asked for.
        origin: Scheme, host, port and path of its address.
        provider: By whose API.
        effort: How hard the model should think; None leaves that to it.
    """

    model: str
    origin: str
    provider: str = ""
    effort: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One question to a model.

    Attributes:
        system: The instructions.
        content: The data, as one JSON object in text.
        schema: JSON schema of the reply.
        max_tokens: Upper bound of the reply, thinking included.
        remark: What was wrong with an earlier reply to this.
        again: Whether the same data will be sent again: the vendor's cache then keeps it, not only the instructions.
        repeat: Which of the repeats it is for.
    """

    system: str
    content: str
    schema: dict[str, Any]
    max_tokens: int
    remark: str = ""
    again: bool = False
    repeat: int = 0

    @property
    def message(self) -> str:
        """The user's message: the data, then the remark."""
        return f"{self.content}\n\n{self.remark}" if self.remark else self.content


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """What a model said.

    Attributes:
        text: Its text blocks, joined.
        stop: Why it ended: by itself, by refusing, or because `max_tokens` was reached.
        model: The model that answered, as it names itself.
        usage: Tokens, where the vendor counts them.
    """

    text: str
    stop: Literal["end", "refused", "truncated"] = "end"
    model: str | None = None
    usage: JudgeUsage | None = None


class CallFailed(Exception):  # noqa: N818 - what it is
    """A call that brought no reply, after all retries.

    Args:
        why: What happened, without keys.
        kind: How the decision counts that it ends.
        fatal: Whether every further call would end so: no access, no money, no such model.
        sent: Whether it may have to be paid for: it was sent, and no complete response came back.
    """

    def __init__(self, why: str, kind: JudgeFailure = "transport", *, fatal: bool = False, sent: bool = False) -> None:
        super().__init__(why)
        self.kind, self.fatal, self.sent = kind, fatal, sent


class Model(Protocol):
    """What `LLMJudge` asks. `effort` and `batched` are optional; one that is batched has `forget` too."""

    model: str
    origin: str

    async def complete(self, call: Call) -> JudgeReply:
        """Make one call.

        Raises:
            CallFailed: There is no reply.
            TimeoutError: It is not waited for any longer: it stays at the vendor, and a resumed run takes it.
        """

    async def aclose(self) -> None:
        """Close connections."""


def origin_of(url: str) -> str:
    """Scheme, host, port and path of an address, without login, query and a path `/v1`: it is saved and shown."""
    parts = urlsplit(url)
    origin, path = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower(), parts.path.rstrip("/")
    return origin if path == "/v1" else origin + path


class SdkModel(ABC):
    """A model that a vendor's SDK reaches: its errors become `CallFailed`, and keys are masked in what comes back.

    Args:
        model: Its name.
        base_url: Where the API is; the vendor's address, or that of the environment, where None.
        api_key: The key; of the environment where None.
        effort: How hard the model should think; None leaves that to it.

    Attributes:
        sdk: The package, by the name of its provider.
        home: The vendor's own address.
        key_variables: A key is in any of these environment variables; messages name the first.
        address_variable: Environment variable with another address.
        efforts: How hard its models can be told to think, from least to most.
        imitated: Whether others serve the same API. At their addresses no key is required, and the vendor's prices do
            not hold, whatever the model is called.

    Raises:
        JudgeError: The package is not installed, or the key cannot be sent.
    """

    sdk: ClassVar[str]
    home: ClassVar[str]
    key_variables: ClassVar[tuple[str, ...]]
    address_variable: ClassVar[str]
    efforts: ClassVar[tuple[str, ...]]
    imitated: ClassVar[bool] = False
    timeout_s: ClassVar[float]

    def __init__(
        self, model: str, *, base_url: str | None = None, api_key: str | None = None, effort: str | None = None
    ) -> None:
        address, key = self.address(base_url), sendable_key(api_key, self.key_variables[0])
        self.model, self.origin, self.effort = model, origin_of(address), effort
        self._secrets = {*filter(None, [key]), *secrets_in_environment()}
        try:
            self._sdk, self._http = import_module(self.sdk), import_module("httpx2")  # a second and 80 MB
        except ImportError as error:
            install = "rag-evals[openai]" if self.sdk == "openai" else "anthropic>=2,<3"
            raise JudgeError(f"the package {self.sdk} is not installed", f"pip install '{install}'") from error
        self._client = self._connect(key, base_url=address, timeout=self.timeout_s, max_retries=RETRIES)

    @classmethod
    def address(cls, base_url: str | None) -> str:
        """Where the judge is: the configured address, else the environment's, else the vendor's."""
        return base_url or os.environ.get(cls.address_variable) or cls.home

    @classmethod
    def lacks_key(cls, base_url: str | None) -> bool:
        """Whether a key is needed and none is there."""
        return cls.has_list_prices(base_url) and not any(map(key_in, cls.key_variables))

    @classmethod
    def has_list_prices(cls, base_url: str | None) -> bool:
        """Whether it is the vendor, or a gateway to it, that is reached: then its prices hold."""
        home, host = urlsplit(cls.home).hostname, urlsplit(cls.address(base_url)).hostname or ""
        return not cls.imitated or f".{host}".endswith(f".{home}")

    @abstractmethod
    def _connect(self, key: str | None, **options: Any) -> Any:
        """The client of the SDK."""

    async def complete(self, call: Call) -> JudgeReply:
        """Make one call.

        Raises:
            CallFailed: There is no reply.
        """
        with self.translated():
            reply = await self._ask(call)
        return self.masked(reply, call)

    @abstractmethod
    async def _ask(self, call: Call) -> JudgeReply:
        """Make one call; errors of the SDK pass."""

    async def find(self) -> None:
        """See that the API is there, takes the key and knows the model; costs nothing.

        Raises:
            CallFailed: It is not there, refuses the key, or knows no such model.
        """
        with self.translated():
            client = self._client.with_options(max_retries=0, timeout=10.0)
            if isinstance(await client.models.retrieve(self.model), str):
                raise CallFailed("the address answers with a page, and not as the API does", fatal=True)

    async def aclose(self) -> None:
        """Close connections."""
        await self._client.close()

    def masked(self, reply: JudgeReply, call: Call) -> JudgeReply:
        """The reply without keys; one that stands in what was asked, such as `ollama`, is an ordinary word there."""
        given = f"{self.model} {call.system} {call.content}"
        text = Masker(secret for secret in self._secrets if secret not in given).text
        words, name = (without_surrogates(part) if isinstance(part, str) else "" for part in (reply.text, reply.model))
        return replace(reply, text=text(words), model=text(name)[:200] or None)

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Raise what the SDK raises as `CallFailed`, in words that may be saved and shown."""
        try:
            yield
        except CallFailed:
            raise
        except self._sdk.APIStatusError as error:
            raise self._refused(error) from error
        except self._sdk.APIConnectionError as error:
            unsent = type(error.__cause__).__name__ in {"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError"}
            what = f"{type(error).__name__}: {error.__cause__ or error}"
            raise CallFailed(self._clean(what), sent=not unsent) from error
        except (self._sdk.APIError, self._http.HTTPError, ValueError, TypeError, AttributeError) as error:
            what = f"the address does not answer as the API does: {type(error).__name__}: {error}"
            raise CallFailed(self._clean(what), sent=True) from error

    def _refused(self, error: Any) -> CallFailed:
        """What an error status means."""
        status, body = error.status_code, error.body
        inner = body.get("error", body) if isinstance(body, dict) else body
        detail = inner.get("message") if isinstance(inner, dict) else inner
        message = self._clean(f"HTTP {status}: {detail or error.message}")
        if status == 402 or (status in {400, 403, 429} and _SPENT.search(str(body))):
            return CallFailed(message, "spend_limit", fatal=True)
        if status in {401, 403, 404} or "model_not_found" in str(body):
            return CallFailed(message, fatal=True)
        return CallFailed(message, "rejected" if status in {400, 413, 422} else "transport")

    def _clean(self, text: str) -> str:
        text = Masker(self._secrets).text(text.encode("utf-8", "replace").decode())
        return _LIKE_A_KEY.sub(MASK, text)[:500]


_SPENT = re.compile(
    r"credit balance|spend(?:ing)?[ _]limit|specified api usage limits|insufficient_quota"
    r"|billing_(?:error|hard_limit_reached|not_active)",
    re.IGNORECASE,
)
"""How vendors say that an account may spend no more."""

_LIKE_A_KEY = re.compile(r"(?<![A-Za-z0-9])sk-[\w*-]{9,}")


class AnthropicModel(SdkModel):
    """Claude, by the Messages API. No sampling parameters exist; the form of the reply is asked for by a schema."""

    sdk, home, timeout_s = "anthropic", "https://api.anthropic.com", 120.0
    key_variables, address_variable = KEY_VARIABLES["anthropic"], "ANTHROPIC_BASE_URL"
    efforts = ("low", "medium", "high", "xhigh", "max")
    _lifetime: ClassVar[dict[str, str]] = {}
    """How long the vendor's cache keeps instructions: five minutes where nothing is said."""

    def _connect(self, key: str | None, **options: Any) -> Any:
        bearer = sendable_key(None, self.key_variables[1]) if key is None else None
        return self._sdk.AsyncAnthropic(api_key=key, auth_token=bearer, **options)

    def params(self, call: Call) -> dict[str, Any]:
        """The body of a request."""
        kept = {"cache_control": {"type": "ephemeral", **self._lifetime}}
        form = {"format": {"type": "json_schema", "schema": call.schema}}
        data = {"type": "text", "text": call.content, **(kept if call.again else {})}
        remark = [{"type": "text", "text": call.remark}] if call.remark else []
        return {
            "model": self.model,
            "max_tokens": call.max_tokens,
            "system": [{"type": "text", "text": call.system, **kept}],
            "messages": [{"role": "user", "content": [data, *remark]}],
            "output_config": form if self.effort is None else {**form, "effort": self.effort},
        }

    async def _ask(self, call: Call) -> JudgeReply:
        return read_message(await self._client.messages.create(**self.params(call)))


def read_message(message: Any) -> JudgeReply:
    """What the SDK's message says: its text blocks, and tokens of which the input counts all of the cache too.

    Raises:
        AttributeError: It is none; some gateways report a failure with status 200.
    """
    used = message.usage
    read, kept = used.cache_read_input_tokens or 0, used.cache_creation_input_tokens or 0
    usage = _usage(
        input_tokens=(used.input_tokens or 0) + read + kept,
        output_tokens=used.output_tokens,
        thinking_tokens=_at(used, "output_tokens_details", "thinking_tokens"),
        cache_read_tokens=read,
        cache_write_tokens=kept,
        cache_write_1h_tokens=_at(used, "cache_creation", "ephemeral_1h_input_tokens"),
    )
    stops = {"refusal": "refused", "max_tokens": "truncated", "model_context_window_exceeded": "truncated"}
    stop: Any = stops.get(message.stop_reason, "end")
    text = "".join(block.text for block in message.content if block.type == "text")
    return JudgeReply(text, stop, message.model, usage)


def read_result(result: Any) -> JudgeReply:
    """What a result in a batch says.

    Raises:
        CallFailed: It says why there is no message.
        AttributeError: It is none.
    """
    if result.type == "succeeded":
        return read_message(result.message)
    detail = result.error.error if result.type == "errored" else None
    kind: JudgeFailure = "rejected" if detail and detail.type == "invalid_request_error" else "transport"
    raise CallFailed(f"its batch says {result.type}" + (f": {detail.message}" if detail else ""), kind)


class OpenAIModel(SdkModel):
    """Any model behind a Chat Completions API: OpenAI's, or that of vLLM, Ollama, llama.cpp, LM Studio.

    The servers of this API take different parts of it. A parameter that one refuses is left out from then on; without
    a schema of its own there, the instructions hold it. The address ends with the version:
    `http://127.0.0.1:11434/v1`. Without a key, none is sent.
    """

    sdk, home, timeout_s = "openai", "https://api.openai.com/v1", 300.0
    key_variables, address_variable = KEY_VARIABLES["openai"], "OPENAI_BASE_URL"
    efforts, imitated = ("none", "minimal", "low", "medium", "high", "xhigh"), True

    def _connect(self, key: str | None, **options: Any) -> Any:
        self._keyless = {} if key else {"extra_headers": {"Authorization": self._sdk.Omit()}}
        self._schema_accepted, self._limit_name = True, "max_completion_tokens"
        return self._sdk.AsyncOpenAI(api_key=key or "none", **options)

    async def _ask(self, call: Call) -> JudgeReply:
        while True:
            params = self._params(call)
            try:
                return _read_completion(await self._client.chat.completions.create(**params, **self._keyless))
            except self._sdk.APIStatusError as error:
                if error.status_code == 400 and str(error.code) in {"content_filter", "content_policy_violation"}:
                    return JudgeReply("", "refused")
                if error.status_code not in {400, 422, 500, 501} or not self._drop_refused_parameter(
                    params, f"{error.param} {error.body}"
                ):
                    raise

    def _drop_refused_parameter(self, params: Mapping[str, Any], detail: str) -> bool:
        """Whether the server refuses a parameter that was sent, which is left out, or named otherwise, from now on."""
        limit = next((name for name in ("max_completion_tokens", "max_tokens") if name in params), "")
        if "response_format" in params and re.search(r"response_format|json_schema", detail):
            self._schema_accepted = False
        elif limit and limit in detail:
            self._limit_name = "max_tokens" if limit == "max_completion_tokens" and "max_tokens" in detail else ""
        else:
            return False
        return True

    def _params(self, call: Call) -> dict[str, Any]:
        form = {"name": "verdict", "strict": True, "schema": call.schema}
        system = call.system if self._schema_accepted else f"{call.system}\n{_IN_WORDS}\n{json.dumps(call.schema)}"
        params = {
            "model": self.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": call.message}],
            "response_format": {"type": "json_schema", "json_schema": form} if self._schema_accepted else None,
            self._limit_name: call.max_tokens if self._limit_name else None,
            "reasoning_effort": self.effort,
        }
        return {name: value for name, value in params.items() if value is not None}


_IN_WORDS = "Reply with one JSON object and nothing else: no text around it, no fence. It follows this JSON schema:"


def _read_completion(completion: Any) -> JudgeReply:
    """What the SDK's completion says. Where the content is empty, some servers put it into a tool call or reasoning.

    Raises:
        AttributeError: It is none.
    """
    choice, used = (completion.choices or [None])[0], completion.usage
    message = choice.message
    usage = used and _usage(
        input_tokens=used.prompt_tokens,
        output_tokens=used.completion_tokens,
        thinking_tokens=_at(used, "completion_tokens_details", "reasoning_tokens"),
        cache_read_tokens=_at(used, "prompt_tokens_details", "cached_tokens"),
        cache_write_tokens=_at(used, "prompt_tokens_details", "cache_write_tokens"),
    )
    calls = "".join(_at(call, "function", "arguments") or "" for call in message.tool_calls or [])
    candidates = [message.content, calls, _at(message, "reasoning_content"), _at(message, "reasoning")]
    if isinstance(message.content, list):  # of parts {"type": "text", "text": …}
        candidates[0] = "".join(part.get("text") or "" for part in message.content if part.get("type") == "text")
    text = next((text for text in candidates if isinstance(text, str) and text.strip()), "")
    stops = {"length": "truncated", "content_filter": "refused"}
    stop: Any = "refused" if _at(message, "refusal") else stops.get(choice.finish_reason, "end")
    return JudgeReply(text, stop, completion.model, usage)


def _at(value: Any, *path: str) -> Any:
    for name in path:
        value = getattr(value, name, None)
    return value


def _usage(**counts: Any) -> JudgeUsage | None:
    """Tokens of a call; None where they were not counted, or a count is none."""
    if not counts["input_tokens"]:  # no call sends nothing: some servers fill in zeros
        return None
    try:
        return JudgeUsage(**{name: count or 0 for name, count in counts.items()})
    except ValidationError:
        return None


PROVIDERS: Mapping[str, type[SdkModel]] = {"anthropic": AnthropicModel, "openai": OpenAIModel}
"""By the name that `judge.provider` and the prefix of a model give, and by which genai-prices knows the vendor."""
