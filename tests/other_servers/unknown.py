"""Two servers that no profile knows, and no name of which any other server has; written before there was a probe.

`inquiry` describes itself by /openapi.json; its answer is nested, what it found stands in parallel lists, it cites by
indices from 0 that are texts, and its errors are a 200. `dialogue` describes nothing: it streams unless it is told not
to, takes the question within a list, and groups what it found by page.
"""

import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from other_servers.corpus import ANSWERS, BACKUP, WIND, Asked, Chunk
from other_servers.loopback import Refusal, Request, Routes, Streamed

_CLOSENESS = (0.83, 0.61, 0.47)
_NOTHING = Asked("I could not find this in the documents.", (BACKUP[0], WIND[0], BACKUP[1]), ())


def inquiry() -> Routes:
    """A knowledge service: POST /knowledge/inquire, and an OpenAPI document that says so."""

    def inquire(request: Request) -> dict[str, Any]:
        body = request.body if isinstance(request.body, Mapping) else {}
        utterance, limit = body.get("utterance"), body.get("limit", 3)
        if not isinstance(utterance, str) or not utterance.strip():
            return {"state": "failed", "problem": "utterance is missing or blank", "payload": None}
        asked = ANSWERS.get(utterance, _NOTHING)
        found = asked.ranking[:limit]
        evidence = {
            "refs": [_name(chunk) for chunk in found],
            "bodies": [chunk.text for chunk in found],
            "closeness": list(_CLOSENESS[:limit]),
            "origins": [{"file": chunk.document, "part": chunk.number} for chunk in found],
        }
        reply = {"body": asked.answer, "lang": "en", "tone": "neutral"}
        payload = {"reply": reply, "evidence": evidence, "pointers": [str(rank - 1) for rank in asked.cited]}
        accounting = {"tokens_in": 211, "tokens_out": 9, "engine": "quarry-small"}
        return {"state": "done", "problem": None, "payload": payload, "accounting": accounting}

    return {
        ("GET", "/openapi.json"): lambda _: _DESCRIBED,
        ("GET", "/knowledge/alive"): lambda _: {"alive": True},
        ("GET", "/knowledge/languages"): lambda _: ["en"],
        ("POST", "/knowledge/feedback"): lambda _: {"state": "done"},
        ("POST", "/knowledge/inquire"): inquire,
    }


def dialogue() -> Routes:
    """A chat service: POST /v7/exchange with {"transcript": [{"speaker": "visitor", "said": ...}], "whole": false}."""

    def exchange(request: Request) -> Any:
        body = request.body if isinstance(request.body, Mapping) else {}
        transcript = body.get("transcript")
        if not isinstance(transcript, list) or not transcript or not isinstance(transcript[-1].get("said"), str):
            raise Refusal(HTTPStatus.BAD_REQUEST, {"error": {"kind": "bad_transcript", "text": "said is required"}})
        asked = ANSWERS.get(transcript[-1]["said"], _NOTHING)
        text = asked.answer + "".join(f" [{rank}]" for rank in asked.cited)
        grounding = _pages(asked.ranking)
        if body.get("whole") is True:
            content = [{"kind": "thought", "value": "Let me see."}, {"kind": "prose", "value": text}]
            return {
                "turn": {"outcome": "spoken", "content": content},
                "grounding": grounding,
                "spent": {"in": 98, "out": 7},
            }
        return Streamed("text/event-stream", _events(text, grounding))

    return {("POST", "/v7/exchange"): exchange, ("GET", "/"): lambda _: {"service": "dialogue"}}


def _pages(ranking: tuple[Chunk, ...]) -> list[dict[str, Any]]:
    """A page for each chunk, best first, with one excerpt: the page's fields are its parent's."""
    return [
        {
            "page": {"label": chunk.document, "rev": 4},
            "excerpts": [{"slug": _name(chunk), "passage": chunk.text, "weight": weight}],
        }
        for chunk, weight in zip(ranking, _CLOSENESS, strict=True)
    ]


def _events(text: str, grounding: list[dict[str, Any]]) -> Iterator[bytes]:
    """Pages first, then the answer word by word, a comment that keeps the connection, and what it cost."""
    yield _event("grounding", {"grounding": grounding})
    yield b": still here\r\n\r\n"
    words = text.split(" ")
    for position, word in enumerate(words):
        yield _event("utter", {"bit": word if not position else f" {word}"})
    yield _event("bye", {"spent": {"in": 98, "out": len(words)}})


def _event(name: str, data: Any) -> bytes:
    return f"event: {name}\r\ndata: {json.dumps(data)}\r\n\r\n".encode()


def _name(chunk: Chunk) -> str:
    return f"{chunk.document}/{chunk.number}"


_UTTERANCE = {
    "type": "object",
    "required": ["utterance"],
    "properties": {
        "utterance": {"type": "string", "description": "What is asked."},
        "limit": {"type": "integer", "default": 3, "minimum": 1},
        "locale": {"type": "string", "default": "en"},
    },
}
_FEEDBACK = {
    "type": "object",
    "required": ["inquiry_id", "stars"],
    "properties": {"inquiry_id": {"type": "string"}, "stars": {"type": "integer"}, "remark": {"type": "string"}},
}


def _post(summary: str, schema: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    return {"post": {"summary": summary, "requestBody": {"required": True, "content": content}, "responses": {}}}


_DESCRIBED = {
    "openapi": "3.1.0",
    "info": {"title": "Quarry", "version": "2.3"},
    "paths": {
        "/knowledge/alive": {"get": {"summary": "Whether it lives", "responses": {}}},
        "/knowledge/languages": {"get": {"summary": "What it speaks", "responses": {}}},
        "/knowledge/feedback": _post("Rate an inquiry", "Feedback"),
        "/knowledge/inquire": _post("Inquire of the knowledge base", "Utterance"),
    },
    "components": {"schemas": {"Utterance": _UTTERANCE, "Feedback": _FEEDBACK}},
}
