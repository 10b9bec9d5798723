"""What the API refuses: the rules of version 2026-10-21 as far as a judge can break them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from messages_api.rejection import Rejection
from messages_api.schema_rules import SchemaError, check_schema
from pydantic import BaseModel, ConfigDict, Field, ValidationError

VERSION = "2026-10-21"
DENIED_KEY = "sk-test-denied"
UNKNOWN_KEY = "sk-test-unknown"


def check_head(headers: Mapping[str, str]) -> None:
    """Who asks, and in which version of the API.

    Raises:
        Rejection: 401 without a key or with one that is unknown, 403 for one without rights, 400 for another version.
    """
    scheme, _, token = headers.get("authorization", "").partition(" ")
    key = token.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
    if not key:
        raise Rejection(401, "Authentication is required: send an Authorization header with a Bearer token")
    if key == UNKNOWN_KEY:
        raise Rejection(401, "invalid bearer token")
    if key == DENIED_KEY:
        raise Rejection(403, "Your API key does not have permission to use the specified resource.")
    if headers.get("anthropic-version") != VERSION:
        raise Rejection(400, f"anthropic-version: this imitation knows {VERSION} only")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Mark(_Part):
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] = "5m"


_Words = Annotated[str, Field(pattern=r"\S")]


class _Text(_Part):
    type: Literal["text"]
    text: _Words
    cache_control: _Mark | None = None


class _Message(_Part):
    role: Literal["user", "assistant"]
    content: _Words | Annotated[list[_Text], Field(min_length=1)]


class _Format(_Part):
    type: Literal["json_schema"]
    form: dict[str, Any] = Field(alias="schema")


class _OutputConfig(_Part):
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: _Format | None = None


class _Request(_Part):
    """A request for a message: no sampling parameters, no forced tools, no stream."""

    model: str
    messages: Annotated[list[_Message], Field(min_length=1)]
    max_tokens: int = Field(ge=0, le=128_000)
    system: str | list[_Text] = ""
    output_config: _OutputConfig | None = None


def check_message(request: Any) -> dict[str, Any]:
    """The body of a request for a message.

    Raises:
        Rejection: 400, or 404 for an unknown model.
    """
    try:
        found = _Request.model_validate(request)
        if found.output_config is not None and found.output_config.format is not None:
            check_schema(found.output_config.format.form)
    except ValidationError as error:
        first = error.errors()[0]
        raise Rejection(400, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except SchemaError as error:
        raise Rejection(400, str(error)) from None
    if not found.model.startswith("claude-"):
        raise Rejection(404, f"model: {found.model}")
    body: dict[str, Any] = request
    return body
