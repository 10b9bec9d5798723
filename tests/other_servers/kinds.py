"""Two kinds of server that no profile is for, over one corpus."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from other_servers.corpus import ANSWERS, Asked, Chunk
from other_servers.loopback import Refusal, Request, Routes


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
