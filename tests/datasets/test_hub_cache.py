"""What was loaded from the hub once is there when the hub is gone; the hub is a small one on loopback."""

import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from raw_server import RawServer
from servers import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
COMMIT = "c" * 40
CARD = """---
configs:
- config_name: squad_v2
  data_files:
  - split: validation
    path: squad_v2/validation-*
---
"""
SCRIPT = """
import sys
from evals.datasets.base import LoadOptions
from evals.datasets.registry import get_loader
config = sys.argv[2] if len(sys.argv) > 2 else None
print(get_loader(sys.argv[1]).load(LoadOptions(config=config)).model_dump_json())
"""
ANSWER = {
    "unanswerable": False,
    "extractive_spans": [],
    "yes_no": True,
    "free_form_answer": "",
    "evidence": ["It is fast."],
    "highlighted_evidence": [],
}
PAPER = {
    "id": "1912.01214",
    "title": "On Translation",
    "abstract": "We study it.",
    "full_text": {"section_name": ["Results"], "paragraphs": [["It is fast."]]},
    "qas": {"question": ["Is it fast?"], "question_id": ["q"], "answers": [{"answer": [ANSWER]}]},
}
Run = Callable[..., subprocess.CompletedProcess[str]]


class _Hub(BaseHTTPRequestHandler):
    """As much of the hub's interface as a download takes: files of a revision, their list, and the repository."""

    protocol_version = "HTTP/1.1"
    root: Path

    def do_GET(self) -> None:
        kind, *path = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        if kind == "datasets" and path[2:3] == ["resolve"]:
            self._file(self.root / "__".join(path[:2]) / "/".join(path[4:]))
        elif kind == "api" and path[:1] == ["datasets"]:
            self._listing(self.root / "__".join(path[1:3]), *path[3:])
        else:
            self._answer(404)

    do_HEAD = do_GET  # noqa: N815 - the name that the library calls

    def _file(self, path: Path) -> None:
        if path.is_file():
            self._answer(200, path.read_bytes())
        else:
            self._answer(404, headers={"X-Error-Code": "EntryNotFound"})

    def _listing(self, repo: Path, what: str, _revision: str, *folder: str) -> None:
        home = repo.joinpath(*folder)
        if what == "revision":
            siblings = [{"rfilename": str(path.relative_to(repo))} for path in repo.rglob("*") if path.is_file()]
            self._answer(200, {"id": repo.name.replace("__", "/"), "sha": COMMIT, "tags": [], "siblings": siblings})
        elif what == "tree" and home.is_dir():
            found = sorted(home.rglob("*") if "recursive=true" in self.path else home.iterdir())
            self._answer(200, [self._entry(path, repo) for path in found])
        else:
            self._answer(404, headers={"X-Error-Code": "EntryNotFound"})

    def _entry(self, path: Path, repo: Path) -> dict[str, Any]:
        kind = "directory" if path.is_dir() else "file"
        return {"type": kind, "oid": COMMIT, "size": path.stat().st_size, "path": str(path.relative_to(repo))}

    def _answer(self, status: int, body: Any = b"", headers: Mapping[str, str] | None = None) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        etag = f'"{hashlib.sha256(content).hexdigest()}"'
        always = {"Content-Length": str(len(content)), "X-Repo-Commit": COMMIT, "ETag": etag}
        self.send_response(status)
        for name, value in {**always, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(root: Path, port: int) -> Iterator[None]:
    """A hub at the port, in a thread, with the repositories of a folder, each named `owner__name`."""
    with ThreadingHTTPServer(("127.0.0.1", port), type("_HubOfFolder", (_Hub,), {"root": root})) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def port() -> int:
    """A port at which nothing answers yet."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
        return number


@pytest.fixture
def environ(tmp_path: Path, port: int) -> dict[str, str]:
    """The environment of a process whose hub is the one at the port, and whose caches begin empty."""
    caches = {name: str(tmp_path / name) for name in ("HF_HOME", "HF_DATASETS_CACHE", "HF_HUB_CACHE")}
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    loopback = {"HF_ENDPOINT": f"http://127.0.0.1:{port}", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    return {**inherited, **caches, **loopback}


@pytest.fixture
def run(environ: dict[str, str]) -> Run:
    """Run Python in that environment."""
    options: dict[str, Any] = {"capture_output": True, "text": True, "timeout": PATIENCE_S, "check": False}
    return lambda *arguments: subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environ, **options)


@pytest.fixture
def repositories(put: Callable[..., Path], squad_row: Callable[..., dict[str, Any]]) -> Path:
    """A folder with two repositories: one with a card, and a Parquet branch, which has none."""
    put("squad_v2", [squad_row("a", "Kings"), squad_row("b")])
    folder = put("qasper", [PAPER], "0000.parquet", config="qasper/validation")
    (folder / "squad_v2").rename(folder / "rajpurkar__squad_v2")
    (folder / "qasper").rename(folder / "allenai__qasper")
    (folder / "rajpurkar__squad_v2" / "README.md").write_text(CARD, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "ids", "source"),
    [
        ("squad_v2", ["squad_v2:a", "squad_v2:b"], "rajpurkar/squad_v2/squad_v2/validation (newest)"),
        pytest.param(
            *("qasper", ["qasper:q"], "allenai/qasper/qasper/validation (refs/convert/parquet)"), marks=pytest.mark.slow
        ),
    ],
    ids=["a card", "a Parquet branch"],
)
def test_a_dataset_loaded_once_is_there_when_the_hub_is_gone(
    run: Run, repositories: Path, port: int, name: str, ids: list[str], source: str
) -> None:
    """The first load downloads; the second, with nothing at the port, gives the same dataset from the cache."""
    with serving(repositories, port):
        online = run("-W", "error", "-c", SCRIPT, name)
    assert online.returncode == 0, online.stderr
    offline = run("-W", "error", "-c", SCRIPT, name)
    assert offline.returncode == 0, offline.stderr
    dataset = json.loads(online.stdout)
    assert json.loads(offline.stdout) == dataset
    assert sorted(question["id"] for question in dataset["questions"]) == ids
    assert dataset["fingerprint"]["source"] == source


def test_an_unknown_config_is_our_error(run: Run, repositories: Path, port: int) -> None:
    """The message names repository, config and split, and where the config is written."""
    with serving(repositories, port):
        done = run("-W", "error", "-c", SCRIPT, "squad_v2", "nope")
    assert "DatasetError: cannot load rajpurkar/squad_v2 (nope, validation): " in done.stderr
    assert "--datasets" in done.stderr


def test_without_hub_and_cache_a_run_looks_once(run: Run, port: int, golden_server: str, tmp_path: Path) -> None:
    """Twelve subsets that cannot be had cost one look at the hub, not twelve: exit 2."""
    arguments = ["--no-judge", "--datasets", "ragbench", "--samples", "5", "--rag-url", golden_server]
    with closing(RawServer(lambda _: [None], port)) as hub:  # it ends every connection without a word
        done = run("-m", "evals.cli", "eval", *arguments, "--runs-dir", str(tmp_path / "runs"))
    assert len(hub.asked) == 1
    assert done.returncode == 2, done.stderr
    assert "galileo-ai/ragbench" in done.stderr
    told = " ".join(done.stderr.split())
    for way in ("--data-dir", "HF_ENDPOINT", "--dataset-file", "golden"):
        assert way in told
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
