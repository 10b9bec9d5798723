"""A value that a schema allows, the same at every call."""

from typing import Any

from messages_api.schema_rules import resolve

_PLAIN: dict[str, Any] = {"boolean": False, "integer": 0, "number": 0, "null": None}


def fill(schema: dict[str, Any], root: dict[str, Any] | None = None, name: str = "value") -> Any:
    """The first value of an enum, false, 0, a short text, one item in an array; properties in their order."""
    root = root or schema
    schema = resolve(schema, root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for keyword in ("anyOf", "allOf"):
        if keyword in schema:
            return fill(schema[keyword][0], root, name)
    kind = schema["type"][0] if isinstance(schema["type"], list) else schema["type"]
    if kind == "object":
        return {key: fill(value, root, key) for key, value in schema.get("properties", {}).items()}
    if kind == "array":
        return [fill(schema["items"], root, name)]
    return _PLAIN.get(kind, f"loopback {name}")
