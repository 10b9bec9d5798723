"""What a judged run says of itself, in the words of the tests."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from servers import HOME, PATIENCE_S

from evals.config import EvalConfig
from evals.runner import EvaluationRunner
from evals.schemas import EvalRun
from evals.store.runs import RunStore


def money(run: EvalRun) -> tuple[int, float, int]:
    """Calls, dollars as far as they are known, and tokens."""
    assert run.judge is not None
    used = run.judge.usage
    return run.judge.calls, run.judge.cost_usd or 0.0, used.input_tokens + used.output_tokens


def scores(run: EvalRun) -> dict[str, tuple[float | None, int]]:
    """Value and size of every metric but those of time."""
    return {each.name: (each.value, each.sample_size) for each in run.scorecard.metrics if "latency" not in each.name}


def resume(config: EvalConfig, run: EvalRun) -> EvalRun:
    """Continue a run."""
    return asyncio.run(EvaluationRunner(config, resume=run.id).run())


def killed(config: EvalConfig, *where: object) -> EvalRun:
    """A run that kills itself where `killed.py` is told to."""
    written = config.runs_dir.with_name("config.json")
    written.write_text(config.model_dump_json(exclude_unset=True))
    program = [sys.executable, str(Path(__file__).with_name("killed.py")), *map(str, where), str(written)]
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    ended = subprocess.run(
        program, cwd=HOME, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr[-2000:]
    (run,) = RunStore(config.runs_dir).runs()
    return run
