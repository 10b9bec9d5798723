"""Requests that may ask a server the question: of profiles, with usual bodies, of OpenAPI, as a refusal names them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from evals.client.profile import DEFAULT_PROFILE, list_profiles, load_profile
from evals.errors import ConfigError
from evals.run.guess import NAMES, json_or, snake, tables_of
from evals.text.yaml_files import VARIABLE, expand_env

QUESTION = "{{question}}"
_USUAL_BODY = "a usual body"
_TURN = {"role": "user", "content": QUESTION}
_ASKING = {*NAMES["question_fields"], *NAMES["message_lists"]}
_VALUES = {"boolean": False, "array": [], "object": {}, "integer": 1, "number": 1}
_NO_QUESTIONS = re.compile(
    r"(^|_)(id|ids|model|session|user|lang|language|locale|name|mode|type|format|role|token|key)$"
)
_QUOTED_NAME = re.compile(r"[\"'`„“‚‘«»]([^\W\d][\w.-]{0,40})[\"'`“”‘’«»]")

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """A request that may ask the question.

    Attributes:
        ask: As `server.ask` of a configuration.
        source: What it is made from, in words.
        made_up: The values that it invents, by path in the body.
        profile: The built-in profile that it is of.
    """

    ask: Mapping[str, Any]
    source: str = ""
    made_up: Mapping[str, Any] = field(default_factory=dict)
    profile: str | None = None

    @property
    def path(self) -> str:
        """Below the URL of the server."""
        return str(self.ask["path"])

    @property
    def name(self) -> str:
        """Method and path."""
        return f"{self.ask.get('method', 'POST')} {self.path}"

    @property
    def invention(self) -> str:
        """The values that it invents, in words."""
        return ", ".join(f"{path}: {value}" for path, value in self.made_up.items())

    def at(self, path: str) -> "Plan":
        """The same request to another path."""
        return replace(self, ask={**self.ask, "path": path})

    def __str__(self) -> str:
        sent = json.dumps(self.ask.get("json", self.ask.get("query", {})), ensure_ascii=False)
        return f"{self.name} with {sent} ({self.source}{'; made up: ' if self.made_up else ''}{self.invention})"


def profile_plan(name: str, request: Mapping[str, Any]) -> Plan:
    """The plan of a request of a profile.

    Raises:
        ConfigError: It names a variable of the environment.
    """
    ask = {key: request[key] for key in ("method", "path", "query", "json") if key in request}
    return Plan(expand_env(ask, set(), {}), f"the profile {name}", profile=name)


def profile_plans(path: str | None) -> Iterator[Plan]:
    """The requests of built-in profiles that need nothing of the environment: to a path, or all (None)."""
    for name in sorted(list_profiles(), key=lambda name: name != DEFAULT_PROFILE):
        with suppress(ConfigError):
            plan, profile = profile_plan(name, load_profile(name)["ask"]), load_profile(name)
            is_known = not VARIABLE.search(json.dumps(plan.ask)) and not profile.get("stream")
            if is_known and (path is None or path.endswith(plan.path)):
                yield plan if path is None else plan.at(path)


def usual_plans(path: str) -> list[Plan]:
    """Requests with usual bodies to a path, the likeliest first."""
    bodies: list[Any] = [{name: QUESTION} for name in ("question", "query", "message", "input", "prompt")]
    bodies.insert(0 if re.search(r"completions|messages|converse", path) else 2, {"messages": [_TURN]})
    return [Plan({"path": path, "json": body}, _USUAL_BODY) for body in bodies]


# Bodies, filled by what is known of their fields.


class Field(NamedTuple):
    """A value in a body: its path ("[]": the item of a list), its schema ({}: unknown), and whether it is required."""

    path: tuple[str, ...]
    schema: Schema = {}
    is_required: bool = True

    @property
    def name(self) -> str:
        """The last key, in small letters."""
        return snake(self.path[-1])

    @property
    def question(self) -> Any:
        """How it takes the question: as a text, or as a list of messages; None: it does not."""
        kind, items = self.schema.get("type"), self.schema.get("items") or {}
        if self.name in NAMES["message_lists"] and kind in {None, "array"}:
            parts = items.get("properties", _TURN)
            return [_TURN] if isinstance(parts, Mapping) and _TURN.keys() <= parts.keys() else None
        return QUESTION if kind in {None, "string"} and not {"enum", "format"} & {*self.schema} else None


def _asking(fields: Sequence[Field]) -> Field | None:
    """The field that takes the question: by its name, else the only text that may be; never an id or a model."""
    texts = [item for item in fields if item.question == QUESTION]
    talks = [item for item in fields if item.question and item not in texts]
    free = [item for item in texts if not _NO_QUESTIONS.search(item.name)]
    options = [item for name in NAMES["question_fields"] for item in texts if item.name == name]
    options += [item for item in (*talks, *free) if item.is_required] + talks + (free if len(fields) == 1 else [])
    return next(iter(options), None)


def _filled(body: Any, fields: Sequence[Field]) -> tuple[Any, dict[str, Any]]:
    """The body with the question and what is required, and the values that are made up, by path."""
    asking, made_up = _asking(fields), dict[str, Any]()
    for item in fields:
        schema = item.schema
        if item is asking:
            value = item.question
        elif schema.get("type") == "boolean" and re.match(r"(include|return|with|stream$)", item.name):
            value = item.name != "stream"
        elif item.is_required:
            enum, usual = schema.get("enum"), _VALUES.get(str(schema.get("type")), "probe")
            if enum and isinstance(enum, list):
                usual = "user" if "user" in enum else enum[0]
            value = next((schema[key] for key in ("default", "example", "const") if key in schema), usual)
            made_up |= {} if {"default", "const", "enum"} & {*schema} else {".".join(item.path): value}
        else:
            continue
        body = _placed(body, item.path, value)
    return body, made_up


def _placed(body: Any, path: Sequence[str], value: Any) -> Any:
    """The body with a value at a path of keys."""
    if not path:
        return value
    if path[0] == "[]":
        return [_placed(next(iter(body or ()), None), path[1:], value)]
    held = body if isinstance(body, Mapping) else {}
    return {**held, path[0]: _placed(held.get(path[0]), path[1:], value)}


def amended(plan: Plan, refusal: str) -> list[Plan]:
    """The request again, with the fields that a refusal misses; none: it misses none, or nothing would be changed."""
    missing, body = [Field(path) for path in missing_fields(refusal)], plan.ask.get("json")
    if not missing or plan.ask.get("method") == "GET":
        return []
    asking = _asking(missing)
    is_new = asking is not None and (asking.name in _ASKING or plan.source == _USUAL_BODY)
    body, made_up = _filled({} if is_new else body, missing)
    ask, source = {**plan.ask, "json": body}, f"the server named {', '.join('.'.join(field.path) for field in missing)}"
    return [] if ask == plan.ask else [replace(plan, ask=ask, source=source, made_up=made_up, profile=None)]


def missing_fields(refusal: str) -> list[tuple[str, ...]]:
    """The fields that a refusal says it misses: `detail[].loc` of FastAPI, else the names quoted in its texts."""
    body = json_or(refusal, refusal)
    details = body.get("detail") if isinstance(body, Mapping) else None
    listed = details if isinstance(details, list) else []
    locations = [detail.get("loc") for detail in listed if isinstance(detail, Mapping)]
    fields = [tuple(map(str, location[1:])) for location in locations if isinstance(location, list)]
    if not any(fields):
        cells = (column for columns in tables_of(body).values() for column in columns.values())
        texts = (str(text) for column in cells for text in column.values() if says_lacking(str(text)))
        names = (name for text in texts for name in _QUOTED_NAME.findall(text))
        fields = [tuple(name.split(".")) for name in names if name.lower() not in NAMES["no_fields"]]
    return list(dict.fromkeys(filter(None, fields)))


def says_lacking(text: str) -> bool:
    """Whether a text says that something is missing."""
    return any(word in text.lower() for word in NAMES["lacking"])


# Of the operations of an OpenAPI document.


class OpenApi:
    """What an OpenAPI document says of the operations of a server.

    Args:
        document: The document; {}: there is none.

    Attributes:
        operations: By method and path.
        paths: Of all operations.
        login_headers: The names of headers that let us in.
        plans: The requests that take a question in a body, in the order of the document.
    """

    def __init__(self, document: Schema) -> None:
        self._document = document
        self.operations: dict[str, Schema] = {
            f"{method.upper()} {path}": operation
            for path, methods in (document.get("paths") or {}).items()
            for method, operation in (methods.items() if isinstance(methods, Mapping) else ())
            if isinstance(operation, Mapping)
        }
        schemes = map(self._below, self._below(document, "components", "securitySchemes").values())
        self.login_headers = [str(scheme.get("name")) for scheme in schemes if scheme.get("in") == "header"]
        self.paths = list(dict.fromkeys(name.partition(" ")[2] for name in self.operations))
        self.plans = list[Plan]()
        for name, operation in self.operations.items():
            method, _, path = name.partition(" ")
            schema = self._below(operation, "requestBody", "content", "application/json", "schema")
            fields = list(self._fields(schema))
            if method == "POST" and "{" not in path and _asking(fields):
                body, made_up = _filled({}, fields)
                self.plans.append(Plan({"path": path, "json": body}, "OpenAPI", made_up))

    def changing_word(self, plan: Plan) -> str | None:
        """The word in the path or the operationId of a request that says that it changes something; None: none does."""
        name = f"{plan.path} {self.operations.get(plan.name, {}).get('operationId', '')}"
        words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+", name)}
        allowed = NAMES["chat_changes"] if words & {*NAMES["chatting"]} else ()
        return min(words & {*NAMES["changes"]} - {*allowed}, default=None)

    def _fields(self, schema: Schema, *at: str) -> Iterator[Field]:
        """The values of a body, also within objects that are required, at most five deep."""
        required = required if isinstance(required := schema.get("required"), list) else ()
        for key in self._below(schema, "properties"):
            part, item = self._below(schema, "properties", key), self._below(schema, "properties", key, "items")
            value = Field((*at, key), {**part, "items": item}, key in required)
            enters = value.is_required and len(at) < 5 and value.question != [_TURN]
            if enters and part.get("properties"):
                yield from self._fields(part, *value.path)
            elif enters and item.get("properties"):
                yield from self._fields(item, *value.path, "[]")
            else:
                yield value

    def _below(self, schema: Any, *keys: str) -> Schema:
        """The schema at some keys, each behind its references, of alternatives the first that is not null."""
        for key in keys:
            schema = self._below(schema).get(key)
        for _ in range(5):
            part = schema if isinstance(schema, Mapping) else {}
            alternatives = (part.get(key) for key in ("anyOf", "oneOf", "allOf"))
            choices = next((choice for choice in alternatives if choice and isinstance(choice, list)), [part])
            schemas = (choice for choice in choices if isinstance(choice, Mapping) and choice.get("type") != "null")
            schema = next(schemas, {})
            if (reference := str(schema.get("$ref"))).startswith("#/"):
                schema = self._document
                for key in reference[2:].split("/"):
                    schema = schema.get(key) if isinstance(schema, Mapping) else None
        schema = schema if isinstance(schema, Mapping) else {}
        kinds = [kind for kind in schema["type"] if kind != "null"] if isinstance(schema.get("type"), list) else []
        return {**schema, "type": str(kinds[0])} if kinds else schema
