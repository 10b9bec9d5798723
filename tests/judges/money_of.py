"""What a judged run says of itself, in the words of the tests."""

import asyncio

from evals.config import EvalConfig
from evals.runner import EvaluationRunner
from evals.schemas import EvalRun


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
