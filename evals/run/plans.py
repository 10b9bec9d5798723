"""Requests that may ask a server the question: of profiles, with usual bodies, of OpenAPI, as a refusal names them."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from evals.client.profile import DEFAULT_PROFILE, list_profiles, load_profile
from evals.errors import ConfigError
from evals.run.guess import NAMES, columns_of, json_or, snake
from evals.text.yaml_files import VARIABLE, expand_env

QUESTION = "{{question}}"
_USUAL_BODY = "a usual body"
_TURN = [{"role": "user", "content": QUESTION}]
_MADE_UP = "probe"
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
        prefix: What stands in the URL before the path.
    """

    ask: Mapping[str, Any]
    source: str = ""
    made_up: Mapping[str, Any] = field(default_factory=dict)
    profile: str | None = None
    prefix: str = ""

    @property
    def path(self) -> str:
        """Below the URL of the server and `prefix`."""
        return str(self.ask["path"])

    @property
    def name(self) -> str:
        """Method and path."""
        return f"{self.ask.get('method', 'POST')} {self.path}"

    @property
    def invention(self) -> str:
        """The values that it invents, in words."""
        values = {path: value if isinstance(value, str) else json.dumps(value) for path, value in self.made_up.items()}
        return ", ".join(f"{path}: {value}" for path, value in values.items())

    def __str__(self) -> str:
        sent = self.ask.get("json", self.ask.get("query", {}))
        made_up = f"; made up: {self.invention}" if self.made_up else ""
        return f"{self.name} with {json.dumps(sent, ensure_ascii=False)} ({self.source}{made_up})"


# Of built-in profiles, and usual ones.


def profile_plan(name: str, request: Mapping[str, Any], **parts: Any) -> Plan:
    """The plan of a request of a profile.

    Raises:
        ConfigError: It names a variable of the environment.
    """
    ask = {key: request[key] for key in ("method", "path", "query", "json") if key in request}
    return Plan(expand_env(ask, set(), {}), f"the profile {name}", **parts)


def profile_plans(path: str | None) -> Iterator[Plan]:
    """The requests of built-in profiles that need nothing of the environment: to a path, or all (None)."""
    for name in sorted(list_profiles(), key=lambda name: name != DEFAULT_PROFILE):
        with suppress(ConfigError):
            plan = profile_plan(name, load_profile(name)["ask"], profile=name)
            prefix = "" if path is None else path.removesuffix(plan.path)
            needs_more = VARIABLE.search(json.dumps(plan.ask)) or load_profile(name).get("stream")
            if not needs_more and not (prefix and prefix == path):
                yield replace(plan, prefix=prefix)


def usual_plans(path: str) -> list[Plan]:
    """Requests with usual bodies to a path, the likeliest first."""
    bodies: list[Any] = [{name: QUESTION} for name in ("question", "query", "message", "input", "prompt")]
    bodies.insert(0 if re.search(r"completions|messages|converse", path) else 2, {"messages": _TURN})
    return [Plan({"path": path, "json": body}, _USUAL_BODY) for body in bodies]


# With the fields that a refusal misses.


def amended(plan: Plan, refusal: str) -> list[Plan]:
    """The request again, with the fields that a refusal misses; none: it misses none, or nothing would be changed."""
    missing, body = missing_fields(refusal), plan.ask.get("json")
    if not missing or plan.ask.get("method") == "GET":
        return []
    asked_fields = {*NAMES["question_fields"], *NAMES["message_lists"]}
    named = [path for path in missing if snake(path[-1]) in asked_fields]
    asking = next(iter(named or [path for path in missing if not _NO_QUESTIONS.search(snake(path[-1]))]), None)
    if named or not isinstance(body, Mapping) or (asking and plan.source == _USUAL_BODY):
        body = {}
    made_up = dict[str, Any]()
    for path in missing:
        value: Any = QUESTION if path == asking else _MADE_UP
        if snake(path[-1]) in NAMES["message_lists"]:
            value = _TURN
        elif value == _MADE_UP:
            made_up[".".join(path)] = value
        body = _placed(body, path, value)
    ask, source = {**plan.ask, "json": body}, f"the server named {', '.join(map('.'.join, missing))}"
    return [] if ask == plan.ask else [replace(plan, ask=ask, source=source, made_up=made_up, profile=None)]


def _placed(body: Any, path: Sequence[str], value: Any) -> Any:
    """The body with a value at a path of keys."""
    if not path:
        return value
    held = body if isinstance(body, Mapping) else {}
    return {**held, path[0]: _placed(held.get(path[0]), path[1:], value)}


def missing_fields(refusal: str) -> list[tuple[str, ...]]:
    """The fields that a refusal says it misses: `detail[].loc` of FastAPI, else the names quoted in its texts."""
    body = json_or(refusal, refusal)
    details = body.get("detail") if isinstance(body, Mapping) else None
    locations = [detail.get("loc") or () for detail in details or () if isinstance(detail, Mapping)]
    fields = [tuple(map(str, location[1:])) for location in locations]
    if not any(fields):
        texts = (text for cells in columns_of(body).values() for text in cells.values() if says_lacking(str(text)))
        names = (name for text in texts for name in _QUOTED_NAME.findall(str(text)))
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
        self.paths = {name.partition(" ")[2] for name in self.operations}
        schemes = map(self.below, self.below(document, "components", "securitySchemes").values())
        self.login_headers = [str(scheme.get("name")) for scheme in schemes if scheme.get("in") == "header"]
        self.plans = [plan for name in self.operations if (plan := self._plan(name))]

    def changing_word(self, plan: Plan) -> str | None:
        """The word in the path or the operationId of a request that says that it changes something; None: none does."""
        name = f"{plan.path} {self.operations.get(plan.name, {}).get('operationId', '')}"
        words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+", name)}
        allowed = NAMES["chat_changes"] if words & {*NAMES["chatting"]} else ()
        return min(words & {*NAMES["changes"]} - {*allowed}, default=None)

    def below(self, schema: Any, *keys: str) -> Schema:
        """The schema at some keys, each behind its references, of alternatives the first that is not null."""
        for key in keys:
            schema = self.below(schema).get(key)
        for _ in range(5):
            part = schema if isinstance(schema, Mapping) else {}
            choices = part.get("anyOf") or part.get("oneOf") or part.get("allOf") or [part]
            schemas = (choice for choice in choices if isinstance(choice, Mapping) and choice.get("type") != "null")
            schema = next(schemas, {})
            if (reference := str(schema.get("$ref"))).startswith("#/"):
                schema = self._document
                for key in reference[2:].split("/"):
                    schema = schema.get(key) if isinstance(schema, Mapping) else None
        return schema if isinstance(schema, Mapping) else {}

    def _plan(self, name: str) -> Plan | None:
        """The request of an operation; None: it takes no question."""
        filler, path = _BodyFiller(self), name.removeprefix("POST ")
        if path == name or "{" in path:
            return None
        content = self.below(self.operations[name], "requestBody", "content", "application/json", "schema")
        body = filler.body(content)
        return Plan({"path": path, "json": body}, "OpenAPI", filler.made_up) if filler.has_question else None


class _BodyFiller:
    """Fills the schema of a body: the question once, what is required, nothing else.

    Args:
        api: Resolves references.

    Attributes:
        has_question: Whether the body holds the question.
        made_up: The values that it invents, by path.
    """

    def __init__(self, api: OpenApi) -> None:
        self._api, self.has_question = api, False
        self.made_up: dict[str, Any] = {}

    def body(self, schema: Schema, at: str = "", depth: int = 5) -> dict[str, Any]:
        """The object of a schema.

        Args:
            schema: Of the object.
            at: Its path.
            depth: Objects within objects that are entered.
        """
        fields = {key: self._api.below(part) for key, part in (schema.get("properties") or {}).items()}
        required: Collection[str] = schema.get("required") or ()
        asking = None if self.has_question else _question_field(fields, required)
        self.has_question = self.has_question or asking is not None
        body: dict[str, Any] = {}
        for key, part in sorted(fields.items(), key=lambda item: item[0] not in required):
            item = self._api.below(part, "items")
            may_talk = snake(key) in NAMES["message_lists"] and not self.has_question
            enters = depth > 0 and (key in required or may_talk)
            if key == asking:
                body[key] = QUESTION
            elif part.get("type") == "boolean" and re.match(r"(include|return|with|stream$)", snake(key)):
                body[key] = snake(key) != "stream"
            elif may_talk and part.get("type") == "array" and {*_TURN[0]} <= {*item.get("properties", _TURN[0])}:
                body[key], self.has_question = _TURN, True
            elif enters and part.get("properties"):
                body[key] = self.body(part, f"{at}{key}.", depth - 1)
            elif enters and item.get("properties") and not self.has_question:
                body[key] = [self.body(item, f"{at}{key}[].", depth - 1)]
            elif key in required:
                body[key] = _default(part)
                self.made_up |= {} if {"default", "const", "enum"} & {*part} else {f"{at}{key}": body[key]}
        return {key: body[key] for key in fields if key in body}


def _question_field(fields: Mapping[str, Schema], required: Collection[str]) -> str | None:
    """The property that is the question: by its name, else the only text that may be; never an id or a model."""
    texts = {
        snake(key): key
        for key, part in fields.items()
        if part.get("type") == "string" and not {"enum", "format"} & {*part}
    }
    free = [key for name, key in texts.items() if not _NO_QUESTIONS.search(name)]
    options = [texts[name] for name in NAMES["question_fields"] if name in texts]
    options += [key for key in free if key in required] + (free if len(fields) == 1 else [])
    return options[0] if options else None


def _default(schema: Schema) -> Any:
    for key in ("default", "example", "const"):
        if key in schema:
            return schema[key]
    if choices := schema.get("enum"):
        return "user" if "user" in choices else choices[0]
    return {"string": _MADE_UP, "boolean": False, "array": [], "object": {}}.get(str(schema.get("type")), 1)
