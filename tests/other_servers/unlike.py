"""Servers of unlike shapes that no profile knows, each with what a question to it must find."""

import json
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from other_servers.loopback import Refusal, Request, Routes, Streamed

QUESTION = "How high does the sensor hang?"
ONE, TWO = "The lower sensor hangs at three metres.", "The heated anemometer draws eighteen watts."
SAID = "It hangs at three metres."
SOURCES = [{"text": ONE, "file": "a.md"}, {"text": TWO, "file": "b.md"}]


def _wants(field: str, answer: Any, *, says: bool = True) -> Callable[[Request], Any]:
    """A route that refuses a body without a field, as FastAPI does or with a bare sentence."""

    def route(request: Request) -> Any:
        if not isinstance(request.body, Mapping) or not isinstance(request.body.get(field), str):
            detail = [{"type": "missing", "loc": ["body", field], "msg": "Field required"}]
            refusal = {"detail": detail} if says else {"error": f"missing field '{field}'"}
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, refusal)
        return answer() if callable(answer) else answer

    return route


def _streams(content_type: str, lines: Sequence[str]) -> Callable[[], Streamed]:
    return lambda: Streamed(content_type, [line.encode() for line in lines])


def _events(*events: tuple[str, Any]) -> list[str]:
    return [f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events]


def _graphql(request: Request) -> Any:
    if "ask(question:" not in request.body.get("query", ""):
        return {"errors": [{"message": "no such field"}]}
    return {"data": {"ask": {"answer": SAID, "sources": SOURCES}}}


def _messages(request: Request) -> Any:
    messages = request.body.get("messages")
    if not isinstance(messages, list) or messages[-1] != {"role": "user", "content": QUESTION}:
        detail = [{"type": "missing", "loc": ["body", "messages"], "msg": "Field required"}]
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, {"detail": detail})
    return {"message": {"role": "assistant", "content": SAID}, "context": {"data_points": [ONE, TWO]}}


def _assist(request: Request) -> Any:
    assert request.body["payload"]["messages"][-1]["content"] == QUESTION
    return {"choices": [{"message": {"role": "assistant", "content": SAID}}], "citations": SOURCES}


def _get(request: Request) -> Any:
    if request.query.get("q") != QUESTION or request.query.get("lang") != "de":
        raise Refusal(HTTPStatus.BAD_REQUEST, {"error": "q is required"})
    return {"antwort": SAID, "treffer": [{"inhalt": each["text"], "datei": each["file"]} for each in SOURCES]}


def _object(required: Sequence[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties}


def described(*operations: tuple[str, str, str, Any]) -> Callable[[Any], Any]:
    """An OpenAPI document of operations: path, method, operationId, and the schema of the body."""
    paths: dict[str, Any] = {}
    for path, method, name, schema in operations:
        body = {"requestBody": {"content": {"application/json": {"schema": schema}}}}
        parameters = {"parameters": [{"name": key, "in": "query"} for key in schema["properties"]]}
        paths.setdefault(path, {})[method] = {"operationId": name, **(body if method == "post" else parameters)}
    return lambda _: {"openapi": "3.1.0", "paths": paths}


def _job() -> Callable[[Request], Any]:
    """A job that is done at the second look."""
    looks: list[Request] = []

    def look(request: Request) -> Any:
        looks.append(request)
        return {"job_id": "j-17", **({"status": "running"} if len(looks) < 2 else {"status": "done", "result": _DONE})}

    return look


_DONE = {"answer": SAID, "sources": SOURCES}
TEXT = {"type": "string"}
_TURN = _object(["role", "content"], role=TEXT, content=TEXT)
_ASSIST = _object(
    ["model", "knowledge_name", "payload"],
    model=TEXT,
    knowledge_name=TEXT,
    payload=_object(["messages"], messages={"type": "array", "items": _TURN}),
)
_QUOTES = {
    "query": QUESTION,
    "context": f"{ONE}\n{TWO}",
    "answer": f'The manual says: "{ONE}" and "{TWO}"',
    "passages": [{"content": each["text"], "meta": {"source": each["file"]}} for each in SOURCES],
}
_PARTS = {
    "candidates": [{"content": {"parts": [{"text": "It hangs "}, {"text": "at three metres."}], "role": "model"}}],
    "grounding": [{"passage": ONE, "uri": "https://h/a"}, {"passage": TWO, "uri": "https://h/b"}],
    "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 3},
}
_RPC = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": SAID}], "found": SOURCES}}
_DELTAS = [{"type": "delta", "text": "It hangs "}, {"type": "delta", "text": "at three metres."}]
_SSE = [{"type": "sources", "sources": SOURCES}, *_DELTAS, {"type": "done", "usage": {"in_tokens": 3, "out_tokens": 4}}]
_LINES = [f"{json.dumps(event)}\n" for event in _SSE]
_ROLES = [{"user": {"role": ["reader", "writer"]}}, {"user": {"role": ["reader"]}}]
_SDK = ['0:"It hangs "\n', '0:"at three metres."\n', f"8:{json.dumps([{'sources': SOURCES}])}\n"]

KINDS: Mapping[str, tuple[str, Routes]] = {
    "graphql": ("/graphql", {("POST", "/graphql"): _graphql}),
    "quoting": ("/v2/say", {("POST", "/v2/say"): _wants("wording", _QUOTES, says=False)}),
    "parts": ("/v1/gen", {("POST", "/v1/gen"): _wants("prompt", _PARTS)}),
    "messages": ("/chat", {("POST", "/chat"): _messages}),
    "nested": (
        "/v1/assist",
        {
            ("GET", "/openapi.json"): described(("/v1/assist", "post", "assist", _ASSIST)),
            ("POST", "/v1/assist"): _assist,
        },
    ),
    "one event": (
        "/ask",
        {
            ("POST", "/ask"): _wants(
                "question",
                _streams(
                    "text/event-stream",
                    _events(("start", {"id": "x"}), ("answer", {"answer": SAID, "chunks": SOURCES}), ("end", {})),
                ),
            )
        },
    ),
    "named events": (
        "/ask",
        {
            ("POST", "/ask"): _wants(
                "question",
                _streams(
                    "text/event-stream",
                    _events(
                        ("found", {"chunks": SOURCES}),
                        ("say", {"bit": "It hangs "}),
                        ("say", {"bit": "at three metres."}),
                    ),
                ),
            )
        },
    ),
    "typed events": (
        "/ask",
        {
            ("POST", "/ask"): _wants(
                "question", _streams("text/event-stream", [f"data: {json.dumps(each)}\n\n" for each in _SSE])
            )
        },
    ),
    "json-rpc": (
        "/mcp",
        {("POST", "/mcp"): _wants("query", _streams("text/event-stream", _events(("message", _RPC))))},
    ),
    "ai sdk": ("/ask", {("POST", "/ask"): _wants("question", _streams("text/plain", _SDK))}),
    "json lines": ("/ask", {("POST", "/ask"): _wants("question", _streams("application/x-ndjson", _LINES))}),
    "roles": ("/x", {("POST", "/x"): _wants("query", {"answer": SAID, "hits": SOURCES, "access": _ROLES})}),
    "positional": ("/x", {("POST", "/x"): _wants("query", [SAID, {"sources": SOURCES}])}),
    "rows": (
        "/x",
        {("POST", "/x"): _wants("query", {"answer": SAID, "rows": [[ONE, 0.9, "a.md"], [TWO, 0.2, "b.md"]]})},
    ),
    "parameters": ("/suche?q=Frage&lang=de", {("GET", "/suche"): _get}),
    "job": (
        "/submit",
        {
            ("POST", "/submit"): _wants("question", {"job_id": "j-17", "status": "queued"}),
            ("GET", "/jobs/j-17"): _job(),
        },
    ),
    "xml": (
        "/x",
        {
            ("POST", "/x"): _wants(
                "query", _streams("application/xml", [f"<r><reply>{SAID}</reply><p>{ONE}</p><p>{TWO}</p></r>"])
            )
        },
    ),
    "xml with files": (
        "/x",
        {
            ("POST", "/x"): _wants(
                "query",
                _streams(
                    "application/xml",
                    [
                        f"<r><reply>{SAID}</reply>",
                        *(f"<hit><file>{each['file']}</file><p>{each['text']}</p></hit>" for each in SOURCES),
                        "</r>",
                    ],
                ),
            )
        },
    ),
    "second request": (
        "/ask",
        {
            ("GET", "/openapi.json"): described(
                ("/ask", "post", "ask", _object(["question"], question=TEXT)),
                ("/search", "post", "search", _object(["query"], query={"type": ["string", "null"]})),
            ),
            ("POST", "/ask"): _wants("question", {"answer": SAID}),
            ("POST", "/search"): _wants("query", {"results": SOURCES}),
        },
    ),
}
"""By name: the path and parameters of the URL, and the routes."""
