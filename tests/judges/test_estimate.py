"""What judging will take, said before anything is asked."""

import asyncio
import shutil
from collections.abc import Sequence
from typing import Any

import pytest
from judges.money_of import Configure, money

from evals.config import EvalConfig
from evals.run.checks import check_config, estimate_of
from evals.run.estimate import Estimate
from evals.run.saved import answers_of_run, estimate_saved, rescore
from evals.run.workload import load_workload
from evals.runner import run_evaluation
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun


def estimated(config: EvalConfig, records: Sequence[EvalRecord] = ()) -> Estimate:
    """What judging takes of these records, else of the questions of the configuration."""
    asked = records or [EvalRecord(question=question) for question in load_workload(config).questions]
    found = estimate_of(config, check_config(config), asked)
    assert found is not None
    return found


def estimated_again(run: EvalRun, config: EvalConfig) -> Estimate:
    """What it takes to judge the answers of a saved run."""
    found = estimate_saved(answers_of_run(run, config), check_config(config), config)
    assert found is not None
    return found


@pytest.mark.parametrize("suite", ["core", pytest.param("claims", marks=pytest.mark.slow)])
@pytest.mark.parametrize("thinking", [0, pytest.param(600, marks=pytest.mark.slow)])
def test_the_range_holds_what_is_paid_and_a_saved_run_narrows_it(
    config: Configure, messages_api: Any, suite: str, thinking: int
) -> None:
    """Before the first run, and after one of the same model and effort."""
    thought = {"thinking": "x" * 3 * thinking} if thinking else {}
    messages_api.script({"then": {"python": "judge", **thought}})
    settings = config(suite=[suite], samples_per_dataset=24, prices={})
    before = estimated(settings)
    assert messages_api.log() == []
    calls, cost, _ = money(run_evaluation(settings))
    after = estimated(settings)
    for found in (before, after):
        assert 0 < (found.cost_low_usd or 0.0) <= cost <= (found.cost_high_usd or 0.0)
        assert 0.6 * calls <= found.calls <= 1.5 * calls
    assert (after.cost_high_usd or 0.0) - (after.cost_low_usd or 0.0) < (before.cost_high_usd or 0.0)
    assert ("assuming 10 chunks" in before.basis, "sizes from run" in after.basis) == (True, True)
    elsewhere = config(suite=[suite], samples_per_dataset=24, prices={}, rag_server_url="http://127.0.0.1:1")
    assert estimated(elsewhere).basis == before.basis


def test_a_saved_run_of_another_effort_narrows_nothing(config: Configure) -> None:
    """What a model thinks at one effort says nothing of another."""
    low, most = (config(judge={"effort": effort}) for effort in ("low", "max"))
    run_evaluation(low)
    known, unknown = estimated(low), estimated(most)
    assert (known.calls, known.basis) == (unknown.calls, unknown.basis)
    assert "as no run of this server is saved" in known.basis  # of eight answers, which are too few to go by
    assert (unknown.cost_high_usd or 0.0) > 2 * (known.cost_high_usd or 0.0) > 0


@pytest.mark.parametrize("place", [".judge-cache", "nowhere"])
def test_what_is_there_already_is_not_estimated(config: Configure, place: str) -> None:
    """Neither in the cache, nor, where its files are gone, in the saved run that is measured again."""
    settings = config(judge={"cache": True})
    run = run_evaluation(settings)
    shutil.rmtree(settings.runs_dir / place, ignore_errors=True)
    found, calls = estimated_again(run, settings), money(run)[0]
    assert (found.calls, found.cached, found.cost_high_usd) == (0, calls, 0.0)
    assert "are there already" in str(found)
    other = config(judge={"cache": True, "repeats": 3})
    more = estimated_again(run, other)
    assert more.calls == 2 * calls == money(asyncio.run(rescore(run, other)))[0]


def test_a_stored_reply_that_does_not_fit_is_none(config: Configure) -> None:
    """Whoever changed the file: it is estimated and asked for as if it were not there."""
    settings = config(judge={"cache": True}, suite=["claims"])
    run = run_evaluation(settings)
    before = estimated(config(judge={"cache": True}, suite=["claims"], runs_dir=settings.runs_dir / "empty"))
    for path in (settings.runs_dir / ".judge-cache").rglob("*.json"):
        path.write_text('{"reply": {"verdict": "x"}}', encoding="utf-8")
    assert (estimated(settings).calls, estimated(settings).cached) == (before.calls, 0)
    again = run_evaluation(settings)
    assert (again.status, money(again)[0]) == ("complete", money(run)[0])


@pytest.mark.parametrize(
    ("budget", "spent", "warned"),
    [(2.0, 0.0, False), (0.99, 0.0, True), (0.01, 0.0, True), (2.0, 0.9, False), (2.0, 1.1, True)],
)
def test_a_budget_below_the_range_is_warned_of(config: Configure, budget: float, spent: float, warned: bool) -> None:
    """As shares of its upper end; what the earlier parts of a resumed run spent counts too."""
    found = estimated(config())
    most = found.cost_high_usd or 0.0
    assert ("may not do" in (found.warning(budget * most, spent * most) or "")) is warned
    assert found.warning(None) is None


def test_an_unknown_price_is_said(config: Configure) -> None:
    """A budget cannot count it, which the judge says itself."""
    found = estimated(config(judge={"model": "claude-of-ours"}, prices={}))
    assert (found.cost_low_usd, found.cost_high_usd) == (None, None)
    assert "price unknown" in str(found)


@pytest.mark.parametrize("suite", ["core", "graphrag"])
def test_batches_cost_half_and_take_hours(config: Configure, suite: str) -> None:
    """How many follow one another is not known before: some requests build on the replies to others."""
    direct = estimated(config(suite=[suite]))
    batched = estimated(config(suite=[suite], judge={"batch": True}))
    assert (batched.minutes, batched.calls) == (None, direct.calls)
    assert batched.cost_high_usd == pytest.approx((direct.cost_high_usd or 0.0) / 2)
    assert "in batches, each up to an hour" in str(batched)


def test_many_questions_are_extrapolated(config: Configure) -> None:
    """From all over them, as those of one dataset stand together."""
    answer = EvalResponse(answer="It takes 96 hours for all members of the club.", chunks=[])
    asked = [EvalQuestion(id=str(n), question="How long?", expected_answer="It takes 96 hours.") for n in range(900)]
    found = estimated(config(), [EvalRecord(question=question, response=answer) for question in asked])
    assert (found.calls, found.basis) == (2 * 900, "over the answers that are there")


def test_kept_replies_of_many_questions_are_extrapolated_too(config: Configure) -> None:
    """What is there already is said of all of them."""
    settings = config(judge={"cache": True})
    run = run_evaluation(settings)
    found = estimated(settings, run.records() * 100)
    assert (found.calls, found.cached) == (0, pytest.approx(100 * money(run)[0], rel=0.02))
