"""Functions that expressions may call beside those of JMESPath itself.

`zip` makes one list of parallel lists and gives children the fields of their parent, `lookup` joins two lists, `number`
counts what is distinct, `split` cuts one text into many, and `parse_json` reads JSON that stands in a text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jmespath
from jmespath import functions
from jmespath.exceptions import JMESPathError

from evals.inputs.json_body import parse_json

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
            ValueError: The lists are of different lengths, so that nobody knows which belong together.
        """
        parallel = {key: value for key, value in (lists or {}).items() if isinstance(value, list)}
        if lists is None or not parallel:
            return None
        repeated = {key: value for key, value in lists.items() if key not in parallel}
        rows = zip(*parallel.values(), strict=_are_of_one_length(parallel))
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


def _are_of_one_length(lists: Mapping[str, list[Any]]) -> bool:
    """True.

    Raises:
        ValueError: They are not.
    """
    if len({len(each) for each in lists.values()}) == 1:
        return True
    told = ", ".join(f"{key} {len(each):,}" for key, each in lists.items())
    raise ValueError(f"zip() got lists of different lengths: {told} (`list[].key` leaves out what is null)")


OPTIONS = jmespath.Options(custom_functions=Functions())


def check_calls(node: Mapping[str, Any]) -> None:
    """Check what an expression calls, which the library does only over a body.

    Raises:
        JMESPathError: There is no such function, or it takes another number of arguments.
    """
    for call in _calls(node):
        name, given = call["value"], len(call["children"])
        if name not in Functions.FUNCTION_TABLE:
            raise JMESPathError(f"there is no function {name}()")
        wanted: Sequence[Any] = Functions.FUNCTION_TABLE[name]["signature"]
        open_ended = bool(wanted) and bool(wanted[-1].get("variadic"))
        if given < len(wanted) or (given > len(wanted) and not open_ended):
            raise JMESPathError(f"{name}() takes {'at least ' * open_ended}{len(wanted)}, and {given} are given")


def _calls(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if node["type"] == "function_expression":
        yield node
    for child in node["children"]:
        if isinstance(child, Mapping):
            yield from _calls(child)
