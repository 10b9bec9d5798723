"""A Dask cluster on this machine: workers that are killed, a client that is killed, secrets, models."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kills.counted import CountedServer, policies, write_questions
from servers import HOME, PATIENCE_S, wait_until

from evals.config import EvalConfig
from evals.metrics.embedders import _load_sentence_transformer
from evals.run.notebook import Observer
from evals.run.saved import rescore
from evals.runner import run_evaluation
from evals.schemas import EvalQuestion, EvalResponse, EvalRun, MetricGroup
from evals.store.records import read_records
from evals.store.runs import RunStore

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("default"),  # Dask's own
]
COUNT = 240
EMBEDDER = """
import os, pathlib
__version__ = "0"
class SentenceTransformer:
    def __init__(self, model, device=None):
        with open(os.environ["LOADED"], "a") as file:
            print(os.getpid(), file=file)
    def encode(self, texts, **_):
        import numpy
        return numpy.array([[len(text), text.count("e"), 1.0] for text in texts])
"""
TRANSFORMERS = """
class utils:
    class logging:
        set_verbosity_error = disable_progress_bar = staticmethod(lambda: None)
"""


class Watcher(Observer):
    """Hears of a run, and does something as soon as so many questions are answered."""

    def __init__(self, after: int = 0, do: Callable[[], object] = lambda: None) -> None:
        self.notes: list[str] = []
        self._after = after
        self._do = do
        self._answered = 0

    def answered(self, question: EvalQuestion, response: EvalResponse) -> None:
        self._answered += 1
        if self._answered == self._after:
            self._do()

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.fixture(scope="module")
def server() -> Iterator[CountedServer]:
    """Counts what it is asked."""
    server = CountedServer(policies(COUNT))
    yield server
    server.stop()


def _config(folder: Path, counted: CountedServer, **keys: Any) -> EvalConfig:
    questions = write_questions(folder / "questions.json", policies(COUNT))
    return EvalConfig.build(
        {
            "dataset_file": str(questions),
            "rag_server_url": counted.url,
            "runs_dir": str(folder / "runs"),
            "warmup": 0,
            "preflight": False,
            "concurrency": 8,
            "judge": False,
            "engine": {"name": "dask", "workers": 2},
        },
        keys,
    )


def _worker_pids() -> list[int]:
    """The processes of the workers that this process started."""
    import psutil  # noqa: PLC0415 - comes with Dask

    children = psutil.Process().children()
    return [child.pid for child in children if any("spawn_main" in word for word in child.cmdline())]


def _quality(run: EvalRun) -> dict[str, Any]:
    """The scorecard but for its times."""
    metrics = [one for one in run.scorecard.metrics if one.group is not MetricGroup.PERFORMANCE]
    return {one.name: one.model_dump() for one in metrics}


@pytest.mark.slow
def test_a_run_whose_worker_is_killed_has_the_scorecard_of_a_single_process(
    tmp_path: Path, server: CountedServer
) -> None:
    """Nothing is lost, what the worker had in hand is asked again, and the run says so."""
    alone = run_evaluation(_config(tmp_path, server, engine={"name": "local", "workers": None}))
    server.count.asked.clear()
    watcher = Watcher(COUNT // 2, lambda: os.kill(_worker_pids()[0], signal.SIGKILL))
    run = run_evaluation(_config(tmp_path, server), watcher)
    assert run.status == "complete"
    assert _quality(run) == _quality(alone)
    assert run.outcomes.answered == COUNT
    assert run.engine is not None
    assert (run.engine.workers, run.engine.lost_workers) == (2, 1)
    assert run.engine.asked_again > 0
    asked = Counter(server.count.asked)
    assert len(asked) == COUNT
    assert max(asked.values()) <= 2
    assert asked.total() - COUNT <= run.engine.asked_again
    assert any("1 worker of the cluster was lost" in note for note in run.notes)
    assert any(note.startswith("the dashboard of the cluster: http://127.0.0.1:") for note in watcher.notes)
    assert [record.question.id for record in run.records()] == [one["id"] for one in policies(COUNT)]
    assert all(record.response and record.response.latency_ms for record in run.records())


@pytest.mark.slow
def test_a_run_over_a_cluster_that_is_killed_goes_on(tmp_path: Path, server: CountedServer) -> None:
    """What the journal holds is not asked again, and no worker outlives its client."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(_config(tmp_path, server).as_written()))
    store, before = RunStore(tmp_path / "runs"), len(server.count.asked)
    eval_ = [sys.executable, "-m", "evals.cli", "eval"]
    with (tmp_path / "out.txt").open("w") as out:
        child = subprocess.Popen([*eval_, "--config", str(path)], cwd=HOME, stdout=out, stderr=out)
        wait_until(
            lambda: len(server.count.asked) - before > COUNT // 2 or child.poll() is not None, "half of the answers"
        )
        child.kill()
        child.wait(PATIENCE_S)
    assert child.returncode == -signal.SIGKILL, (tmp_path / "out.txt").read_text()
    wait_until(lambda: not server.count.open, "the workers to end")
    (run,) = store.survey().runs
    there = {one.question.question for one in read_records(store.records_path(run)) if one.response is not None}
    assert 0 < len(there) < COUNT
    server.count.asked.clear()
    resumed = [*eval_, "--resume", run.id, "--runs-dir", str(store.folder)]
    done = subprocess.run(resumed, cwd=HOME, capture_output=True, text=True, timeout=4 * PATIENCE_S)
    assert done.returncode == 0, done.stderr
    assert there.isdisjoint(server.count.asked)
    assert len(server.count.asked) == COUNT - len(there)
    run = store.load(run.id)
    assert run.outcomes.answered == COUNT
    assert run.engine is not None


@pytest.mark.slow
def test_no_pickled_task_holds_a_secret(tmp_path: Path, server: CountedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers fill in ${NAME} themselves; what stands in clear goes by the plugin; the judge's key goes nowhere."""
    from distributed import client  # noqa: PLC0415 - with Dask
    from distributed.protocol import pickle  # noqa: PLC0415

    monkeypatch.setenv("SERVER_TOKEN", "token-of-the-environment")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-judge")
    pickled: list[bytes] = []
    dumps = pickle.dumps

    def recording(*arguments: Any, **keywords: Any) -> bytes:
        pickled.append(dumps(*arguments, **keywords))
        return pickled[-1]

    monkeypatch.setattr(pickle, "dumps", recording)  # of tasks
    monkeypatch.setattr(client, "dumps", recording)  # of plugins
    headers = {"Authorization": "Bearer ${SERVER_TOKEN}", "X-Api-Key": "key-in-clear"}
    run = run_evaluation(_config(tmp_path, server, server={"headers": headers}))
    assert run.outcomes.answered == COUNT
    tasks = [one for one in pickled if b"What does policy" in one]
    assert len(tasks) > 2
    assert not [one for one in tasks if b"key-in-clear" in one]
    assert len([one for one in pickled if b"key-in-clear" in one]) == 1
    assert not [one for one in pickled if b"token-of-the-environment" in one or b"key-of-the-judge" in one]


@pytest.fixture
def _no_model_stays() -> Iterator[None]:
    """What is loaded here is no library, and would be taken for one by the tests that follow."""
    yield
    for name in ("sentence_transformers", "transformers"):
        sys.modules.pop(name, None)
    _load_sentence_transformer.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("_no_model_stays")
def test_texts_are_embedded_on_workers_that_load_the_model_once(
    tmp_path: Path, server: CountedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The values are those of this process, to the last digit."""
    package = tmp_path / "packages" / "sentence_transformers"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(EMBEDDER)
    transformers = package.parent / "transformers.py"
    transformers.write_text(TRANSFORMERS)
    (tmp_path / "model").mkdir()
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setenv("PYTHONPATH", f"{package.parent}{os.pathsep}{HOME}")
    monkeypatch.setenv("LOADED", str(tmp_path / "loaded.txt"))
    asked = _config(
        tmp_path,
        server,
        engine={"name": "local", "workers": None},
        semantic={"embedder": str(tmp_path / "model")},
        metrics=["semantic_similarity_percentage"],
    )
    alone = run_evaluation(asked)
    (tmp_path / "loaded.txt").unlink()
    on_workers = asked.model_copy(update={"engine": _config(tmp_path, server).engine})
    again = asyncio.run(rescore(alone, on_workers))
    assert _quality(again) == _quality(alone)
    assert again.semantics == alone.semantics
    loaded = (tmp_path / "loaded.txt").read_text().split()
    assert len(loaded) == len(set(loaded)) == 2
    assert str(os.getpid()) not in loaded
