"""`--dask`: questions asked by processes of a Dask cluster on this machine, some of which are killed."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from extras import full
from other_servers import loopback
from servers import PATIENCE_S, wait_until

QUESTIONS = [f"Question {number}?" for number in range(16)]
AT_ONCE = 4


class Server:
    """A RAG server that counts what it is asked, and does `then` once while four requests are in flight."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.then: Callable[[], object] | None = None
        self._together = threading.Barrier(AT_ONCE, action=self._act)
        self._lock = threading.Lock()

    def _act(self) -> None:
        then, self.then = self.then, None  # first, as questions of a killed worker come again at once
        if then is not None:
            then()

    def answer(self, request: Any) -> dict[str, Any]:
        with self._lock:
            self.asked[request.body["q"]] += 1
            waits = self.then is not None and sum(self.asked.values()) > AT_ONCE
        if waits:
            self._together.wait(PATIENCE_S)
        return {"answer": f"It is {request.body['q']}", "chunks": [{"text": "It is blue."}]}


@pytest.fixture(autouse=True)
def distributed() -> Any:
    """The package, which takes a second to import."""
    return full("distributed")


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def evaluate(server: Server, evals_cli: Callable[..., Any], tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Run `evals eval` on the questions; `--resume` goes without them."""
    rows = [{"id": text, "question": text, "gold_passages": [{"text": "It is blue."}]} for text in QUESTIONS]
    (tmp_path / "q.json").write_text(json.dumps(rows))
    ask = {"path": "/q", "json": {"q": "{{question}}"}}
    with loopback.serving({("POST", "/q"): server.answer}) as url:
        profile = {"url": url, "health": None, "info": [], "ask": ask, "map": {"answer": "answer", "chunks": "chunks"}}
        written = {"dataset_file": str(tmp_path / "q.json"), "server": profile, "judge": False, "metrics": ["mrr"]}
        (tmp_path / "c.yml").write_text(json.dumps({**written, "preflight": False, "warmup": 0}))

        def run(*flags: object) -> Any:
            begun = () if "--resume" in flags else ("--config", tmp_path / "c.yml", "--concurrency", AT_ONCE)
            return evals_cli("eval", *begun, *flags, "--runs-dir", tmp_path / "runs", "--json")

        yield run


@pytest.fixture
def cluster(distributed: Any, tmp_path: Path) -> Iterator[tuple[str, list["subprocess.Popen[bytes]"]]]:
    """The address of a scheduler, and its process with those of two workers."""
    file, started = tmp_path / "scheduler.json", []

    def start(*arguments: str) -> None:
        command = [sys.executable, "-m", "dask", *arguments, "--scheduler-file", str(file), "--no-dashboard"]
        null = subprocess.DEVNULL
        started.append(subprocess.Popen(command, stdout=null, stderr=null, stdin=null, cwd=tmp_path))

    start("scheduler", "--host", "127.0.0.1", "--port", "0")
    try:
        wait_until(lambda: file.exists() and file.read_text().endswith("}"), "the scheduler")
        for _ in range(2):
            start("worker", "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny")
        address = json.loads(file.read_text())["address"]
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, PATIENCE_S)
        yield address, started
    finally:
        for child in reversed(started):
            child.kill()
            child.wait(PATIENCE_S)


def scorecard(run: Any) -> dict[str, Any]:
    return {each["name"]: (each["value"], each["ci"], each["sample_size"]) for each in run["scorecard"]["metrics"]}


def test_a_cluster_of_this_machine_gives_the_numbers_of_one_process(evaluate: Any, server: Server) -> None:
    """Each question is asked once, and the run says by what."""
    plain, local = evaluate(), evaluate("--dask", "local")
    assert (plain.code, local.code) == (0, 0), local.err
    assert scorecard(local.json) == scorecard(plain.json)
    assert server.asked == dict.fromkeys(QUESTIONS, 2)
    assert local.json["engine"]["name"] == "dask"
    assert local.json["engine"]["workers"] == os.cpu_count()


@pytest.mark.slow
def test_questions_of_a_killed_worker_are_asked_again(evaluate: Any, server: Server, cluster: Any) -> None:
    """By the other one; no answer is lost, and nothing is asked twice that was answered."""
    address, (_, worker, _) = cluster
    server.then = lambda: (worker.send_signal(signal.SIGKILL), worker.wait(PATIENCE_S))
    done = evaluate("--dask", address)
    assert (done.code, done.json["error_count"]) == (0, 0), done.err
    assert (done.json["engine"]["workers"], done.json["engine"]["lost_workers"]) == (2, 1)
    assert set(server.asked) == set(QUESTIONS)
    assert len(QUESTIONS) < sum(server.asked.values()) <= len(QUESTIONS) + AT_ONCE
    server.asked.clear()
    assert scorecard(evaluate().json) == scorecard(done.json)


@pytest.mark.slow
def test_a_lost_scheduler_is_one_error_and_the_run_is_completed_without_it(
    evaluate: Any, server: Server, cluster: Any
) -> None:
    """What was answered is saved, and only what is missing is asked."""
    address, (scheduler, *_) = cluster
    server.then = lambda: (scheduler.send_signal(signal.SIGKILL), scheduler.wait(PATIENCE_S))
    lost = evaluate("--dask", address)
    assert lost.code == 2
    assert f"error: the Dask scheduler {address} is lost\n" in lost.err
    (run_id,) = set(re.findall(r"evals eval --resume (\w{8})", lost.err))
    server.asked.clear()
    resumed = evaluate("--resume", run_id)
    assert (resumed.code, resumed.json["status"], resumed.json["error_count"]) == (0, "complete", 0), resumed.err
    assert 0 < sum(server.asked.values()) <= len(QUESTIONS) - AT_ONCE
    assert set(server.asked.values()) == {1}


def test_a_scheduler_that_is_not_there_is_one_error(evaluate: Any, server: Server) -> None:
    """Before anything is asked."""
    done = evaluate("--dask", "tcp://127.0.0.1:9")
    assert done.code == 2
    assert "the Dask cluster tcp://127.0.0.1:9 cannot be used" in done.err
    assert not server.asked
