"""The judge's prompts: versioned data, a file each in `prompts/`, which a run may change or add to."""

import json
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from evals.errors import ConfigError, UnknownNameError
from evals.judges.models import Call
from evals.schemas.base import Record
from evals.schemas.verdicts import JudgeUsage, Prompt, VerdictRequest

FOLDER = Path(__file__).parent / "prompts"

CHARACTERS_A_TOKEN = 3
"""Vendors publish no tokenizer."""


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
        ours: The prompt that it replaces, by whose schema its replies are read.

    Raises:
        ConfigError: It cannot be read, lacks a field, or has another schema than ours; the message names the key.
    """
    from evals.text.yaml_files import first_problem, read_yaml  # noqa: PLC0415 - as above

    hint = "`evals prompts --copy FOLDER` writes ours"
    data = read_yaml(path, "prompt")
    try:
        _PromptFile.model_validate(data)
    except ValidationError as error:
        problem = first_problem(error, _PromptFile)
        raise ConfigError(f"{path}: {problem.key}: {problem.what}", hint) from None
    for key in ("name", "schema", "checks") if ours else ():
        if data[key] != getattr(ours, key):
            raise ConfigError(f"{path}: {key}: must be that of our prompt: replies are read by it; change system", hint)
    return Prompt.of(data)


def read_prompts(folder: Path) -> dict[str, Prompt]:
    """The prompts of a folder, each in place of ours of its name.

    Raises:
        ConfigError: There is no such folder, it holds no prompt, one of another name, or one that cannot be used.
    """
    paths = sorted(folder.glob("*.yml"))
    if not paths:
        raise ConfigError(f"judge.prompts: {folder} holds no *.yml", "`evals prompts --copy FOLDER` writes ours")
    for path in paths:
        if path.stem not in prompt_names():
            raise UnknownNameError("prompt", path.stem, prompt_names())
    return {path.stem: read_prompt(path, load_prompt(path.stem)) for path in paths}


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
        if self._added and plain.hash not in self._made:
            data = {field.name: getattr(plain, field.name) for field in fields(Prompt) if field.name != "hash"}
            self._made[plain.hash] = Prompt.of({**data, "system": plain.system.rstrip() + self._added})
        return self._made.get(plain.hash, plain)


# What is sent for a request.

_MOST_WRITTEN = 16_000
"""Tokens that a call may write at first; twice as many where that did not do."""

_TYPICAL_TOKENS, _EXCESS_FACTOR = 300, 3
"""Tokens of a reply for which the prompt's room is meant; the excess of a longer one counts threefold."""


def call_of(request: VerdictRequest, repeat: int = 0, *, again: bool = False) -> Call:
    """What is sent to a model for a repeat of a request; `again` where other repeats send the same data."""
    prompt = load_prompt(request.prompt)
    more = _EXCESS_FACTOR * max(0, usual_tokens(request) - _TYPICAL_TOKENS)
    room = max(prompt.max_tokens, min(_MOST_WRITTEN, prompt.max_tokens + more))
    content = json.dumps(request.data, ensure_ascii=False)
    return Call(prompt.system, content, prompt.schema, room, again=again, repeat=repeat)


def why_too_long(call: Call, max_input_tokens: int) -> str | None:
    """Why a call is not made; None where it can be."""
    sent = (len(call.system) + len(call.content)) // CHARACTERS_A_TOKEN
    if sent <= max_input_tokens:
        return None
    return f"about {sent:,} tokens to read, more than judge.max_input_tokens ({max_input_tokens:,})"


# How long replies usually are: a made-up one of the prompt's form, an item for each thing that is asked about.

_LENGTHS = {"claim": 70, "quote": 70}

_OTHER_LENGTH, _CHARACTERS_A_CLAIM = 60, 110


def usual_tokens(request: VerdictRequest) -> int:
    """Tokens of a reply of the usual size, without thinking."""
    return len(json.dumps(typical_reply(load_prompt(request.prompt), request.data))) // CHARACTERS_A_TOKEN


def usual_usage(request: VerdictRequest, call: Call) -> JudgeUsage:
    """What the call of a request takes without thinking; its instructions are in the vendor's cache, as at best."""
    sent, kept = (len(text) // CHARACTERS_A_TOKEN for text in (call.content, call.system))
    return JudgeUsage(input_tokens=sent + kept, output_tokens=usual_tokens(request), cache_read_tokens=kept)


def typical_reply(prompt: Prompt, data: Mapping[str, Any]) -> dict[str, Any]:
    """A made-up reply of the prompt's form and of the usual size, for estimates.

    Args:
        prompt: What would be asked.
        data: What the judge would be given.
    """
    expected = {check["items"]: list(data[check["of"]]) for check in prompt.checks if check["kind"] == "ids"}
    expected |= {check["items"]: [{"id": name} for name in check["are"]] for check in prompt.checks if "are" in check}
    text = str(data.get("answer") or data.get("expected_answer") or "")
    claims: list[Mapping[str, Any]] = [{}] * max(1, round(len(text) / _CHARACTERS_A_CLAIM))
    return {
        name: [_usual(part["items"], item) for item in expected.get(name, claims)]
        if part["type"] == "array"
        else _usual(part, {}, name)
        for name, part in prompt.schema["properties"].items()
    }


def _usual(schema: Mapping[str, Any], about: Mapping[str, Any], name: str = "") -> Any:
    if "enum" in schema:
        return about.get("id", schema["enum"][0]) if name == "id" else schema["enum"][0]
    if schema["type"] == "object":
        return {key: _usual(part, about, key) for key, part in schema["properties"].items()}
    if schema["type"] == "array":
        return [_usual(schema["items"], {"id": number}) for number in about.get(name) or [1]]
    plain: dict[str, Any] = {"boolean": False, "integer": about.get("id", 1) if name == "id" else 1}
    return plain.get(schema["type"], "x" * _LENGTHS.get(name, _OTHER_LENGTH))
