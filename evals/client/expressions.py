"""JMESPath expressions, compiled once.

The library parses every expression and defines what it means. The shapes that profiles are made of (fields,
projections, multi-selects, alternatives) are turned into closures, because the library's interpreter takes longer for
an answer than parsing its JSON; every other shape is evaluated by the library, with the functions of `functions`.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError

from evals.client.functions import OPTIONS, check_calls
from evals.credentials.known import masked
from evals.errors import ConfigError

Search = Callable[[Any], Any]


@lru_cache(maxsize=256)
def compiled(expression: str) -> Search:
    """Compile a JMESPath expression to a function of the body.

    Raises:
        ConfigError: It is not valid JMESPath, or calls a function that there is not.
    """
    try:
        parsed = jmespath.compile(expression)
        check_calls(parsed.parsed)
    except JMESPathError as error:
        if masked(expression) != expression:  # what the library says may hold a part of it
            raise ConfigError("not a valid JMESPath expression: it holds a value of the environment") from None
        first = str(error).partition("\n")[0]
        raise ConfigError(f"not a valid JMESPath expression: {expression!r} ({first})") from error
    return _closure(parsed.parsed) or (lambda body: parsed.search(body, OPTIONS))


def _closure(node: Mapping[str, Any]) -> Search | None:
    """The node as a function, or None where it is of a shape that the library evaluates."""
    build = _BUILDERS.get(node["type"])
    if build is None:
        return None
    parts = [_closure(child) for child in node["children"]]
    if any(part is None for part in parts):
        return None
    return build(node, [part for part in parts if part is not None])


def _field(node: Mapping[str, Any], parts: list[Search]) -> Search:
    name = node["value"]
    return lambda value: value.get(name) if isinstance(value, dict) else None


def _chain(node: Mapping[str, Any], parts: list[Search]) -> Search:
    def search(value: Any) -> Any:
        for part in parts:
            value = part(value)
        return value

    return search


def _flatten(node: Mapping[str, Any], parts: list[Search]) -> Search:
    (base,) = parts

    def search(value: Any) -> Any:
        found = base(value)
        if not isinstance(found, list):
            return None
        flat: list[Any] = []
        for item in found:
            if isinstance(item, list):
                flat.extend(item)
            else:
                flat.append(item)
        return flat

    return search


def _projection(node: Mapping[str, Any], parts: list[Search]) -> Search:
    base, each = parts

    def search(value: Any) -> Any:
        found = base(value)
        if not isinstance(found, list):
            return None
        results = (each(item) for item in found)
        return [result for result in results if result is not None]

    return search


def _multi_select(node: Mapping[str, Any], parts: list[Search]) -> Search:
    pairs = [(child["value"], part) for child, part in zip(node["children"], parts, strict=True)]
    return lambda value: None if value is None else {name: part(value) for name, part in pairs}


def _either(node: Mapping[str, Any], parts: list[Search]) -> Search:
    first, second = parts

    def search(value: Any) -> Any:
        found = first(value)
        return second(value) if _is_false(found) else found

    return search


def _index(node: Mapping[str, Any], parts: list[Search]) -> Search:
    place = node["value"]

    def search(value: Any) -> Any:
        inside = isinstance(value, list) and -len(value) <= place < len(value)
        return value[place] if inside else None

    return search


def _literal(node: Mapping[str, Any], parts: list[Search]) -> Search:
    return lambda _value: node["value"]


def _both(node: Mapping[str, Any], parts: list[Search]) -> Search:
    first, second = parts

    def search(value: Any) -> Any:
        found = first(value)
        return found if _is_false(found) else second(value)

    return search


def _same_text(node: Mapping[str, Any], parts: list[Search]) -> Search | None:
    """Whether something is a given text, as the names of events are; other comparisons are the library's."""
    given = node["children"][1]
    if node["value"] != "eq" or given["type"] != "literal" or not isinstance(given["value"], str):
        return None
    text, find = given["value"], parts[0]
    return lambda value: find(value) == text


def _is_false(found: Any) -> bool:
    return found is None or found is False or (isinstance(found, str | list | dict) and not found)


_BUILDERS: dict[str, Callable[[Mapping[str, Any], list[Search]], Search | None]] = {
    "field": _field,
    "identity": lambda _node, _parts: lambda value: value,
    "subexpression": _chain,
    "flatten": _flatten,
    "projection": _projection,
    "multi_select_dict": _multi_select,
    "key_val_pair": lambda _node, parts: parts[0],
    "or_expression": _either,
    "and_expression": _both,
    "index_expression": _chain,
    "index": _index,
    "literal": _literal,
    "comparator": _same_text,
}
