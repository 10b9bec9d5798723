"""Reading what a judge sent. The SDKs check no response, so any part of it may have another type than documented."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from evals.inputs.json_body import MAX_DEPTH, parse_json
from evals.schemas.verdicts import JudgeUsage

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
