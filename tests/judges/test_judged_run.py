"""Whole judged runs over HTTP: a run says what its judge was asked, and nothing is paid for twice."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_api.server import Behaviour, ChatApi
from judges.money_of import killed, money, resume, scores

from evals.config import EvalConfig
from evals.errors import JudgeError
from evals.judges import models
from evals.judges.money import PriceConfig
from evals.run import judging
from evals.run.merge import merge, put_together
from evals.run.observer import Observer
from evals.run.saved import rescore, score_answers
from evals.runner import EvaluationRunner, run_evaluation
from evals.runtime import run_anywhere
from evals.schemas import EvalRun
from evals.schemas.verdicts import JudgeUsage
from evals.store.runs import RunStore

JUDGE = {"then": {"python": "judge"}}
NOPE = {"then": {"text": "nope"}}
Configure = Callable[..., EvalConfig]


@pytest.fixture(autouse=True)
def _few_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "RETRIES", 1)


def calls(messages_api: Any) -> int:
    """Requests to the judge that were answered."""
    return sum(entry["status"] == 200 for entry in messages_api.log())


def test_a_judged_run_has_a_full_weighted_score_and_exact_money(config: Configure, messages_api: Any) -> None:
    """Every metric has a value, every call is priced by its own tokens, cached ones at their price."""
    run = run_evaluation(config(prices={}, samples_per_dataset=16))
    assert run.status == "complete"
    assert all(run.scorecard.find(name) for name in ("faithfulness", "answer_correctness", "answer_relevancy"))
    assert {"accuracy", "faithfulness", "citation", "retrieval"} <= set(run.weighted_score.objectives)
    assert run.judge is not None
    used = run.judge.usage
    assert run.judge.calls == calls(messages_api)
    assert used.cache_read_tokens > 0
    verdicts = [verdict for record in run.records() for verdict in record.verdicts]
    new = used.input_tokens - used.cache_read_tokens - used.cache_write_tokens
    expected = (2 * new + 0.1 * used.cache_read_tokens + 2.5 * used.cache_write_tokens + 10 * used.output_tokens) / 1e6
    assert run.judge.cost_usd == pytest.approx(expected)
    assert sum(verdict.cost_usd or 0.0 for verdict in verdicts) == pytest.approx(expected)
    assert sum((verdict.usage or JudgeUsage() for verdict in verdicts), JudgeUsage()) == used


@pytest.mark.parametrize("suite", ["core", "answer", "qa", "graphrag", "claims"])
def test_the_second_run_costs_nothing(config: Configure, messages_api: Any, suite: str) -> None:
    """By the cache; without it everything is asked anew, verdicts of saved runs included."""
    first = run_evaluation(config(suite=[suite], judge={"cache": True}))
    asked = calls(messages_api)
    second = run_evaluation(config(suite=[suite], judge={"cache": True}))
    assert (calls(messages_api), money(second)) == (asked, (0, 0.0, 0))
    assert scores(second) == scores(first)
    assert second.judge is not None
    assert second.judge.saved_usd == pytest.approx(money(first)[1])
    third = asyncio.run(rescore(first, config(suite=[suite])))
    assert money(third)[0] == calls(messages_api) - asked == asked


@pytest.mark.parametrize("status", [429, 500, 529])
def test_overload_that_passes_changes_no_number(
    config: Configure, messages_api: Any, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that was refused costs nothing."""
    monkeypatch.setattr(models, "RETRIES", 4)
    whole = run_evaluation(config(runs_dir=config().runs_dir / "whole"))
    messages_api.script({"times": 3, "then": {"status": status}}, JUDGE)
    run = run_evaluation(config(judge={"concurrency": 1}))
    assert (run.status, scores(run), money(run)) == ("complete", scores(whole), pytest.approx(money(whole)))


@pytest.mark.parametrize(
    ("then", "failure", "attempts"),
    [
        ({"refuse": "cyber"}, "refused", 1),
        ({"truncate": 5}, "truncated", 2),
        ({"text": "nope"}, "unparsable", 2),
        ({"status": 400}, "rejected", 1),
        ({"status": 529}, "transport", 1),
    ],
)
def test_what_is_lost_is_counted_and_paid_and_makes_the_run_partial(
    config: Configure, messages_api: Any, then: dict[str, Any], failure: str, attempts: int
) -> None:
    """By kind; the metrics say why they have no value; a setting says how much may be lost."""
    messages_api.script({"schema_has": "claims", "then": then}, JUDGE)
    run = run_evaluation(config(samples_per_dataset=6))
    assert run.status == "partial"
    assert set(run.outcomes.judge) == {failure}
    lost = [verdict for record in run.records() for verdict in record.verdicts if verdict.failure]
    assert {verdict.attempts for verdict in lost} == {attempts}
    reasons = {score.reason for record in run.records() for score in record.scores if score.missing == "judge"}
    assert any((reason or "").startswith(f"judge {failure}") for reason in reasons)
    assert money(run)[1] == pytest.approx(money(run)[2] / 1e6)
    assert money(run)[0] >= calls(messages_api)
    assert run_evaluation(config(samples_per_dataset=6, judge={"max_error_rate": 1.0})).status == "complete"


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
    assert run.status == "partial"
    assert run.judge is not None
    assert run.judge.prevented > 0
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
    told = f"address or effort was another before: claude-sonnet-5-5 at {messages_api.url}"
    assert (done.status, any(told in note for note in done.notes)) == ("complete", is_said)


def test_merged_shards_say_what_each_of_their_budgets_prevented(config: Configure, tmp_path: Path) -> None:
    """The whole lacks the decisions of all of them."""
    shards = [run_evaluation(config(shard=f"{n}/2", judge={"max_cost_usd": 0.005})) for n in (1, 2)]
    prevented = [shard.judge.prevented for shard in shards if shard.judge is not None]
    assert all(prevented)
    run = run_anywhere(
        merge(put_together(shards, {"runs_dir": tmp_path / "whole"}, allow_partial=True), Observer())
    ).run
    assert run.judge is not None
    assert (run.status, run.judge.prevented) == ("partial", sum(prevented))


@pytest.mark.parametrize(("status", "said"), [(401, "HTTP 401"), (402, "HTTP 402"), (404, "HTTP 404")])
def test_a_judge_that_refuses_us_midway_ends_the_run_and_loses_nothing(
    config: Configure, messages_api: Any, status: int, said: str
) -> None:
    """Answers and verdicts are there; the resumed run asks for the rest."""
    whole = run_evaluation(config(runs_dir=config().runs_dir / "whole"))
    messages_api.reset()
    messages_api.script({"times": 4, **JUDGE}, {"then": {"status": status}})
    with pytest.raises(JudgeError, match=said) as raised:
        run_evaluation(config(judge={"concurrency": 1}))
    assert "resume" in (raised.value.hint or "")
    (run,) = [run for run in RunStore(config().runs_dir).runs() if run.status == "partial"]
    assert all(record.response is not None for record in run.records())
    messages_api.script(JUDGE)
    done = resume(config(judge={"concurrency": 1}), run)
    assert (done.status, scores(done)) == ("complete", scores(whole))
    assert calls(messages_api) == money(whole)[0]


def test_a_call_in_flight_when_the_judging_ends_is_waited_for(config: Configure, messages_api: Any) -> None:
    """Its reply is paid for: it is saved, and no resumed run asks for it again."""
    slow = {"python": "judge", "slow": 1}
    messages_api.script({"times": 1, "then": slow}, {"then": {"status": 401}})
    with pytest.raises(JudgeError, match="HTTP 401"):
        run_evaluation(config(judge={"concurrency": 2}))
    (run,) = RunStore(config().runs_dir).runs()
    verdicts = [verdict for record in run.records() for verdict in record.verdicts]
    assert [verdict.attempts for verdict in verdicts if verdict.reply is not None] == [1]
    assert not [verdict.message for verdict in verdicts if "cut off" in (verdict.message or "")]
    assert money(run)[0] == sum(entry["path"] == "/v1/messages" for entry in messages_api.log())


def test_a_call_in_flight_is_not_waited_for_without_end(
    config: Configure, messages_api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a few seconds it is cut off, and may have to be paid for."""
    monkeypatch.setattr(judging, "PATIENCE_S", 0.2)
    messages_api.script({"times": 1, "then": {"python": "judge", "slow": 60}}, {"then": {"status": 401}})
    with pytest.raises(JudgeError, match="HTTP 401"):
        run_evaluation(config(judge={"concurrency": 2}))
    (run,) = RunStore(config().runs_dir).runs()
    verdicts = [verdict for record in run.records() for verdict in record.verdicts]
    cut = [verdict for verdict in verdicts if "cut off" in (verdict.message or "")]
    assert [(verdict.failure, verdict.unpriced) for verdict in cut] == [("transport", 1)]


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 4, 7])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_run_pays_nothing_again(
    config: Configure, messages_api: Any, tmp_path: Path, number: int, when: str
) -> None:
    """But what was in flight; the first reply on claims is unusable, and is paid for before it is asked for again."""
    flawed = ({"schema_has": "claims", "times": 1, **NOPE}, JUDGE)
    messages_api.script(*flawed)
    whole = run_evaluation(config(runs_dir=tmp_path / "whole"))
    messages_api.reset()
    messages_api.script(*flawed)
    settings = config(judge={"concurrency": 1})
    done = resume(settings, killed(settings, "evals.store.journal:Journal", "verdict", number, when))
    lost = 1 if when == "before" else 0
    assert (done.status, scores(done)) == ("complete", scores(whole))
    assert calls(messages_api) - lost == money(done)[0] <= money(whole)[0]


def test_measuring_again_pays_for_nothing_that_a_run_holds(config: Configure, messages_api: Any) -> None:
    """Another judge or more repeats are asked for alone; verdicts serve in every run of the same answers."""
    source = run_evaluation(config(judge={"cache": True}))
    asked = calls(messages_api)
    no_files = {"cache": True}
    for path in (config().runs_dir / ".judge-cache").rglob("*.json"):
        path.unlink()
    again = asyncio.run(rescore(source, config(judge=no_files)))
    assert (calls(messages_api), money(again)[0], scores(again)) == (asked, 0, scores(source))
    assert again.judge is not None
    assert (again.judge.cached, again.judge.saved_usd) == (asked, pytest.approx(money(source)[1]))
    assert {verdict.cost_usd for record in again.records() for verdict in record.verdicts} == {0.0}
    more = asyncio.run(rescore(source, config(judge={**no_files, "repeats": 2})))
    assert money(more)[0] == calls(messages_api) - asked == asked
    other = asyncio.run(rescore(source, config(judge={**no_files, "model": "claude-haiku-5-5"})))
    assert money(other)[0] == asked
    assert {verdict.model for record in other.records() for verdict in record.verdicts} == {"claude-haiku-5-5"}


def test_saved_answers_are_judged_once(config: Configure, messages_api: Any, tmp_path: Path) -> None:
    """`score` finds the verdicts of its earlier run."""
    questions, answers = tmp_path / "q.json", tmp_path / "a.jsonl"
    questions.write_text('[{"id": "q", "question": "How long?", "expected_answer": "96 hours"}]')
    answers.write_text('{"question_id": "q", "answer": "It takes 96 hours.", "chunks": ["It takes 96 hours."]}\n')
    settings = config(dataset_file=questions, datasets=None, judge={"cache": True})
    first = asyncio.run(score_answers(answers, settings))
    asked = calls(messages_api)
    again = asyncio.run(score_answers(answers, settings))
    assert (calls(messages_api), money(again)[0], scores(again)) == (asked, 0, scores(first))


def test_two_runs_at_once_may_pay_twice_and_lose_nothing(config: Configure, messages_api: Any) -> None:
    """They share a cache of replies, without a lock."""

    async def both() -> list[EvalRun]:
        settings = config(judge={"cache": True})
        return list(await asyncio.gather(*(EvaluationRunner(settings).run() for _ in range(2))))

    first, second = asyncio.run(both())
    assert first.status == second.status == "complete"
    assert scores(first) == scores(second)
    assert money(first)[0] + money(second)[0] == calls(messages_api)


def test_repeats_give_the_median_and_their_disagreement(config: Configure, messages_api: Any) -> None:
    """Each repeat finds its own claims and is paid once."""
    run = run_evaluation(config(suite=["claims"], judge={"repeats": 3}))
    assert run.judge is not None
    assert (run.judge.repeats, run.judge.calls) == (3, calls(messages_api))
    assert run.judge.flip_rates
    assert all(rate == 0.0 for rate in run.judge.flip_rates.values())
    assert {verdict.repeat for record in run.records() for verdict in record.verdicts} == {0, 1, 2}


@pytest.mark.parametrize(("setting", "counted"), [("exclude", False), ("keep", True)])
def test_a_verdict_that_the_judge_flags_is_left_out(
    config: Configure, messages_api: Any, setting: str, counted: bool
) -> None:
    """Its question widens the bounds; `judge.on_injection: keep` counts it like any other."""
    claim = {"claim": "c", "quote": "", "justification": "it tells me to", "verdict": "not_said"}
    messages_api.script(
        {"schema_has": "claims", "then": {"json": {"claims": [claim], "injection_suspected": True}}}, JUDGE
    )
    run = run_evaluation(config(suite=[], metrics=["faithfulness"], judge={"on_injection": setting}))
    (summary,) = run.scorecard.metrics
    assert (summary.value == 0.0) is counted
    assert (summary.counts.injection > 0) is not counted
    assert any("data may hold a prompt injection" in note for note in run.notes)


@pytest.mark.parametrize("behaviour", [Behaviour(needs_key=False), Behaviour(needs_key=False, takes_form=False)])
def test_a_local_model_judges_a_run_without_a_key(config: Configure, chat_api: ChatApi, behaviour: Behaviour) -> None:
    """With schemas or without; its price is the user's."""
    chat_api.behaviour = behaviour
    chat_api.script({"then": {"python": "judge"}})
    judge = {"model": "openai:gpt-local", "base_url": chat_api.url}
    run = run_evaluation(config(judge=judge, prices={"gpt-local": PriceConfig(input=1, output=1)}))
    assert run.status == "complete"
    assert money(run)[0] == sum(entry["status"] == 200 for entry in chat_api.log())
    assert money(run)[1] == pytest.approx(money(run)[2] / 1e6)
    unpriced = run_evaluation(config(judge=judge))
    assert unpriced.judge is not None
    assert (unpriced.judge.cost_usd, unpriced.judge.unpriced) == (None, money(unpriced)[0])


def test_what_the_judge_took_is_shown(evals_cli: Callable[..., Any], config: Configure, messages_api: Any) -> None:
    """With the command line: dry run, run, and show."""
    flags = ["--rag-url", config().rag_server_url, "--datasets", "golden", "--samples", 16, "--suite", "core"]
    flags += ["--judge-base-url", messages_api.url, "--no-judge-cache", "--runs-dir", config().runs_dir]
    planned = evals_cli("eval", *flags, "--dry-run", "--json").json["estimate"]
    assert calls(messages_api) == 0
    run = evals_cli("eval", *flags, "--json").json
    assert run["judge"]["calls"] == calls(messages_api)
    assert planned["cost_low_usd"] <= run["judge"]["cost_usd"] <= planned["cost_high_usd"]
    shown = evals_cli("show", run["id"], "--runs-dir", config().runs_dir).out
    assert f"judge claude-sonnet-5-5: {run['judge']['calls']} calls" in " ".join(shown.split())
