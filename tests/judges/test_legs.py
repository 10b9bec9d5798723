"""Time and money of a run are those of all processes that worked on it, also of those that were killed."""

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers import HOME, PATIENCE_S

from evals.config import EvalConfig
from evals.run.saved import rescore
from evals.runner import EvaluationRunner, run_evaluation
from evals.schemas import EvalRun
from evals.store.runs import RunStore

PROGRAM = Path(__file__).with_name("killed_leg.py")
Configure = Callable[..., EvalConfig]


@pytest.fixture
def config(config: Configure, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """A judged evaluation of six golden questions, one at a time."""
    monkeypatch.setenv("PYTHONPATH", str(HOME))

    def make(**keys: Any) -> EvalConfig:
        keys["judge"] = {"concurrency": 1, **keys.get("judge", {})}
        base = {"samples_per_dataset": 6, "metrics": ["mrr", "faithfulness"], "concurrency": 1}
        return config(**{**base, **keys})

    return make


def killed(config: EvalConfig, folder: Path, event: str, number: int, *way: str) -> EvalRun:
    """Work in a process of its own that is killed there; returns the run that it left unfinished."""
    written = folder / "config.json"
    written.write_text(config.model_dump_json(exclude_unset=True))
    done = subprocess.run(
        [sys.executable, str(PROGRAM), event, str(number), str(written), *way],
        cwd=HOME,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    (run,) = (run for run in RunStore(config.runs_dir).runs() if run.completed_at is None)
    return run


def log_of(run: EvalRun) -> Path:
    assert run.path is not None
    return run.path.with_name(f"{run.stem}.records.jsonl")


def pretend(run: EvalRun, seconds: int) -> None:
    """Have the events of all legs in the log happen so much later than they did."""
    log = log_of(run)
    later = re.sub(rb'"elapsed_s":(\d+)', lambda found: b'"elapsed_s":%d' % (int(found[1]) + seconds), log.read_bytes())
    log.write_bytes(later)


@pytest.mark.slow
def test_the_time_of_killed_legs_counts(config: Configure, tmp_path: Path) -> None:
    """Two legs of a thousand seconds that were killed, and a short one that ended, are some two thousand seconds."""
    settings = config(judge={"enabled": False})
    run = killed(settings, tmp_path, "answer", 2)
    pretend(run, 1000)
    killed(settings, tmp_path, "answer", 2, "resume", run.id)
    legs = {json.loads(line).get("leg") for line in log_of(run).read_bytes().splitlines()}
    assert len(legs) == 2
    log = log_of(run)
    first = min(legs)
    lines = [
        line if json.loads(line)["leg"] == first else line.replace(b'"elapsed_s":', b'"elapsed_s":100')
        for line in log.read_bytes().splitlines(keepends=True)
    ]
    log.write_bytes(b"".join(lines))  # 0.5 becomes 1000.5
    done = asyncio.run(EvaluationRunner(settings, resume=run.id).run())
    assert done.status == "complete"
    assert 2000 <= done.duration_s < 2000 + 2 * PATIENCE_S
    again = asyncio.run(EvaluationRunner(settings, resume=run.id).run())
    assert done.duration_s <= again.duration_s < done.duration_s + PATIENCE_S


@pytest.mark.slow
def test_the_money_of_killed_legs_counts_once(config: Configure, messages_api: Any, tmp_path: Path) -> None:
    """All calls that the judge's log knows are in the run, but those in flight when the process died."""
    run = killed(config(), tmp_path, "verdict", 2)
    killed(config(), tmp_path, "verdict", 2, "resume", run.id)
    done = asyncio.run(EvaluationRunner(config(), resume=run.id).run())
    assert done.judge is not None
    assert done.judge.cost_usd is not None
    assert len(messages_api.log()) - 2 <= done.judge.calls <= len(messages_api.log())
    usage = done.judge.usage
    assert done.judge.cost_usd == pytest.approx((usage.input_tokens + usage.output_tokens) / 1e6)


@pytest.mark.slow
def test_a_killed_rescore_keeps_what_it_paid_for(config: Configure, messages_api: Any, tmp_path: Path) -> None:
    """The next rescore asks only what the killed one has no reply to, and both come to the scores of a whole one."""
    source = run_evaluation(config(judge={"enabled": False}))
    killed(config(), tmp_path, "verdict", 3, "rescore", source.id)
    asked = len(messages_api.log())
    again = asyncio.run(rescore(source, config()))
    after = len(messages_api.log())
    messages_api.reset()
    messages_api.script({"then": {"python": "judge"}})
    whole = asyncio.run(rescore(source, config(runs_dir=tmp_path / "others")))
    needed = len(messages_api.log())
    assert 3 <= asked < needed
    assert again.judge is not None
    assert again.judge.calls == after - asked == needed - 3
    assert again.scorecard == whole.scorecard


@pytest.mark.slow
def test_a_log_without_times_reads_as_before(config: Configure, tmp_path: Path) -> None:
    """Of a run that an earlier version left unfinished, only the legs that ended are known."""
    settings = config(judge={"enabled": False})
    run = killed(settings, tmp_path, "answer", 2)
    log = log_of(run)
    log.write_bytes(re.sub(rb'"leg":\d+,"elapsed_s":[\d.]+,', b"", log.read_bytes()))
    assert b"elapsed_s" not in log.read_bytes()
    done = asyncio.run(EvaluationRunner(settings, resume=run.id).run())
    assert done.status == "complete"
    assert done.duration_s > 0
