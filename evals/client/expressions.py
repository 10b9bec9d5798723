"""JMESPath expressions, compiled once.

The library parses every expression and defines what it means. The shapes that profiles are made of (fields,
projections, multi-selects, alternatives) are turned into closures, because the library's interpreter takes longer for
an answer than parsing its JSON; every other shape is evaluated by the library, with the functions of `functions`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import jmespath
from jmespath import functions
from jmespath.exceptions import JMESPathError

from evals.errors import ConfigError
from evals.secrets import masked
from evals.text.decoding import parse_json

# Functions that expressions may call beside those of JMESPath itself.


_TEXT: Any = {"types": ["string", "null"]}

_PATTERN: Any = {"types": ["string"]}

_LIST: Any = {"types": ["array", "null"]}


class Functions(functions.Functions):
    """The functions by their names after `_func_`. Each gives null for null: what is missing stays missing."""

    @functions.signature({"types": ["object", "null"]})
    def _func_zip(self, lists: Mapping[str, Any] | None) -> list[dict[str, Any]] | None:
        """The objects made of parallel lists: `zip({text: documents, score: distances})`.

        What is no list is repeated in each object, so that a flattened list keeps its parent's fields:
        `files[].zip({chunk: chunks, file: name})[]`. Null where none is a list.

        Raises:
            ValueError: The lists are of different lengths, so that it is unknown which belong together.
        """
        parallel = {key: value for key, value in (lists or {}).items() if isinstance(value, list)}
        if lists is None or not parallel:
            return None
        repeated = {key: value for key, value in lists.items() if key not in parallel}
        _require_one_length(parallel)
        rows = zip(*parallel.values(), strict=True)
        return [{**repeated, **dict(zip(parallel, row, strict=True))} for row in rows]

    @functions.signature(_TEXT, _PATTERN)
    def _func_split(self, text: str | None, separator: str) -> list[str] | None:
        r"""The parts of a text between the matches of a pattern, without empty ones: `split(context, '\n\n')`.

        Raises:
            ValueError: The pattern is none.
        """
        if text is None:
            return None
        try:
            found = list(re.finditer(separator, text))
        except re.error as error:
            raise ValueError(f"split() got no valid pattern: {separator!r} ({error.msg})") from error
        starts, ends = [0, *(each.end() for each in found)], [*(each.start() for each in found), len(text)]
        parts = (text[start:end].strip() for start, end in zip(starts, ends, strict=True))
        return [part for part in parts if part]

    @functions.signature({"types": []}, _LIST, _PATTERN)
    def _func_lookup(self, keys: Any, objects: Sequence[Any] | None, name: str) -> list[Any] | None:
        """The objects of a list that have these keys under a name: `lookup(cited_ids, documents, 'id')`.

        In the order of the keys. A key that no object has gives an object with nothing but that key, so that nothing
        is dropped; of several objects with a key the first is taken.
        """
        if keys is None or objects is None:
            return None
        named = [each for each in objects if isinstance(each, Mapping) and each.get(name) is not None]
        known = {str(each[name]): each for each in reversed(named)}
        return [known.get(str(key), {name: key}) for key in (keys if isinstance(keys, list) else [keys])]

    @functions.signature(_LIST)
    def _func_number(self, values: Sequence[Any] | None) -> list[dict[str, Any]] | None:
        """The distinct values of a list as they first occur, counted from 1: `number(names)[].{index: number}`.

        For servers whose markers count documents, not chunks.
        """
        if values is None:
            return None
        distinct = dict.fromkeys(value for value in values if isinstance(value, str | int | float))
        return [{"number": number, "value": value} for number, value in enumerate(distinct, start=1)]

    @functions.signature(_TEXT)
    def _func_parse_json(self, text: str | None) -> Any:
        """The value of JSON that stands in a text: `parse_json(output).answer`.

        Raises:
            ValueError: The text is no JSON.
        """
        if text is None:
            return None
        try:
            return parse_json(text.encode())
        except ValueError as error:
            raise ValueError(f"parse_json() got no JSON: {text[:60]!r}") from error


def _require_one_length(lists: Mapping[str, list[Any]]) -> None:
    if len({len(each) for each in lists.values()}) > 1:
        told = ", ".join(f"{key} {len(each):,}" for key, each in lists.items())
        raise ValueError(f"zip() got lists of different lengths: {told} (`list[].key` leaves out what is null)")


OPTIONS = jmespath.Options(custom_functions=Functions())


def check_calls(node: Mapping[str, Any]) -> None:
    """Check what an expression calls, which the library does only over a body.

    Raises:
        JMESPathError: There is no such function.
    """
    for call in _calls(node):
        if call["value"] not in Functions.FUNCTION_TABLE:
            raise JMESPathError(f"there is no function {call['value']}()")


def _calls(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if node["type"] == "function_expression":
        yield node
    for child in node["children"]:
        if isinstance(child, Mapping):
            yield from _calls(child)


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


def _index(node: Mapping[str, Any], parts: list[Search]) -> Search:
    place = node["value"]

    def search(value: Any) -> Any:
        inside = isinstance(value, list) and -len(value) <= place < len(value)
        return value[place] if inside else None

    return search


def _literal(node: Mapping[str, Any], parts: list[Search]) -> Search:
    return lambda _value: node["value"]


def _decided(node: Mapping[str, Any], parts: list[Search]) -> Search:
    """What the first finds, where that decides it: what is true of an alternative, what is false of a conjunction."""
    first, second = parts
    goes_on = node["type"] == "and_expression"

    def search(value: Any) -> Any:
        found = first(value)
        is_false = found is None or found is False or (isinstance(found, str | list | dict) and not found)
        return second(value) if is_false != goes_on else found

    return search


def _same_text(node: Mapping[str, Any], parts: list[Search]) -> Search | None:
    """Whether something is a given text, as the names of events are; other comparisons are the library's."""
    given = node["children"][1]
    if node["value"] != "eq" or given["type"] != "literal" or not isinstance(given["value"], str):
        return None
    text, find = given["value"], parts[0]
    return lambda value: find(value) == text


_BUILDERS: dict[str, Callable[[Mapping[str, Any], list[Search]], Search | None]] = {
    "field": _field,
    "identity": lambda _node, _parts: lambda value: value,
    "subexpression": _chain,
    "flatten": _flatten,
    "projection": _projection,
    "multi_select_dict": _multi_select,
    "key_val_pair": lambda _node, parts: parts[0],
    "or_expression": _decided,
    "and_expression": _decided,
    "index_expression": _chain,
    "index": _index,
    "literal": _literal,
    "comparator": _same_text,
}
