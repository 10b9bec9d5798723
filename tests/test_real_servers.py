"""Hayhooks, LangServe and LightRAG as they are installed, each evaluated by its profile's name and its URL alone.

EVALS_REAL_SERVERS names a folder with a virtual environment for each: `hayhooks` (pip install hayhooks haystack-ai),
`langserve` (pip install "langserve[all]" langchain-community rank_bm25) and `lightrag` (pip install "lightrag-hku[api]"
litellm, which brings the tables of tokens that LightRAG would fetch).
"""

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from other_servers import corpus
from servers import ServerProcess

from evals.schemas import EvalRecord, EvalRun
from evals.store.runs import RunStore

HOME = Path(__file__).resolve().parent
PATIENCE_S = 110.0
LIGHTRAG_KEY = "lightrag-7c31"
PACKAGES = {
    "hayhooks": "hayhooks haystack-ai",
    "langserve": '"langserve[all]" langchain-community rank_bm25',
    "lightrag": '"lightrag-hku[api]" litellm',
}

pytestmark = [pytest.mark.real_servers, pytest.mark.timeout(300)]


def _environment(name: str) -> Path:
    """The virtual environment of a server; the test is skipped where there is none."""
    named = os.environ.get("EVALS_REAL_SERVERS")
    if not named:
        pytest.skip("EVALS_REAL_SERVERS names no folder")
    folder = Path(named) / name
    if not (folder / "bin" / "python").exists():
        pytest.skip(f"{name} is not installed: python -m venv {folder}; {folder}/bin/pip install {PACKAGES[name]}")
    return folder


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            if httpx.get(url, timeout=5).is_success:
                return
        except httpx.TransportError:
            pass
        said = log.read_text(errors="replace")[-2000:]
        assert process.poll() is None, said
        assert time.monotonic() < deadline, said
        time.sleep(0.2)


class _Starter:
    """Starts servers, and ends them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[subprocess.Popen[bytes]] = []

    def __call__(self, *command: object, ready: str, **environment: str) -> None:
        log = self._folder / "server.log"
        with log.open("wb") as said:
            process = subprocess.Popen(
                [str(part) for part in command],
                cwd=self._folder,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
                stdout=said,
                stderr=subprocess.STDOUT,
            )
        self._started.append(process)
        _wait_for(ready, process, log)

    def end(self) -> None:
        for process in self._started:
            process.terminate()
            process.wait(30)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[_Starter]:
    """Start a server in an empty folder, and wait until a URL of it answers."""
    folder = tmp_path / "server"
    folder.mkdir()
    starter = _Starter(folder)
    yield starter
    starter.end()


@pytest.fixture
def chunks(tmp_path: Path) -> Path:
    """The corpus as a file of chunks."""
    file = tmp_path / "chunks.json"
    found = [*corpus.BACKUP, *corpus.WIND, *corpus.TRAVEL]
    listed = [{"id": f"{c.document}#{c.number}", "document": c.document, "text": c.text} for c in found]
    file.write_text(json.dumps(listed))
    return file


@pytest.fixture
def hayhooks(start: _Starter, chunks: Path) -> str:
    """A pipeline of Hayhooks."""
    venv, port = _environment("hayhooks"), _free_port()
    run = [venv / "bin" / "hayhooks", "run", "--host", "127.0.0.1", "--port", port]
    quiet = {"HAYSTACK_TELEMETRY_ENABLED": "False", "CHUNKS": str(chunks)}
    start(*run, "--pipelines-dir", HOME / "real_servers", ready=f"http://127.0.0.1:{port}/status/rag", **quiet)
    return f"http://127.0.0.1:{port}/rag"


@pytest.fixture
def langserve(start: _Starter, chunks: Path) -> str:
    """A chain of LangServe."""
    venv, port = _environment("langserve"), _free_port()
    run = [venv / "bin" / "python", "-m", "uvicorn", "--app-dir", HOME / "real_servers", "langserve_app:app"]
    quiet = {"LANGCHAIN_TRACING_V2": "false", "CHUNKS": str(chunks)}
    url = f"http://127.0.0.1:{port}/rag"
    start(*run, "--host", "127.0.0.1", "--port", port, ready=f"{url}/input_schema", **quiet)
    return url


@pytest.fixture
def lightrag(start: _Starter, tmp_path: Path) -> Iterator[str]:
    """A LightRAG server without documents, whose model runs here."""
    venv, port = _environment("lightrag"), _free_port()
    tables = next(venv.glob("lib/python*/site-packages/litellm/litellm_core_utils/tokenizers"), None)
    if tables is None:
        pytest.skip(f"litellm is not installed: {venv}/bin/pip install litellm")
    model = ServerProcess(str(HOME / "real_servers" / "model.py"))
    settings = {
        "LLM_BINDING": "openai", "LLM_BINDING_HOST": f"{model.url}/v1", "LLM_BINDING_API_KEY": "none",
        "LLM_MODEL": "lines", "EMBEDDING_BINDING": "openai", "EMBEDDING_BINDING_HOST": f"{model.url}/v1",
        "EMBEDDING_BINDING_API_KEY": "none", "EMBEDDING_MODEL": "words", "EMBEDDING_DIM": "256",
        "RERANK_BINDING": "null", "COSINE_THRESHOLD": "0.05", "LIGHTRAG_API_KEY": LIGHTRAG_KEY,
        "TIKTOKEN_CACHE_DIR": str(tables), "LOG_DIR": str(tmp_path), "INPUT_DIR": str(tmp_path / "in"),
        "WORKING_DIR": str(tmp_path / "store"),
    }  # fmt: skip
    (tmp_path / "server" / ".env").touch()
    run = [venv / "bin" / "lightrag-server", "--host", "127.0.0.1", "--port", port]
    url = f"http://127.0.0.1:{port}"
    start(*run, ready=f"{url}/health", **settings)
    yield url
    model.kill()


Evaluate = Callable[..., tuple[Any, EvalRun | None, list[EvalRecord]]]


@pytest.fixture
def evaluate(evals_cli: Callable[..., Any], tmp_path: Path) -> Evaluate:
    """Evaluate a server by name and URL alone; gives what the command said, the run, if any, and its records."""
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(map(json.dumps, corpus.questions())))

    def evaluation(name: str, url: str) -> tuple[Any, EvalRun | None, list[EvalRecord]]:
        folder = tmp_path / "runs"
        flags = ["--profile", name, "--rag-url", url, "--dataset-file", questions, "--no-judge", "--runs-dir", folder]
        said = evals_cli("eval", *flags)
        store = RunStore(folder)
        run = next(iter(store.runs()), None)
        return said, run, list(store.records(run)) if run is not None else []

    return evaluation


def _check_retrieval(run: EvalRun | None, records: list[EvalRecord]) -> None:
    """The right chunk is the first one of every question that can be answered."""
    assert run is not None
    assert (run.status, run.outcomes.answered, run.error_count) == ("complete", 5, 0)
    values = {summary.name: summary.value for summary in run.scorecard.metrics}
    assert (values["mrr"], values["recall_at_1"]) == (1.0, 1.0)
    for record in records:
        assert record.response is not None
        assert record.response.usage is None
        assert record.response.notes == []


def test_hayhooks_is_evaluated(hayhooks: str, evaluate: Evaluate) -> None:
    """Each answer cites the first chunk; usage is what it does not tell."""
    _, run, records = evaluate("hayhooks", hayhooks)
    _check_retrieval(run, records)
    for record in records:
        assert record.response is not None
        assert [citation.index for citation in record.response.citations or []] == [1]


def test_langserve_is_evaluated(langserve: str, evaluate: Evaluate) -> None:
    """It tells no citations, which are not taken for none."""
    _, run, records = evaluate("langserve", langserve)
    _check_retrieval(run, records)
    assert {record.response.citations for record in records if record.response is not None} == {None}


def _check_first_tokens(run: EvalRun | None, records: list[EvalRecord]) -> None:
    """Each answer began to arrive before its end: it came in pieces."""
    assert run is not None
    values = {summary.name: summary.value for summary in run.scorecard.metrics}
    assert values["time_to_first_token_p50"] is not None
    for record in records:
        response = record.response
        assert response is not None
        assert response.time_to_first_token_ms is not None
        assert response.time_to_last_token_ms is not None
        assert 0 < response.time_to_first_token_ms < response.time_to_last_token_ms


def test_hayhooks_streams(hayhooks: str, evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer from its chat, the chunks from its run, and the marker of each answer."""
    url, _, pipeline = hayhooks.rpartition("/")
    monkeypatch.setenv("HAYHOOKS_PIPELINE", pipeline)
    _, run, records = evaluate("hayhooks-stream", url)
    _check_retrieval(run, records)
    _check_first_tokens(run, records)
    for record in records:
        assert record.response is not None
        assert [citation.index for citation in record.response.citations or []] == [1]


def test_langserve_streams(langserve: str, evaluate: Evaluate) -> None:
    """The chunks come in a piece before the answer."""
    _, run, records = evaluate("langserve-stream", langserve)
    _check_retrieval(run, records)
    _check_first_tokens(run, records)
    assert {record.response.citations for record in records if record.response is not None} == {None}


@pytest.mark.parametrize("name", ["lightrag", "lightrag-stream"])
def test_lightrag_is_given_documents_and_evaluated(
    name: str,
    lightrag: str,
    evaluate: Evaluate,
    evals_cli: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By its profile: the upload, the waiting, both requests of a question, and what its markers stand for."""
    monkeypatch.setenv("LIGHTRAG_API_KEY", LIGHTRAG_KEY)
    folder = tmp_path / "documents"
    folder.mkdir()
    for chunk in (*corpus.BACKUP, *corpus.WIND, *corpus.TRAVEL):
        (folder / f"{chunk.document.removesuffix('.md')}-{chunk.number}.md").write_text(chunk.text)
    given = evals_cli("ingest", folder, "--profile", name, "--rag-url", lightrag, "--runs-dir", tmp_path / "runs")
    assert given.code == 0, given.err
    _, run, records = evaluate(name, lightrag)
    _check_retrieval(run, records)
    if name == "lightrag-stream":
        _check_first_tokens(run, records)
    assert run is not None
    assert run.server.snapshot_start["/health"]["llm_model"] == "lines"
    values = {summary.name: summary.value for summary in run.scorecard.metrics}
    assert (values["citation_precision"], values["citation_recall"]) == (1.0, 1.0)
    assert run.outcomes.invalid_citations == 0
    assert all(record.response and record.response.retrieval_latency_ms for record in records)


def test_lightrag_with_a_wrong_key_ends_in_one_message(
    lightrag: str, evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the exit code of a server that refuses."""
    monkeypatch.setenv("LIGHTRAG_API_KEY", "wrong-7c31")
    said, run, _ = evaluate("lightrag", lightrag)
    assert said.code == 3
    assert len(re.findall(r"^error: ", said.err, re.MULTILINE)) == 1
    assert "the server refuses us: HTTP 403" in said.err
    assert "wrong-7c31" not in said.err + said.out
    assert run is None or run.outcomes.answered == 0
