"""Servers in the documented shape of those that a built-in profile is for, each over the corpus of these tests.

A route refuses what its server would refuse: a wrong key, a missing field, a stream that nobody asked for.
"""

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from other_servers.corpus import ANSWERS, Asked, Chunk
from other_servers.loopback import Refusal, Request, Routes

SCORES = (0.91, 0.74, 0.52)
KEY = "k-7d1f0c2a9b"
USAGE = {"prompt_tokens": 300, "completion_tokens": 20, "total_tokens": 320}
OPENAI_USAGE = {"input_tokens": 300, "output_tokens": 20, "total_tokens": 320}
MODEL = "gpt-small"


def openai_chat() -> Routes:
    """A chat that adds nothing to the form; usage is null, as some have it."""

    def completions(request: Request) -> dict[str, Any]:
        _needs(request, "model", stream=False)
        return {**_completion(_asked(_last_message(request)), " [{}]"), "usage": None}

    return {("POST", "/v1/chat/completions"): completions}


def openai_responses() -> Routes:
    """The Responses API: a call of file_search, then a message with annotations; chunks come if they are asked for."""

    def responses(request: Request) -> dict[str, Any]:
        _bearer(request)
        _needs(request, "model", stream=False)
        asked = _asked(request.body["input"])
        (tool,) = request.body["tools"]
        _check(tool == {"type": "file_search", "vector_store_ids": ["vs_1"]})
        included = "file_search_call.results" in request.body.get("include", [])
        results = [
            {"file_id": f"file-{chunk.document}", "filename": chunk.document, "text": chunk.text, "score": score}
            for chunk, score in _scored(asked)
        ]
        annotations = [
            {"type": "file_citation", "index": 9, "file_id": f"file-{chunk.document}", "filename": chunk.document}
            for chunk in _cited(asked)
        ]
        text = {"type": "output_text", "text": asked.answer, "annotations": annotations}
        search = {"type": "file_search_call", "status": "completed", "results": results if included else None}
        message = {"type": "message", "role": "assistant", "content": [text]}
        return {"status": "completed", "model": MODEL, "output": [search, message], "usage": OPENAI_USAGE}

    return {("POST", "/v1/responses"): responses}


def azure_oyd() -> Routes:
    """Azure OpenAI On Your Data: ids of chunks count anew in each file, and markers are [doc1]."""

    def completions(request: Request) -> dict[str, Any]:
        _check(request.headers.get("api-key") == KEY, HTTPStatus.UNAUTHORIZED)
        _check(request.query.get("api-version") == "2024-10-21")
        (source,) = request.body["data_sources"]
        _check(source["type"] == "azure_search" and "citations" in source["parameters"]["include_contexts"])
        asked = _asked(_last_message(request))
        body = _completion(asked, " [doc{}]")
        body["choices"][0]["message"]["context"] = {
            "intent": "[]",
            "citations": [
                {"content": c.text, "title": c.document, "filepath": c.document, "url": None, "chunk_id": str(c.number)}
                for c in asked.ranking
            ],
        }
        return body

    return {("POST", "/openai/deployments/chat/chat/completions"): completions}


def hayhooks() -> Routes:
    """A pipeline with an AnswerBuilder: the answer's dictionary, whose documents say whether it refers to them."""

    def run(request: Request) -> dict[str, Any]:
        asked = _asked(request.body.get("query"))
        documents = [
            {
                "id": _id(chunk),
                "content": chunk.text,
                "meta": {"file_path": chunk.document, "source_index": place, "referenced": place in asked.cited},
                "score": score,
            }
            for place, (chunk, score) in enumerate(_scored(asked), start=1)
        ]
        return {"result": {"data": _marked(asked, " [{}]"), "query": "", "documents": documents, "meta": {}}}

    return {("POST", "/rag/run"): run}


def langserve() -> Routes:
    """A retrieval chain: its documents as LangChain writes them, without scores."""

    def invoke(request: Request) -> dict[str, Any]:
        asked = _asked(request.body.get("input"))
        context = [
            {"id": _id(chunk), "metadata": {"source": chunk.document}, "page_content": chunk.text, "type": "Document"}
            for chunk in asked.ranking
        ]
        return {"output": {"context": context, "answer": asked.answer}, "metadata": {"run_id": "r"}}

    return {("POST", "/rag/invoke"): invoke, ("GET", "/rag/input_schema"): lambda _: {"type": "string"}}


def langgraph() -> Routes:
    """The last state of a graph with messages and documents."""

    def wait(request: Request) -> dict[str, Any]:
        _check(request.body["assistant_id"] == "agent")
        asked = _asked(request.body["input"].get("question"))
        documents = [
            {"id": _id(chunk), "metadata": {"source": chunk.document}, "page_content": chunk.text}
            for chunk in asked.ranking
        ]
        reply = {"type": "ai", "content": asked.answer, "usage_metadata": OPENAI_USAGE}
        reply["response_metadata"] = {"model_name": MODEL}
        return {"messages": [{"type": "human", "content": ""}, reply], "documents": documents}

    return {("POST", "/runs/wait"): wait, ("GET", "/ok"): lambda _: {"ok": True}}


def lightrag() -> Routes:
    """LightRAG: references are files, whose ids are texts; the chunks come from /query/data."""

    def query(request: Request) -> dict[str, Any]:
        _check(request.headers.get("X-API-Key") == KEY, HTTPStatus.FORBIDDEN)
        _check(request.body["mode"] == "mix" and not request.body.get("stream"))
        asked = _asked(request.body["query"])
        text = _marked(asked, " [{}]") + "\n\n### References\n\n- [1] a file\n- [2] another"
        return {"response": text, "references": _references(asked)}

    def data(request: Request) -> dict[str, Any]:
        _check(request.headers.get("X-API-Key") == KEY, HTTPStatus.FORBIDDEN)
        asked = _asked(request.body["query"])
        if not asked.cited:  # as where nothing is found
            return {"status": "failure", "data": {}, "metadata": {"failure_reason": "no_results"}}
        chunks = [
            {"reference_id": "1", "content": c.text, "file_path": c.document, "chunk_id": f"doc-{_id(c)}"}
            for c in asked.ranking
        ]
        return {"status": "success", "data": {"chunks": chunks, "references": _references(asked)}, "metadata": {}}

    health = {"status": "healthy", "configuration": {"llm_model": MODEL, "embedding_model": "e", "rerank_model": None}}
    return {("GET", "/health"): lambda _: health, ("POST", "/query"): query, ("POST", "/query/data"): data}


def _references(asked: Asked) -> list[dict[str, Any]]:
    return [{"reference_id": str(n), "file_path": c.document} for n, c in enumerate(asked.ranking, start=1)]


def txtai() -> Routes:
    """A RAG pipeline that says its one reference, and an index with content."""

    def rag(request: Request) -> dict[str, Any]:
        asked = _asked(request.query.get("query"))
        cited = _cited(asked)
        return {"answer": asked.answer, "reference": _id(cited[0]) if cited else None}

    def search(request: Request) -> list[dict[str, Any]]:
        asked = _asked(request.query.get("query"))
        found = [{"id": _id(chunk), "text": chunk.text, "score": score} for chunk, score in _scored(asked)]
        return found[: int(request.query["limit"])]

    return {("GET", "/rag"): rag, ("GET", "/search"): search, ("GET", "/count"): lambda _: len(ANSWERS)}


def filling_txtai(taken: dict[str, str]) -> Routes:
    """The same with an index to fill: what was added is there once it is indexed.

    Args:
        taken: Gets the texts by their ids.
    """
    added: dict[str, str] = {}

    def add(request: Request) -> None:
        for document in request.body:
            _check(document.keys() == {"id", "text"})
            added[document["id"]] = document["text"]

    return {**txtai(), ("POST", "/add"): add, ("GET", "/upsert"): lambda _: taken.update(added)}


def openwebui() -> Routes:
    """Open WebUI: parallel lists below each source, and markers that number files."""

    def completions(request: Request) -> dict[str, Any]:
        _bearer(request)
        _check(request.body["files"] == [{"type": "collection", "id": "c-1"}])
        asked = _asked(_last_message(request))
        files = list(dict.fromkeys(chunk.document for chunk in asked.ranking))
        numbers = [files.index(chunk.document) + 1 for chunk in _cited(asked)]
        source = {
            "source": {"type": "collection", "id": "c-1"},
            "document": [chunk.text for chunk in asked.ranking],
            "metadata": [{"name": chunk.document, "file_id": f"f-{chunk.document}"} for chunk in asked.ranking],
            "distances": list(SCORES),
        }
        answer = asked.answer + "".join(f" [{number}]" for number in numbers)
        return {"sources": [source], **_completion(asked._replace(answer=answer), "")}

    return {("POST", "/api/chat/completions"): completions, ("GET", "/health"): lambda _: {"status": True}}


def filling_openwebui(taken: dict[str, str]) -> Routes:
    """The same with a collection to fill: a file is read first, and then put into it by its id.

    Args:
        taken: Gets the texts by the names of their files.
    """
    files: list[tuple[str, str]] = []

    def upload(request: Request) -> dict[str, Any]:
        _bearer(request)
        _check(request.query == {"process": "true", "process_in_background": "false"})
        (name,) = re.findall(rb'name="file"; filename="([^"]+)"', request.body)
        text = request.body.partition(b"\r\n\r\n")[2].partition(b"\r\n--")[0]
        files.append((name.decode(), text.decode()))
        return {"status": True, "id": f"f-{len(files)}", "filename": name.decode()}

    def put(request: Request) -> dict[str, Any]:
        _bearer(request)
        name, text = files[int(request.body["file_id"].removeprefix("f-")) - 1]
        taken[name] = text
        return {"id": "c-1"}

    paths = {("POST", "/api/v1/files/"): upload, ("POST", "/api/v1/knowledge/c-1/file/add"): put}
    return {**openwebui(), **paths}


def r2r() -> Routes:
    """R2R: everything below `results`, and citations by short ids whose payload is a chunk."""

    def rag(request: Request) -> dict[str, Any]:
        _check(request.body["rag_generation_config"] == {"stream": False})
        asked = _asked(request.body["query"])
        hits = [
            {
                "id": _id(c),
                "document_id": f"d-{c.document}",
                "text": c.text,
                "score": s,
                "metadata": {"title": c.document},
            }
            for c, s in _scored(asked)
        ]
        return {
            "results": {
                "generated_answer": asked.answer,
                "search_results": {"chunk_search_results": hits},
                "citations": [{"id": f"e{n}", "payload": {"id": _id(c)}} for n, c in enumerate(_cited(asked))],
                "metadata": {"usage": USAGE, "model": MODEL},
            }
        }

    return {("POST", "/v3/retrieval/rag"): rag, ("GET", "/v3/health"): lambda _: {"results": {"message": "ok"}}}


def ragflow() -> Routes:
    """A chat of RAGFlow: markers such as [ID:0] count from 0, and an error is a 200 whose code is not 0."""

    def completions(request: Request) -> dict[str, Any]:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return {"code": 109, "message": "Authentication error: API key is invalid!"}
        if request.body.get("chat_id") != "b7a29412" or request.body.get("stream") is not False:
            return {"code": 102, "message": "You don't own the chat"}
        asked = _asked(request.body["question"])
        chunks = [
            {"id": _id(c), "content": c.text, "document_name": c.document, "similarity": s} for c, s in _scored(asked)
        ]
        answer = asked.answer + "".join(f" [ID:{rank - 1}]" for rank in asked.cited)
        return {"code": 0, "data": {"answer": answer, "reference": {"chunks": chunks, "total": len(chunks)}}}

    return {("POST", "/api/v1/chat/completions"): completions}


def dify() -> Routes:
    """A chat app of Dify in blocking mode; a conversation that is empty is a new one."""

    def messages(request: Request) -> dict[str, Any]:
        _bearer(request)
        _needs(request, "user", response_mode="blocking", conversation_id="", inputs={})
        asked = _asked(request.body["query"])
        resources = [
            {
                "position": place,
                "document_id": f"d-{chunk.document}",
                "document_name": chunk.document,
                "segment_id": _id(chunk),
                "score": score,
                "content": chunk.text,
            }
            for place, (chunk, score) in enumerate(_scored(asked), start=1)
        ]
        usage = {**USAGE, "total_price": "0.0012890", "currency": "USD"}
        return {
            "event": "message",
            "answer": asked.answer,
            "metadata": {"usage": usage, "retriever_resources": resources},
        }

    return {("POST", "/v1/chat-messages"): messages}


def anythingllm() -> Routes:
    """A workspace of AnythingLLM in query mode."""

    def chat(request: Request) -> dict[str, Any]:
        _bearer(request)
        _needs(request, "sessionId", mode="query")
        asked = _asked(request.body["message"])
        sources = [{"id": _id(c), "title": c.document, "chunk": c.text, "score": s} for c, s in _scored(asked)]
        metrics = {**USAGE, "model": MODEL}
        return {
            "type": "textResponse",
            "textResponse": asked.answer,
            "error": None,
            "sources": sources,
            "metrics": metrics,
        }

    return {("POST", "/api/v1/workspace/default/chat"): chat, ("GET", "/api/ping"): lambda _: {"online": True}}


def onyx() -> Routes:
    """Onyx: a text is the beginning of its chunk, and citations are of documents."""

    def send(request: Request) -> dict[str, Any]:
        _bearer(request)
        _needs(request, "chat_session_info", stream=False)
        asked = _asked(request.body["message"])
        documents = [
            {
                "document_id": f"FILE__{chunk.document}",
                "chunk_ind": chunk.number,
                "semantic_identifier": chunk.document,
                "blurb": chunk.text,
                "score": score,
            }
            for chunk, score in _scored(asked)
        ]
        cited = [
            {"citation_number": n, "document_id": f"FILE__{c.document}"} for n, c in enumerate(_cited(asked), start=1)
        ]
        return {"answer": asked.answer, "top_documents": documents, "citation_info": cited, "error_msg": None}

    return {("POST", "/chat/send-chat-message"): send, ("GET", "/health"): lambda _: {"success": True}}


def vectara() -> Routes:
    """A corpus of Vectara: results without ids, a summary with markers."""

    def query(request: Request) -> dict[str, Any]:
        _check(request.headers.get("x-api-key") == KEY, HTTPStatus.UNAUTHORIZED)
        _needs(request, "generation", stream_response=False)
        asked = _asked(request.body["query"])
        results = [
            {"text": c.text, "document_id": c.document, "score": s, "part_metadata": {"section": c.number}}
            for c, s in _scored(asked)
        ]
        return {"summary": _marked(asked, " [{}]"), "search_results": results, "factual_consistency_score": 0.8}

    return {("POST", "/v2/corpora/default/query"): query}


def cohere() -> Routes:
    """Cohere's chat, which cites parts of its answer, and a path that retrieves beside it."""

    def chat(request: Request) -> dict[str, Any]:
        _bearer(request)
        asked = _asked(_last_message(request))
        sent = [document["id"] for document in request.body["documents"]]
        _check(sent == [_id(chunk) for chunk in asked.ranking])
        citations = [
            {"start": 0, "end": 3, "text": "", "sources": [{"type": "document", "id": _id(c)}]} for c in _cited(asked)
        ]
        message = {"role": "assistant", "content": [{"type": "text", "text": asked.answer}], "citations": citations}
        tokens = {"input_tokens": 300, "output_tokens": 20}
        return {"id": "c", "finish_reason": "COMPLETE", "message": message, "usage": {"tokens": tokens}}

    def search(request: Request) -> dict[str, Any]:
        asked = _asked(request.body["query"])
        return {"hits": [{"id": _id(c), "file": c.document, "text": c.text, "score": s} for c, s in _scored(asked)]}

    return {("POST", "/v2/chat"): chat, ("POST", "/search"): search}


def pinecone() -> Routes:
    """An assistant of Pinecone: its context comes by a path of its own."""

    def chat(request: Request) -> dict[str, Any]:
        _check(request.headers.get("Api-Key") == KEY, HTTPStatus.UNAUTHORIZED)
        _check(request.headers.get("X-Pinecone-API-Version") == "2025-04")
        asked = _asked(_last_message(request))
        citations = [{"position": 3, "references": [{"file": {"name": c.document}}]} for c in _cited(asked)]
        message = {"role": "assistant", "content": asked.answer}
        return {"message": message, "citations": citations, "usage": USAGE, "model": MODEL}

    def context(request: Request) -> dict[str, Any]:
        asked = _asked(request.body["query"])
        snippets = [
            {"type": "text", "content": c.text, "score": s, "reference": {"file": {"name": c.document}, "pages": [1]}}
            for c, s in _scored(asked)
        ]
        return {"snippets": snippets[: request.body["top_k"]]}

    path = "/assistant/chat/default"
    return {("POST", path): chat, ("POST", f"{path}/context"): context}


def elasticsearch() -> Routes:
    """An index of Elasticsearch, with what a loader put into it."""

    def search(request: Request) -> dict[str, Any]:
        asked = _asked(request.body["query"]["multi_match"]["query"])
        hits = [
            {"_index": "rag", "_id": _id(c), "_score": s, "_source": {"content": c.text, "source": c.document}}
            for c, s in _scored(asked)
        ]
        found = hits[: request.body["size"]]
        return {"took": 1, "timed_out": False, "hits": {"total": {"value": len(hits)}, "hits": found}}

    return {("POST", "/rag/_search"): search}


def _asked(question: Any) -> Asked:
    _check(isinstance(question, str))
    return ANSWERS[question]


def _last_message(request: Request) -> Any:
    return request.body["messages"][-1]["content"]


def _bearer(request: Request) -> None:
    _check(request.headers.get("Authorization") == f"Bearer {KEY}", HTTPStatus.UNAUTHORIZED)


def _needs(request: Request, *names: str, **values: Any) -> None:
    """Check that a body has these keys, and these values of others."""
    _check(all(name in request.body for name in names))
    _check(all(request.body.get(name) == value for name, value in values.items()))


def _check(holds: bool, status: HTTPStatus = HTTPStatus.UNPROCESSABLE_ENTITY) -> None:
    if not holds:
        raise Refusal(status, {"detail": "this server does not take such a request"})


def _completion(asked: Asked, marker: str) -> dict[str, Any]:
    """An answer in the form of a chat completion."""
    message = {"role": "assistant", "content": _marked(asked, marker)}
    choice: Mapping[str, Any] = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"object": "chat.completion", "model": MODEL, "choices": [choice], "usage": USAGE}


def _marked(asked: Asked, marker: str) -> str:
    return asked.answer + "".join(marker.format(rank) for rank in asked.cited)


def _scored(asked: Asked) -> list[tuple[Chunk, float]]:
    return list(zip(asked.ranking, SCORES, strict=True))


def _cited(asked: Asked) -> Sequence[Chunk]:
    return [asked.ranking[rank - 1] for rank in asked.cited]


def _id(chunk: Chunk) -> str:
    return f"{chunk.document}#{chunk.number}"
