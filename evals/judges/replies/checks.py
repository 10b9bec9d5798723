"""What a reply must hold before it counts: the form asked for, every item asked about, and quotations that are there.

A prompt's file says which of these hold for it, each as a mapping with a `kind`:

- `{kind: ids, items: claims, of: claims}`: the reply's list has exactly the ids of the data's list, each once.
- `{kind: inner_ids, items: statements, of: statements, list: citations}`: so has the list in each item, of the ids
  in the list of that name of the data's item.
- `{kind: names, items: criteria, are: [topic, figures]}`: the list has exactly these ids.
- `{kind: listed, ...}`, `{kind: quotes, ...}`: what items rest on is there (see `evidence.py`).

What is wrong with the form or the ids makes a reply unusable; what an item rests on fails that item alone. A reply
that is itself the item is unusable then.

The form is checked here and not by `jsonschema`: the prompts use a handful of its words, and the package brings four
more at run time, one of them compiled.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from evals.judges.prompt import Prompt
from evals.judges.replies.evidence import problem_of_whole

_Object = Mapping[str, Any]
"""A JSON object: a reply, the data, or an item of one of them."""
_Check = Mapping[str, Any]
_LONGEST_PROBLEM = 200
"""A judge may put megabytes where a label was asked for, and every verdict says what was wrong."""


def problem_with(prompt: Prompt, reply: Any, data: Mapping[str, Any]) -> str | None:
    """Why a reply cannot be used, in a sentence of bounded length; None where it can.

    Args:
        prompt: What was asked.
        reply: The parsed reply.
        data: What the judge was given to examine.
    """
    problem = misfit(prompt.schema, reply, "reply")
    if problem is None:
        problem = _first(
            _CHECKS[check["kind"]](check, reply, data) for check in prompt.checks if check["kind"] in _CHECKS
        )
    if problem is None:
        problem = problem_of_whole(prompt, reply, data)
    if problem is None or len(problem) <= _LONGEST_PROBLEM:
        return problem
    return f"{problem[: _LONGEST_PROBLEM - 1]}…"


def _ids(check: _Check, reply: _Object, data: _Object) -> str | None:
    wanted = [item["id"] for item in data[check["of"]]]
    return _differing(check["items"], [item["id"] for item in reply[check["items"]]], wanted)


def _inner_ids(check: _Check, reply: _Object, data: _Object) -> str | None:
    inner = check["list"]
    wanted = {item["id"]: item[inner] for item in data[check["of"]]}
    for item in reply[check["items"]]:
        problem = _differing(
            f"{inner} of {item['id']}", [part["id"] for part in item[inner]], wanted.get(item["id"], [])
        )
        if problem:
            return problem
    return None


def _names(check: _Check, reply: _Object, _data: _Object) -> str | None:
    return _differing(check["items"], [item["id"] for item in reply[check["items"]]], check["are"])


def _differing(what: str, got: Iterable[Any], wanted: Iterable[Any]) -> str | None:
    """How two collections of ids differ; None where they do not."""
    there, asked = Counter(got), Counter(wanted)
    lacking, extra = list((asked - there).elements()), list((there - asked).elements())
    if lacking:
        return f"{what}: nothing on {', '.join(map(str, lacking[:5]))}"
    return f"{what}: too much on {', '.join(map(str, extra[:5]))}" if extra else None


_CHECKS = {
    "ids": _ids,
    "inner_ids": _inner_ids,
    "names": _names,
}


_TYPES: Mapping[str, tuple[type[Any], str]] = {
    "array": (list, "list"),
    "boolean": (bool, "truth value"),
    "integer": (int, "whole number"),
    "string": (str, "text"),
}


def misfit(schema: Mapping[str, Any], value: Any, where: str) -> str | None:
    """Why the value has not the form of the schema: of the part of JSON schema that the prompts use."""
    kind = schema["type"]
    if kind == "object":
        return _object_misfit(schema, value, where)
    expected, name = _TYPES[kind]
    if not isinstance(value, expected) or (kind == "integer" and isinstance(value, bool)):
        return f"{where} is no {name}"
    if isinstance(value, list):
        return _first(misfit(schema["items"], item, f"{where}[{n}]") for n, item in enumerate(value))
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is {value!r}, not one of {', '.join(schema['enum'])}"
    return None


def _object_misfit(schema: Mapping[str, Any], value: Any, where: str) -> str | None:
    if not isinstance(value, dict):
        return f"{where} is no object"
    for name in schema["required"]:
        if name not in value:
            return f"{where} lacks {name!r}"
    unknown = set(value) - set(schema["properties"])
    if unknown:
        return f"{where} has {sorted(unknown)[0]!r}, which was not asked for"
    return _first(misfit(part, value[name], f"{where}.{name}") for name, part in schema["properties"].items())


def _first(problems: Iterable[str | None]) -> str | None:
    return next(filter(None, problems), None)
