"""What a reply must hold before it counts: the form asked for, and quotations that are really there."""

from collections.abc import Mapping
from typing import Any

from evals.judges.quotes import is_quoted


def problem_with(prompt: str, schema: Mapping[str, Any], reply: Any, data: Mapping[str, Any]) -> str | None:
    """Why a reply cannot be used; None where it can.

    Args:
        prompt: Name of the prompt that was asked.
        schema: The form that was asked for.
        reply: The parsed reply.
        data: What the judge was given to examine.
    """
    problem = _misfit(schema, reply, "reply")
    if problem:
        return problem
    if prompt == "faithfulness":
        texts = [context["text"] for context in data["contexts"]]
        for claim in reply["claims"]:
            if claim["verdict"] == "supported" and not is_quoted(claim["quote"], texts):
                return f"a quotation that is in no passage: {claim['quote'][:120]!r}"
        return None
    if reply.get("quote") and not is_quoted(reply["quote"], [str(data.get("answer", ""))]):
        return f"a quotation that is not in the answer: {reply['quote'][:120]!r}"
    return None


_TYPES: Mapping[str, tuple[type[Any], str]] = {
    "array": (list, "list"),
    "boolean": (bool, "truth value"),
    "string": (str, "text"),
}


def _misfit(schema: Mapping[str, Any], value: Any, where: str) -> str | None:
    """Why the value has not the form of the schema: of the part of JSON schema that the prompts use."""
    kind = schema["type"]
    if kind == "object":
        return _object_misfit(schema, value, where)
    expected, name = _TYPES[kind]
    if not isinstance(value, expected):
        return f"{where} is no {name}"
    if isinstance(value, list):
        problems = (_misfit(schema["items"], item, f"{where}[{n}]") for n, item in enumerate(value))
        return next((problem for problem in problems if problem), None)
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
    problems = (_misfit(part, value[name], f"{where}.{name}") for name, part in schema["properties"].items())
    return next((problem for problem in problems if problem), None)
