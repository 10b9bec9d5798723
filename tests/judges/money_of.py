"""What a judged run says of itself, in the words of the tests."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from servers import HOME, PATIENCE_S

from evals.config import EvalConfig
from evals.errors import JudgeError
from evals.runner import EvaluationRunner, run_evaluation
from evals.schemas import EvalRun
from evals.schemas.verdicts import JudgeRecord, JudgeVerdict
from evals.store.runs import RunStore

Configure = Callable[..., EvalConfig]

JUDGE = {"then": {"python": "judge"}}
"""What makes the imitation of either API judge by its rules."""


def judge_of(run: EvalRun) -> JudgeRecord:
    """What a judged run says of its judge."""
    assert run.judge is not None
    return run.judge


def verdicts_of(run: EvalRun) -> list[JudgeVerdict]:
    """All verdicts of a run."""
    return [verdict for record in run.records() for verdict in record.verdicts]


def money(run: EvalRun) -> tuple[int, float, int]:
    """Calls, dollars as far as they are known, and tokens."""
    judge = judge_of(run)
    return judge.calls, judge.cost_usd or 0.0, judge.usage.input_tokens + judge.usage.output_tokens


def scores(run: EvalRun) -> dict[str, tuple[float | None, int]]:
    """Value and size of every metric but those of time."""
    return {each.name: (each.value, each.sample_size) for each in run.scorecard.metrics if "latency" not in each.name}


def resume(config: EvalConfig, run: EvalRun) -> EvalRun:
    """Continue a run."""
    return asyncio.run(EvaluationRunner(config, resume=run.id).run())


def given_up(config: EvalConfig, why: str) -> EvalRun:
    """The one saved run of an evaluation that ends as its judge cannot be used; the error says how to go on."""
    with pytest.raises(JudgeError, match=why) as raised:
        run_evaluation(config)
    assert "resume" in (raised.value.hint or "")
    (run,) = RunStore(config.runs_dir).runs()
    assert (run.status, all(record.response is not None for record in run.records())) == ("partial", True)
    return run


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
