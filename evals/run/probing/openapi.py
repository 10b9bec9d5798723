"""Which operation of an OpenAPI document asks a question, and the body that it wants."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from evals.run.probing.fields import IN_ORDER, NAMES, parts_of, snake
from evals.text.decoding import parse_json

# The request that may ask a question: what is known of it, and where from.


QUESTION = "{{question}}"

_ABOUT_MISSING = re.compile(r"miss|requir|expect|need|lack|absent|must|not found|unknown", re.IGNORECASE)

_QUOTED = re.compile(r"[\"'`]([A-Za-z_][\w.-]{0,40})[\"'`]")

_IS_MISSING = re.compile(r"(?<![\w.-])([A-Za-z_][\w.]*)\s+(?:is|was)\s+(?:missing|required|absent)\b", re.IGNORECASE)

_NO_NAMES = frozenset(
    [
        "field",
        "parameter",
        "key",
        "property",
        "value",
        "it",
        "this",
        "that",
        "which",
        "what",
        "token",
        "is",
        "was",
        "detail",
        "error",
        "message",
        "type",
        "loc",
        "msg",
        "input",
        "missing",
        "code",
        "status",
        "body",
        "url",
        "ctx",
    ]
)
"""Words of refusals, and of their JSON."""


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
    return _located(body) or [path for text in _texts(body) for path in _quoted(text)]


def _located(body: Any) -> list[tuple[str, ...]]:
    """The fields of `{"detail": [{"loc": ["body", "question"], "type": "missing"}]}`."""
    details = body.get("detail") if isinstance(body, Mapping) else None
    items = [item for item in details if isinstance(item, Mapping)] if isinstance(details, list) else []
    return [path for path in (tuple(map(str, item.get("loc") or ()))[1:] for item in items) if path]


def _texts(body: Any) -> list[str]:
    if isinstance(body, str):
        return [body]
    items = body.values() if isinstance(body, Mapping) else body if isinstance(body, list) else ()
    return [text for item in items for text in _texts(item)]


def _quoted(text: str) -> list[tuple[str, ...]]:
    names = _QUOTED.findall(text) or _IS_MISSING.findall(text) if _ABOUT_MISSING.search(text) else []
    return [tuple(name.split(".")) for name in dict.fromkeys(names) if name.lower() not in _NO_NAMES]


def with_field(plan: Plan, path: Sequence[str]) -> Plan:
    """The request with the question at the field that was missed, which is no longer that of a profile."""
    value: Any = QUESTION
    for step in reversed(path):
        value = {step: value}
    source = f"the refusal, which names {'.'.join(path)}"
    if plan.method == "GET":
        return replace(plan, query={path[-1]: QUESTION}, source=source, profile=None)
    return replace(plan, body=value, source=source, profile=None)


# Which requests the probe may send: some freely, some with somebody's assent, some never.


USUAL = ("/query", "/ask", "/chat", "/api/chat", "/api/query", "/api/ask", "/v1/query", "/rag", "/answer", "/search")
"""Paths that ask a question on most servers that have them."""


Assent = Callable[[Sequence[Plan]], Sequence[Plan]]
"""Gets the requests that need assent; returns those that may be sent."""


@dataclass(slots=True)
class Candidates:
    """The requests that may ask the question, the likeliest first.

    Attributes:
        free: To paths of built-in profiles, to usual paths, and to the path that the user named.
        others: To all other paths; they need assent.
        never: To operations that change something, each with the word that says so.
    """

    free: list[Plan] = field(default_factory=list)
    others: list[Plan] = field(default_factory=list)
    never: dict[str, str] = field(default_factory=dict)

    @property
    def named_never(self) -> str:
        """The operations that are never called, each with its word, in one line."""
        return ", ".join(f"{name} ({word})" for name, word in self.never.items())


def sort_out(
    plans: Sequence[Plan], document: Mapping[str, Any], of_profiles: Collection[str], named: str | None
) -> Candidates:
    """Sort requests by what they need before they may be sent.

    Args:
        plans: The requests.
        document: OpenAPI, whose operationIds count in addition to the paths; empty without one.
        of_profiles: The paths of built-in profiles.
        named: The path in the URL; None without one.
    """
    found = Candidates()
    for plan in plans:
        words = NAMES["changes"] if plan.path in of_profiles else NAMES["changes"] | NAMES["changes_elsewhere"]
        told = parts_of(f"{plan.path} {_operation_id(document, plan)}")
        word = next((part for part in told if part in words), None)
        if word is not None:
            found.never[f"{plan.method} {plan.path}"] = word
        elif plan.path == named or plan.path in of_profiles or plan.path in USUAL:
            found.free.append(plan)
        else:
            found.others.append(plan)
    return found


def _operation_id(document: Mapping[str, Any], plan: Plan) -> str:
    path = plan.path.rstrip("/")
    for name, operations in document.get("paths", {}).items():
        if name.rstrip("/") == path and isinstance(operations, Mapping):
            operation = operations.get(plan.method.lower())
            return str(operation.get("operationId", "")) if isinstance(operation, Mapping) else ""
    return ""


_FIELDS = IN_ORDER["question_fields"]

_WANTED = ("include", "return", "with")

_DEEPEST = 5

Schema = Mapping[str, Any]


def plans_of(document: Mapping[str, Any], only: str | None = None) -> list[Plan]:
    """The operations that may ask a question, the likeliest first.

    Args:
        document: OpenAPI 3.
        only: A path, where only its operations matter.
    """
    weighed = []
    paths = document.get("paths")
    for path, operations in paths.items() if isinstance(paths, Mapping) else ():
        if "{" in path or (only is not None and path != only) or not isinstance(operations, Mapping):
            continue
        for method in ("post", "get"):
            if isinstance(operations.get(method), Mapping):
                weighed += list(_plans(document, path, method, operations[method]))
    return [plan for _, plan in sorted(weighed, key=lambda item: -item[0])]


def paths_of(document: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Every method and path that it has."""
    paths = document.get("paths")
    named = paths.items() if isinstance(paths, Mapping) else ()
    return {(method.upper(), path) for path, each in named if isinstance(each, Mapping) for method in each}


def _plans(document: Schema, path: str, method: str, operation: Schema) -> Iterator[tuple[float, Plan]]:
    weight = _weight(path, operation)
    if method == "post":
        schema = _resolved(document, operation.get("requestBody"))
        for key in ("content", "application/json", "schema"):
            schema = _resolved(document, schema.get(key))
        field = _question_field(document, schema)
        if field is not None:
            body = _example(document, schema, field, _DEEPEST)
            doubts = () if field in _FIELDS[:2] else (f"the question goes into {field!r}",)
            yield weight + _rank(field), Plan("POST", path, body, source="OpenAPI", doubts=doubts)
        return
    names = [each.get("name") for each in operation.get("parameters", ()) if isinstance(each, Mapping)]
    field = next((name for name in _FIELDS if name in names), None)
    if field is not None:
        yield weight + _rank(field) - 0.5, Plan("GET", path, query={field: QUESTION}, source="OpenAPI")


def _weight(path: str, operation: Schema) -> float:
    parts = set(parts_of(path))
    told = set(parts_of(f"{operation.get('operationId', '')} {operation.get('summary', '')}"))
    asking, others = NAMES["asking"], NAMES["other_operations"]
    return 2 * len(parts & asking) - 3 * len(parts & others) + len(told & asking) - len(told & others)


def _rank(field: str) -> float:
    return 3 - 0.1 * _FIELDS.index(field) if field in _FIELDS else 0.5


def _resolved(document: Schema, schema: Any) -> Schema:
    """The schema behind references and alternatives; the first alternative that is not null."""
    for _ in range(_DEEPEST):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        several = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
        if isinstance(reference, str) and reference.startswith("#/"):
            schema = reduce(_below, reference[2:].split("/"), document)
        elif several:
            schema = next((each for each in several if each.get("type") != "null"), {})
        else:
            return schema
    return schema if isinstance(schema, Mapping) else {}


def _below(schema: Any, step: str) -> Any:
    return schema.get(step) if isinstance(schema, Mapping) else None


def _properties(document: Schema, schema: Schema) -> dict[str, Schema]:
    properties = schema.get("properties")
    return (
        {name: _resolved(document, each) for name, each in properties.items()} if isinstance(properties, dict) else {}
    )


def _question_field(document: Schema, schema: Schema) -> str | None:
    """The property that is the question: by its name, else a required text, else the only text, else what holds one."""
    properties = _properties(document, schema)
    texts = [name for name, each in properties.items() if _is_free_text(each)]
    required = [name for name in texts if name in schema.get("required", ())]
    likely = [*(name for name in _FIELDS if name in texts), *required, *(texts if len(texts) == 1 else ())]
    inner = (name for name, each in properties.items() if _question_field(document, _item(document, each)) is not None)
    return likely[0] if likely else next(inner, None)


def _is_free_text(schema: Schema) -> bool:
    return schema.get("type") == "string" and not {"enum", "format", "const"} & set(schema)


def _item(document: Schema, schema: Schema) -> Schema:
    """What a list holds; of anything else the schema itself."""
    return _resolved(document, schema.get("items")) if schema.get("type") == "array" else schema


def _example(document: Schema, schema: Schema, field: str, depth: int) -> dict[str, Any]:
    """A body with the question, what is required, and what asks for chunks in one piece."""
    required = schema.get("required", ())
    body: dict[str, Any] = {}
    for name, each in _properties(document, schema).items():
        if name == field:
            body[name] = _with_question(document, each, depth)
        elif name == "stream" and each.get("type") == "boolean":
            body[name] = False
        elif each.get("type") == "boolean" and snake(name).startswith(_WANTED):
            body[name] = True
        elif name in required:
            body[name] = _value(document, each, depth)
    return body


def _with_question(document: Schema, schema: Schema, depth: int) -> Any:
    if schema.get("type") == "string" or not depth:
        return QUESTION
    inner = _item(document, schema)
    field = _question_field(document, inner)
    value = _example(document, inner, field, depth - 1) if field else QUESTION
    return [value] if schema.get("type") == "array" else value


def _value(document: Schema, schema: Schema, depth: int) -> Any:
    """Something that a required property may be: its default, its example, its first choice, else an empty value."""
    for key in ("default", "example", "const"):
        if key in schema:
            return schema[key]
    choices = schema.get("enum") or schema.get("examples")
    if choices:
        return "user" if "user" in choices else choices[0]
    if schema.get("type") == "object" and depth:
        required = schema.get("required", ())
        inner = _properties(document, schema).items()
        return {name: _value(document, each, depth - 1) for name, each in inner if name in required}
    empty: dict[str, Any] = {"string": "probe", "boolean": False, "array": [], "object": {}}
    number = schema.get("minimum", 1)
    return empty.get(str(schema.get("type")), number)
