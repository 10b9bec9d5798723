"""An imitation of the Chat Completions API: what it and the servers of others refuse, and the bodies of its replies."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from messages_api.loopback import LoopbackApi, Rejection, text_of
from messages_api.schema_rules import SchemaError, check_schema

_MARK = "JSON schema:\n"
_FIELDS = frozenset(["model", "messages", "response_format", "max_completion_tokens", "max_tokens", "reasoning_effort"])


@dataclass(frozen=True)
class Behaviour:
    """How a server differs from OpenAI's.

    Attributes:
        needs_key: Requests without a key are refused.
        takes_schema: A response can be bound to a schema.
        takes_form: There is a parameter `response_format` at all.
        most_tokens: The limit of tokens must not be above this.
        limit: The one name of the limit of tokens that is understood.
        plain_errors: Errors are `{"error": "text"}`, of which the SDK shows nothing.
    """

    needs_key: bool = True
    takes_schema: bool = True
    takes_form: bool = True
    most_tokens: int = 100_000
    limit: str = "max_completion_tokens"
    plain_errors: bool = False


class ChatApi(LoopbackApi):
    """The API. A rule may also say `filter`, `usage` or `body`, and `error` beside a `status`."""

    path = "/v1"

    def __init__(self) -> None:
        super().__init__()
        self.behaviour = Behaviour()

    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of the requests received."""
        return [entry["body"] for entry in self._log]

    def reply(self, entry: dict[str, Any]) -> Any:
        body = entry["body"]
        try:
            self._check(entry["path"], entry["headers"], body)
        except Rejection as refused:
            plain = {"error": refused.body["error"]["message"]}
            raise Rejection(refused.status, plain if self.behaviour.plain_errors else refused.body) from None
        then = self.pick(_schema(body), body["messages"][-1]["content"])
        if "status" in then:
            error = {"message": "scripted", "type": None, "param": None, "code": None, **then.get("error", {})}
            raise Rejection(then["status"], {"error": error}, {"retry-after-ms": "1"})
        return _compose(then, body)

    def _check(self, path: str, headers: Mapping[str, str], body: Any) -> None:
        """Refuse what the server does not take."""
        server = self.behaviour
        if path != "/v1/chat/completions":
            raise _refusal(404, f"Invalid URL (POST {path})")
        if "authorization" in headers or server.needs_key:
            scheme, _, key = headers.get("authorization", "").partition(" ")
            if scheme != "Bearer" or not key:
                raise _refusal(401, "You didn't provide an API key.")
        for name in sorted(body.keys() - _FIELDS):
            raise _refusal(400, f"Unrecognized request argument supplied: {name}")
        if not body["model"].startswith("gpt-"):
            raise _refusal(404, f"The model `{body['model']}` does not exist.", code="model_not_found")
        for number, message in enumerate(body["messages"]):
            if message["role"] not in {"system", "user"} or not message["content"].strip():
                raise _refusal(400, f"Invalid value: 'messages[{number}]'", param=f"messages[{number}]")
        for name in {"max_tokens", "max_completion_tokens"} & body.keys() - {server.limit}:
            told = f"Unsupported parameter: '{name}' is not supported with this model. Use '{server.limit}' instead."
            raise _refusal(400, told, code="unsupported_parameter", param=name)
        if (limit := body.get(server.limit, 1)) > server.most_tokens:
            told = f"{server.limit} is too large: {limit}. This model supports at most {server.most_tokens} tokens."
            raise _refusal(400, told, param=server.limit, code="invalid_value")
        if "response_format" in body:
            self._check_form(body["response_format"])

    def _check_form(self, form: dict[str, Any]) -> None:
        if not self.behaviour.takes_form:
            raise _refusal(400, "Unrecognized request argument supplied: response_format")
        if form.keys() != {"type", "json_schema"} or not self.behaviour.takes_schema:
            told = f"Invalid parameter: 'response_format' of type '{form['type']}' is not supported with this model."
            raise _refusal(400, told, param="response_format")
        bound = form["json_schema"]
        try:
            check_schema(bound["schema"])
        except SchemaError as error:
            told = f"Invalid schema for response_format '{bound['name']}': {error}"
            raise _refusal(400, told, param="response_format") from None


def _refusal(status: int, message: str, *, code: str | None = None, param: str | None = None) -> Rejection:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return Rejection(status, {"error": error})


def _schema(body: dict[str, Any]) -> dict[str, Any] | None:
    """The schema of the reply, whether it is a parameter or stands in the instructions."""
    if "response_format" in body:
        return dict(body["response_format"]["json_schema"]["schema"])
    told = body["messages"][0]["content"]
    return dict(json.loads(told.partition(_MARK)[2])) if _MARK in told else None


def _compose(then: Mapping[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """The completion that a rule asks for; a token a word, and the instructions count as read from the cache."""
    if "body" in then:
        return dict(then["body"])
    content, decoder = body["messages"][-1]["content"], json.JSONDecoder()  # behind the data, a remark may stand
    text, finish = text_of(then, _schema(body), lambda: decoder.raw_decode(content)[0]), "stop"
    if "truncate" in then:
        text, finish = text[: then["truncate"]], "length"
    if "filter" in then:
        text, finish = "", "content_filter"
    message = {"role": "assistant", "content": None if "refuse" in then else text, "refusal": then.get("refuse")}
    words, spoken = [len(each["content"].split()) for each in body["messages"]], len(text.split())
    usage = {
        "prompt_tokens": sum(words),
        "completion_tokens": spoken,
        "total_tokens": sum(words) + spoken,
        "prompt_tokens_details": {"cached_tokens": words[0]},
    }
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": f"{body['model']}-2026-10-01",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage if then.get("usage", True) else None,
    }
