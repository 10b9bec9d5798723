"""The judge's prompts: versioned data, one file each."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from evals.schemas.verdicts import VerdictRequest

_FOLDER = Path(__file__).parent / "prompts"


@dataclass(frozen=True, slots=True)
class Prompt:
    """The instructions of the judge, and the form in which it replies.

    Attributes:
        name: Of the file, and of the verdict.
        version: Raised with every change of meaning.
        system: The instructions; the data to examine never stands in them.
        schema: JSON schema of the reply.
        max_tokens: Enough for the reply and for the model's thinking.
        checks: What a reply must hold apart from its form (see `replies.py`).
        hash: Over all of it: a changed prompt is another prompt to the cache and to a comparison.
    """

    name: str
    version: int
    system: str
    schema: dict[str, Any]
    max_tokens: int
    checks: list[dict[str, Any]]
    hash: str


@cache
def load_prompt(name: str) -> Prompt:
    """The prompt of this name, which must be one of ours."""
    import yaml  # noqa: PLC0415 - a saved run is shown without it

    data = yaml.safe_load((_FOLDER / f"{name}.yml").read_text(encoding="utf-8"))
    digest = sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
    return Prompt(**data, hash=digest)


# Made-up replies of the usual size, by which the cost of judging is estimated.


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
    made: dict[str, Any] = {}
    for name, part in schema["properties"].items():
        if name == "id" and "id" in about:
            made[name] = about["id"]
        elif part["type"] == "array":
            made[name] = [_item(part["items"], {"id": each}) for each in about.get(name) or [1]]
        else:
            made[name] = _value(part, name)
    return made


def _value(schema: Mapping[str, Any], name: str) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    plain: dict[str, Any] = {"boolean": False, "integer": 1}
    return plain.get(schema["type"], "x" * _LENGTHS.get(name, _OTHER_LENGTH))


# How large a request to a judge may be: long lists are asked about in several calls, and what is too long in none.


CHARACTERS_A_TOKEN = 3
"""Vendors publish no tokenizer."""


MOST_ITEMS = 20
"""Items of a list in one call: their reply takes about 4,000 tokens, which a model writes in less than a minute."""


_MOST_WRITTEN = 16_000
"""Tokens that a call may write at first; twice as many where that did not do."""


_THOUGHT = 3000
"""Tokens for what a model thinks before it writes."""


_GENEROSITY = 3
"""How many times the usual length a reply may have."""


_MOST_QUOTED, _A_QUOTATION = 4, 40
"""How many texts usually support an item, and the tokens of a quotation of one."""


def parts_of(request: VerdictRequest) -> list[VerdictRequest]:
    """The requests that are made for one: itself, or one for each part of its lists.

    Lists of which the reply must have every id are cut, into parts of about the same length; all else is in each.
    """
    lists = {check["of"]: request.data[check["of"]] for check in _checks(request, "ids")}
    count = max([-(-len(items) // MOST_ITEMS) for items in lists.values()], default=1)
    if count <= 1:
        return [request]
    return [
        request.model_copy(
            update={"data": {**request.data, **{name: _part(items, n, count) for name, items in lists.items()}}}
        )
        for n in range(count)
    ]


def joined(replies: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The replies to the parts of a request as one: lists one behind the other, and true what is true of one."""
    whole = dict(replies[0])
    for name, first in whole.items():
        if isinstance(first, list):
            whole[name] = [item for reply in replies for item in reply[name]]
        elif isinstance(first, bool):
            whole[name] = any(reply[name] for reply in replies)
    return whole


def room_for(request: VerdictRequest) -> int:
    """The tokens that a reply may have, thinking included: the prompt's, or more where there is more to say."""
    prompt = load_prompt(request.prompt)
    wanted = _THOUGHT + _GENEROSITY * _usual_length(prompt, request)
    return max(prompt.max_tokens, min(_MOST_WRITTEN, wanted))


def why_too_long(request: VerdictRequest, max_input_tokens: int) -> str | None:
    """Why a request, or a part of it, is not made; None where it can be.

    Args:
        request: What is wanted.
        max_input_tokens: What a call may send.
    """
    prompt = load_prompt(request.prompt)
    for part in parts_of(request):
        sent = (len(prompt.system) + len(_dump(part.data))) // CHARACTERS_A_TOKEN
        if sent > max_input_tokens:
            return f"about {sent:,} tokens to read, more than judge.max_input_tokens ({max_input_tokens:,})"
        written = _usual_length(prompt, part)
        if written > _MOST_WRITTEN:
            return f"about {written:,} tokens to write, more than a call may take ({_MOST_WRITTEN:,})"
    return None


def _usual_length(prompt: Prompt, request: VerdictRequest) -> int:
    """Tokens of a reply of the usual size, with a quotation of each text that may support an item."""
    reply = stand_in_reply(prompt, request.data)
    quotations = 0
    for check in _checks(request, "quotes"):
        name, nested, _ = check.get("items", "").partition(".")
        if nested:
            quotations += len(reply[name]) * min(_MOST_QUOTED, len(request.data[check["within"]]))
    return len(_dump(reply)) // CHARACTERS_A_TOKEN + _A_QUOTATION * quotations


def _checks(request: VerdictRequest, kind: str) -> list[dict[str, Any]]:
    return [check for check in load_prompt(request.prompt).checks if check["kind"] == kind]


def _part(items: Sequence[Any], number: int, count: int) -> list[Any]:
    return list(items[number * len(items) // count : (number + 1) * len(items) // count])


def _dump(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False)
