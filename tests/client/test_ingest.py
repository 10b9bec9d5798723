"""Giving documents to a server."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
import respx

from evals.client import RAGClient, ServerSpec
from evals.client.ingest import IngestReport, ingest, listed_documents, uploads_of
from evals.client.profile import resolve_spec
from evals.errors import ConfigError, IngestError
from evals.schemas import Document
from evals.store.uploads import UploadLog

DOCUMENTS = [Document(id=f"doc-{i}", name=f"Doc {i}", text=f"Text about subject {i}.") for i in range(5)]
DONE = {"total": 1, "tasks": {"t": {"status": "completed"}}}
PENDING = {"total": 1, "tasks": {"t": {"status": "processing"}}}


def _ingest(
    spec: ServerSpec,
    documents: Sequence[Document] = DOCUMENTS,
    *,
    client: Mapping[str, Any] | None = None,
    log: Path | None = None,
    **options: Any,
) -> IngestReport:
    async def run() -> IngestReport:
        async with RAGClient(spec, **(client or {})) as rag:
            with UploadLog(log, "a server") as known:
                return await ingest(rag, uploads_of(documents), known, **options)

    return asyncio.run(run())


@pytest.fixture
def accepting(mocked: respx.MockRouter) -> respx.MockRouter:
    """A server without documents that takes every upload as job j/1."""
    mocked.get("/documents").mock(return_value=httpx.Response(200, json={"documents": []}))
    mocked.post("/upload").mock(return_value=httpx.Response(200, json={"batch_id": "j/1"}))
    return mocked


async def _keys(client: RAGClient) -> set[str] | None:
    listed = await listed_documents(client)
    return None if listed is None else listed.keys


def test_only_what_is_missing_is_uploaded(serve: Callable[..., str]) -> None:
    """In batches, waiting for each; a second time there is nothing to do."""
    spec = resolve_spec({"url": serve(files={"doc-0.txt": b"Text about subject 0."}), "upload": {"batch": 2}})
    steps: list[tuple[int, int]] = []
    report = _ingest(spec, progress=lambda done, total: steps.append((done, total)))
    assert (report.uploaded, report.already_there) == (4, 1)
    assert steps == [(2, 4), (4, 4)]
    assert _ingest(spec) == IngestReport(uploaded=0, already_there=5)

    async def run() -> tuple[set[str] | None, str | None]:
        async with RAGClient(spec) as client:
            return await _keys(client), (await client.ask("What is the text about subject 3?")).answer

    names, answer = asyncio.run(run())
    assert {f"doc-{i}" for i in range(5)} <= (names or set())
    assert "subject 3" in (answer or "")


def test_a_document_that_the_server_cannot_take_is_named(serve: Callable[..., str]) -> None:
    """One bad document of a batch fails the whole, after the others were taken."""
    bad = Document(id="blank", name="Blank", text=" \n ")
    with pytest.raises(IngestError, match=r"1 document, first: .*blank\.txt") as raised:
        _ingest(resolve_spec({"url": serve(files={})}), [*DOCUMENTS, bad])
    assert raised.value.exit_code == 3


def test_a_profile_without_upload_cannot_ingest(spec: Callable[..., ServerSpec]) -> None:
    """The message names the profile, the hint another way."""
    with pytest.raises(ConfigError, match="'rag-server'") as raised:
        _ingest(spec(upload=None))
    assert "--no-preflight" in (raised.value.hint or "")


def test_documents_that_are_never_ready_end_the_waiting(
    accepting: respx.MockRouter, spec: Callable[..., ServerSpec], sleep: Callable[[float], Any], waits: list[float]
) -> None:
    """After the time that the profile gives; the pauses grow to two seconds."""
    status = accepting.get(url__regex=".*/tasks/.*").mock(return_value=httpx.Response(200, json=PENDING))
    with pytest.raises(IngestError, match="not ready after 20 s"):
        _ingest(spec(ready={"timeout_s": 20}), client={"sleep": sleep, "clock": lambda: sum(waits)})
    assert status.calls.last.request.url.raw_path == b"/tasks/j%2F1/status"
    assert 20 < sum(waits) < 22
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (0.05, 2.0)


def test_a_status_that_is_not_there_yet_is_waited_for(
    accepting: respx.MockRouter, spec: Callable[..., ServerSpec], sleep: Callable[[float], Any], waits: list[float]
) -> None:
    """A 404, a page and a form without tasks only mean: not yet."""
    replies = [httpx.Response(404), httpx.Response(200, html="<p>"), httpx.Response(200, json={}), PENDING, DONE]
    accepting.get(url__regex=".*/tasks/.*").mock(
        side_effect=[each if isinstance(each, httpx.Response) else httpx.Response(200, json=each) for each in replies]
    )
    assert _ingest(spec(), client={"sleep": sleep}).uploaded == 5
    assert len(waits) == 4


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (httpx.Response(200, html="<p>"), "without `batch_id`: <p>"),
        (httpx.Response(200, json={"id": "x"}), "without `batch_id`: .*id"),
        (httpx.Response(200, json=[]), "without `batch_id`"),
        (httpx.Response(503, text="model is down"), "HTTP 503: model is down"),
    ],
)
def test_an_upload_without_a_job_is_an_error(
    reply: httpx.Response, said: str, accepting: respx.MockRouter, spec: Callable[..., ServerSpec]
) -> None:
    """The message shows what came instead."""
    accepting.post("/upload").mock(return_value=reply)
    with pytest.raises(IngestError, match=said):
        _ingest(spec())


def test_what_an_upload_answers_is_shown_without_secrets(
    accepting: respx.MockRouter, spec: Callable[..., ServerSpec]
) -> None:
    """Neither in the reply to the upload nor in the failures of the job."""
    over = {"headers": {"X-API-Key": "k-12345678"}}
    accepting.post("/upload").mock(return_value=httpx.Response(200, json={"key": "k-12345678"}))
    with pytest.raises(IngestError, match=r"\*\*\*"):
        _ingest(spec(**over))
    accepting.post("/upload").mock(return_value=httpx.Response(200, json={"batch_id": "1"}))
    failed = {"total": 1, "tasks": {"t": {"status": "error", "filename": "a", "error": "key k-12345678"}}}
    accepting.get("/tasks/1/status").mock(return_value=httpx.Response(200, json=failed))
    with pytest.raises(IngestError, match=r"first: .*\*\*\*"):
        _ingest(spec(**over))


def test_a_profile_without_job_and_status_uploads_and_goes_on(
    accepting: respx.MockRouter, spec: Callable[..., ServerSpec]
) -> None:
    """A server that answers an upload with nothing has taken it."""
    route = accepting.post("/upload").mock(return_value=httpx.Response(204))
    assert _ingest(spec(upload={"id": None, "batch": 3}, ready=None)).uploaded == 5
    assert route.call_count == 2


def test_files_are_sent_by_name_and_type(accepting: respx.MockRouter, spec: Callable[..., ServerSpec]) -> None:
    """A document with sections is Markdown; the field's name is the profile's."""
    sections = [{"title": "T", "start": 0, "end": 3}]
    documents = [DOCUMENTS[0], Document.model_validate({"id": "m", "name": "M", "text": "# T ☃", "sections": sections})]
    route = accepting.post("/upload").mock(return_value=httpx.Response(200, json={"batch_id": "1"}))
    _ingest(spec(upload={"field": "file"}, ready=None), documents)
    sent = route.calls.last.request.content.decode()
    assert sent.count('name="file"') == 2
    for part in ('filename="doc-0.txt"', 'filename="m.md"', "Content-Type: text/markdown", "# T ☃"):
        assert part in sent


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (httpx.Response(404), None),
        *((httpx.Response(200, json=body), None) for body in ({"documents": None}, [])),
        (httpx.Response(200, json={"documents": []}), set()),
        (httpx.Response(200, json={"documents": [{"id": 7, "file_name": "dir/A.md"}, {"id": None}, 3]}), {"7", "a"}),
    ],
)
def test_the_list_of_documents_is_none_where_there_is_none(
    reply: httpx.Response, expected: set[str] | None, spec: Callable[..., ServerSpec], mocked: respx.MockRouter
) -> None:
    """No list is not an empty list."""
    mocked.get("/documents").mock(return_value=reply)

    async def run(chosen: ServerSpec) -> set[str] | None:
        async with RAGClient(chosen) as client:
            return await _keys(client)

    assert asyncio.run(run(spec())) == expected
    assert asyncio.run(run(spec(documents=None))) is None


@pytest.mark.parametrize(("status", "requests"), [(500, 3), (429, 3), (401, 1), (403, 1)])
def test_nothing_is_uploaded_where_the_list_of_documents_fails(
    status: int,
    requests: int,
    accepting: respx.MockRouter,
    spec: Callable[..., ServerSpec],
    sleep: Callable[[float], Any],
) -> None:
    """What the server has is not known then, and uploading it again would double its corpus."""
    listing = accepting.get("/documents").mock(return_value=httpx.Response(status, text="no list today"))
    with pytest.raises(IngestError, match=f"/documents answers HTTP {status}: no list today"):
        _ingest(spec(), client={"sleep": sleep})
    assert listing.call_count == requests
    assert not any(call.request.method == "POST" for call in accepting.calls)


@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_status_that_is_refused_ends_the_waiting_at_once(
    status: int, accepting: respx.MockRouter, spec: Callable[..., ServerSpec], sleep: Callable[[float], Any]
) -> None:
    """The message says what was asked and what came."""
    polled = accepting.get(url__regex=".*/tasks/.*").mock(return_value=httpx.Response(status))
    with pytest.raises(IngestError, match=f"/tasks/j%2F1/status: HTTP {status}") as raised:
        _ingest(spec(), client={"sleep": sleep})
    assert polled.call_count == 1
    assert "server.ready.path" in (raised.value.hint or "")
