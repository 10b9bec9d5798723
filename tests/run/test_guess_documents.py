"""Bodies of documented shape, mapped without any profile: right, or said to be a guess."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from other_servers import corpus, documented, kinds, loopback

from evals.run.guess import Guess, guess_body

KEY = documented.KEY
HEADERS = {
    "Authorization": f"Bearer {KEY}", "api-key": KEY, "X-API-Key": KEY, "x-api-key": KEY, "Api-Key": KEY,
    "X-Pinecone-API-Version": "2025-04",
}  # fmt: skip
QUESTIONS = tuple(corpus.ANSWERS)


def _chat(question: str, **others: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": question}], **others}


def _search(question: str) -> dict[str, Any]:
    tools = [{"type": "file_search", "vector_store_ids": ["vs_1"]}]
    included = ["file_search_call.results"]
    return {"model": "m", "stream": False, "input": question, "tools": tools, "include": included}


def _on_your_data(question: str) -> dict[str, Any]:
    source = {"type": "azure_search", "parameters": {"include_contexts": ["citations"]}}
    return _chat(question, data_sources=[source])


def _fed(question: str) -> dict[str, Any]:
    asked = corpus.ANSWERS[question]
    return _chat(question, documents=[{"id": f"{chunk.document}#{chunk.number}"} for chunk in asked.ranking])


def _blocking(question: str) -> dict[str, Any]:
    return {"user": "u", "response_mode": "blocking", "conversation_id": "", "inputs": {}, "query": question}


def _matching(question: str) -> dict[str, Any]:
    return {"query": {"multi_match": {"query": question}}, "size": 3}


AZURE = "/openai/deployments/chat/chat/completions"
RAGFLOW = {"chat_id": "b7a29412", "stream": False}
COLLECTION = [{"type": "collection", "id": "c-1"}]
Body = Callable[[str], dict[str, Any]]
BOTH, ANSWER, CHUNKS = (True, True), (True, False), (False, True)
SHAPES: Mapping[str, tuple[str, Body, tuple[bool, bool]]] = {
    "openai_chat": ("/v1/chat/completions", lambda q: _chat(q, model="m", stream=False), ANSWER),
    "openai_responses": ("/v1/responses", _search, BOTH),
    "azure_oyd": (AZURE, _on_your_data, BOTH),
    "hayhooks": ("/rag/run", lambda q: {"query": q}, BOTH),
    "langserve": ("/rag/invoke", lambda q: {"input": q}, BOTH),
    "langgraph": ("/runs/wait", lambda q: {"assistant_id": "agent", "input": {"question": q}}, BOTH),
    "lightrag": ("/query", lambda q: {"mode": "mix", "query": q}, ANSWER),
    "lightrag/data": ("/query/data", lambda q: {"mode": "mix", "query": q}, CHUNKS),
    "txtai": ("/rag", lambda q: {"query": q}, ANSWER),
    "txtai/search": ("/search", lambda q: {"query": q, "limit": "5"}, CHUNKS),
    "openwebui": ("/api/chat/completions", lambda q: _chat(q, files=COLLECTION), BOTH),
    "r2r": ("/v3/retrieval/rag", lambda q: {"rag_generation_config": {"stream": False}, "query": q}, BOTH),
    "ragflow": ("/api/v1/chat/completions", lambda q: {**RAGFLOW, "question": q}, BOTH),
    "dify": ("/v1/chat-messages", _blocking, BOTH),
    "anythingllm": (
        "/api/v1/workspace/default/chat",
        lambda q: {"sessionId": "s", "mode": "query", "message": q},
        BOTH,
    ),
    "onyx": (
        "/chat/send-chat-message",
        lambda q: {"chat_session_info": {}, "stream": False, "message": q},
        BOTH,
    ),
    "vectara": ("/v2/corpora/default/query", lambda q: {"generation": {}, "stream_response": False, "query": q}, BOTH),
    "cohere": ("/v2/chat", _fed, ANSWER),
    "pinecone": ("/assistant/chat/default", _chat, ANSWER),
    "pinecone/context": ("/assistant/chat/default/context", lambda q: {"query": q, "top_k": 3}, CHUNKS),
    "elasticsearch": ("/rag/_search", _matching, CHUNKS),
}
"""By server: its path, the body of a request, and whether it has an answer, and chunks."""


def _body(name: str, question: str) -> Any:
    path, make, _ = SHAPES[name]
    routes = getattr(documented, name.partition("/")[0])()
    made = make(question)
    query = {key: value for key, value in made.items() if isinstance(value, str)}
    query |= {"api-version": "2024-10-21"}
    route = routes.get(("POST", path)) or routes["GET", path]
    return json.loads(json.dumps(route(loopback.Request(query, made, HEADERS))))


def _is_right(guess: Guess, name: str, question: str) -> bool:
    """Whether answer, texts and documents are those of the server; txtai's index names no document."""
    has_answer, has_chunks = SHAPES[name][2]
    asked = corpus.ANSWERS[question]
    answered = (guess.answer or "").startswith(asked.answer) if has_answer else guess.answer is None
    texts = [row["text"] for row in guess.rows]
    named = [row.get("document_name") or row.get("document_id") or "" for row in guess.rows]
    if not has_chunks:
        return answered and not guess.rows
    whose = all(name.endswith(chunk.document) for name, chunk in zip(named, asked.ranking, strict=False))
    return answered and texts == [chunk.text for chunk in asked.ranking] and (whose or name == "txtai/search")


@pytest.mark.parametrize("question", QUESTIONS[:4])
@pytest.mark.parametrize("name", SHAPES)
def test_a_documented_body_is_mapped_by_its_shape(name: str, question: str) -> None:
    """Answer and chunks with their documents are right in all of them, and no chunk is found where there is none."""
    assert _is_right(guess_body(_body(name, question), question), name, question)


@pytest.mark.parametrize("name", sorted(set(SHAPES) - {"lightrag/data"}))
def test_an_answer_that_declines_is_found_too(name: str) -> None:
    """It cites nothing; a list of chunks is there all the same."""
    assert _is_right(guess_body(_body(name, QUESTIONS[4]), QUESTIONS[4]), name, QUESTIONS[4])


@pytest.mark.parametrize("name", ["r2r", "onyx", "ragflow", "azure_oyd", "vectara", "hayhooks"])
def test_what_is_cited_is_found_by_list_or_by_marks(name: str) -> None:
    """By ids, by documents, or by marks of any form, from 0 or from 1."""
    guess = guess_body(_body(name, QUESTIONS[2]), QUESTIONS[2])
    cited = {"r2r": ("list", 1), "onyx": ("list", 1), "ragflow": ("markers", 0)}.get(name, ("auto", 1))
    assert (guess.citations.get("given_as", "auto"), guess.citations.get("base", 1)) == cited


def test_an_afternoons_service_is_mapped_whole() -> None:
    """Contexts are texts, and what is cited are their numbers."""
    route = kinds.contexts()["POST", "/ask"]
    guess = guess_body(route(loopback.Request({}, {"question": QUESTIONS[2]}, {})), QUESTIONS[2])
    assert guess.map == {"answer": "answer", "chunks": "contexts", "citations": "cited"}
    assert guess.citations == {"given_as": "list"}
