"""Requests that may ask a server the question: of profiles, with usual bodies, of OpenAPI, as a refusal names them."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from evals.client.profile import DEFAULT_PROFILE, list_profiles, load_profile
from evals.errors import ConfigError
from evals.run.guess import NAMES, json_or, snake, walk
from evals.text.yaml_files import VARIABLE, expand_env

QUESTION = "{{question}}"
_USUAL_BODY = "a usual body"
_TURN = [{"role": "user", "content": QUESTION}]
_MADE_UP = "probe"
_NO_QUESTIONS = re.compile(
    r"(^|_)(id|ids|model|session|user|lang|language|locale|name|mode|type|format|role|token|key)$"
)
_QUOTED_NAME = re.compile(r"[\"'`„“‚‘«»]([^\W\d][\w.-]{0,40})[\"'`“”‘’«»]")
_JSON_SCHEMA = ("requestBody", "content", "application/json", "schema")

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """A request that may ask the question.

    Attributes:
        method: GET or POST.
        path: Below the URL of the server and `prefix`.
        body: The JSON; None: there is none.
        query: The parameters.
        source: What it is made from, in words.
        made_up: The values that it invents, by path in the body.
        profile: The built-in profile that it is of.
        prefix: What stands in the URL before the path.
    """

    method: str
    path: str
    body: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    made_up: Mapping[str, Any] = field(default_factory=dict)
    profile: str | None = None
    prefix: str = ""

    @property
    def ask(self) -> dict[str, Any]:
        """As `server.ask` of a configuration."""
        keys: dict[str, Any] = {"path": self.path} if self.method == "POST" else {"method": "GET", "path": self.path}
        keys |= {"query": dict(self.query)} if self.query else {}
        return keys | ({"json": self.body} if self.body is not None else {})

    @property
    def invention(self) -> str:
        """The values that it invents, in words."""
        values = {path: value if isinstance(value, str) else json.dumps(value) for path, value in self.made_up.items()}
        return ", ".join(f"{path}: {value}" for path, value in values.items())

    def __str__(self) -> str:
        sent = dict(self.query) if self.body is None else self.body
        made_up = f"; made up: {self.invention}" if self.made_up else ""
        return f"{self.method} {self.path} with {json.dumps(sent, ensure_ascii=False)} ({self.source}{made_up})"


# Of built-in profiles, and usual ones.


def paths_of_profile(name: str) -> set[str]:
    """All paths of a profile."""
    profile = load_profile(name)
    parts = [*profile.values(), *(profile.get("info") or ())]
    return {part["path"] for part in parts if isinstance(part, Mapping) and "path" in part}


def profile_plan(name: str, request: Mapping[str, Any], **parts: Any) -> Plan:
    """The plan of a request of a profile.

    Raises:
        ConfigError: It names a variable of the environment.
    """
    keys = expand_env({key: request.get(key) for key in ("method", "path", "json", "query")}, set(), {})
    method, path, query = keys["method"] or "POST", str(keys["path"]), keys["query"] or {}
    return Plan(method, path, keys["json"], query, f"the profile {name}", **parts)


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
    if "graphql" in path:
        body = {"query": "{ask(question: {{question_json}})}"}
        return [Plan("POST", path, body, source="GraphQL", made_up={"query": "ask(question)"})]
    bodies: list[Any] = [{name: QUESTION} for name in ("question", "query", "message", "input", "prompt")]
    bodies.insert(0 if re.search(r"completions|messages|converse", path) else 2, {"messages": _TURN})
    return [Plan("POST", path, body, source=_USUAL_BODY) for body in bodies]


# With the fields that a refusal misses.


def amended(plan: Plan, refusal: str) -> list[Plan]:
    """The request again, with the fields that a refusal misses; none: it misses none, or nothing would be changed."""
    missing = missing_fields(refusal)
    if not missing or plan.method == "GET":
        return []
    asked_fields = {*NAMES["question_fields"], *NAMES["message_lists"]}
    named = [path for path in missing if snake(path[-1]) in asked_fields]
    asking = next(iter(named or [path for path in missing if not _NO_QUESTIONS.search(snake(path[-1]))]), None)
    is_replaced = named or not isinstance(plan.body, Mapping) or (asking and plan.source == _USUAL_BODY)
    body, made_up = {} if is_replaced else plan.body, dict[str, Any]()
    for path in missing:
        value: Any = QUESTION if path == asking else _MADE_UP
        if snake(path[-1]) in NAMES["message_lists"]:
            value = _TURN
        elif value == _MADE_UP:
            made_up[".".join(path)] = value
        body = _placed(body, path, value)
    source = f"the server named {', '.join(map('.'.join, missing))}"
    changed = replace(plan, body=body, source=source, made_up=made_up, profile=None)
    return [] if changed.ask == plan.ask else [changed]


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
    places = [detail.get("loc") or () for detail in details or () if isinstance(detail, Mapping)]
    named = [tuple(map(str, place[1:])) for place in places]
    if not any(named):
        texts = (value for _, value in walk(body) if isinstance(value, str) and says_lacking(value))
        names = (name for text in texts for name in _QUOTED_NAME.findall(text))
        named = [tuple(name.split(".")) for name in names if name.lower() not in NAMES["no_fields"]]
    return list(dict.fromkeys(filter(None, named)))


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
        plans: The requests that take a question, those first whose names ask.
    """

    def __init__(self, document: Schema) -> None:
        self._document = document
        self.operations: dict[tuple[str, str], Schema] = {
            (method.upper(), path): operation
            for path, methods in (document.get("paths") or {}).items()
            for method, operation in dict(methods or {}).items()
            if isinstance(operation, Mapping)
        }
        self.paths = {path for _, path in self.operations}
        schemes = (self._at("components", "securitySchemes") or {}).values()
        self.login_headers = [
            str(scheme["name"]) for scheme in schemes if scheme.get("in") == "header" and "name" in scheme
        ]
        plans = (self._plan(*key, operation) for key, operation in self.operations.items() if "{" not in key[1])
        self.plans = sorted(filter(None, plans), key=self._rank)

    def words(self, plan: Plan) -> set[str]:
        """The words of a path and its operationId, in small letters."""
        name = f"{plan.path} {self.operations.get((plan.method, plan.path), {}).get('operationId', '')}"
        return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+", name)}

    def resolved(self, schema: Any) -> Schema:
        """The schema behind references, and the first of alternatives that is not null."""
        for _ in range(5):
            if not isinstance(schema, Mapping):
                return {}
            several = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
            if str(schema.get("$ref")).startswith("#/"):
                schema = self._at(*str(schema["$ref"])[2:].split("/"))
            elif several:
                schema = next((choice for choice in several if choice.get("type") != "null"), {})
            else:
                return schema
        return {}

    def _at(self, *keys: str) -> Any:
        value: Any = self._document
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def _rank(self, plan: Plan) -> int:
        words = self.words(plan)
        return 3 * len(words & {*NAMES["not_asking"]}) - len(words & {*NAMES["asking"]}) + (plan.method == "GET")

    def _plan(self, method: str, path: str, operation: Schema) -> Plan | None:
        """The request of an operation; None: it takes no question."""
        if method == "POST":
            filler = _BodyFiller(self)
            schema = reduce(lambda held, key: self.resolved(held.get(key)), _JSON_SCHEMA, operation)
            plan = Plan("POST", path, filler.body(schema), {}, "OpenAPI", filler.made_up)
            return plan if filler.has_question else None
        given = {part.get("name") for part in operation.get("parameters", ()) if isinstance(part, Mapping)}
        name = next((name for name in NAMES["question_fields"] if name in given), None)
        return Plan("GET", path, query={name: QUESTION}, source="OpenAPI") if name and method == "GET" else None


class _BodyFiller:
    """Fills the schema of a body: the question once, what is required, nothing else.

    Args:
        api: Resolves references.

    Attributes:
        has_question: Whether the question has got a place.
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
        fields = {key: self._api.resolved(part) for key, part in (schema.get("properties") or {}).items()}
        required: Collection[str] = schema.get("required") or ()
        asking = None if self.has_question else _question_field(fields, required)
        self.has_question = self.has_question or asking is not None
        body: dict[str, Any] = {}
        for key, part in sorted(fields.items(), key=lambda item: item[0] not in required):
            items = self._api.resolved(part.get("items")).get("properties") or {}
            may_talk = snake(key) in NAMES["message_lists"] and not self.has_question
            enters = depth > 0 and (key in required or may_talk)
            if key == asking:
                body[key] = QUESTION
            elif part.get("type") == "boolean" and re.match(r"(include|return|with|stream$)", snake(key)):
                body[key] = snake(key) != "stream"
            elif may_talk and part.get("type") == "array" and (not items or {"role", "content"} <= items.keys()):
                body[key], self.has_question = _TURN, True
            elif enters and part.get("properties"):
                body[key] = self.body(part, f"{at}{key}.", depth - 1)
            elif enters and items and not self.has_question:
                body[key] = [self.body(self._api.resolved(part["items"]), f"{at}{key}[].", depth - 1)]
            elif key in required:
                body[key] = _default(part)
                self.made_up |= {} if {"default", "const", "enum"} & {*part} else {f"{at}{key}": body[key]}
        return {key: body[key] for key in fields if key in body}


def _question_field(fields: Mapping[str, Schema], required: Collection[str]) -> str | None:
    """The property that is the question: by its name, else the only text that may be; never an id or a model."""
    texts = [key for key, part in fields.items() if part.get("type") == "string" and not {"enum", "format"} & {*part}]
    by_name = {snake(key): key for key in texts}
    if named := next((by_name[name] for name in NAMES["question_fields"] if name in by_name), None):
        return named
    free = [key for key in texts if not _NO_QUESTIONS.search(snake(key))]
    needed = [key for key in free if key in required]
    return next(iter(needed or (free if len(free) == 1 and len(fields) == 1 else [])), None)


def _default(schema: Schema) -> Any:
    for key in ("default", "example", "const"):
        if key in schema:
            return schema[key]
    if choices := schema.get("enum"):
        return "user" if "user" in choices else choices[0]
    return {"string": _MADE_UP, "boolean": False, "array": [], "object": {}}.get(str(schema.get("type")), 1)
