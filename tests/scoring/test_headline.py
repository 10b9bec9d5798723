"""The weighted score of saved runs, of earlier versions too, and which of them compare."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.schemas import EvalRun
from evals.scoring.config import differing_objectives, headline

Build = Callable[..., Any]
HALF = {"answer_correctness": 0.5, "citation_recall": 0.5}


@pytest.fixture
def scored(build_run: Build) -> Callable[..., EvalRun]:
    """A run of twelve questions with these values each."""

    def make(run_id: str, values: dict[str, float], **changes: Any) -> EvalRun:
        run: EvalRun = build_run(run_id, {f"q{n}": values for n in range(12)}, **changes)[0]
        return run

    return make


def test_the_headline_says_of_how_much_of_the_weight_it_is(scored: Callable[..., EvalRun]) -> None:
    """Where all of it is measured there is nothing to say."""
    assert str(headline(scored("a", HALF))) == "0.500 (50 % measured)"
    whole = {**HALF, "faithfulness": 0.5, "mrr": 0.5, "cost_per_query": 0.05, "latency_p50": 15_000.0}
    assert str(headline(scored("b", whole))) == "0.500"
    assert headline(scored("c", whole, status="failed")).score is None


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (dict.fromkeys(HALF, 0.9), []),
        ({**HALF, "faithfulness": 0.5}, ["faithfulness is measured in b alone"]),
        (
            {"answer_correctness": 0.5, "citation_precision": 0.5},
            ["citation is citation_recall (weight 0.2) in a and citation_precision (weight 0.2) in b"],
        ),
    ],
)
def test_what_scores_do_not_have_in_common_is_told(
    scored: Callable[..., EvalRun], values: dict[str, float], said: list[str]
) -> None:
    """An objective more, or the same one fed by something else."""
    assert differing_objectives(scored("a", HALF), scored("b", values)) == said


def test_another_weight_or_threshold_is_another_objective(scored: Callable[..., EvalRun]) -> None:
    """A latency of 3 s is not the same where 6 s are worth nothing and where 30 s are."""
    values = {**HALF, "latency_p50": 3_000.0}
    strict = {"scoring": {"thresholds": {"ms": 6_000.0}}}
    (said,) = differing_objectives(scored("a", values), scored("b", values, eval_config=strict))
    assert "threshold 30000 ms" in said
    assert "threshold 6000 ms" in said
    heavy = scored("b", HALF).weighted_score.model_copy(update={"weights": {"accuracy": 0.6, "citation": 0.2}})
    assert "weight 0.6" in differing_objectives(scored("a", HALF), scored("b", HALF, weighted_score=heavy))[0]
