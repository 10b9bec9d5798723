"""What the requests of a question hold: templates, and what one turn of a conversation gives to the next."""

import json
import uuid
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import quote

import httpx

from evals.client.mapping import find
from evals.client.spec import TEMPLATE, RequestSpec, SessionSpec
from evals.schemas.response import ResponseError

TRACEPARENT = "traceparent"
"""The header with the trace context of each question (W3C Trace Context)."""


_NO_SESSION = SessionSpec()


class Conversation:
    """What the templates of a turn may name, from the turns before it. A single question is one of one turn.

    Args:
        session: How the server recognises the turns; None: it does not.
        trace: The header `traceparent` of its requests; None for none.

    Attributes:
        cookies: Those of this conversation, which no other sees.
    """

    def __init__(self, session: SessionSpec | None = None, trace: str | None = None) -> None:
        self._session, self._trace = session or _NO_SESSION, trace
        self._values: dict[str, Any] = {"session_id": self._session.first, "uuid": str(uuid.uuid4())}
        self._messages: list[dict[str, str]] = []
        self._has_session = self._session.id is None
        self.cookies = httpx.Cookies()

    def request(self, spec: RequestSpec, message: str, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The arguments of `HttpClient.send` for the turn with this message, with the templates filled in.

        Args:
            spec: The request.
            message: What the user says.
            given: What further names of templates stand for.
        """
        messages = [*self._messages, {"role": "user", "content": message}]
        as_json = json.dumps(message, ensure_ascii=False)
        asked = {"question": message, "question_json": as_json, "messages": messages}
        values: dict[str, Any] = {**self._values, **asked, **(given or {})}
        path = render_path(spec.path, values) if "{{" in spec.path else spec.path
        request: dict[str, Any] = {"method": spec.method, "path": path}
        for key, templates in (("params", spec.query), ("headers", spec.headers), ("data", spec.form)):
            if templates:
                filled = {name: render(template, values) for name, template in templates.items()}
                request[key] = {name: _as_text(value) for name, value in filled.items() if value is not None}
        if spec.body is not None:
            request["json"] = render(spec.body, values)
        if self._trace is not None:
            request["headers"] = {TRACEPARENT: self._trace, **request.get("headers", {})}
        return request

    def take(self, body: Any) -> None:
        """Take the session id from the body of an answer; without one, the previous id stays.

        Raises:
            MappingError: The expression cannot be evaluated over it.
        """
        given = find(self._session.id, body)
        if isinstance(given, str | int | float) and not isinstance(given, bool) and given != "":
            self._values["session_id"], self._has_session = given, True

    def problem(self) -> ResponseError | None:
        """Why the next turn cannot be asked: the server gave no id by which it would recognise it; else None."""
        at = f"`{self._session.id}` (server.session.id)"
        message = f"the answer has nothing at {at}, which the next turn needs"
        return None if self._has_session else ResponseError(kind="malformed", message=message)

    def add(self, message: str, answer: str | None) -> None:
        """Take a turn and its answer into the messages."""
        self._messages.append({"role": "user", "content": message})
        if answer is not None:
            self._messages.append({"role": "assistant", "content": answer})


def render(template: Any, values: Mapping[str, Any]) -> Any:
    """Fill the template. Values are put in as they are: JSON encoding happens afterwards, so nothing can break out.

    Args:
        template: Any JSON value.
        values: What each {{name}} stands for; a name that is not among them stays as written. A value that is no text
            replaces a string that holds nothing but its name, and stands in a longer one as JSON.
    """
    if isinstance(template, str):
        if "{{" not in template:
            return template
        whole = TEMPLATE.fullmatch(template)
        if whole is not None:
            return values.get(whole[1], template)
        return TEMPLATE.sub(lambda name: _as_text(values.get(name[1], name[0])), template)
    if isinstance(template, Mapping):
        return {key: render(item, values) for key, item in template.items()}
    if not isinstance(template, list):
        return template
    filled: list[Any] = []
    for item in template:
        value = render(item, values)
        # An item that is nothing but {{messages}} stands for all of them.
        spread = isinstance(value, list) and isinstance(item, str) and item.strip("{ }") == "messages"
        filled += value if spread else [value]
    return filled


def render_path(path: str, values: Mapping[str, Any]) -> str:
    """Fill the template of a path. Values are quoted, so that none can lead to another path."""
    return TEMPLATE.sub(lambda name: quote(_as_text(values.get(name[1], name[0])), safe=""), path)


def _as_text(value: Any) -> str:
    """The value as it stands within a text: what is no text as JSON, and nothing where there is none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# The trace context of each question, by which a server's own spans are found again (W3C Trace Context).


def trace_id(run_id: str, question_id: str) -> str:
    """The id of the trace of a question: 32 hexadecimal digits, the same whenever the run asks it."""
    return sha256(f"{run_id}/{question_id}".encode(errors="surrogatepass")).hexdigest()[:32]


def traceparent(run_id: str, question_id: str) -> str:
    """The value of the header: version, trace, the span of the client, and that it is sampled."""
    trace = trace_id(run_id, question_id)
    return f"00-{trace}-{sha256(trace.encode()).hexdigest()[:16]}-01"
