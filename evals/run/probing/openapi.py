"""Which operation of an OpenAPI document asks a question, and the body that it wants."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evals.run.probing.requests import QUESTION, Plan
from evals.run.probing.words import names_in, parts_of, snake

_FIELDS = (
    *("question", "query", "q", "prompt", "user_query", "query_text", "search_query", "user_input", "input", "message"),
    *("text", "content", "ask", "inquiry", "request", "utterance", "search", "term"),
)
_ASKING = names_in("ask query question chat answer rag search completion completions generate invoke run")
_OTHERS = names_in(
    "upload ingest index feedback login auth token health status metrics delete documents files batch stream admin "
    "settings config users embed embeddings rerank evaluate log logs"
)
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
        schema = _body_schema(document, operation)
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
    return 2 * len(parts & _ASKING) - 3 * len(parts & _OTHERS) + len(told & _ASKING) - len(told & _OTHERS)


def _rank(field: str) -> float:
    return 3 - 0.1 * _FIELDS.index(field) if field in _FIELDS else 0.5


def _body_schema(document: Schema, operation: Schema) -> Schema:
    content = _resolved(document, operation.get("requestBody", {})).get("content", {})
    media = content.get("application/json", {}) if isinstance(content, Mapping) else {}
    return _resolved(document, media.get("schema", {}) if isinstance(media, Mapping) else {})


def _resolved(document: Schema, schema: Any) -> Schema:
    """The schema behind references and alternatives; the first alternative that is not null."""
    for _ in range(_DEEPEST):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        several = _alternatives(schema)
        if isinstance(reference, str) and reference.startswith("#/"):
            schema = _referred(document, reference)
        elif several:
            schema = next((each for each in several if each.get("type") != "null"), {})
        else:
            return schema
    return schema if isinstance(schema, Mapping) else {}


def _alternatives(schema: Schema) -> Any:
    return schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")


def _referred(document: Schema, reference: str) -> Any:
    found: Any = document
    for step in reference[2:].split("/"):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _properties(document: Schema, schema: Schema) -> dict[str, Schema]:
    properties = schema.get("properties")
    return (
        {name: _resolved(document, each) for name, each in properties.items()} if isinstance(properties, dict) else {}
    )


def _question_field(document: Schema, schema: Schema) -> str | None:
    """The property that is the question: by its name, else a required text, else the only text, else what holds one."""
    properties = _properties(document, schema)
    texts = [name for name, each in properties.items() if _is_free_text(each)]
    likely = _likely(texts, schema.get("required", ()))
    inner = (name for name, each in properties.items() if _holds_question(document, each))
    return likely[0] if likely else next(inner, None)


def _likely(texts: Sequence[str], required: Any) -> list[str]:
    named = [name for name in _FIELDS if name in texts]
    return [*named, *(name for name in texts if name in required), *(texts if len(texts) == 1 else ())]


def _is_free_text(schema: Schema) -> bool:
    return schema.get("type") == "string" and not {"enum", "format", "const"} & set(schema)


def _holds_question(document: Schema, schema: Schema) -> bool:
    inner = _resolved(document, schema.get("items")) if schema.get("type") == "array" else schema
    return bool(inner.get("properties")) and _question_field(document, inner) is not None


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
    inner = _resolved(document, schema.get("items")) if schema.get("type") == "array" else schema
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
