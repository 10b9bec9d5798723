"""Rubrics in whole runs: metrics in plain words, from the configuration, from Python, and question by question."""

from collections.abc import Callable
from typing import Any

import pytest

from evals import rubric
from evals.config import EvalConfig
from evals.runner import run_evaluation
from evals.schemas import EvalRun

TONE = {"tone": "Is the answer polite?"}


@pytest.fixture
def run_of(config: Callable[..., EvalConfig]) -> Callable[..., EvalRun]:
    """Evaluate golden questions by rubrics, with a cache."""

    def run(**keys: Any) -> EvalRun:
        judge = {"cache": True, **keys.pop("judge", {})}
        return run_evaluation(config(**{"suite": [], **keys}, judge=judge))

    return run


@pytest.mark.parametrize(
    "keys",
    [{"judged": TONE}, {"metrics": [rubric("tone", "Is the answer polite?")]}],
    ids=["in the configuration", "in Python"],
)
def test_a_rubric_of_one_line_is_a_metric_that_is_paid_for_once(
    run_of: Callable[..., EvalRun], keys: dict[str, Any]
) -> None:
    """One call a question, an interval, a hash of its own; the second run asks nothing."""
    first, second = run_of(**keys), run_of(**keys)
    summary = first.scorecard.get("tone")
    assert summary is not None
    assert summary.value is not None
    assert summary.ci is not None
    assert first.judge is not None
    assert second.judge is not None
    assert (first.judge.calls, second.judge.calls, second.judge.cached) == (4, 0, 4)
    assert set(first.judge.prompt_hashes) == {"tone"}
    assert first.eval_config["judged"]["tone"]["ask"] == "Is the answer polite?"
