"""Whole judged runs over HTTP: a run says what its judge was asked, and nothing is paid for twice."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from chat_api.server import Behaviour, ChatApi
from judges.money_of import JUDGE, Configure, given_up, judge_of, money, resume, scores, verdicts_of

from evals.run import judging
from evals.run.merge import merge, put_together
from evals.run.observer import Observer
from evals.run.saved import rescore
from evals.runner import EvaluationRunner, run_evaluation
from evals.runtime import run_anywhere
from evals.schemas import EvalRun
from evals.schemas.verdicts import JudgeUsage

NOPE = {"then": {"text": "nope"}}


def calls(messages_api: Any) -> int:
    """Requests to the judge that were answered."""
    return sum(entry["status"] == 200 for entry in messages_api.log())


def test_a_judged_run_has_a_full_weighted_score(config: Configure, messages_api: Any) -> None:
    """Every metric has a value, and what the run cost is what its verdicts did."""
    run = run_evaluation(config(prices={}, samples_per_dataset=16))
    assert run.status == "complete"
    assert all(run.scorecard.find(name) for name in ("faithfulness", "answer_correctness", "answer_relevancy"))
    assert {"accuracy", "faithfulness", "citation", "retrieval"} <= set(run.weighted_score.objectives)
    assert judge_of(run).calls == calls(messages_api)
    assert judge_of(run).usage.cache_read_tokens > 0
    assert sum(verdict.cost_usd or 0.0 for verdict in verdicts_of(run)) == pytest.approx(judge_of(run).cost_usd)
    assert sum((verdict.usage or JudgeUsage() for verdict in verdicts_of(run)), JudgeUsage()) == judge_of(run).usage


@pytest.mark.parametrize("suite", ["core", "answer", "qa", "graphrag", "claims"])
def test_the_second_run_costs_nothing(config: Configure, messages_api: Any, suite: str) -> None:
    """By the cache; without it everything is asked anew, verdicts of saved runs included."""
    first = run_evaluation(config(suite=[suite], judge={"cache": True}))
    asked = calls(messages_api)
    second = run_evaluation(config(suite=[suite], judge={"cache": True}))
    assert (calls(messages_api), money(second)) == (asked, (0, 0.0, 0))
    assert scores(second) == scores(first)
    assert judge_of(second).saved_usd == pytest.approx(money(first)[1])
    third = asyncio.run(rescore(first, config(suite=[suite])))
    assert money(third)[0] == calls(messages_api) - asked == asked


def test_the_money_of_every_resume_stays_with_the_run(config: Configure, messages_api: Any) -> None:
    """Useless replies twice, then good ones: the run says all calls, and the budget is of all of them."""
    messages_api.script(NOPE)
    run = run_evaluation(config())
    count, cost, _ = money(run)
    assert count == calls(messages_api)
    run = resume(config(), run)
    assert money(run)[:2] == (calls(messages_api), pytest.approx(2 * cost))
    asked = calls(messages_api)
    assert money(resume(config(judge={"max_cost_usd": 1.9 * cost}), run))[0] == asked
    messages_api.script(JUDGE)
    done = resume(config(), run)
    assert done.status == "complete"
    assert money(done)[0] == calls(messages_api) > asked
    assert money(done)[1] == pytest.approx(money(done)[2] / 1e6)
    assert money(resume(config(), done)) == money(done)


def test_a_budget_ends_the_judging_and_a_larger_one_continues_it(config: Configure, messages_api: Any) -> None:
    """What was not decided is counted; together the two parts ask what one run asks."""
    whole = run_evaluation(config(runs_dir=config().runs_dir / "whole"))
    asked = calls(messages_api)
    limit = money(whole)[1] / 2
    run = run_evaluation(config(judge={"max_cost_usd": limit}))
    assert (run.status, judge_of(run).prevented > 0) == ("partial", True)
    assert 0 < money(run)[1] <= 1.2 * limit
    assert any("budget is spent" in note for note in run.notes)
    done = resume(config(judge={"max_cost_usd": 10 * limit}), run)
    assert (done.status, scores(done), money(done)) == ("complete", scores(whole), pytest.approx(money(whole)))
    assert calls(messages_api) == 2 * asked


@pytest.mark.parametrize(("host", "is_said"), [("127.0.0.1", False), ("localhost", True)])
def test_a_resumed_run_says_that_its_judge_was_at_another_address(
    config: Configure, messages_api: Any, monkeypatch: pytest.MonkeyPatch, host: str, is_said: bool
) -> None:
    """That of the environment may change between the parts of a run, and what answers there may be another model."""
    keys = {"samples_per_dataset": 2, "suite": [], "metrics": ["answer_correctness"], "judge": {"base_url": None}}
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_api.url)
    messages_api.script(NOPE)
    run = run_evaluation(config(**keys))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_api.url.replace("127.0.0.1", host))
    messages_api.script(JUDGE)
    done = resume(config(**keys), run)
    told = f"address was another before: claude-sonnet-5-5 at {messages_api.url}"
    assert (done.status, any(told in note for note in done.notes)) == ("complete", is_said)


def test_merged_shards_say_what_each_of_their_budgets_prevented(config: Configure, tmp_path: Path) -> None:
    """The whole lacks the decisions of all of them."""
    shards = [run_evaluation(config(shard=f"{n}/2", judge={"max_cost_usd": 0.005})) for n in (1, 2)]
    prevented = [judge_of(shard).prevented for shard in shards]
    assert all(prevented)
    parts = put_together(shards, {"runs_dir": tmp_path / "whole"}, allow_partial=True)
    run = run_anywhere(merge(parts, Observer())).run
    assert (run.status, judge_of(run).prevented) == ("partial", sum(prevented))


@pytest.mark.parametrize("status", [401, 402, 404])
def test_a_judge_that_refuses_us_midway_ends_the_run_and_loses_nothing(
    config: Configure, messages_api: Any, status: int
) -> None:
    """Answers and verdicts are there; the resumed run asks for the rest."""
    whole = run_evaluation(config(runs_dir=config().runs_dir / "whole"))
    messages_api.reset()
    # slow, so that all is asked before
    messages_api.script({"times": 4, "then": {**JUDGE["then"], "slow": 0.2}}, {"then": {"status": status}})
    run = given_up(config(judge={"concurrency": 1}), f"HTTP {status}")
    assert all(record.response is not None for record in run.records())
    messages_api.script(JUDGE)
    done = resume(config(judge={"concurrency": 1}), run)
    assert (done.status, scores(done), calls(messages_api)) == ("complete", scores(whole), money(whole)[0])


def test_a_call_in_flight_when_the_judging_ends_is_waited_for(config: Configure, messages_api: Any) -> None:
    """Its reply is paid for: it is saved, and no resumed run asks for it again."""
    slow = {"python": "judge", "slow": 1}
    messages_api.script({"times": 1, "then": slow}, {"then": {"status": 401}})
    run = given_up(config(judge={"concurrency": 2}), "HTTP 401")
    assert [verdict.attempts for verdict in verdicts_of(run) if verdict.reply is not None] == [1]
    assert not [verdict for verdict in verdicts_of(run) if "cut off" in (verdict.message or "")]
    assert money(run)[0] == sum(entry["path"] == "/v1/messages" for entry in messages_api.log())


def test_a_call_in_flight_is_not_waited_for_without_end(
    config: Configure, messages_api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a few seconds it is cut off, and may have to be paid for."""
    monkeypatch.setattr(judging, "PATIENCE_S", 0.2)
    messages_api.script({"times": 1, "then": {"python": "judge", "slow": 60}}, {"then": {"status": 401}})
    run = given_up(config(judge={"concurrency": 2}), "HTTP 401")
    cut = [verdict for verdict in verdicts_of(run) if "cut off" in (verdict.message or "")]
    assert [(verdict.failure, verdict.unpriced) for verdict in cut] == [("transport", 1)]


def test_measuring_again_pays_for_nothing_that_a_run_holds(config: Configure, messages_api: Any) -> None:
    """Another judge or more repeats are asked for alone; verdicts serve in every run of the same answers."""
    source = run_evaluation(config(judge={"cache": True}))
    asked = calls(messages_api)
    for path in (config().runs_dir / ".judge-cache").rglob("*.json"):
        path.unlink()
    again = asyncio.run(rescore(source, config(judge={"cache": True})))
    assert (calls(messages_api), money(again)[0], scores(again)) == (asked, 0, scores(source))
    assert (judge_of(again).cached, judge_of(again).saved_usd) == (asked, pytest.approx(money(source)[1]))
    assert {verdict.cost_usd for verdict in verdicts_of(again)} == {0.0}
    more = asyncio.run(rescore(source, config(judge={"cache": True, "repeats": 2})))
    assert money(more)[0] == calls(messages_api) - asked == asked
    other = asyncio.run(rescore(source, config(judge={"cache": True, "model": "claude-haiku-5-5"})))
    assert money(other)[0] == asked
    assert {verdict.model for verdict in verdicts_of(other)} == {"claude-haiku-5-5"}


def test_two_runs_at_once_may_pay_twice_and_lose_nothing(config: Configure, messages_api: Any) -> None:
    """They share a cache of replies, without a lock."""

    async def both() -> list[EvalRun]:
        settings = config(judge={"cache": True})
        return list(await asyncio.gather(*(EvaluationRunner(settings).run() for _ in range(2))))

    first, second = asyncio.run(both())
    assert (first.status, second.status, scores(first)) == ("complete", "complete", scores(second))
    assert money(first)[0] + money(second)[0] == calls(messages_api)


def test_repeats_give_the_median_and_their_disagreement(config: Configure, messages_api: Any) -> None:
    """Each repeat finds its own claims and is paid once."""
    run = run_evaluation(config(suite=["claims"], judge={"repeats": 3}))
    assert (judge_of(run).repeats, judge_of(run).calls) == (3, calls(messages_api))
    assert set(judge_of(run).flip_rates.values()) == {0.0}
    assert {verdict.repeat for verdict in verdicts_of(run)} == {0, 1, 2}


@pytest.mark.parametrize(("setting", "counted"), [("exclude", False), ("keep", True)])
def test_a_verdict_that_the_judge_flags_is_left_out(
    config: Configure, messages_api: Any, setting: str, counted: bool
) -> None:
    """Its question widens the bounds; `judge.on_injection: keep` counts it like any other."""
    claim = {"claim": "c", "quote": "", "justification": "it tells me to", "verdict": "not_said"}
    flagged = {"json": {"claims": [claim], "injection_suspected": True}}
    messages_api.script({"schema_has": "claims", "then": flagged}, JUDGE)
    run = run_evaluation(config(suite=[], metrics=["faithfulness"], judge={"on_injection": setting}))
    (summary,) = run.scorecard.metrics
    assert (summary.value == 0.0, summary.counts.injection > 0) == (counted, not counted)
    assert any("data may hold a prompt injection" in note for note in run.notes)


@pytest.mark.parametrize("behaviour", [Behaviour(needs_key=False), Behaviour(needs_key=False, takes_form=False)])
def test_a_local_model_judges_a_run_without_a_key(config: Configure, chat_api: ChatApi, behaviour: Behaviour) -> None:
    """With schemas or without; what it costs is not known."""
    chat_api.behaviour = behaviour
    chat_api.script(JUDGE)
    judge = {"model": "openai:gpt-local", "base_url": chat_api.url}
    run = run_evaluation(config(judge=judge))
    asked = sum(entry["status"] == 200 for entry in chat_api.log())
    assert (run.status, judge_of(run).cost_usd, judge_of(run).unpriced) == ("complete", None, asked)
