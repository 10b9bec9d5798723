"""The interface of a judge's backend: one call, one reply."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import InitVar, dataclass, field
from hashlib import sha256
from typing import Any, ClassVar, Literal, NamedTuple, Protocol
from urllib.parse import urlsplit

from evals.schemas.verdicts import JudgeFailure, JudgeUsage
from evals.text.decoding import MAX_DEPTH, parse_json

# Where a judge is reached.


_VERSION = "/v1"
"""Nearly every API has this path, so it distinguishes none; an origin leaves it out."""


def origin_of(url: str) -> str:
    """Scheme, host, port and path of an address: no login and no query, so that it may be saved and shown.

    Two models may be behind two paths of one host, as they often are behind a gateway. A path that is only the API's
    version is left out: `http://127.0.0.1:11434/v1` is `http://127.0.0.1:11434`.
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower() + ("" if path == _VERSION else path)


def problem_with_address(url: str) -> str | None:
    """Why an address cannot be a judge's; None where it can.

    Args:
        url: As configured. It is saved with the run, so it must hold no secret.
    """
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises where it is no number
    except ValueError:
        return "is no URL"
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return "must begin with http:// or https:// and name a host"
    if parts.username is not None or parts.password is not None:
        return "must hold no login: it would be saved with the run; put the key into the environment"
    if parts.query or parts.fragment:
        return "must hold neither ? nor #: a path is appended to it"
    return None


@dataclass(frozen=True, slots=True)
class Identity:
    """Identity of a judge: provider, model, address, effort.

    Attributes:
        model: The model asked for.
        origin: Where it is reached, without credentials.
        provider: By whose API.
        effort: How hard the model should think; None where that is left to the model.
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
        shared: Lengths of those beginnings of the data that other calls with these instructions have too.
        remark: What was wrong with a reply to this, where it is asked again; no part of what decides the reply.
    """

    system: str
    content: str
    schema: dict[str, Any]
    max_tokens: int
    shared: tuple[int, ...] = ()
    remark: str = ""

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
        request_id: The vendor's name for the call, where it gives one.
    """

    text: str
    stop: Literal["end", "refused", "truncated"]
    model: str | None
    usage: JudgeUsage | None
    request_id: str | None = None


@dataclass(eq=False)
class BackendError(Exception):
    """A call that brought no reply.

    Attributes:
        retryable: Whether calling again may help.
        fatal: Whether every further call would fail the same way: no access, no money.
        retry_after_s: How long the vendor asks us to wait.
        unanswered: Whether the request was sent and no complete response came back: it may have to be paid for.
        fatal_if_lasting: Whether it is fatal where calling again, as often as is done for a reply, brought the same.
        usage: Tokens that a response without a reply says it took: they are paid for.
        hint: The way out, where it is fatal and another than correcting the key or the model's name.
    """

    kind: ClassVar[JudgeFailure] = "transport"
    """How the decision counts that it ends."""

    message: InitVar[str]
    retryable: bool = field(default=False, kw_only=True)
    fatal: bool = field(default=False, kw_only=True)
    retry_after_s: float | None = field(default=None, kw_only=True)
    unanswered: bool = field(default=False, kw_only=True)
    fatal_if_lasting: bool = field(default=False, kw_only=True)
    usage: JudgeUsage | None = field(default=None, kw_only=True)
    hint: str | None = field(default=None, kw_only=True)

    def __post_init__(self, message: str) -> None:
        super().__init__(message)


class OverloadedError(BackendError):
    """The vendor accepts no call at the moment."""


class RejectedError(BackendError):
    """The vendor rejects this request."""

    kind = "rejected"


class SpendLimitError(BackendError):
    """The account's spending limit is reached."""

    kind = "spend_limit"


class UnreachableError(BackendError):
    """The connection failed or broke off: where all calls end so, the judge is not there."""


class Backend(Protocol):
    """A way to reach a model. One that tells the model how hard to think says so by an attribute `effort`."""

    model: str
    """The model asked for."""
    origin: str
    """Where it is reached, without credentials: part of the cache key."""

    async def complete(self, call: Call) -> JudgeReply:
        """Make one call.

        Raises:
            BackendError: There is no reply.
        """

    async def aclose(self) -> None:
        """Close connections."""


# Which beginnings of a call the vendor keeps, so that the calls that share them pay a tenth for them.


LIFETIME_S = 300.0
"""So long after its last use a prefix is kept."""


_NEW, _OLD = 4.0, 5.0
"""Characters a token at most, by the tokenizers since Sonnet 5 and before: prose has about 3 and 4. No vendor publishes
them, and a mark that claims too much is worth nothing; text in other scripts has more tokens."""


_LEAST: tuple[tuple[str, int, float], ...] = (
    ("claude-haiku-5-5", 512, _NEW),
    ("claude-haiku-4-5", 4096, _OLD),
    ("claude-sonnet-5", 1024, _NEW),
    ("claude-sonnet-4-6", 1024, _OLD),
    ("claude-sonnet-4-5", 1024, _OLD),
    ("claude-opus-5", 512, _NEW),
    ("claude-opus-4-7", 2048, _OLD),
    ("claude-opus-4-6", 4096, _OLD),
    ("claude-opus-4-5", 4096, _OLD),
    ("claude-fable-5", 512, _NEW),
)
"""By the beginning of a model's name: the tokens of the least prefix (Anthropic's documentation, November 2026)."""


_UNKNOWN = ("", 4096, _OLD)
"""The largest of them."""


class Prefix(NamedTuple):
    """A beginning of a call that is kept: a key that calls which share it have too, and its length over all sent."""

    key: str
    characters: int


def least_characters(model: str) -> int:
    """How long a prefix must be to be kept by a model for certain."""
    _, tokens, a_token = next((row for row in _LEAST if model.startswith(row[0])), _UNKNOWN)
    return round(tokens * a_token)


def kept_prefixes(provider: str, model: str, call: Call) -> list[Prefix]:
    """The beginnings of a call that later calls have too and the vendor keeps, the shortest first.

    Args:
        provider: By whose API the model is reached.
        model: Its name.
        call: What is asked.
    """
    if provider != "anthropic":
        return []
    found = []
    for end in sorted({0, *(min(end, len(call.content)) for end in call.shared)}):
        if len(call.system) + end >= least_characters(model):
            text = [model, call.schema, call.system, call.content[:end]]
            key = sha256(json.dumps(text, sort_keys=True).encode()).hexdigest()
            found.append(Prefix(key, len(call.system) + end))
    return found


# Reading what a judge sent.


_THOUGHTS = ("thinking", "reasoning")
"""Parts of a reply that some models put before what they say."""


_MAX_TOKENS = 10**9
"""Of one call; a larger number is no count."""


_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)|\A(?:(?!<think).)*?</think(?:ing)?>", re.DOTALL)
"""What some models put before their reply; the beginning may be cut off by the server."""


_NO_TEXT = "<no text: "
"""How what is shown begins where a reply held no text; nothing is read from it."""


_MOST_STARTS = 300
"""This many places are tried at which a JSON object may begin."""

_DECODER = json.JSONDecoder()


def text_of(content: Any) -> str:
    """What the model said: a text, or the joined texts of parts `{"type": "text", "text": …}`.

    Anything else gives a remark that is no JSON, so the reply counts as malformed.
    """
    if isinstance(content, list):
        spoken = [part for part in content if _field(part, "type") not in _THOUGHTS]
        if all(map(_is_text, spoken)):
            content = "".join(_field(part, "text") for part in spoken)
    if content is None or isinstance(content, str):
        return _storable(content or "")
    return _storable(f"{_NO_TEXT}{content}>")


def _is_text(part: Any) -> bool:
    return _field(part, "type") == "text" and isinstance(_field(part, "text"), str)


def name_of(model: Any) -> str | None:
    """The model as it names itself; None where that is no text."""
    return _storable(model) if isinstance(model, str) and model else None


def objects_in(text: str) -> list[Any]:
    """What a reply holds of JSON: the value that it is, else the complete objects in it, in their order.

    Thoughts are passed over; so is whatever stands around an object, a fence for example.
    """
    if text.startswith(_NO_TEXT):
        return []
    try:
        return [parse_json(text.encode())]
    except ValueError:
        return list(_embedded(_THOUGHT.sub("", text)))


def _embedded(text: str) -> Iterator[Any]:
    start = text.find("{")
    for _ in range(_MOST_STARTS):
        if start < 0:
            return
        end = start + 1
        with suppress(ValueError, RecursionError):
            _, end = _DECODER.raw_decode(text, start)
            yield parse_json(text[start:end].encode())
        start = text.find("{", end)


def usage_of(usage: Any, places: Mapping[str, str], *, total: bool) -> JudgeUsage | None:
    """Tokens of a call; None where they were not counted, or only in part, or a count is no count.

    Args:
        usage: What the vendor says.
        places: Where it says how many tokens were read (`new`) and written (`output`), which it must; taken from the
            vendor's cache (`read`), put into it (`kept`), and of these for an hour (`kept_1h`); thought, not said.
        total: Whether `new` counts those of the cache too.
    """
    told = {name: _at(usage, place) for name, place in places.items()}
    wanted = [told["new"], told["output"], *(told.get(name) or 0 for name in ("read", "kept"))]
    counts = [count for value in wanted if (count := _count(value)) is not None]
    first, last, hit, kept = counts if len(counts) == len(wanted) else (0, 0, 0, 0)
    if not first + hit + kept:  # no call sends nothing: some servers fill in zeros
        return None
    return JudgeUsage(
        input_tokens=first if total else first + hit + kept,
        output_tokens=last,
        thinking_tokens=_part(told.get("thought"), last),
        cache_read_tokens=hit,
        cache_write_tokens=kept,
        cache_write_1h_tokens=_part(told.get("kept_1h"), kept),
    )


def _at(whole: Any, path: str) -> Any:
    for part in path.split("."):
        whole = getattr(whole, part, None)
    return whole


def error_message(body: Any) -> str:
    """The message in the body of an error, which servers put in different places."""
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    if isinstance(body, dict):
        body = body.get("message") or body.get("error") or body
    return str(body or "")


def _count(value: Any) -> int | None:
    """A number of tokens; None where it is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_TOKENS
    return value if is_count else None


def _part(value: Any, whole: int) -> int:
    """A number of tokens that are among others; 0 where it is none."""
    return min(_count(value) or 0, whole)


def _field(part: Any, name: str) -> Any:
    return part.get(name) if isinstance(part, dict) else getattr(part, name, None)


def _storable(text: str) -> str:
    """The text without what no file can hold: lone surrogates, escaped ones too, and JSON nested too deep to read."""
    text = text.encode("utf-8", "replace").decode()
    if "\\ud" not in text.lower() and text.count("[") + text.count("{") <= MAX_DEPTH:
        return text
    try:
        return json.dumps(parse_json(text.encode()), ensure_ascii=False)
    except ValueError:
        return f"<no JSON> {text}"
