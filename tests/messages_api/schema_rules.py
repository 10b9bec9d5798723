"""What the API takes as the schema of a structured reply, as far as our prompts use it; stricter than the API."""

from collections.abc import Iterator
from typing import Any

_TYPES = {"object", "array", "string", "integer", "number", "boolean"}
_KEYWORDS = {"type", "enum", "properties", "required", "additionalProperties", "items", "description"}


class SchemaError(Exception):
    """The schema is not one that the API takes."""


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """The schema and all schemas in it."""
    if isinstance(schema, dict):
        yield schema
        for child in [*schema.get("properties", {}).values(), schema.get("items")]:
            yield from nodes(child)


def property_names(schema: Any) -> Iterator[str]:
    """The names of all properties, at any depth."""
    for node in nodes(schema):
        yield from node.get("properties", {})


def check_schema(schema: Any) -> None:
    """Raise for what the API would not compile.

    Raises:
        SchemaError: With the API's kind of sentence.
    """
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise SchemaError("output_config.format.schema: The schema must be of type 'object'")
    for node in nodes(schema):
        kind = node.get("type")
        if wrong := sorted(node.keys() - _KEYWORDS):
            raise SchemaError(f"For '{kind}' type, property '{wrong[0]}' is not supported")
        if kind not in _TYPES or (kind == "array") != ("items" in node):
            raise SchemaError(f"'{kind}' is not a valid type, or 'items' is required")
        if "enum" in node and not (node["enum"] and all(isinstance(value, str) for value in node["enum"])):
            raise SchemaError("'enum' must be a non-empty list of texts")
        if kind == "object" and node.get("additionalProperties") is not False:
            raise SchemaError("For 'object' type, 'additionalProperties' must be explicitly set to false")
        if kind == "object" and set(node.get("properties", {})) != set(node.get("required", [])):
            raise SchemaError("For 'object' type, 'required' must list every property")
