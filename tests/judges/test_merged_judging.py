"""Shards that were judged, merged without the judge: what it said stays, and what it took is summed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.run.merge import merge, put_together
from evals.run.observer import Observer
from evals.runner import run_evaluation
from evals.runtime import run_anywhere
from evals.schemas import EvalRun
from evals.store.runs import RunStore

JUDGE = {"then": {"python": "judge"}}
NAMES = ("faithfulness", "answer_correctness", "answer_relevancy")
SUMMED = ("calls", "prevented", "left", "injections_suspected")


@pytest.fixture
def ask(config: Callable[..., EvalConfig]) -> Callable[..., Any]:
    """Ask golden questions with a judge that keeps no replies, so that all is paid for."""

    def run(shard: str | None, **judge: Any) -> EvalRun:
        keys = {"samples_per_dataset": 10, "metrics": list(NAMES), "shard": shard, "prices": {}}
        return run_evaluation(config(**keys, judge=judge))

    return run


@pytest.fixture
def merged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., EvalRun]:
    """Merge, with no key at hand."""

    def call(*runs: EvalRun, **options: Any) -> EvalRun:
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
        shards = put_together(runs, {"runs_dir": tmp_path / "merged", **options.pop("keys", {})}, **options)
        return run_anywhere(merge(shards, Observer())).run

    return call


def test_judged_shards_are_the_judged_run(
    ask: Callable[..., EvalRun], merged: Callable[..., EvalRun], messages_api: Any
) -> None:
    """Values, intervals and money; the judge is not asked, and no key is needed."""
    whole, shards = ask(None), [ask("1/2"), ask("2/2")]
    messages_api.reset()
    run = merged(*shards)
    assert messages_api.log() == []
    assert run.scorecard == whole.scorecard
    assert (run.status, run.notes) == ("complete", whole.notes)
    assert all(run.scorecard.get(name).value is not None for name in NAMES)
    ours, theirs = run.judge, [shard.judge for shard in shards]
    assert ours is not None
    assert whole.judge is not None
    for name in SUMMED:
        assert getattr(ours, name) == sum(getattr(each, name) for each in theirs), name
    assert ours.cost_usd == pytest.approx(sum(each.cost_usd or 0 for each in theirs if each), rel=1e-9)
    assert ours.usage == theirs[0].usage + theirs[1].usage  # type: ignore[union-attr]
    assert (ours.model, ours.origin, ours.prompt_hashes) == (
        whole.judge.model, whole.judge.origin, whole.judge.prompt_hashes,
    )  # fmt: skip
    assert ours.length_correlations == whole.judge.length_correlations


def test_shards_of_two_judges_are_refused(ask: Callable[..., EvalRun], merged: Callable[..., EvalRun]) -> None:
    """The address of the judge may be of the environment: what the run says of it counts."""
    first, second = ask("1/2"), ask("2/2")
    assert second.judge is not None
    other = second.model_copy(update={"judge": second.judge.model_copy(update={"origin": "http://elsewhere:1"})})
    with pytest.raises(ConfigError, match=r"differs from .* in the origin of its judge: http://elsewhere:1"):
        merged(first, other)


def test_shards_of_other_prompts_are_refused(ask: Callable[..., EvalRun], merged: Callable[..., EvalRun]) -> None:
    """Another version of a prompt is another measure."""
    first, second = ask("1/2"), ask("2/2")
    assert second.judge is not None
    hashes = {**second.judge.prompt_hashes, "faithfulness": "0" * 16}
    other = second.model_copy(update={"judge": second.judge.model_copy(update={"prompt_hashes": hashes})})
    with pytest.raises(ConfigError, match="the prompt faithfulness of its judge"):
        merged(first, other)


def test_lost_verdicts_and_spent_budgets_are_those_of_all_shards(
    ask: Callable[..., EvalRun], merged: Callable[..., EvalRun]
) -> None:
    """A shard whose share of the budget is spent leaves the merged run partial, with the decisions not made summed."""
    shards = [ask(f"{number}/2", max_cost_usd=0.02) for number in (1, 2)]
    assert {shard.status for shard in shards} == {"partial"}
    run = merged(*shards, allow_partial=True)
    assert run.judge is not None
    prevented = sum(shard.judge.prevented for shard in shards if shard.judge)
    assert (run.status, run.judge.prevented) == ("partial", prevented)
    spent = [note for note in run.notes if "budget is spent" in note]
    assert spent == [f"the judge's budget is spent: {prevented} decisions were not made"]


def test_a_gate_on_a_judge_that_was_never_calibrated_is_refused(
    ask: Callable[..., EvalRun], merged: Callable[..., EvalRun], tmp_path: Path
) -> None:
    """As it is of a run that asks, unless that is allowed."""
    shards = [ask("1/2"), ask("2/2")]
    gate = {"gate": ["faithfulness>=0"]}
    with pytest.raises(ConfigError, match="was never calibrated"):
        merged(*shards, keys=gate)
    run = merged(*shards, keys={**gate, "allow_uncalibrated": True})
    assert [outcome.outcome for outcome in run.gates] == ["met"]
    assert RunStore(tmp_path / "merged").load(run.id).gates == run.gates
