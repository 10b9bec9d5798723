"""Each document is uploaded once, however often an upload is interrupted or repeated."""

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from raw_server import RawServer
from servers import HOME, PATIENCE_S, wait_until

from evals.client import RAGClient
from evals.client.ingest import IngestReport, Upload, ingest, uploads_in, uploads_of
from evals.client.profile import resolve_spec
from evals.errors import ConfigError, EvalsError, IngestError
from evals.run.corpus import remarks_on
from evals.schemas import Document
from evals.store.uploads import UploadLog, uploaded_ids

_FILE = re.compile(rb'filename="([^"]+)"')


class Library(RawServer):
    """A server that takes documents, and counts how often it was given each.

    Attributes:
        given: How often it took a document, by its name.
        requests: Method, path and JSON body of all else that was sent to it.
        lists: Whether it lists what it has.
        begun: How many uploads it began to take.
        pause_s: How long it takes over an upload.
        refuse: Status to refuse the next uploads with, one each.
    """

    def __init__(self) -> None:
        self.given: Counter[str] = Counter()
        self.requests: list[tuple[str, str, Any]] = []
        self.lists, self.begun, self.pause_s = True, 0, 0.0
        self.refuse: list[int] = []
        super().__init__(self._reply)

    def _reply(self, number: int) -> Iterator[bytes]:
        head, _, body = self.asked[number][1].partition(b"\r\n\r\n")
        method, path, _ = head.decode().split(" ", 2)
        status, answer = self._answer(method, path, body)
        data = json.dumps(answer).encode()
        yield b"HTTP/1.1 %d -\r\nContent-Length: %d\r\n\r\n%b" % (status, len(data), data)

    def _answer(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        if path == "/documents":
            listed = [{"id": f"uuid-{name}", "file_name": name} for name in sorted(self.given)]
            return (200, {"documents": listed}) if self.lists else (404, {})
        if path == "/upload" and self.refuse:
            return self.refuse.pop(0), {"detail": "not now"}
        if path == "/upload":
            self.begun += 1
            time.sleep(self.pause_s)
            names = [name.decode() for name in _FILE.findall(body)]
            self.given.update(names)
            return 200, {"job": "j1", "ids": [f"uuid-{name}" for name in names]}
        self.requests.append((method, path, json.loads(body) if body else None))
        return 200, {"job": "j2", "ok": True}


@pytest.fixture
def library() -> Iterator[Library]:
    """A server that counts what it is given."""
    server = Library()
    yield server
    server.close()


def _server(library: Library, **upload: Any) -> dict[str, Any]:
    multipart = {"path": "/upload", "field": "files", "batch": 7, "id": "job", **upload}
    return {
        "url": library.url,
        "ask": {"path": "/ask", "json": {"q": "{{question}}"}},
        "map": {"answer": "answer"},
        "documents": {"path": "/documents", "map": "documents[].{id: id, name: file_name}"},
        "upload": multipart,
        "ready": None,
        "health": None,
    }


def _ingest(library: Library, documents: list[Upload], folder: Path, **upload: Any) -> IngestReport:
    async def run() -> IngestReport:
        async with RAGClient(resolve_spec(_server(library, **upload))) as client:
            with UploadLog(folder, library.url) as log:
                return await ingest(client, documents, log)

    return asyncio.run(run())


def _documents(count: int) -> list[Upload]:
    return uploads_of(Document(id=f"doc-{i:04}", name=f"Doc {i}", text=f"About subject {i}.") for i in range(count))


@pytest.mark.parametrize("lists", [True, False], ids=["listed", "unlisted"])
def test_what_is_cancelled_half_way_and_repeated_is_uploaded_once(
    library: Library, tmp_path: Path, *, lists: bool
) -> None:
    """The batch under way is waited for, so that a server without a list gets nothing twice either."""
    library.lists, library.pause_s = lists, 0.05

    async def interrupted() -> None:
        task = asyncio.create_task(
            _ingest_with(RAGClient(resolve_spec(_server(library))), _documents(60), tmp_path, library.url)
        )
        await asyncio.to_thread(wait_until, lambda: len(library.given) > 7, "the second batch")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    there = len(library.given)
    assert 0 < there < 60
    assert _ingest(library, _documents(60), tmp_path).uploaded == 60 - there
    assert set(library.given.values()) == {1}
    assert len(library.given) == 60


async def _ingest_with(client: RAGClient, documents: list[Upload], folder: Path, key: str) -> None:
    async with client:
        with UploadLog(folder, key) as log:
            await ingest(client, documents, log)


_PROGRAM = """
import sys, json, asyncio
from pathlib import Path
from evals.client import RAGClient
from evals.client.ingest import ingest, uploads_in
from evals.client.profile import resolve_spec
from evals.store.uploads import UploadLog
server, folder, runs = json.loads(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
async def run():
    async with RAGClient(resolve_spec(server)) as client:
        with UploadLog(runs, server["url"]) as log:
            await ingest(client, uploads_in(folder), log)
asyncio.run(run())
"""


@pytest.mark.slow
def test_many_documents_are_uploaded_once_though_killed_again_and_again(library: Library, tmp_path: Path) -> None:
    """SIGKILL leaves a batch of which nobody knows: the server's list does, after a while."""
    folder, rng = tmp_path / "docs", random.Random(4)  # noqa: S311 - no secret
    folder.mkdir()
    for i in range(300):
        (folder / f"doc-{i:04}.md").write_text(f"# Doc {i}\n\nAbout subject {i}.\n", encoding="utf-8")
    library.pause_s = 0.01
    spec = json.dumps(_server(library, batch=10))
    command = [sys.executable, "-c", _PROGRAM, spec, str(folder), str(tmp_path / "runs")]
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    for _ in range(4):
        child = subprocess.Popen(command, env=environment)
        goal = len(library.given) + rng.randint(20, 60)
        wait_until(lambda goal=goal, child=child: len(library.given) >= goal or child.poll() is not None, "uploads")
        time.sleep(rng.uniform(0, 0.02))
        child.send_signal(signal.SIGKILL)
        child.wait(PATIENCE_S)
    assert 60 < len(library.given) < 300
    assert subprocess.run(command, env=environment, check=False, timeout=PATIENCE_S).returncode == 0
    assert len(library.given) == 300
    assert set(library.given.values()) == {1}


def test_what_was_under_way_at_a_kill_is_counted_and_not_sent_again_where_no_list_tells(
    library: Library, tmp_path: Path
) -> None:
    """Nobody knows whether the server has it; the log has it before the request, so that SIGKILL loses nothing."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for i in range(40):
        (folder / f"doc-{i:04}.md").write_text(f"# Doc {i}\n\nAbout subject {i}.\n", encoding="utf-8")
    library.lists, library.pause_s = False, 0.3
    spec, runs = json.dumps(_server(library, batch=10)), tmp_path / "runs"
    command = [sys.executable, "-c", _PROGRAM, spec, str(folder), str(runs)]
    child = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(HOME)})
    wait_until(lambda: library.begun == 2, "the second batch")
    child.send_signal(signal.SIGKILL)
    child.wait(PATIENCE_S)
    wait_until(lambda: len(library.given) == 20, "the server is through with what it has")
    library.pause_s = 0.0
    report = _ingest(library, uploads_in(folder), runs, batch=10)
    assert (report.uploaded, report.already_there, len(report.unconfirmed)) == (20, 10, 10)
    assert set(library.given.values()) == {1}
    assert len(library.given) == 40
    again = _ingest(library, uploads_in(folder), runs, batch=10)
    assert (again.uploaded, again.already_there, again.unconfirmed) == (0, 30, report.unconfirmed)
    (remark,) = [each for each in remarks_on(report) if "not confirmed" in each]
    assert remark.startswith("10 documents were sent, not confirmed")


def test_a_line_taken_out_of_the_log_lets_its_documents_be_sent_again(library: Library, tmp_path: Path) -> None:
    """The way out where the server turns out to lack them."""
    library.lists = False
    documents = _documents(3)
    with UploadLog(tmp_path, library.url) as log:
        log.note("sent", documents={documents[0].name: documents[0].sha256})
    assert _ingest(library, documents, tmp_path).unconfirmed == (documents[0].name,)
    kept = [line for line in log.path.read_bytes().splitlines(keepends=True) if documents[0].name.encode() not in line]
    log.path.write_bytes(b"".join(kept))
    report = _ingest(library, documents, tmp_path)
    assert (report.uploaded, report.unconfirmed) == (1, ())


def test_a_server_that_lost_its_documents_gets_them_again(library: Library, tmp_path: Path) -> None:
    """Its own list counts for more than our log."""
    _ingest(library, _documents(3), tmp_path)
    library.given.clear()
    assert _ingest(library, _documents(3), tmp_path).uploaded == 3


def test_a_changed_document_is_named_and_not_uploaded_beside_the_old_one(library: Library, tmp_path: Path) -> None:
    """A server that would then hold both editions would retrieve both."""
    _ingest(library, _documents(2), tmp_path)
    report = _ingest(library, [Upload("doc-0001.txt", lambda: b"Other words.")], tmp_path)
    assert (report.uploaded, report.changed) == (0, ("doc-0001.txt",))


def test_a_server_that_is_busy_is_waited_for_and_one_that_refuses_is_not(library: Library, tmp_path: Path) -> None:
    """429 and 503 mean later; a 413 means no, and then nothing of the batch counts as sent."""
    library.refuse = [503, 429]
    assert _ingest(library, _documents(3), tmp_path).uploaded == 3
    library.refuse, library.lists = [413], False
    with pytest.raises(IngestError, match="refused 1 document: HTTP 413"):
        _ingest(library, [Upload("large.txt", lambda: b"x")], tmp_path)
    assert _ingest(library, [Upload("large.txt", lambda: b"x")], tmp_path).unconfirmed == ()


def test_documents_go_as_json_in_any_shape(library: Library, tmp_path: Path) -> None:
    """A list of objects, lists of texts and names, or one document a request; then requests follow."""
    items = {"path": "/add", "json": "{{documents}}", "each": {"id": "{{name}}", "text": "{{text}}", "lang": "en"}}
    follow = {
        "then": [{"path": "/collect/{{id}}", "json": {"file": "{{id}}"}}],
        "finish": [{"method": "GET", "path": "/index"}],
    }
    _ingest(library, _documents(2), tmp_path, **items, **follow)
    documents = [{"id": f"doc-000{i}.txt", "text": f"About subject {i}.", "lang": "en"} for i in range(2)]
    assert library.requests == [
        ("POST", "/add", documents),
        ("POST", "/collect/j2", {"file": "j2"}),
        ("GET", "/index", None),
    ]
    library.requests.clear()
    lists = {"path": "/texts", "json": {"texts": "{{texts}}", "sources": "{{names}}"}}
    _ingest(library, _documents(2), tmp_path / "lists", **lists)
    assert library.requests[0][2] == {
        "texts": ["About subject 0.", "About subject 1."],
        "sources": ["doc-0000.txt", "doc-0001.txt"],
    }
    library.requests.clear()
    one = {"path": "/text", "json": {"title": "{{name}}", "body": "{{text}}"}, "batch": 1}
    _ingest(library, _documents(2), tmp_path / "one", **one)
    assert [body["title"] for _, _, body in library.requests] == ["doc-0000.txt", "doc-0001.txt"]


def test_the_servers_own_ids_are_kept(library: Library, tmp_path: Path) -> None:
    """For chunks that name their document by nothing else."""
    _ingest(library, _documents(2), tmp_path, document_ids="ids")
    assert uploaded_ids(tmp_path, library.url) == [
        ("uuid-doc-0000.txt", "doc-0000.txt"),
        ("uuid-doc-0001.txt", "doc-0001.txt"),
    ]
    assert uploaded_ids(tmp_path, "another server") == []


def test_two_processes_do_not_upload_to_one_server(library: Library, tmp_path: Path) -> None:
    """The second is told to wait."""
    with UploadLog(tmp_path, library.url), pytest.raises(EvalsError, match="another process"):
        _ingest(library, _documents(1), tmp_path)


def test_a_folder_is_read_with_its_folders(tmp_path: Path) -> None:
    """Hidden files are left out; two of one name are told apart by their paths; no file is a message."""
    for name in ("b.md", "x/readme.md", "y/readme.md", ".git/config", "x/.hidden"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text")
    assert [one.name for one in uploads_in(tmp_path)] == ["b.md", "x__readme.md", "y__readme.md"]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ConfigError, match="holds no documents"):
        uploads_in(empty)


@pytest.mark.skipif(sys.platform != "linux", reason="other file systems refuse such a name")
def test_a_name_that_is_no_text_is_said_before_anything_is_sent(tmp_path: Path) -> None:
    """A file system takes any bytes as a name; a request does not."""
    Path(os.fsdecode(bytes(tmp_path) + b"/bad\xff.txt")).write_text("text")
    with pytest.raises(IngestError, match=r"bad\\udcff\.txt' is not UTF-8"):
        uploads_in(tmp_path)


def test_what_is_no_text_cannot_go_into_json(library: Library, tmp_path: Path) -> None:
    """The file is named, with the way out."""
    scan = Upload("scan.pdf", lambda: b"%PDF\xff\xfe")
    with pytest.raises(IngestError, match=r"scan\.pdf is no text"):
        _ingest(library, [scan], tmp_path, json="{{documents}}", path="/add")


@pytest.mark.parametrize("status", [401, 403])
def test_an_upload_that_is_refused_for_its_rights_says_whose(status: int, library: Library, tmp_path: Path) -> None:
    """A key that may ask need not be one that may write."""
    library.refuse = [status]
    with pytest.raises(IngestError, match=f"HTTP {status}") as raised:
        _ingest(library, _documents(1), tmp_path)
    assert "an upload needs the right to write" in str(raised.value.hint)
    assert "server.headers" in str(raised.value.hint)
