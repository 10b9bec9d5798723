"""Which requests may ask a server a question: those of built-in profiles, of its OpenAPI document, of usual paths.

All that is looked at for it is looked at by GET.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from evals.client.http import ExchangeError, HttpClient, Reply
from evals.client.profile import list_profiles, load_profile, resolve_spec
from evals.client.spec import ServerSpec
from evals.errors import ConfigError, ServerUnreachableError
from evals.run.probing.fields import IN_ORDER, NAMES, parts_of, snake
from evals.text.decoding import parse_json
from evals.text.yaml_files import VARIABLE, expand_env

QUESTION = "{{question}}"

USUAL = ("/query", "/ask", "/chat", "/api/chat", "/api/query", "/api/ask", "/v1/query", "/rag", "/answer", "/search")
"""Paths that ask a question on most servers that have them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A request that may ask the question.

    Attributes:
        method: HTTP method.
        path: Below the server's URL.
        body: JSON with {{question}} in it; None for a request without.
        query: Parameters of the URL.
        source: What it was made of, in words.
        profile: The built-in profile that it is of; None where it is of none.
        doubts: What of it is a guess, in words.
    """

    method: str
    path: str
    body: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    profile: str | None = None
    doubts: Sequence[str] = ()

    @property
    def told(self) -> str:
        """What is sent, and why, for whoever watches."""
        guess = f"; I guessed {', '.join(self.doubts)}" if self.doubts else ""
        sent = dict(self.query) if self.body is None else self.body
        return f"{self.method} {self.path} with {json.dumps(sent, ensure_ascii=False)} ({self.source}{guess})"

    @property
    def ask(self) -> dict[str, Any]:
        """As `server.ask` of a configuration."""
        keys: dict[str, Any] = {} if self.method == "POST" else {"method": self.method}
        keys["path"] = self.path
        if self.query:
            keys["query"] = dict(self.query)
        if self.body is not None:
            keys["json"] = self.body
        return keys

    def at_field(self, path: Sequence[str]) -> "Plan":
        """The request with the question at a field that was missed; it is no longer that of a profile."""
        source = f"the server's error message named `{'.'.join(path)}`"
        if self.method == "GET":
            return replace(self, query={path[-1]: QUESTION}, source=source, profile=None, doubts=())
        body: Any = QUESTION
        for step in reversed(path):
            body = {step: body}
        return replace(self, body=body, source=source, profile=None, doubts=())


# The fields that a refusal says it misses, as web frameworks and people write it.


_ABOUT_MISSING = re.compile(r"miss|requir|expect|need|lack|absent|must|not found|unknown", re.IGNORECASE)

_QUOTED = re.compile(r"[\"'`]([A-Za-z_][\w.-]{0,40})[\"'`]")

_IS_MISSING = re.compile(r"(?<![\w.-])([A-Za-z_][\w.]*)\s+(?:is|was)\s+(?:missing|required|absent)\b", re.IGNORECASE)


def missing_fields(said: bytes) -> list[tuple[str, ...]]:
    """The paths of the fields that a refusal names: `detail[].loc` of FastAPI, else names in its texts."""
    try:
        body = parse_json(said)
    except ValueError:
        body = said.decode("utf-8", "replace")
    texts = [text for text in _texts(body) if _ABOUT_MISSING.search(text)]
    named = dict.fromkeys(name for text in texts for name in _QUOTED.findall(text) or _IS_MISSING.findall(text))
    return _located(body) or [tuple(name.split(".")) for name in named if name.lower() not in NAMES["no_fields"]]


def _located(body: Any) -> list[tuple[str, ...]]:
    """The fields of `{"detail": [{"loc": ["body", "question"], "type": "missing"}]}`."""
    details = body.get("detail") if isinstance(body, Mapping) else None
    items = [item for item in details if isinstance(item, Mapping)] if isinstance(details, list) else []
    return [path for item in items if (path := tuple(map(str, item.get("loc") or ()))[1:])]


def _texts(body: Any) -> list[str]:
    if isinstance(body, str):
        return [body]
    items = body.values() if isinstance(body, Mapping) else body if isinstance(body, list) else ()
    return [text for item in items for text in _texts(item)]


# Which requests the probe may send: some freely, some with somebody's assent, some never.


Assent = Callable[[Sequence[Plan]], Sequence[Plan]]
"""Gets the requests that need assent; returns those that may be sent."""


@dataclass(slots=True)
class Candidates:
    """The requests that may ask the question, the likeliest first.

    Attributes:
        free: To paths of built-in profiles, to usual paths, and to the path that the user named.
        others: To all other paths; they need assent.
        never: To operations that change something, each with the word that says so.
    """

    free: list[Plan] = field(default_factory=list)
    others: list[Plan] = field(default_factory=list)
    never: dict[str, str] = field(default_factory=dict)

    @property
    def named_never(self) -> str:
        """The operations that are never called, each with its word, in one line."""
        return ", ".join(f"{name} ({word})" for name, word in self.never.items())


def sort_out(
    plans: Sequence[Plan], document: Mapping[str, Any], of_profiles: Collection[str], named: str | None
) -> Candidates:
    """Sort requests by what they need before they may be sent.

    Args:
        plans: The requests.
        document: OpenAPI, whose operationIds count like the paths; empty without one.
        of_profiles: The paths of built-in profiles.
        named: The path in the URL; None without one.
    """
    found = Candidates()
    ids = {
        (method, path.rstrip("/")): str(each.get("operationId", ""))
        for (method, path), each in operations_of(document).items()
    }
    for plan in plans:
        words = NAMES["changes"] if plan.path in of_profiles else NAMES["changes"] | NAMES["changes_elsewhere"]
        told = parts_of(f"{plan.path} {ids.get((plan.method, plan.path.rstrip('/')), '')}")
        word = next((part for part in told if part in words), None)
        if word is not None:
            found.never[f"{plan.method} {plan.path}"] = word
        elif plan.path == named or plan.path in of_profiles or plan.path in USUAL:
            found.free.append(plan)
        else:
            found.others.append(plan)
    return found


# The operations of an OpenAPI document that may ask a question, with the bodies that they want.


_FIELDS = IN_ORDER["question_fields"]

_WANTED = ("include", "return", "with")

_DEEPEST = 5

Schema = Mapping[str, Any]


def operations_of(document: Schema) -> dict[tuple[str, str], Schema]:
    """Every operation by its method and path."""
    paths = document.get("paths")
    return {
        (method.upper(), path): operation
        for path, methods in (paths.items() if isinstance(paths, Mapping) else ())
        for method, operation in (methods.items() if isinstance(methods, Mapping) else ())
        if isinstance(operation, Mapping)
    }


def plans_of(document: Schema) -> list[Plan]:
    """The operations that may ask a question, the likeliest first.

    Args:
        document: OpenAPI 3.
    """
    weighed = [
        each
        for (method, path), operation in operations_of(document).items()
        if "{" not in path
        for each in (_posted if method == "POST" else _got)(document, path, operation)
        if method in {"POST", "GET"}
    ]
    return [plan for _, plan in sorted(weighed, key=lambda item: -item[0])]


def _posted(document: Schema, path: str, operation: Schema) -> Iterator[tuple[float, Plan]]:
    schema = _resolved(document, operation.get("requestBody"))
    for key in ("content", "application/json", "schema"):
        schema = _resolved(document, schema.get(key))
    name, body = _asking(document, schema, _DEEPEST)
    if name is not None:
        doubts = () if name in _FIELDS[:2] else (f"the field `{name}`",)
        yield _weight(path, operation, name), Plan("POST", path, body, source="OpenAPI", doubts=doubts)


def _got(_: Schema, path: str, operation: Schema) -> Iterator[tuple[float, Plan]]:
    names = [each.get("name") for each in operation.get("parameters", ()) if isinstance(each, Mapping)]
    name = next((name for name in _FIELDS if name in names), None)
    if name is not None:
        yield _weight(path, operation, name) - 0.5, Plan("GET", path, query={name: QUESTION}, source="OpenAPI")


def _weight(path: str, operation: Schema, name: str) -> float:
    """How much its path, its names and the field of the question speak for an operation."""
    parts = set(parts_of(path))
    told = set(parts_of(f"{operation.get('operationId', '')} {operation.get('summary', '')}"))
    asking, others = NAMES["asking"], NAMES["other_operations"]
    rank = 3 - 0.1 * _FIELDS.index(name) if name in _FIELDS else 0.5
    return 2 * len(parts & asking) - 3 * len(parts & others) + len(told & asking) - len(told & others) + rank


def _resolved(document: Schema, schema: Any) -> Schema:
    """The schema behind references and alternatives; the first alternative that is not null."""
    for _ in range(_DEEPEST):
        if not isinstance(schema, Mapping):
            return {}
        several = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
        if str(schema.get("$ref")).startswith("#/"):
            schema = reduce(_below, schema["$ref"][2:].split("/"), document)
        elif several:
            schema = next((each for each in several if each.get("type") != "null"), {})
        else:
            return schema
    return {}


def _below(schema: Any, step: str) -> Any:
    return schema.get(step) if isinstance(schema, Mapping) else None


def _asking(document: Schema, schema: Schema, depth: int) -> tuple[str | None, dict[str, Any]]:
    """The property that is the question, and a body with it, with what is required, and with chunks in one piece.

    That is a property with the name of a question, else a required text, else the only text, else what holds one.
    """
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    fields = {key: _resolved(document, each) for key, each in known.items()}
    required = schema.get("required", ())
    text = _text_field(fields, required)
    name, value = (text, QUESTION) if text is not None else _inner(document, fields, depth)
    body: dict[str, Any] = {}
    for key, each in fields.items():
        is_flag = each.get("type") == "boolean"
        if key == name:
            body[key] = value
        elif is_flag and (key == "stream" or snake(key).startswith(_WANTED)):
            body[key] = key != "stream"
        elif key in required:
            body[key] = _default(each)
    return name, body


def _text_field(fields: Mapping[str, Schema], required: Collection[str]) -> str | None:
    texts = [key for key, each in fields.items() if each.get("type") == "string" and not {"enum", "format"} & set(each)]
    likely = [*(key for key in _FIELDS if key in texts), *(key for key in texts if key in required)]
    return next(iter(likely or (texts if len(texts) == 1 else ())), None)


def _inner(document: Schema, fields: Mapping[str, Schema], depth: int) -> tuple[str | None, Any]:
    """The property that holds an object with a question, or a list of such objects, and its value."""
    for key, each in fields.items() if depth else ():
        is_list = each.get("type") == "array"
        name, body = _asking(document, _resolved(document, each.get("items")) if is_list else each, depth - 1)
        if name is not None:
            return key, [body] if is_list else body
    return None, None


def _default(schema: Schema) -> Any:
    """Something that a required property may be: its default, its example, its first choice, else an empty value."""
    for key in ("default", "example", "const"):
        if key in schema:
            return schema[key]
    if choices := schema.get("enum"):
        return "user" if "user" in choices else choices[0]
    return {"string": "probe", "boolean": False, "array": [], "object": {}}.get(str(schema.get("type")), 1)


# What a server shows by GET, and the built-in profiles that fit it.


Tell = Callable[[str], None]

_TIMEOUT_S = 5.0

_HEALTH = ("/health", "/healthz", "/api/health", "/ping", "/ok", "/status")

_NOTHING = "/evals-probe-finds-nothing-here"

_FINGERPRINTS = {"openwebui": "/api/v1/files/"}
"""By profile, a path that tells a server whose web page answers a GET of every path that takes a POST alone."""

_THERE = frozenset({200, 400, 401, 403, 405, 415, 422})


@dataclass(slots=True)
class Sighted:
    """What a server shows without being asked a question.

    Attributes:
        openapi: The document; empty without one.
        health: A path that answers 200; None without one.
        paths: Paths that are there, though a GET asks nothing of them.
    """

    openapi: Mapping[str, Any] = field(default_factory=dict)
    health: str | None = None
    paths: list[str] = field(default_factory=list)


async def look(transport: HttpClient, tell: Tell, profiles: Sequence[ServerSpec], *, only: bool) -> Sighted:
    """Look at a server by GET alone.

    Args:
        transport: Reaches it.
        tell: Called with what is looked at and found.
        profiles: Of which paths are looked for where no document lists them.
        only: Whether the path to ask is known, so that none is looked for.

    Raises:
        ServerUnreachableError: Nothing answers.
    """
    seen = Sighted(_document(await _get(transport, "/openapi.json")))
    tell("GET /openapi.json: " + (f"{len(operations_of(seen.openapi))} operations" if seen.openapi else "none"))
    for path in dict.fromkeys((*_HEALTH, *(spec.health.path for spec in profiles if spec.health))):
        if await _status(transport, path) == 200:
            seen.health = path
            tell(f"GET {path}: it answers, and is taken for a health check")
            break
    if not seen.openapi and not only:
        seen.paths = await _paths(transport, tell, profiles)
    return seen


def _document(reply: Reply | ExchangeError) -> Mapping[str, Any]:
    try:
        body = parse_json(reply.body) if isinstance(reply, Reply) else None
    except ValueError:
        body = None
    return body if isinstance(body, Mapping) and isinstance(body.get("paths"), Mapping) else {}


async def _paths(transport: HttpClient, tell: Tell, profiles: Sequence[ServerSpec]) -> list[str]:
    """Which paths of profiles and which usual ones are there: those that refuse a GET otherwise than with 404."""
    nothing = await _status(transport, _NOTHING)
    known = dict.fromkeys((*(spec.ask.path for spec in profiles), *USUAL, *_FINGERPRINTS.values()))
    asked = [path for path in known if not VARIABLE.search(path) and "{{" not in path]
    status = {path: await _status(transport, path) for path in asked}
    found = [path for path in asked if status[path] in _THERE and status[path] != nothing]
    tell(f"GET of {len(asked)} paths, usual ones and those of profiles: found {', '.join(found) or 'none of them'}")
    return found


async def _get(transport: HttpClient, path: str) -> Reply | ExchangeError:
    try:
        return await transport.send("GET", path, timeout_s=_TIMEOUT_S)
    except ExchangeError as failure:
        if failure.error.kind == "connect":
            raise ServerUnreachableError(
                f"no server answers at {transport.base} ({failure.error.message})", "check the URL and its port"
            ) from failure
        return failure


async def _status(transport: HttpClient, path: str) -> int | None:
    reply = await _get(transport, path)
    return reply.status if isinstance(reply, Reply) else reply.error.status


def fitting(seen: Sighted, profiles: Sequence[ServerSpec], only: str | None) -> list[ServerSpec]:
    """The built-in profiles whose path is there, or is the only one; those come first whose other paths are there too.

    Args:
        seen: What was seen of the server.
        profiles: The profiles.
        only: The path to ask, where it is known.
    """
    if only is not None:
        return [spec for spec in profiles if spec.ask.path == only]
    if not seen.openapi:
        return [spec for spec in profiles if {spec.ask.path, _FINGERPRINTS.get(spec.profile)} & set(seen.paths)]
    known = operations_of(seen.openapi)
    shapes = {_shape(path) for _, path in known}
    there = [spec for spec in profiles if (spec.ask.method, spec.ask.path) in known]
    return sorted(there, key=lambda spec: -_share_there(spec, shapes))


def is_askable(spec: ServerSpec) -> bool:
    """Whether the request of a profile needs nothing of the environment, and its answer can show chunks."""
    needs = VARIABLE.search(spec.model_dump_json(include={"ask", "retrieve"}))
    return needs is None and (spec.retrieve is not None or spec.map.chunks is not None)


def _share_there(spec: ServerSpec, shapes: Collection[str]) -> float:
    """The share of a profile's other paths that is among these."""
    parts = (spec.health, spec.retrieve, spec.documents, spec.upload, spec.ready, *spec.info)
    paths = [_shape(part.path) for part in parts if part is not None]
    return sum(path in shapes for path in paths) / len(paths) if paths else 0.0


def _shape(path: str) -> str:
    """A path without the names of its parameters."""
    return re.sub(r"\{+[^{}]*\}+", "{}", path)


def plan_of(spec: ServerSpec) -> Plan:
    """The request of a built-in profile."""
    ask = spec.ask
    return Plan(ask.method, ask.path, ask.body, ask.query, f"the built-in profile {spec.profile}", spec.profile)


def usual(seen: Sighted) -> list[Plan]:
    """Requests to paths that are there, in the commonest form."""
    paths = [path for path in seen.paths if path not in _FINGERPRINTS.values()]
    form = Plan("POST", "", {"question": QUESTION}, {}, "a usual path", None, ("path and field",))
    return [replace(form, path=path) for path in paths]


def at_path(path: str) -> list[Plan]:
    """Requests to the path that the user named, with the usual fields, where a refusal names none."""
    form = Plan("POST", path, source="the path is from the URL")
    names = ("question", "query", "q", "input", "message", "prompt")
    return [replace(form, body={name: QUESTION}, doubts=(f"the field `{name}`",)) for name in names]


def built_in() -> list[ServerSpec]:
    """The built-in profiles with the defaults of their ${NAME:-default}, without those that are broken.

    The environment is not read: a key in it is for the server that its owner means, which this one need not be.
    """
    specs = []
    for name in list_profiles():
        with suppress(ConfigError):
            keys = load_profile(name)
            requests = {part: keys[part] for part in ("ask", "retrieve") if keys.get(part)}
            with suppress(ConfigError):  # one without a default stays as it is, so that the profile is not asked
                requests = expand_env(requests, set(), {})
            specs.append(resolve_spec({"profile": name, **requests}))
    return specs
