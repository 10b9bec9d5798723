"""Variants of one server, asked by the command line in this process."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.schemas import EvalRun
from evals.store.runs import RunStore

Cli = Callable[..., Any]


@pytest.fixture
def runs_dir(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture
def evaluate(evals_cli: Cli, start_server: Callable[..., str], runs_dir: Path) -> Cli:
    """Run `eval` on questions of the golden set, one at a time, without a judge."""

    def call(*arguments: object, samples: int = 40, url: str | None = None) -> Any:
        return evals_cli(
            *("eval", "--no-judge", "--datasets", "golden", "--rag-url", url or start_server("--corpus", "golden")),
            *("--samples", samples, "--concurrency", 1, "--runs-dir", runs_dir, *arguments),
        )

    return call


@pytest.fixture
def saved_runs(runs_dir: Path) -> Callable[[], dict[str, EvalRun]]:
    """The saved runs by name."""
    return lambda: {run.name: run for run in RunStore(runs_dir).runs()}
