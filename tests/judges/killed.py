"""An evaluation that kills its own process at a call of a function, before or after it; nothing is cleaned up."""

import os
import signal
from itertools import count
from multiprocessing import get_context
from pkgutil import resolve_name
from typing import Any

from servers import PATIENCE_S

from evals.config import EvalConfig
from evals.runner import run_evaluation
from evals.schemas import EvalRun
from evals.store.runs import RunStore


def killed(config: EvalConfig, *where: object) -> EvalRun:
    """A run whose process dies: at `module` or `module:Class`, function, number of the call, before or after it."""
    process = get_context("spawn").Process(target=_evaluate, args=(config, *where))
    process.start()
    process.join(PATIENCE_S)
    assert process.exitcode == -signal.SIGKILL
    (run,) = RunStore(config.runs_dir).runs()
    return run


def _evaluate(config: EvalConfig, place: str, function: str, number: int, when: str) -> None:
    owner, times = resolve_name(place), count(1)
    real = getattr(owner, function)

    def deadly(*arguments: Any, **options: Any) -> Any:
        is_last = next(times) == number
        if is_last and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*arguments, **options)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, function, deadly)
    run_evaluation(config)
