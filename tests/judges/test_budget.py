"""What a budget bounds, what a failing judge leaves behind, and what is said of both."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from evals.scoring.prices import PriceConfig

from evals.config import EvalConfig
from evals.errors import JudgeError
from evals.judges.record import NOTE
from evals.run.observer import Observer
from evals.run.saved import rescore
from evals.runner import EvaluationRunner, run_evaluation
from evals.schemas import EvalRun
from evals.store.runs import RunStore

JUDGE = {"then": {"python": "judge"}}
Configure = Callable[..., EvalConfig]


@pytest.fixture
def config(config: Configure) -> Configure:
    """A judged evaluation of eight golden questions, a dollar for a thousand tokens."""
    prices = {"claude-sonnet-5-5": PriceConfig(input=1000, output=1000)}

    def make(**keys: Any) -> EvalConfig:
        keys["judge"] = {"concurrency": 1, **keys.get("judge", {})}
        return config(**{"samples_per_dataset": 8, "prices": prices, **keys})

    return make


def resume(config: EvalConfig, run: EvalRun) -> EvalRun:
    return asyncio.run(EvaluationRunner(config, resume=run.id).run())


def notes(run: EvalRun) -> str:
    return " ".join(note for note in run.notes if note.startswith(NOTE))


def test_a_resumed_run_goes_on_with_what_it_spent(config: Configure, messages_api: Any) -> None:
    """The budget is of the run, not of each attempt at it; with more money it is completed, and says no more of it."""
    first = run_evaluation(config(judge={"max_cost_usd": 3.0}))
    assert (first.status, "budget is spent" in notes(first)) == ("partial", True)
    assert first.judge is not None
    assert first.judge.cost_usd is not None
    assert first.judge.calls == len(messages_api.log())
    messages_api.reset()
    again = resume(config(judge={"max_cost_usd": 3.0}), first)
    assert (again.status, len(messages_api.log())) == ("partial", 0)
    messages_api.script(JUDGE)
    done = resume(config(judge={"max_cost_usd": 1000.0}), again)
    assert (done.status, notes(done)) == ("complete", "")
    assert done.judge is not None
    assert (done.judge.cost_usd or 0) > first.judge.cost_usd


@pytest.mark.slow
def test_a_budget_that_prevented_nothing_left_nothing_undone(config: Configure) -> None:
    """One that holds the last call and little more completes the run."""
    whole = run_evaluation(config())
    assert whole.judge is not None
    assert whole.judge.cost_usd is not None
    just = run_evaluation(config(judge={"max_cost_usd": whole.judge.cost_usd + 0.5}))
    assert (just.status, notes(just)) == ("complete", "")


def test_a_call_without_a_reply_costs_nothing_and_is_counted(config: Configure, messages_api: Any) -> None:
    """The cost stays known where a call failed."""
    messages_api.script({"times": 1, "then": {"status": 400}}, JUDGE)
    run = run_evaluation(config())
    assert run.judge is not None
    assert run.judge.cost_usd is not None
    assert run.judge.calls == len(messages_api.log())
    assert "1 rejected" in notes(run)
    assert run.status == "complete"


def test_a_judge_that_never_gives_a_verdict_leaves_the_run_incomplete(config: Configure, messages_api: Any) -> None:
    """A run whose judge was useless must not pass for a judged one."""
    messages_api.script({"then": {"text": "nope"}})
    run = run_evaluation(config())
    assert run.status == "partial"
    assert "unparsable" in notes(run)


def test_how_many_decisions_may_be_lost_is_a_setting(config: Configure, messages_api: Any) -> None:
    """A third is more than a tenth: the run is partial, with a note; where as many are allowed it is complete."""
    messages_api.script({"schema_has": "claims", "then": {"text": "nope"}}, JUDGE)
    run = run_evaluation(config())
    lost = run.outcomes.judge["unparsable"]
    assert 1 < lost <= 8
    assert run.status == "partial"
    assert "failures are more than judge.max_error_rate (0.1) allows" in notes(run)
    allowed = run_evaluation(config(judge={"max_error_rate": 0.9}))
    assert (allowed.outcomes.judge["unparsable"], allowed.status) == (lost, "complete")
    assert "max_error_rate" not in notes(allowed)


def test_a_judge_that_refuses_midway_says_how_to_go_on(config: Configure, messages_api: Any) -> None:
    """The reason stands in the run, and the way on in the error."""
    messages_api.script({"times": 3, "then": {"python": "judge"}}, {"then": {"status": 401}})
    with pytest.raises(JudgeError) as caught:
        run_evaluation(config())
    (run,) = RunStore(config().runs_dir).runs()
    assert f"evals eval --resume {run.id} --runs-dir" in (caught.value.hint or "")
    assert (run.status, "ended early" in notes(run)) == ("partial", True)


def test_measuring_again_keeps_to_the_budget_and_says_what_it_takes(config: Configure) -> None:
    """A rescored run is as partial as an asked one, and its estimate is over the answers that are there."""
    source = run_evaluation(config(judge={"enabled": False}))
    heard: list[str] = []

    class Ears(Observer):
        def estimate(self, estimate: Any) -> None:
            heard.append(str(estimate))

    run = asyncio.run(rescore(source, config(judge={"max_cost_usd": 3.0}), observer=Ears()))
    assert (run.status, "budget is spent" in notes(run)) == ("partial", True)
    assert "over the answers that are there" in heard[0]


def test_measuring_again_saves_what_was_judged_before_it_ended(config: Configure, messages_api: Any) -> None:
    """What was paid for is in a run that the commands know."""
    source = run_evaluation(config(judge={"enabled": False}))
    messages_api.script({"times": 3, "then": {"python": "judge"}}, {"then": {"status": 401}})
    with pytest.raises(JudgeError):
        asyncio.run(rescore(source, config()))
    run = next(run for run in RunStore(config().runs_dir).runs() if run.rescored_from == source.id)
    assert run.status == "partial"
    assert run.judge is not None
    assert run.judge.calls >= 3
