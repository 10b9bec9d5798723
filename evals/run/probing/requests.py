"""The request that may ask a question: what is known of it, and where from."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evals.inputs.json_body import parse_json

QUESTION = "{{question}}"
_QUOTED = re.compile(r"[\"'`]([A-Za-z_][\w.-]{0,40})[\"'`]")
_ABOUT_MISSING = re.compile(r"miss|requir|expect|need|lack|absent|must|not found|unknown", re.IGNORECASE)
_NAMED = re.compile(r"\b(?:field|parameter|key|property)\s+(\w+)")
_IS_MISSING = re.compile(
    r"(?<![\w.-])([A-Za-z_]\w*(?:\.\w+)*)\s+(?:is|was)\s+(?:missing|required|absent)\b", re.IGNORECASE
)
_NO_NAMES = frozenset(
    {"field", "parameter", "key", "property", "value", "it", "this", "that", "which", "what", "token", "is", "was"}
)
_WORDS_OF_JSON = frozenset(
    {"detail", "error", "message", "type", "loc", "msg", "input", "missing", "code", "status", "body", "url", "ctx"}
)


@dataclass(frozen=True, slots=True)
class Plan:
    """A request.

    Attributes:
        method: HTTP method.
        path: Below the server's URL.
        body: JSON with {{question}} in it; None for a request without.
        query: Parameters of the URL.
        source: What it was made of, in words.
        profile: The built-in profile that it is of; None where it is of none.
        doubts: What of it is a guess, in words.
    """

    method: str
    path: str
    body: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    profile: str | None = None
    doubts: Sequence[str] = ()

    @property
    def told(self) -> str:
        """What is sent, and why, for whoever watches."""
        guess = f"; guess: {', '.join(self.doubts)}" if self.doubts else ""
        sent = dict(self.query) if self.body is None else self.body
        return f"{self.method} {self.path} with {json.dumps(sent, ensure_ascii=False)} ({self.source}{guess})"

    @property
    def ask(self) -> dict[str, Any]:
        """As `server.ask` of a configuration."""
        keys: dict[str, Any] = {} if self.method == "POST" else {"method": self.method}
        keys["path"] = self.path
        if self.query:
            keys["query"] = dict(self.query)
        if self.body is not None:
            keys["json"] = self.body
        return keys


def missing_fields(said: bytes) -> list[tuple[str, ...]]:
    """The paths of the fields that a refusal says it misses, as web frameworks and people write it."""
    try:
        body = parse_json(said)
    except ValueError:
        return _quoted(said.decode("utf-8", "replace"))
    located = list(_located(body))
    return located or [path for text in _texts(body) for path in _quoted(text)]


def _located(body: Any) -> list[tuple[str, ...]]:
    """The fields of `{"detail": [{"loc": ["body", "question"], "type": "missing"}]}`."""
    details = body.get("detail") if isinstance(body, Mapping) else None
    items = [item for item in details if isinstance(item, Mapping)] if isinstance(details, list) else []
    paths = [tuple(map(str, item.get("loc") or ())) for item in items]
    return [path[1:] for path in paths if len(path) > 1]


def _texts(body: Any) -> list[str]:
    if isinstance(body, str):
        return [body]
    items = body.values() if isinstance(body, Mapping) else body if isinstance(body, list) else ()
    return [text for item in items for text in _texts(item)]


def _quoted(text: str) -> list[tuple[str, ...]]:
    if not _ABOUT_MISSING.search(text):
        return []
    quoted = [name for name in _QUOTED.findall(text) if name not in _WORDS_OF_JSON]
    named = [] if quoted else [*_NAMED.findall(text), *_IS_MISSING.findall(text)]
    named = [name for name in named if name.lower() not in _NO_NAMES | _WORDS_OF_JSON]
    return [tuple(name.split(".")) for name in dict.fromkeys([*quoted, *named])]


def with_field(plan: Plan, path: Sequence[str]) -> Plan:
    """The request with the question at the field that was missed, which is no longer that of a profile."""
    value: Any = QUESTION
    for step in reversed(path):
        value = {step: value}
    source = f"the refusal, which names {'.'.join(path)}"
    if plan.method == "GET":
        return replace(plan, query={path[-1]: QUESTION}, source=source, profile=None)
    return replace(plan, body=value, source=source, profile=None)
