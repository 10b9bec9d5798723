"""What the Chat Completions API refuses, as far as a judge can break it, and what servers of others refuse besides."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from messages_api.schema_rules import SchemaError, check_schema

PATH = "/v1/chat/completions"
DENIED_KEY = "sk-test-denied"
UNKNOWN_KEY = "sk-test-unknown"
_FIELDS = frozenset(["model", "messages", "response_format", "max_completion_tokens", "max_tokens", "reasoning_effort"])
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class Refusal(Exception):  # noqa: N818 - what it is
    """A request is turned down."""

    def __init__(self, status: int, message: str, *, code: str | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        kind = "invalid_request_error" if status < 500 else "server_error"
        self.body: Any = {"error": {"message": message, "type": kind, "param": param, "code": code}}


@dataclass(frozen=True)
class Behaviour:
    """How a server differs from OpenAI's.

    Attributes:
        needs_key: Requests without a key are refused.
        takes_schema: A response can be bound to a schema.
        takes_object: A response can be bound to JSON.
        takes_form: There is a parameter `response_format` at all.
        most_tokens: The limit of tokens must not be above this.
        limit: The one name of the limit of tokens that is understood.
        plain_errors: Errors are `{"error": "text"}`, of which the SDK shows nothing.
        models: What a model's name begins with.
    """

    needs_key: bool = True
    takes_schema: bool = True
    takes_object: bool = True
    takes_form: bool = True
    most_tokens: int = 100_000
    limit: str = "max_completion_tokens"
    plain_errors: bool = False
    models: str = "gpt-"


def check(path: str, headers: Mapping[str, str], body: Any, server: Behaviour) -> None:
    """Refuse what the server does not take.

    Raises:
        Refusal: With the status and body of the real API.
    """
    if path != PATH:
        raise Refusal(404, f"Invalid URL (POST {path})")
    _check_key(headers.get("authorization"), server)
    if not isinstance(body, dict):
        raise Refusal(400, "We could not parse the JSON body of your request.")
    for name in sorted(body.keys() - _FIELDS):
        raise Refusal(400, f"Unrecognized request argument supplied: {name}")
    if not str(body.get("model", "")).startswith(server.models):
        raise Refusal(404, f"The model `{body.get('model')}` does not exist.", code="model_not_found")
    _check_messages(body.get("messages"))
    _check_limit(body, server)
    _check_form(body, server)


def _check_key(authorization: str | None, server: Behaviour) -> None:
    if authorization is None and not server.needs_key:
        return
    scheme, _, key = (authorization or "").partition(" ")
    if scheme != "Bearer" or not key:
        raise Refusal(401, "You didn't provide an API key.")
    if key == UNKNOWN_KEY:
        raise Refusal(401, "Incorrect API key provided.", code="invalid_api_key")
    if key == DENIED_KEY:
        raise Refusal(403, "You are not allowed to sample from this model.")


def _check_messages(messages: Any) -> None:
    for number, message in enumerate(messages):
        if message["role"] not in {"system", "user"} or not message["content"].strip():
            raise Refusal(400, f"Invalid value: 'messages[{number}]'", param=f"messages[{number}]")


def _check_limit(body: dict[str, Any], server: Behaviour) -> None:
    for name in ("max_tokens", "max_completion_tokens"):
        if name in body and name != server.limit:
            message = f"Unsupported parameter: '{name}' is not supported with this model. Use '{server.limit}' instead."
            raise Refusal(400, message, code="unsupported_parameter", param=name)
    limit = body.get(server.limit, 1)
    if not isinstance(limit, int) or limit < 1:
        raise Refusal(400, f"Invalid type for '{server.limit}'", param=server.limit)
    if limit > server.most_tokens:
        message = f"{server.limit} is too large: {limit}. This model supports at most {server.most_tokens} tokens."
        raise Refusal(400, message, param=server.limit, code="invalid_value")


def _check_form(body: dict[str, Any], server: Behaviour) -> None:
    if "response_format" in body and not server.takes_form:
        raise Refusal(400, "Unrecognized request argument supplied: response_format")
    form = body.get("response_format", {"type": "text"})
    kind = form.get("type") if isinstance(form, dict) else None
    taken = {"json_schema": server.takes_schema, "json_object": server.takes_object, "text": True}.get(kind, False)
    if not taken:
        message = f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model."
        raise Refusal(400, message, param="response_format")
    if kind == "json_object" and not any("json" in message["content"].lower() for message in body["messages"]):
        raise Refusal(400, "'messages' must contain the word 'json' in some form", param="messages")
    if kind == "json_schema":
        _check_bound(form.get("json_schema"))


def _check_bound(bound: Any) -> None:
    if not isinstance(bound, dict) or not bound.keys() <= {"name", "description", "strict", "schema"}:
        raise Refusal(400, "Missing required parameter: 'response_format.json_schema'.", param="response_format")
    if not _NAME.fullmatch(str(bound.get("name", ""))) or bound.get("strict") is not True:
        raise Refusal(400, "Invalid 'response_format.json_schema.name' or '.strict'", param="response_format")
    try:
        check_schema(bound.get("schema"))
    except SchemaError as error:
        message = f"Invalid schema for response_format '{bound['name']}': {error}"
        raise Refusal(400, message, param="response_format") from None
