"""A process that is killed at any stage of a batch: who goes on pays for nothing twice, and gets the same scores."""

import asyncio
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evals.judges.batch_api import FOLDER
from servers import HOME, PATIENCE_S

from evals.config import EvalConfig
from evals.runner import EvaluationRunner, run_evaluation
from evals.schemas import EvalRun
from evals.store.runs import RunStore

PROGRAM = Path(__file__).with_name("killed_run.py")
JUDGE = {"then": {"python": "judge"}}
STAGES = ("before_sending", "after_sending", "while_waiting", "while_reading", "before_writing", "in_the_second_round")
Configure = Callable[..., EvalConfig]


def scores(run: EvalRun) -> dict[str, tuple[float | None, int]]:
    return {each.name: (each.value, each.sample_size) for each in run.scorecard.metrics if "latency" not in each.name}


def killed_at(stage: str, config: EvalConfig, folder: Path) -> EvalRun:
    """Run in a process of its own that kills itself there."""
    written = folder / "config.json"
    written.write_text(config.model_dump_json(exclude_unset=True))
    done = subprocess.run(
        [sys.executable, str(PROGRAM), stage, str(written)],
        cwd=HOME,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    (run,) = RunStore(config.runs_dir).runs()
    assert run.completed_at is None
    return run


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_a_killed_run_goes_on_where_it_was(
    stage: str, config: Configure, messages_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One first reply is unusable, so that there is a repair in a later round."""
    monkeypatch.setenv("PYTHONPATH", str(HOME))
    flawed = ({"schema_has": "claims", "times": 1, "then": {"text": "nope"}}, JUDGE)
    keys = {"suite": ["core"]}
    messages_api.script(*flawed)
    whole = run_evaluation(config(**keys, runs_dir=tmp_path / "whole"))
    assert 2 in {verdict.attempts for record in whole.records() for verdict in record.verdicts}
    messages_api.reset()
    messages_api.script(*flawed)
    run = killed_at(stage, config(**keys), tmp_path)
    done = asyncio.run(EvaluationRunner(config(**keys), resume=run.id).run())
    asked = Counter(each["custom_id"] for each in messages_api.batched())
    assert set(asked.values()) == {1}
    assert (done.status, scores(done)) == ("complete", scores(whole))
    assert done.judge is not None
    assert whole.judge is not None
    assert (done.judge.calls, done.judge.usage) == (asked.total(), whole.judge.usage)
    assert done.judge.cost_usd == pytest.approx(whole.judge.cost_usd)
    assert list((done.path.parent / FOLDER).iterdir()) == []
