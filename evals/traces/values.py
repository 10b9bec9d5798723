"""What values of a trace say: the text of a question or an answer, documents, times, tokens.

Exports hold texts as they are, as JSON in a text, as messages, or in an object under one of a few names.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence, Sized
from datetime import UTC, datetime
from math import isnan
from typing import Any, Literal

from evals.datasets.columns import ASSISTANT, USER, role_and_content
from evals.schemas.response import RetrievedChunk, TokenUsage
from evals.text.numbers import number_or_none
from evals.text.tokens import lists_of
from evals.traces.spans import Documents

NAMES = {
    table: {name: tuple(words.split()) for name, words in row.items()} for table, row in lists_of("traces").items()
}
"""Names of attributes, of kinds of spans, and of keys of objects, the likeliest first."""
_KEYS = NAMES["keys"]
_NAME = re.compile(r"\w+://\S+|\S{1,200}\.[A-Za-z][A-Za-z0-9]{1,4}")
"""A URL, or the name of a file with its ending: no text."""


def decoded(value: Any) -> Any:
    """The value of a text that holds JSON; any other value as it is."""
    if not isinstance(value, str) or value[:1] not in ("{", "[", '"'):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def first_of(holder: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The first value of these names that says something; None where none does."""
    return next((holder[name] for name in names if not is_empty(holder.get(name))), None)


def is_empty(value: Any) -> bool:
    """Whether a value says nothing: None, an empty text or list, or a cell without a number."""
    return value is None or (isinstance(value, float) and isnan(value)) or (isinstance(value, Sized) and not len(value))


def text_of(value: Any, what: Literal["question", "answer"]) -> str | None:
    """The text of a question or an answer; None where none can be told."""
    value = decoded(value)
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, list):
        return _of_messages(value, what)
    if not isinstance(value, Mapping):
        return None
    if not is_empty(messages := first_of(value, _KEYS["messages"])):
        return text_of(messages, what)
    if isinstance(choices := value.get("choices"), list) and choices:
        return text_of([choice.get("message") for choice in choices[:1] if isinstance(choice, Mapping)], what)
    return next((text for key in _KEYS[what] if (text := text_of(value.get(key), what))), None) or _only_text(value)


def _only_text(value: Mapping[str, Any]) -> str | None:
    texts = [item for item in value.values() if isinstance(item, str) and item.strip()]
    return texts[0] if len(texts) == 1 and len(value) == 1 else None


def _of_messages(items: Sequence[Any], what: Literal["question", "answer"]) -> str | None:
    """The text of the last message of the user, or of the assistant; of parts without roles, all their texts."""
    messages = [role_and_content(item) for item in items]
    role = USER if what == "question" else ASSISTANT
    named = [content for whose, content in messages if whose == role]
    if named:
        return text_of(named[-1], what)
    if any(whose for whose, _ in messages):
        return None
    return "\n".join(text for _, content in messages if (text := text_of(content, what))) or None


def documents_of(value: Any) -> Documents | None:
    """The documents of a list, or of an object that holds one; None where nothing says what was retrieved."""
    value = decoded(value)
    if isinstance(value, Mapping):
        held = next((value[name] for name in _KEYS["documents"] if name in value), None)
        return Documents(unreadable=1) if held is None else documents_of(held)
    if value is None:
        return None
    if not isinstance(value, list):
        return Documents(unreadable=1)
    chunks = [chunk_of(item) for item in value]
    return Documents(tuple(chunk for chunk in chunks if chunk is not None), chunks.count(None))


def chunk_of(item: Any) -> RetrievedChunk | None:
    """A retrieved document; one without a text is known by its id. None where it has neither."""
    item = decoded(item)
    if isinstance(item, str):
        named = {"document_id": item.strip()} if _NAME.fullmatch(item.strip()) else {"text": item}
        return RetrievedChunk(**named) if item.strip() else None
    if not isinstance(item, Mapping):
        return None
    for wrapper in ("document", "node"):
        if isinstance(item.get(wrapper), Mapping):
            item = {**item, **item[wrapper]}
    about = decoded(first_of(item, ("document.metadata", "metadata")))
    places = [holder for holder in (about, item) if isinstance(holder, Mapping)]
    text, chunk_id = first_of(item, _KEYS["text"]), first_of(item, _KEYS["id"])
    document = next((place for holder in places if (place := first_of(holder, _KEYS["place"])) is not None), None)
    if not isinstance(text, str) and chunk_id is None and document is None:
        return None
    score = first_of(item, _KEYS["score"])
    return RetrievedChunk(
        chunk_id=None if chunk_id is None else str(chunk_id),
        document_id=None if document is None else str(document),
        text=text if isinstance(text, str) and text.strip() else None,
        score=float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None,
    )


def message_of(value: Any) -> str:
    """What an export says of a failure, as text."""
    return "error" if is_empty(value) else value if isinstance(value, str) else json.dumps(value, default=str)


def name_of(value: Any) -> str | None:
    """The name of a model or the id of a span or a conversation, which may be a number; None where there is none."""
    return None if is_empty(value) else str(value)


def usage_of(holder: Any) -> TokenUsage | None:
    """The tokens that an object counts; None where it counts none."""
    holder = decoded(holder)
    if not isinstance(holder, Mapping):
        return None
    names = (_KEYS[f"{part}_tokens"] for part in ("prompt", "completion", "cached"))
    counts = [_count(first_of(holder, keys)) for keys in names]
    if counts[0] is None and counts[1] is None:
        return None
    return TokenUsage(prompt_tokens=counts[0] or 0, completion_tokens=counts[1] or 0, cached_tokens=counts[2])


def _count(value: Any) -> int | None:
    number = number_of(value)
    return None if number is None or number < 0 else int(number)


def number_of(value: Any) -> float | None:
    """A number, also one that is written as a text, such as a time in nanoseconds; None for anything else."""
    return number_or_none(value, 1e30)


_SCALES = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From here on a number of time is in nanoseconds, microseconds, milliseconds."""

_EARLIEST, _LATEST = 1e8, 7.3e9
"""Seconds from 1973 to 2201: what lies outside is no time of a log."""


def time_of(value: Any) -> float | None:
    """Seconds since 1970 of a date, of a text in ISO 8601, or of a number in s, ms, µs or ns; None for anything else.

    A time without a zone is one of UTC; eight digits are a date, YYYYMMDD.
    """
    number = number_of(value)
    if number is not None and not 1e7 <= number < _EARLIEST:
        seconds = next((number / scale for least, scale in _SCALES if number >= least), number)
    else:
        try:
            moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).strip())
            seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (OverflowError, ValueError):
            return None
    return seconds if _EARLIEST <= seconds <= _LATEST else None
