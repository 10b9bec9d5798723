"""A value that a schema allows, the same at every call."""

from typing import Any

_PLAIN: dict[str, Any] = {"boolean": False, "integer": 0, "number": 0}


def fill(schema: dict[str, Any], name: str = "value") -> Any:
    """The first value of an enum, false, 0, a short text, one item in an array; properties in their order."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        return {key: fill(value, key) for key, value in schema.get("properties", {}).items()}
    if schema["type"] == "array":
        return [fill(schema["items"], name)]
    return _PLAIN.get(schema["type"], f"loopback {name}")
