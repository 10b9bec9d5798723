"""What a judge's backend is: one call, one reply."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar, Literal, Protocol
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
    """Who judges.

    Attributes:
        model: The model asked for.
        origin: Where it is reached, without credentials.
        provider: By whose API.
        effort: How hard it is told to think; None where that is left to the model.
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
        """What the user says: the data, and behind it the remark."""
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


class BackendError(Exception):
    """A call that brought no reply.

    Attributes:
        retryable: Whether calling again may help.
        fatal: Whether every further call would fail the same way: no access, no money.
        retry_after_s: How long the vendor asks us to wait.
        unanswered: Whether the request was sent and no complete response came back: it may have to be paid for.
        fatal_if_lasting: Whether it is fatal where calling again, as often as is done for a reply, brought the same.
        usage: Tokens that a response without a reply says it took: they are paid for.
        hint: The way out, where it is fatal and another than to mend the key or the model's name.
    """

    kind: ClassVar[JudgeFailure] = "transport"
    """How the decision counts that it ends."""

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        fatal: bool = False,
        retry_after_s: float | None = None,
        unanswered: bool = False,
        fatal_if_lasting: bool = False,
        usage: JudgeUsage | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.fatal = fatal
        self.retry_after_s = retry_after_s
        self.unanswered = unanswered
        self.fatal_if_lasting = fatal_if_lasting
        self.usage = usage
        self.hint = hint
        self.field: str | None = None
        """The part of the request that the vendor dislikes, where it names one."""


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


@dataclass(frozen=True, slots=True)
class Prefix:
    """A beginning of a call that is kept.

    Attributes:
        key: The same for calls that share it.
        characters: Its length, over instructions and data.
    """

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
    ends = sorted({0, *(min(end, len(call.content)) for end in call.shared)})
    least = least_characters(model)
    lengths = [len(call.system) + end for end in ends if len(call.system) + end >= least]
    return [Prefix(_key(model, call, length), length) for length in lengths]


def _key(model: str, call: Call, length: int) -> str:
    text = [model, call.schema, call.system, call.content[: length - len(call.system)]]
    return sha256(json.dumps(text, sort_keys=True).encode()).hexdigest()


def cut_at(text: str, ends: Sequence[int]) -> list[str]:
    """The text in pieces that end there; what follows the last end is a piece too, where there is something."""
    starts = (0, *ends)
    pieces = [text[start:end] for start, end in zip(starts, (*ends, len(text)), strict=True)]
    return [piece for piece in pieces if piece]


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
"""So many places are tried at which a JSON object may begin."""

_DECODER = json.JSONDecoder()

_LONGEST_FIELD = 80

_FIELD = re.compile(r"([a-z_][\w.\[\]]{0,79}): ")

_FIELD_NAMED = re.compile(r"(?:parameter|argument|field|input)s?(?: \w+)?:? ['\"`]?([a-z_]\w{2,60})")

_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*\w*")


def text_of(content: Any, *, fenced: bool = False) -> str:
    """What the model said, as text.

    Args:
        content: A text, or a list of parts `{"type": "text", "text": …}`, which are joined.
        fenced: Whether a Markdown fence around all of it is removed; local models often add one.

    Returns:
        The text. Anything else gives a remark that is no JSON, so the reply counts as malformed.
    """
    text = _text_of(content)
    return _storable(_without_fence(text) if fenced else text)


def _text_of(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        spoken = [part for part in content if _field(part, "type") not in _THOUGHTS]
        if all(map(_is_text, spoken)):
            return "".join(_field(part, "text") for part in spoken)
    return f"{_NO_TEXT}{content}>"


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


def _without_fence(text: str) -> str:
    inner = text.strip()
    opening = _FENCE.match(inner)
    if opening is None or len(inner) < opening.end() + len(opening[1]) or not inner.endswith(opening[1]):
        return text
    return inner[opening.end() : -len(opening[1])].strip()


def usage_of(
    new: Any,
    output: Any,
    *,
    read: Any = None,
    written: Any = None,
    written_1h: Any = None,
    thought: Any = None,
    total: bool,
) -> JudgeUsage | None:
    """Tokens of a call; None where they were not counted, or only in part, or a count is no count.

    Args:
        new: Tokens read from the request.
        output: Tokens written.
        read: Tokens taken from the vendor's cache.
        written: Tokens put into it.
        written_1h: Those of them that it keeps for an hour.
        thought: Tokens of the output that were not said; no count is as good as none.
        total: Whether `new` counts those of the cache too.
    """
    if new is None or output is None:
        return None
    counts = [_count(value) for value in (new, output, read, written)]
    if None in counts:
        return None
    first, last, hit, kept = (count or 0 for count in counts)
    if not first + hit + kept:  # no call sends nothing: some servers fill in zeros
        return None
    return JudgeUsage(
        input_tokens=first if total else first + hit + kept,
        output_tokens=last,
        thinking_tokens=min(_count(thought) or 0, last),
        cache_read_tokens=hit,
        cache_write_tokens=kept,
        cache_write_1h_tokens=min(_count(written_1h) or 0, kept),
    )


def error_message(body: Any) -> str:
    """The message in the body of an error, which servers put in different places."""
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    if isinstance(body, dict):
        body = body.get("message") or body.get("error") or body
    return str(body or "")


def error_field(body: Any) -> str | None:
    """The field of the request that an error is about, as servers name it; None where none does.

    By `param`, by the place that FastAPI gives, or by the beginning of the message: "max_tokens: Input should be …".
    """
    error = body.get("error") if isinstance(body, dict) and isinstance(body.get("error"), dict) else body
    if isinstance(error, dict):
        if isinstance(error.get("param"), str) and error["param"]:
            return _storable(error["param"][:_LONGEST_FIELD])
        if (place := _place_of(error.get("detail"))) is not None:
            return place
    named = _FIELD.match(error_message(body)) or _FIELD_NAMED.search(error_message(body))
    return named[1] if named else None


def _place_of(detail: Any) -> str | None:
    first = detail[0] if isinstance(detail, list) and detail else None
    place = first.get("loc") if isinstance(first, dict) else None
    if not isinstance(place, list):
        return None
    return ".".join(str(part) for part in place if part != "body")[:_LONGEST_FIELD] or None


def _count(value: Any) -> int | None:
    """A number of tokens: 0 where none is given, None where it is none."""
    if value is None:
        return 0
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_TOKENS
    return value if is_count else None


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
