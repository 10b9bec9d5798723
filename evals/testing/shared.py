"""One run for all workers of pytest-xdist."""

import json
import os
from pathlib import Path

import pytest
from filelock import FileLock

from evals.config import EvalConfig
from evals.errors import EvalsError
from evals.run.observer import Observer
from evals.runner import run_evaluation
from evals.schemas import EvalRun
from evals.store.runs import RunStore


def shared_run(config: EvalConfig, folders: pytest.TempPathFactory) -> EvalRun:
    """The run of the configuration: the first worker to want it makes it, and the others wait for it and read it.

    Raises:
        EvalsError: It could not be made; the other workers say so too, and ask nothing.
    """
    folder = folders.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # of the session; each worker has a folder of its own in it
    mark = folder / "rag_run.json"
    with FileLock(f"{mark}.lock"):
        if not mark.exists():
            return _made(config, mark)
        said = json.loads(mark.read_text(encoding="utf-8"))
    if "error" in said:
        raise EvalsError(said["error"], said["hint"])
    return RunStore(said["folder"]).load(said["id"])


def _made(config: EvalConfig, mark: Path) -> EvalRun:
    try:
        run = run_evaluation(config, Observer())
    except EvalsError as error:
        _write(mark, {"error": str(error), "hint": error.hint})
        raise
    _write(mark, {"folder": str(config.runs_dir.absolute()), "id": run.id})
    return run


def _write(mark: Path, said: dict[str, str | None]) -> None:
    mark.write_text(json.dumps(said), encoding="utf-8")
