"""The judge's prompts: versioned data, one file each, which a run may change or add to."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from evals.errors import ConfigError, UnknownNameError
from evals.schemas.base import Record
from evals.schemas.verdicts import Prompt, VerdictRequest

FOLDER = Path(__file__).parent / "prompts"


def load_prompt(prompt: str | Prompt) -> Prompt:
    """The prompt of this name, which must be one of ours; one that a metric or a run brings along is returned."""
    return _ours(prompt) if isinstance(prompt, str) else prompt


@cache
def _ours(name: str) -> Prompt:
    import yaml  # noqa: PLC0415 - a saved run is shown without it

    return Prompt.of(yaml.safe_load((FOLDER / f"{name}.yml").read_text(encoding="utf-8")))


def prompt_names() -> list[str]:
    """The names of our prompts."""
    return sorted(path.stem for path in FOLDER.glob("*.yml"))


# Prompts of others: of a plug-in, or changed copies of ours.


class _PromptFile(Record):
    """The fields of a prompt's file."""

    name: str = Field(min_length=1)
    version: int = Field(ge=1)
    max_tokens: int = Field(ge=1)
    system: str = Field(min_length=1)
    checks: list[dict[str, Any]]
    form: dict[str, Any] = Field(alias="schema", min_length=1)


def read_prompt(path: Path, ours: Prompt | None = None) -> Prompt:
    """Read the file of a prompt.

    Args:
        path: A YAML file with the fields of ours.
        ours: The prompt in whose place it stands, whose replies are read by its schema.

    Raises:
        ConfigError: It cannot be read, lacks a field, or has another schema than ours; the message names the key.
    """
    from evals.text.yaml_files import first_problem, read_yaml  # noqa: PLC0415 - as above

    def wrong(key: str, what: str) -> ConfigError:
        return ConfigError(f"{path}: {key}: {what}", "`evals prompts --copy FOLDER` writes ours")

    data = read_yaml(path, "prompt")
    try:
        _PromptFile.model_validate(data)
    except ValidationError as error:
        problem = first_problem(error, _PromptFile)
        raise wrong(problem.key, problem.what) from None
    for key in ("name", "schema", "checks") if ours else ():
        if data[key] != getattr(ours, key):
            raise wrong(key, "it must be that of our prompt, as replies are read by it: change `system`")
    return Prompt.of(data)


def read_prompts(folder: Path) -> dict[str, Prompt]:
    """The prompts of a folder, each in place of ours of its name.

    Raises:
        ConfigError: There is no such folder, it holds no prompt, one of another name, or one that cannot be used.
    """
    found = sorted(folder.glob("*.yml"))
    if not found:
        raise ConfigError(f"judge.prompts: {folder} holds no *.yml", "`evals prompts --copy FOLDER` writes ours")
    for path in found:
        if path.stem not in prompt_names():
            raise UnknownNameError("prompt", path.stem, prompt_names())
    return {path.stem: read_prompt(path, load_prompt(path.stem)) for path in found}


_NOTES = """

The people who run this evaluation say of its subject:
{}
Read the data by that. It changes no rule above, and nothing is quoted from it."""

_LANGUAGE = """

Write each "justification" in {}. Copy quotations in the language of their text; keys and labels stay as they are."""


class PromptBook:
    """The prompts as a run asks by them.

    Args:
        notes: Facts of the subject, which each prompt gets.
        language: In which the judge gives reasons; that of the prompts where empty.
        changed: By name, what stands in place of ours.
    """

    def __init__(self, notes: str = "", language: str = "", changed: Mapping[str, Prompt] | None = None) -> None:
        told = ((_NOTES, notes.strip()), (_LANGUAGE, language.strip()))
        self._added = "".join(form.format(text) for form, text in told if text)
        self._changed = changed or {}
        self._made: dict[str, Prompt] = {}

    def of(self, prompt: str | Prompt) -> str | Prompt:
        """What stands for a prompt in this run: itself where nothing is changed."""
        return self.load(prompt) if self._added or (isinstance(prompt, str) and prompt in self._changed) else prompt

    def load(self, prompt: str | Prompt) -> Prompt:
        """The same, with all of its fields."""
        plain = load_prompt(self._changed.get(prompt, prompt) if isinstance(prompt, str) else prompt)
        if not self._added:
            return plain
        if plain.hash not in self._made:
            data = {field.name: getattr(plain, field.name) for field in fields(Prompt) if field.name != "hash"}
            self._made[plain.hash] = Prompt.of({**data, "system": plain.system.rstrip() + self._added})
        return self._made[plain.hash]


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
