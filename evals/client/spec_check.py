"""The expressions, patterns and templates of a specification, checked before anything is sent."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evals.client.expressions import compiled
from evals.client.mapped_keys import unknown_keys
from evals.client.spec import GIVEN_NAMES, RequestSpec, ServerSpec
from evals.client.template import names_in, whole_name
from evals.credentials.known import masked
from evals.errors import ConfigError
from evals.inputs.yaml_layers import VARIABLE

_OF_THE_QUESTION = frozenset({"question", "question_json", "messages"})
_ONE_BRACE = re.compile(r"(?<!\{)\{\s*(question|question_json|messages)\s*\}(?!\})")
_TEMPLATES = "the question is {{question}}, with two braces on each side"


class SpecError(ConfigError):
    """A key of a specification is unknown or has a wrong value.

    Args:
        key: Its path, such as `map.chunks`; empty where no single key is wrong.
        message: One sentence that names it.
        hint: The way out.
    """

    def __init__(self, key: str, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.key = f"server.{key}" if key else "server"


def check_spec(spec: ServerSpec, *, before_environment: bool = False) -> None:
    """Check every expression, pattern and template.

    Args:
        spec: Of a server.
        before_environment: Whether what holds a ${NAME} is left for later.

    Raises:
        SpecError: One is wrong; it names its key.
    """
    for key, expression in _expressions(spec):
        if not (before_environment and VARIABLE.search(expression)):
            _check_expression(key, expression)
    for key, pattern in _patterns(spec):
        if not (before_environment and VARIABLE.search(pattern)):
            _check_pattern(key, pattern)
    _check_templates(spec)


def _check_templates(spec: ServerSpec) -> None:
    """See that the question is sent, and that no name of a template is sent as it stands."""
    requests = {"ask": spec.ask} | ({"retrieve": spec.retrieve} if spec.retrieve is not None else {})
    known = GIVEN_NAMES | (spec.retrieve.give.keys() if spec.retrieve is not None else set())
    named: set[str] = set()
    for key, template in (one for above, request in requests.items() for one in _templates(above, request)):
        named.update(names_in(template))
        if found := _ONE_BRACE.search(template):
            raise SpecError(key, f"server.{key}: {found[0]} would be sent as it stands", _TEMPLATES)
        if (name := whole_name(template)) is not None and name not in known:
            raise SpecError(key, f"server.{key}: {template} stands for nothing", f"known: {', '.join(sorted(known))}")
    if named.isdisjoint(_OF_THE_QUESTION):
        raise SpecError("ask", "server.ask: no part of the request holds the question", _TEMPLATES)


def _templates(above: str, request: RequestSpec) -> Iterator[tuple[str, str]]:
    """Every text of a request by its key."""
    for key in ("path", "query", "headers", "form"):
        yield from _texts(f"{above}.{key}", getattr(request, key))
    yield from _texts(f"{above}.json", request.body)


def _texts(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _texts(f"{key}.{name}", item)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts(f"{key}.{number}", item)


def _check_expression(key: str, expression: str) -> None:
    try:
        compiled(expression)
    except ConfigError as error:
        raise SpecError(key, f"server.{key}: {error.message}", error.hint) from error
    for name, hint in unknown_keys(key, expression):
        raise SpecError(key, f"unknown key {f'server.{key}.{name}'!r}", hint)


def _check_pattern(key: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        if masked(pattern) != pattern:  # what the library says may hold a part of it
            raise SpecError(key, f"server.{key}: not a valid pattern: it holds a value of the environment") from None
        raise SpecError(key, f"server.{key}: not a valid pattern: {pattern!r} ({error.msg})") from error


def _expressions(spec: ServerSpec) -> Iterator[tuple[str, str]]:
    """Every expression of a profile by its key."""
    yield from _given("map", spec.map.model_dump())
    yield from _given("ask", {"ok_when": spec.ask.ok_when})
    for number, endpoint in enumerate(spec.info):
        yield from _given(f"info.{number}", {"of": endpoint.of})
        yield from _given(f"info.{number}.map", endpoint.map)
    if spec.retrieve is not None:
        yield from _given("retrieve.map", spec.retrieve.map.model_dump())
        yield from _given("retrieve.give", spec.retrieve.give)
        yield from _given("retrieve", {"ok_when": spec.retrieve.ok_when})
    yield from _of_streams(spec)
    yield from _of_documents(spec)


def _of_streams(spec: ServerSpec) -> Iterator[tuple[str, str]]:
    if spec.stream is not None:
        yield from _given("stream", spec.stream.model_dump(include={"delta", "done", "error"}))
    if spec.session is not None:
        yield from _given("session", {"id": spec.session.id})


def _of_documents(spec: ServerSpec) -> Iterator[tuple[str, str]]:
    if spec.documents is not None:
        yield from _given("documents", {"map": spec.documents.map})
    if spec.upload is not None:
        yield from _given("upload", {"id": spec.upload.id, "document_ids": spec.upload.document_ids})
    if spec.ready is not None:
        yield from _given("ready", {"done_when": spec.ready.done_when, "failed": spec.ready.failed})


def _given(above: str, expressions: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    """Those expressions that there are, by their keys below another."""
    return ((f"{above}.{key}", expression) for key, expression in expressions.items() if expression is not None)


def _patterns(spec: ServerSpec) -> Iterator[tuple[str, str]]:
    yield "citations.markers", spec.citations.markers
    for number, pattern in enumerate(spec.clean):
        yield f"clean.{number}", pattern
