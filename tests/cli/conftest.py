"""Runs of the golden set, runs made of values, and somebody at a terminal."""

import io
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from other_servers import loopback
from whole_runs import put_records

from evals import EvalConfig, EvalRun, run_evaluation
from evals.schemas import RetrievedChunk
from evals.store.runs import RunStore


@pytest.fixture
def ask(evals_cli: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Run `eval --no-judge` on the golden set with a folder of its own for runs."""

    def call(*arguments: object) -> Any:
        return evals_cli(
            "eval", "--no-judge", "--datasets", "golden", "--runs-dir", tmp_path / "runs", "--samples", 12, *arguments
        )

    return call


@pytest.fixture
def save(build_run: Callable[..., Any], tmp_path: Path) -> Callable[..., RunStore]:
    """Save a finished run of these values with its records; its answers and other parts may be given too."""

    def put(
        run_id: str, values: Mapping[str, Any], folder: str = "runs", answer: str | None = None, **changes: Any
    ) -> RunStore:
        run, records = build_run(run_id, values, **changes)
        if answer is not None:
            parts = {"answer": answer, "chunks": [RetrievedChunk(text=answer)]}
            records = [each.model_copy(update={"response": each.response.model_copy(update=parts)}) for each in records]
        store = RunStore(tmp_path / folder)
        store.prepare()
        written = put_records(store, run, records)
        ended = changes.get("completed_at", run.created_at)
        store.save(run.model_copy(update={"completed_at": ended, "record_sum": written}))
        return store

    return put


@pytest.fixture(scope="session")
def _asked_once(golden_server: str, tmp_path_factory: pytest.TempPathFactory) -> EvalRun:
    config = {"datasets": ["golden"], "samples_per_dataset": 12, "judge": False, "rag_server_url": golden_server}
    return run_evaluation(EvalConfig.build(config, {"runs_dir": tmp_path_factory.mktemp("asked") / "runs"}))


@pytest.fixture
def golden_run(_asked_once: EvalRun, tmp_path: Path) -> EvalRun:
    """A run of twelve golden questions in `runs` of the test's folder, a copy of one that was asked once."""
    assert _asked_once.path is not None
    shutil.copytree(_asked_once.path.parent, tmp_path / "runs")
    return RunStore(tmp_path / "runs").load(_asked_once.id)


@pytest.fixture
def start() -> Iterator[Callable[[Any], str]]:
    """Serve routes; returns the URL."""
    with ExitStack() as running:
        yield lambda routes: running.enter_context(loopback.serving(routes))


class _Keyboard(io.StringIO):
    """Lines that somebody types at a terminal; afterwards the input ends."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def type_lines(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sit at a terminal, and type these lines."""

    def sit(*lines: str) -> None:
        monkeypatch.setenv("TERM", "dumb")
        monkeypatch.setattr(sys, "stdin", _Keyboard("".join(f"{line}\n" for line in lines)))
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        monkeypatch.setattr("getpass.getpass", lambda _: sys.stdin.readline().rstrip("\n"))  # it asks the real terminal

    return sit
