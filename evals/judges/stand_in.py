"""Made-up replies of the usual size, by which the cost of judging is estimated. They never become verdicts."""

from collections.abc import Mapping
from typing import Any

from evals.judges.prompt import Prompt

_CHARACTERS_A_CLAIM = 110
_LENGTHS = {"claim": 70, "justification": 60, "quote": 70}
_OTHER_LENGTH = 60


def stand_in_reply(prompt: Prompt, data: Mapping[str, Any]) -> dict[str, Any]:
    """A reply of the prompt's form and of the usual size: one item for each that is asked about, with texts as usual.

    Args:
        prompt: What would be asked.
        data: What the judge would be given.
    """
    reply: dict[str, Any] = {}
    for name, part in prompt.schema["properties"].items():
        if part["type"] == "array":
            reply[name] = [_item(part["items"], item) for item in _items(prompt, name, data)]
        else:
            reply[name] = _value(part, name)
    return reply


def _items(prompt: Prompt, name: str, data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What the items of a list are about: ids of the data or the prompt, else one for each claim a text may hold."""
    for check in prompt.checks:
        if check.get("items") != name:
            continue
        if check["kind"] == "ids":
            return list(data[check["of"]])
        if check["kind"] == "names":
            return [{"id": each} for each in check["are"]]
    text = str(data.get("answer") or data.get("expected_answer") or "")
    return [{}] * max(1, round(len(text) / _CHARACTERS_A_CLAIM))


def _item(schema: Mapping[str, Any], about: Mapping[str, Any]) -> Any:
    if schema["type"] != "object":
        return _value(schema, "")
    return {
        name: about["id"] if name == "id" and "id" in about else _part(part, name, about)
        for name, part in schema["properties"].items()
    }


def _part(schema: Mapping[str, Any], name: str, about: Mapping[str, Any]) -> Any:
    if schema["type"] != "array":
        return _value(schema, name)
    ids = about.get(name) or [1]
    return [_item(schema["items"], {"id": each}) for each in ids]


def _value(schema: Mapping[str, Any], name: str) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    plain: dict[str, Any] = {"boolean": False, "integer": 1}
    return plain.get(schema["type"], "x" * _LENGTHS.get(name, _OTHER_LENGTH))
