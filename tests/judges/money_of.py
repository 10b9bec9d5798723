"""What a judged run says of itself, in the words of the tests."""

import asyncio
from collections.abc import Callable

import pytest

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
    assert run.status == "partial"
    return run
