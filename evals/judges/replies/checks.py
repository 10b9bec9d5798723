"""What a reply must hold before it counts: the form asked for, every item asked about, and quotations that are there.

A prompt's file says which of these hold for it, each as a mapping with a `kind`:

- `{kind: ids, items: claims, of: claims}`: the reply's list has exactly the ids of the data's list, each once.
- `{kind: inner_ids, items: statements, of: statements, list: citations}`: so has the list in each item, of the ids
  in the list of that name of the data's item.
- `{kind: names, items: criteria, are: [topic, figures]}`: the list has exactly these ids.
- `{kind: count, items: questions, exactly: 3}`: the list has so many items.
- `{kind: listed, items: claims, only: [supported], list: passages}`: items of these verdicts have something in it.
- `{kind: quotes, items: claims, within: contexts, only: [supported]}`: quotations stand in the data. `items` may be a
  path (`claims.passages`) or be missing, which means the reply itself. Items of the verdicts in `only`, or all items
  with `always`, must quote; else a quotation may be empty. With `same_id` it must stand in the text with the item's
  id, with `one_of: citations` in a text whose id that list of the item holds.

The form is checked here and not by `jsonschema`: the prompts use a handful of its words, and the package brings four
more at run time, one of them compiled.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evals.judges.prompt import Prompt
from evals.judges.replies.quotes import is_quoted

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
    problem = _misfit(prompt.schema, reply, "reply")
    if problem is None:
        problem = _first(_CHECKS[check["kind"]](check, reply, data) for check in prompt.checks)
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


def _count(check: _Check, reply: _Object, _data: _Object) -> str | None:
    there = len(reply[check["items"]])
    return None if there == check["exactly"] else f"{check['items']}: {there} instead of {check['exactly']}"


def _listed(check: _Check, reply: _Object, _data: _Object) -> str | None:
    for item in _items(reply, check["items"]):
        if item["verdict"] in check["only"] and not item[check["list"]]:
            return f"{check['items']}: {item['id']} is {item['verdict']} without {check['list']}"
    return None


def _quotes(check: _Check, reply: _Object, data: _Object) -> str | None:
    texts = _texts(data.get(check["within"]))
    for item in _items(reply, check.get("items", "")):
        quote = item["quote"]
        required = item["verdict"] in check["only"] if "only" in check else check.get("always", bool(quote))
        if not required:
            continue
        within = [text for number, text in texts if _may_hold(check, item, number)]
        if not is_quoted(quote, within):
            return f"a quotation that is not in {check['within']}: {quote[:120]!r}"
    return None


def _may_hold(check: _Check, item: _Object, number: Any) -> bool:
    """Whether the item's quotation may stand in the text with this id."""
    if check.get("same_id"):
        return bool(number == item["id"])
    return "one_of" not in check or any(part["id"] == number for part in item[check["one_of"]])


_CHECKS = {
    "ids": _ids,
    "inner_ids": _inner_ids,
    "names": _names,
    "count": _count,
    "listed": _listed,
    "quotes": _quotes,
}


def _items(reply: Mapping[str, Any], path: str) -> Iterator[Mapping[str, Any]]:
    if not path:
        yield reply
        return
    first, _, rest = path.partition(".")
    for item in reply[first]:
        yield from _items(item, rest)


def _texts(part: Any) -> list[tuple[Any, str]]:
    """The texts of a part of the data, with their ids: a text, or a list of objects."""
    if isinstance(part, list):
        return [(item["id"], item["text"]) for item in part]
    return [] if part is None else [(None, str(part))]


_TYPES: Mapping[str, tuple[type[Any], str]] = {
    "array": (list, "list"),
    "boolean": (bool, "truth value"),
    "integer": (int, "whole number"),
    "string": (str, "text"),
}


def _misfit(schema: Mapping[str, Any], value: Any, where: str) -> str | None:
    """Why the value has not the form of the schema: of the part of JSON schema that the prompts use."""
    kind = schema["type"]
    if kind == "object":
        return _object_misfit(schema, value, where)
    expected, name = _TYPES[kind]
    if not isinstance(value, expected) or (kind == "integer" and isinstance(value, bool)):
        return f"{where} is no {name}"
    if isinstance(value, list):
        return _first(_misfit(schema["items"], item, f"{where}[{n}]") for n, item in enumerate(value))
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
    return _first(_misfit(part, value[name], f"{where}.{name}") for name, part in schema["properties"].items())


def _first(problems: Iterable[str | None]) -> str | None:
    return next(filter(None, problems), None)
