"""Each endpoint keeps its part of the HTTP contract."""

import hashlib
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from evals.reference_server import Settings
from evals.reference_server.search import ABSTENTION

Serve = Callable[..., httpx.Client]
Upload = Callable[[httpx.Client, dict[str, bytes]], dict[str, dict[str, Any]]]
SOURCE_KEYS = {"document_id", "document_name", "excerpt", "full_text", "path", "score", "section"}


def test_the_server_describes_itself(serve: Serve) -> None:
    """Health, models, limits and retrieval settings have their fixed forms."""
    client = serve(settings=Settings(chunk_words=90, top_k=4, max_upload_mb=3))
    assert client.get("/health").json() == {"status": "healthy"}
    assert client.get("/config").json() == {"max_upload_size_mb": 3}
    assert client.get("/models/info").json() == {
        "llm_model": "extractive-bm25",
        "llm_provider": "reference",
        "llm_hosting": "local",
        "embedding_model": "none",
        "reranker_model": None,
        "reranker_enabled": False,
        "cost_per_1m_input_tokens": 0.0,
        "cost_per_1m_output_tokens": 0.0,
    }
    metrics = client.get("/metrics/retrieval").json()
    assert (metrics["retrieval_top_k"], metrics["final_top_n"]) == (4, 4)
    assert metrics["hybrid_search"]["vector"]["chunk_size"] == 90
    assert metrics["hybrid_search"]["bm25"] == {"enabled": True}
    assert metrics["reranker"] == {"enabled": False, "model": None, "top_n": None}


def test_an_upload_is_queued_processed_and_listed(serve: Serve, upload: Upload) -> None:
    """Uploaded files become documents."""
    client = serve(files={})
    tasks = upload(client, {"b.md": b"# B\n\none\n\n## C\n\ntwo", "a.txt": b"three"})
    assert tasks["b.md"] == {
        "filename": "b.md", "status": "completed", "total_chunks": 2, "completed_chunks": 2, "error": None,
    }  # fmt: skip
    listed = client.get("/documents").json()["documents"]
    assert [(d["file_name"], d["chunks"], d["file_size_bytes"]) for d in listed] == [
        ("a.txt", 1, 5),
        ("b.md", 2, 19),
    ]
    assert listed[1]["id"] == hashlib.sha256(b"b.md").hexdigest()[:16]


def test_uploading_a_name_again_replaces_the_document(serve: Serve, upload: Upload) -> None:
    """The id stays, the content is the new one."""
    client = serve(files={"a.txt": b"the old zebra"})
    upload(client, {"a.txt": b"the new giraffe"})
    assert len(client.get("/documents").json()["documents"]) == 1
    assert client.post("/query", json={"query": "zebra"}).json()["sources"] == []
    assert client.post("/query", json={"query": "giraffe"}).json()["answer"] == "the new giraffe [1]"


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.pdf", b"x"), ("a.txt", b""), ("a.md", b"x" * (1024 * 1024 + 1)), ("noending", b"x")],
)
def test_files_that_cannot_be_accepted_are_refused(name: str, data: bytes, serve: Serve) -> None:
    """When no file of an upload is acceptable, the answer is 400 and says why."""
    answer = serve(settings=Settings(max_upload_mb=1)).post("/upload", files=[("files", (name, data))])
    assert answer.status_code == 400
    assert repr(name) in answer.json()["detail"]


def test_one_bad_file_does_not_spoil_an_upload(serve: Serve, upload: Upload) -> None:
    """Unacceptable files are left out; unreadable ones end with an error of their own."""
    tasks = upload(serve(files={}), {"a.pdf": b"x", "dir/b.txt": b"fine", "c.txt": b"\xff\xfe", "d.md": b"# Only\n"})
    assert {name: task["status"] for name, task in tasks.items()} == {
        "b.txt": "completed", "c.txt": "error", "d.md": "error",
    }  # fmt: skip
    assert tasks["c.txt"]["error"] == "c.txt is not valid UTF-8 text (byte 0 cannot be read)."
    assert tasks["d.md"]["error"] == "d.md contains no text."


def test_a_query_with_chunks_cites_its_sources(serve: Serve) -> None:
    """Citations point into the sources by number and repeat their identity."""
    question = "How long are daily snapshots kept?"
    body = serve().post("/query", json={"query": question, "session_id": "s1", "include_chunks": True}).json()
    assert body.keys() == {"answer", "sources", "session_id", "citations", "metrics"}
    assert body["answer"].startswith("Daily snapshots are kept for 30 days.")
    assert body["session_id"] == "s1"
    source = body["sources"][0]
    assert source.keys() == SOURCE_KEYS | {"chunk_id", "chunk_index"}
    assert (source["document_name"], source["section"], source["chunk_index"]) == (
        "atlas-guide.md",
        "Retention",
        1,
    )
    assert body["citations"] == [
        {"source_index": 1} | {k: source[k] for k in ("document_id", "chunk_id", "chunk_index", "section")}
    ]
    assert [s["score"] for s in body["sources"]] == sorted((s["score"] for s in body["sources"]), reverse=True)
    usage = body["metrics"]["token_usage"]
    assert usage["completion_tokens"] == -(-len(body["answer"]) // 4)
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert body["metrics"]["latency_ms"] > 0


def test_a_query_without_chunks_names_each_document_once(serve: Serve) -> None:
    """Sources are the first chunk of each document, and there are no citations."""
    client = serve()
    ask = {"query": "Atlas vault plans and formats and retention"}
    plain = client.post("/query", json=ask).json()
    full = client.post("/query", json=ask | {"include_chunks": True}).json()
    names = [s["document_name"] for s in full["sources"]]
    assert len(names) > len(set(names))
    assert [s["document_name"] for s in plain["sources"]] == list(dict.fromkeys(names))
    assert plain["sources"][0].keys() == SOURCE_KEYS
    assert plain["sources"][0]["full_text"] == full["sources"][0]["full_text"]
    assert plain["citations"] is None
    assert plain["session_id"]


@pytest.mark.parametrize("question", ["Who invented the telephone?", "xyzzy", "what is it?", "?!", "  "])
def test_questions_beyond_the_documents_get_no_answer(question: str, serve: Serve) -> None:
    """The abstention is always the same sentence and cites nothing."""
    body = serve().post("/query", json={"query": question, "include_chunks": True}).json()
    assert (body["answer"], body["citations"]) == (ABSTENTION, [])


def test_the_order_of_uploads_never_shows(serve: Serve, upload: Upload, corpus: dict[str, bytes]) -> None:
    """Three orders of the same uploads give identical answers and sources."""
    same = {f"copy-{i}.txt": b"Snapshots of the vault are kept." for i in range(12)}
    files = list((corpus | same).items())
    seen = []
    for order in (files, files[::-1], files[5:] + files[:5]):
        client = serve(files={})
        upload(client, dict(order))
        asks = ["How long are snapshots kept?", "What is the drift factor?", "Which formats does Atlas read?"]
        bodies = [client.post("/query", json={"query": q, "include_chunks": True}).json() for q in asks]
        seen.append([(b["answer"], b["sources"], b["citations"]) for b in bodies])
    assert seen[0] == seen[1] == seen[2]
    assert "0.305" in seen[0][1][0]


@pytest.mark.parametrize("body", [{}, {"query": ""}, {"query": 5}, {"query": "x", "include_chunks": "maybe"}])
def test_invalid_queries_are_422(body: dict[str, Any], serve: Serve) -> None:
    """Validation errors have FastAPI's form."""
    answer = serve().post("/query", json=body)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"][0] == "body"


def test_a_failing_query_is_a_500_with_a_sentence(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error while answering becomes JSON with a detail."""

    def fail(*_: object) -> None:
        raise RuntimeError("out of ink")

    monkeypatch.setattr("evals.reference_server.app.answer", fail)
    answer = serve().post("/query", json={"query": "atlas"})
    assert (answer.status_code, answer.json()) == (500, {"detail": "The query failed: out of ink"})


def test_a_token_guards_everything_but_health(serve: Serve) -> None:
    """Without the right bearer token the answer is 401."""
    client = serve(settings=Settings(auth_token="s3cret"))
    assert client.get("/health").status_code == 200
    refused = [
        client.get("/documents"),
        client.get("/openapi.json"),
        client.post("/query", json={"query": "x"}),
    ]
    refused.append(client.get("/documents", headers={"Authorization": "Bearer wrong"}))
    assert [r.status_code for r in refused] == [401] * 4
    assert "detail" in refused[0].json()
    assert client.get("/documents", headers={"Authorization": "Bearer s3cret"}).status_code == 200


def test_a_question_may_say_how_many_chunks_it_wants(serve: Serve) -> None:
    """`top_k` of a question goes before the server's own; one that cannot be is refused."""
    client = serve(files={f"{n}.md": f"# Page {n}\n\nHarbour number {n}.".encode() for n in range(8)})
    asked = {"query": "Which harbour?", "include_chunks": True}
    counts = [len(client.post("/query", json={**asked, **more}).json()["sources"]) for more in ({}, {"top_k": 2})]
    assert counts[1] == 2 < counts[0]
    assert client.post("/query", json={**asked, "top_k": 0}).status_code == 422
