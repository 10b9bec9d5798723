"""Four kinds of server over one corpus: each has the contract, in small, of servers that there are."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from other_servers.corpus import ANSWERS, Asked, Chunk
from other_servers.loopback import Refusal, Request, Routes

_SCORES = (0.91, 0.74, 0.52)
API_KEY = "ragflow-Q0zWlkNGQ5"
CHAT = "b7a29412"


def txtai() -> Routes:
    """The API of a txtai index with content: it only retrieves. `/count` is what it has for a health check."""

    def search(request: Request) -> list[dict[str, Any]]:
        asked, limit = _asked(request.query, "query"), int(request.query.get("limit", "10"))
        return [
            {"id": f"{chunk.document}#{chunk.number}", "text": chunk.text, "score": score}
            for chunk, score in zip(asked.ranking[:limit], _SCORES, strict=False)
        ]

    return {("GET", "/search"): search, ("GET", "/count"): lambda _: len(ANSWERS)}


def contexts() -> Routes:
    """A service as it is written in an afternoon: contexts are texts, and what is cited are their numbers, from 1."""

    def ask(request: Request) -> dict[str, Any]:
        asked = _asked(request.body, "question")
        return {
            "answer": asked.answer,
            "contexts": [chunk.text for chunk in asked.ranking],
            "cited": list(asked.cited),
        }

    return {("POST", "/ask"): ask}


def ragflow() -> Routes:
    """A chat of RAGFlow: markers such as [ID:0] count from 0, and an error is a 200 whose code is not 0."""

    def completions(request: Request) -> dict[str, Any]:
        if request.headers.get("Authorization") != f"Bearer {API_KEY}":
            return {"code": 109, "message": "Authentication error: API key is invalid!"}
        if request.body.get("chat_id") != CHAT or request.body.get("stream") is not False:
            return {"code": 102, "message": "You don't own the chat"}
        asked = _asked(request.body, "question")
        chunks = [
            {
                "id": f"{chunk.document}-{chunk.number}",
                "content": chunk.text,
                "document_name": chunk.document,
                "similarity": score,
            }
            for chunk, score in zip(asked.ranking, _SCORES, strict=True)
        ]
        answer = asked.answer + "".join(f" [ID:{rank - 1}]" for rank in asked.cited)
        return {"code": 0, "data": {"answer": answer, "reference": {"chunks": chunks, "total": len(chunks)}}}

    return {("POST", "/api/v1/chat/completions"): completions}


def on_your_data() -> Routes:
    """Azure OpenAI on your data: the ids of chunks count from 0 within each document, and markers are [doc1]."""

    def completions(request: Request) -> dict[str, Any]:
        asked = _asked(request.body["messages"][-1], "content")
        content = asked.answer + "".join(f" [doc{rank}]" for rank in asked.cited)
        context = {"citations": [_citation(chunk) for chunk in asked.ranking], "intent": "[]"}
        message = {"role": "assistant", "content": content, "context": context}
        usage = {"prompt_tokens": 300, "completion_tokens": 20, "total_tokens": 320}
        return {"model": "gpt", "choices": [{"index": 0, "message": message}], "usage": usage}

    return {("POST", "/openai/deployments/chat/chat/completions"): completions}


def _citation(chunk: Chunk) -> dict[str, Any]:
    return {"content": chunk.text, "title": chunk.document, "filepath": chunk.document, "chunk_id": str(chunk.number)}


def _asked(values: Mapping[str, Any] | None, name: str) -> Asked:
    """What becomes of the question; a request without it is refused as a web framework does that checks its input."""
    question = (values or {}).get(name)
    if question is None:
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, {"detail": [{"loc": [name], "msg": "Field required"}]})
    return ANSWERS[question]
