"""What the API takes as the schema of a structured reply.

A little stricter than the real one: every property must be required (the real API allows a few optional ones), and
``pattern`` is refused altogether.
"""

from collections.abc import Iterator
from typing import Any

_WHERE = "output_config.format.schema"
_KEYWORDS = frozenset(
    [
        "type",
        "enum",
        "const",
        "anyOf",
        "allOf",
        "$ref",
        "$defs",
        "definitions",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minItems",
        "format",
        "description",
        "title",
        "default",
    ]
)
_TYPES = frozenset(["object", "array", "string", "integer", "number", "boolean", "null"])
_FORMATS = frozenset(["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"])


class SchemaError(Exception):
    """The schema is not one that the API takes."""


def resolve(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference into the definitions of the root.

    Raises:
        SchemaError: It leads nowhere, or outside.
    """
    while "$ref" in schema:
        place, _, name = str(schema["$ref"]).rpartition("/")
        definitions = {"#/$defs": "$defs", "#/definitions": "definitions"}.get(place)
        if definitions is None or name not in root.get(definitions, {}):
            raise SchemaError(f"{_WHERE}: Invalid $ref '{schema['$ref']}'")
        schema = root[definitions][name]
    return schema


def check_schema(schema: Any) -> None:
    """Raise for what the API would not compile.

    Raises:
        SchemaError: With the API's kind of sentence.
    """
    if not isinstance(schema, dict):
        raise SchemaError(f"{_WHERE}: Input should be a valid dictionary")
    for name, definition in [*schema.get("$defs", {}).items(), *schema.get("definitions", {}).items()]:
        _check_no_recursion(definition, schema, (name,))
        _check_node(definition, schema)
    _check_node(schema, schema)
    if resolve(schema, schema).get("type") != "object":
        raise SchemaError(f"{_WHERE}: The schema must be of type 'object'")


def property_names(schema: Any) -> Iterator[str]:
    """The names of all properties, at any depth, definitions included."""
    for node in nodes(schema):
        yield from node.get("properties", {})


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """The schema and all schemas in it."""
    if isinstance(schema, dict):
        yield schema
        for child in _children(schema):
            yield from nodes(child)


def _children(schema: dict[str, Any]) -> list[Any]:
    named = [*schema.get("properties", {}).values()]
    named += [*schema.get("$defs", {}).values(), *schema.get("definitions", {}).values()]
    listed = [*schema.get("anyOf", []), *schema.get("allOf", [])]
    return named + listed + ([schema["items"]] if "items" in schema else [])


def _check_node(schema: Any, root: dict[str, Any]) -> None:
    if not isinstance(schema, dict):
        raise SchemaError(f"{_WHERE}: Input should be a valid dictionary")
    for keyword in sorted(schema.keys() - _KEYWORDS):
        raise SchemaError(f"{_WHERE}: For '{schema.get('type')}' type, property '{keyword}' is not supported")
    resolve(schema, root)
    _check_kind(schema)
    _check_values(schema)
    if schema.get("type") == "object":
        _check_object(schema)
    for child in _children(schema):
        _check_node(child, root)


def _check_kind(schema: dict[str, Any]) -> None:
    if not schema.keys() & {"type", "enum", "const", "anyOf", "allOf", "$ref"}:
        raise SchemaError(f"{_WHERE}: Schema must have a 'type', 'enum', 'const', 'anyOf', 'allOf' or '$ref'")
    kinds = schema.get("type", [])
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if kind not in _TYPES:
            raise SchemaError(f"{_WHERE}: '{kind}' is not a valid type")


def _check_values(schema: dict[str, Any]) -> None:
    if "enum" in schema and not (isinstance(schema["enum"], list) and schema["enum"]):
        raise SchemaError(f"{_WHERE}: 'enum' must be a non-empty list")
    if any(isinstance(value, (dict, list)) for value in schema.get("enum", [])):
        raise SchemaError(f"{_WHERE}: Complex values in 'enum' are not supported")
    if schema.get("minItems", 0) not in (0, 1):
        raise SchemaError(f"{_WHERE}: For 'array' type, 'minItems' values other than 0 or 1 are not supported")
    if "format" in schema and schema["format"] not in _FORMATS:
        raise SchemaError(f"{_WHERE}: For 'string' type, format '{schema['format']}' is not supported")
    if schema.get("type") == "array" and "items" not in schema:
        raise SchemaError(f"{_WHERE}: For 'array' type, 'items' is required")


def _check_object(schema: dict[str, Any]) -> None:
    if schema.get("additionalProperties") is not False:
        raise SchemaError(f"{_WHERE}: For 'object' type, 'additionalProperties' must be explicitly set to false")
    if set(schema.get("properties", {})) != set(schema.get("required", [])):
        raise SchemaError(f"{_WHERE}: For 'object' type, 'required' must list every property")


def _check_no_recursion(schema: Any, root: dict[str, Any], path: tuple[str, ...]) -> None:
    for node in nodes(schema):
        if "$ref" not in node:
            continue
        name = str(node["$ref"]).rpartition("/")[2]
        if name in path:
            raise SchemaError(f"{_WHERE}: Recursive schemas are not supported")
        target = {**root.get("$defs", {}), **root.get("definitions", {})}.get(name)
        _check_no_recursion(target, root, (*path, name))
