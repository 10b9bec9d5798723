"""What the API refuses: the rules of version 2026-10-21 as far as a judge can break them."""

from collections.abc import Mapping
from typing import Any

from messages_api.rejection import Rejection
from messages_api.schema_rules import SchemaError, check_schema

VERSION = "2026-10-21"
MAX_BYTES = 32 * 1024 * 1024
MAX_TOKENS = 128_000
DENIED_KEY = "sk-test-denied"
UNKNOWN_KEY = "sk-test-unknown"

_COUNTED = frozenset(
    [
        "messages",
        "model",
        "cache_control",
        "output_config",
        "speed",
        "system",
        "thinking",
        "tool_choice",
        "tools",
        "user_profile_id",
        "workspace_id",
    ]
)
_CREATED = _COUNTED | frozenset(
    ["max_tokens", "container", "diagnostics", "inference_geo", "metadata", "service_tier", "stop_sequences", "stream"]
)
_SAMPLING = ("temperature", "top_p", "top_k")
_EFFORTS = (None, "low", "medium", "high", "xhigh", "max")
_MAX_BREAKPOINTS = 4


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
    version = headers.get("anthropic-version")
    if version is None:
        raise Rejection(400, "anthropic-version: header is required")
    if version != VERSION:
        raise Rejection(400, f'anthropic-version: "{version}" is not a version that this imitation knows')


def check_message(request: Any) -> dict[str, Any]:
    """The body of a request for a message.

    Raises:
        Rejection: 400, or 404 for an unknown model.
    """
    body = _check_common(request, _CREATED)
    limit = body.get("max_tokens")
    if limit is None:
        raise Rejection(400, "max_tokens: Field required")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise Rejection(400, "max_tokens: Input should be a valid integer, greater than or equal to 0")
    if limit > MAX_TOKENS:
        raise Rejection(
            400, f"max_tokens: {limit} > {MAX_TOKENS}, which is the maximum allowed number of output tokens"
        )
    if body.get("stream"):
        raise Rejection(400, "stream: this imitation does not stream")
    return body


def check_count(body: Any) -> dict[str, Any]:
    """The body of a request to count tokens.

    Raises:
        Rejection: 400, or 404 for an unknown model.
    """
    return _check_common(body, _COUNTED)


def _check_common(request: Any, allowed: frozenset[str]) -> dict[str, Any]:
    if not isinstance(request, dict):
        raise Rejection(400, "The request body is not a JSON object")
    body: dict[str, Any] = request
    for name in _SAMPLING:
        if name in body:
            raise Rejection(400, f"{name}: sampling parameters are not supported in API version {VERSION}")
    for name in sorted(body.keys() - allowed):
        raise Rejection(400, f"{name}: Extra inputs are not permitted")
    _check_model(body.get("model"))
    _check_messages(body.get("messages"))
    _check_system(body.get("system", ""))
    _check_breakpoints(body)
    _check_tool_choice(body.get("tool_choice"))
    _check_thinking(body.get("thinking"))
    _check_output_config(body.get("output_config"))
    return body


def _check_model(model: Any) -> None:
    if model is None:
        raise Rejection(400, "model: Field required")
    if not isinstance(model, str):
        raise Rejection(400, "model: Input should be a valid string")
    if not model.startswith("claude-"):
        raise Rejection(404, f"model: {model}")


def _check_messages(messages: Any) -> None:
    if messages is None:
        raise Rejection(400, "messages: Field required")
    if not isinstance(messages, list) or not messages:
        raise Rejection(400, "messages: at least one message is required")
    for number, message in enumerate(messages):
        if not isinstance(message, dict) or message.keys() != {"role", "content"}:
            raise Rejection(400, f"messages.{number}: Input should have role and content, and nothing else")
        if message["role"] not in {"user", "assistant"}:
            raise Rejection(400, f"messages.{number}.role: Input should be 'user' or 'assistant'")
        _check_content(message["content"], f"messages.{number}.content")
    if messages[0]["role"] != "user":
        raise Rejection(400, 'messages: first message must use the "user" role')
    if messages[-1]["role"] == "assistant":
        raise Rejection(
            400, "This model does not support assistant message prefill. The conversation must end with a user message."
        )


def _check_content(content: Any, where: str) -> None:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list) or not content:
        raise Rejection(400, f"{where}: Input should be a non-empty string or list of blocks")
    for number, block in enumerate(content):
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in {"thinking", "redacted_thinking"} and where != "system":
            continue
        if kind != "text" or not block.keys() <= {"type", "text", "cache_control", "citations"}:
            raise Rejection(400, f"{where}.{number}: this imitation takes text blocks only")
        if not isinstance(block.get("text"), str) or not block["text"].strip():
            raise Rejection(400, f"{where}.{number}: text content blocks must contain non-whitespace text")


def _check_system(system: Any) -> None:
    if system != "":
        _check_content(system, "system")


def _check_breakpoints(body: dict[str, Any]) -> None:
    contents = [body.get("system", ""), *(message["content"] for message in body["messages"])]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    marks = [mark for holder in (*blocks, body) if (mark := holder.get("cache_control")) is not None]
    for mark in marks:
        known = isinstance(mark, dict) and mark.keys() <= {"type", "ttl"} and mark.get("type") == "ephemeral"
        if not known or mark.get("ttl", "5m") not in {"5m", "1h"}:
            raise Rejection(400, "cache_control: Input should be type 'ephemeral' with ttl '5m' or '1h'")
    if len(marks) > _MAX_BREAKPOINTS:
        raise Rejection(400, f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")


def _check_tool_choice(choice: Any) -> None:
    kind = choice.get("type") if isinstance(choice, dict) else choice
    if kind in {"any", "tool"}:
        raise Rejection(400, f"tool_choice: forced tool use ('{kind}') is not supported by this model")
    if kind not in {None, "auto", "none"}:
        raise Rejection(400, "tool_choice: Input should be 'auto' or 'none'")


def _check_thinking(thinking: Any) -> None:
    if thinking is None:
        return
    if not isinstance(thinking, dict) or "budget_tokens" in thinking or thinking.get("type") == "enabled":
        raise Rejection(400, "thinking.budget_tokens: not supported by this model; use output_config.effort")
    if thinking.get("type") not in {"adaptive", "between_tools"}:
        raise Rejection(400, f"thinking.type: '{thinking.get('type')}' is not supported by this model")


def _check_output_config(config: Any) -> None:
    if config is None:
        return
    if not isinstance(config, dict) or not config.keys() <= {"effort", "format"}:
        raise Rejection(400, "output_config: Input should have effort and format, and nothing else")
    if config.get("effort") not in _EFFORTS:
        raise Rejection(400, "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
    form = config.get("format")
    if form is None:
        return
    if not isinstance(form, dict) or form.keys() != {"type", "schema"} or form["type"] != "json_schema":
        raise Rejection(400, "output_config.format: Input should be type 'json_schema' with a schema, and nothing else")
    try:
        check_schema(form["schema"])
    except SchemaError as error:
        raise Rejection(400, str(error)) from None
