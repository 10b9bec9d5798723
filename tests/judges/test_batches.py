"""Runs that are judged in batches: the scores of calls one by one for half the money, and nothing paid for twice."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from judges.killed import killed
from judges.money_of import JUDGE, Configure, given_up, judge_of, money, resume, scores, verdicts_of

from evals.config import EvalConfig
from evals.judges import batches
from evals.judges.batches import FOLDER
from evals.run.saved import rescore
from evals.runner import run_evaluation


@pytest.fixture
def batched(config: Configure, messages_api: Any, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """The configuration of judged runs, by batches that end at the second look."""
    monkeypatch.setattr(batches, "QUIET_S", 0.05)
    messages_api.batches(looks=1)

    def make(**keys: Any) -> EvalConfig:
        return config(**{**keys, "judge": {"batch": True, "batch_poll_s": 0.01, **keys.pop("judge", {})}})

    return make


def asked(messages_api: Any) -> Counter[str]:
    """How often each request was in a batch."""
    return Counter(each["custom_id"] for each in messages_api.batched())


def left_behind(config: EvalConfig) -> list[str]:
    return [path.name for path in (config.runs_dir / FOLDER).iterdir()]


def test_scores_are_those_of_calls_one_by_one(batched: Configure, messages_api: Any) -> None:
    """Every request is made once, none outside a batch, at half the price; nothing is left to claim."""
    suites = ["core", "answer", "claims"]
    direct = run_evaluation(batched(suite=suites, judge={"batch": False}))
    single = sum(entry["path"] == "/v1/messages" for entry in messages_api.log())
    messages_api.reset()
    messages_api.script(JUDGE)
    run = run_evaluation(batched(suite=suites))
    assert (scores(run), run.status) == (scores(direct), "complete")
    found = asked(messages_api)
    assert set(found.values()) == {1}
    calls, cost, tokens = money(run)
    assert single == calls == found.total()
    assert not [entry for entry in messages_api.log() if entry["path"] == "/v1/messages"]
    assert cost == pytest.approx(tokens / 2e6)
    assert left_behind(batched()) == []


def test_each_repeat_is_a_request_of_its_own(batched: Configure, messages_api: Any) -> None:
    """Though all that is sent is the same; else one reply would be taken for several that agree."""
    run = run_evaluation(batched(suite=[], metrics=["answer_relevancy"], judge={"repeats": 3}))
    made = Counter(verdict.repeat for verdict in verdicts_of(run))
    assert (run.status, made.keys(), len(set(made.values()))) == ("complete", {0, 1, 2}, 1)
    assert money(run)[0] == len(asked(messages_api)) == asked(messages_api).total() == made.total()


def test_an_unusable_reply_is_asked_for_again_in_the_next_batch(batched: Configure, messages_api: Any) -> None:
    """Both are paid for."""
    messages_api.script({"schema_has": "claims", "times": 1, "then": {"text": "nope"}}, JUDGE)
    run = run_evaluation(batched())
    assert (set(asked(messages_api).values()), money(run)[0]) == ({1}, asked(messages_api).total())
    assert [verdict.attempts for verdict in verdicts_of(run)].count(2) == 1


@pytest.mark.parametrize("mode", [{"unanswered": 1}, {"refused": 2, "status": 529}, {"torn_after": 2}])
def test_a_lost_reply_to_sending_is_looked_for_before_it_is_sent_again(
    batched: Configure, messages_api: Any, mode: dict[str, Any]
) -> None:
    """The batch is there, or it is not; nothing is paid for twice, and results that break off are read again."""
    messages_api.batches(looks=1, **mode)
    run = run_evaluation(batched())
    assert run.status == "complete"
    assert max(asked(messages_api).values()) == 1 + mode.get("refused", 0)
    assert money(run)[0] == len(asked(messages_api))


def test_the_batch_of_another_run_is_not_taken_for_a_lost_one(batched: Configure, messages_api: Any) -> None:
    """It has as many requests, and others."""
    run_evaluation(batched(runs_dir=batched().runs_dir / "whole"))
    whole = asked(messages_api).total()
    sent = next(entry for entry in messages_api.log() if entry["method"] == "POST")["body"]["requests"]
    lost = {"requests": [request["custom_id"] for request in sent], "id": None}
    messages_api.reset()
    messages_api.script(JUDGE)
    run_evaluation(batched(judge={"effort": "low"}))
    (batched().runs_dir / FOLDER / "lost.json").write_text(json.dumps(lost))
    assert (run_evaluation(batched()).status, asked(messages_api).total()) == ("complete", 2 * whole)


def test_a_request_without_a_result_is_lost(batched: Configure, messages_api: Any) -> None:
    """It may have been paid for, which is not known; the others count."""
    messages_api.batches(looks=1, lacking=2)
    run = run_evaluation(batched())
    assert (run.outcomes.judge, judge_of(run).unpriced) == ({"transport": 2}, 2)
    assert left_behind(batched()) == []


@pytest.mark.parametrize("then", [{"unasked": "expired"}, {"unasked": "canceled"}, {"status": 529}, {"status": 400}])
def test_what_a_batch_does_not_answer_is_lost_and_asked_for_again_on_resume(
    batched: Configure, messages_api: Any, then: dict[str, Any]
) -> None:
    """At no cost; a request that the API does not take is `rejected`."""
    whole = run_evaluation(batched(runs_dir=batched().runs_dir / "whole"))
    messages_api.script({"times": 3, "then": then}, JUDGE)
    run = run_evaluation(batched())
    assert run.outcomes.judge == {"rejected" if then.get("status") == 400 else "transport": 3}
    done = resume(batched(), run)
    assert (done.status, scores(done)) == ("complete", scores(whole))
    assert money(done)[1] == pytest.approx(money(whole)[1])


@pytest.mark.parametrize("then", [{"unasked": "expired"}, {"status": 529}])
def test_what_failed_is_sent_again_after_a_timeout(batched: Configure, messages_api: Any, then: dict[str, Any]) -> None:
    """The batch that was read is known still, as not all of its replies need be in the journal."""
    messages_api.batches(looks=0, ending=1)
    messages_api.script({"times": 2, "then": then}, {"times": 1, "then": {"text": "nope"}}, JUDGE)
    run = run_evaluation(batched(suite=["graphrag"], judge={"batch_timeout_s": 2}))
    assert (run.status, run.outcomes.judge) == ("partial", {"transport": 2})
    messages_api.batches(looks=0)
    done = resume(batched(suite=["graphrag"]), run)
    sent = Counter(asked(messages_api).values())
    assert (done.status, done.outcomes.judge, sent[2], max(sent)) == ("complete", {}, 2, 2)


@pytest.mark.parametrize("status", [401, 404])
def test_an_error_in_sending_reaches_all_that_wait(batched: Configure, messages_api: Any, status: int) -> None:
    """The judging ends, no answer is lost, and nothing is left to claim."""
    messages_api.batches(refused=9, status=status)
    assert len(given_up(batched(), f"HTTP {status}").records()) == 8
    assert left_behind(batched()) == []


def test_a_batch_that_takes_too_long_is_left_and_taken_by_the_resumed_run(
    batched: Configure, messages_api: Any
) -> None:
    """Its replies are counted where they are read."""
    messages_api.batches(looks=None)
    run = run_evaluation(batched(judge={"batch_timeout_s": 0.2}))
    assert (run.status, judge_of(run).left) == ("partial", asked(messages_api).total())
    assert any("resuming the run takes the replies" in note for note in run.notes)
    messages_api.batches(looks=0)
    done = resume(batched(), run)
    assert done.status == "complete"
    assert set(asked(messages_api).values()) == {1}
    assert money(done)[0] == asked(messages_api).total()


def test_a_budget_holds_in_batches(batched: Configure, messages_api: Any) -> None:
    """What it does not hold is not sent."""
    whole = run_evaluation(batched(runs_dir=batched().runs_dir / "whole"))
    limit = money(whole)[1] / 2
    run = run_evaluation(batched(judge={"max_cost_usd": limit}))
    assert (run.status, judge_of(run).prevented > 0) == ("partial", True)
    assert 0 < money(run)[1] <= 1.2 * limit


def test_rescore_is_judged_in_batches_too(batched: Configure, messages_api: Any) -> None:
    """And takes over what the run holds."""
    source = run_evaluation(batched(judge={"enabled": False}))
    run = asyncio.run(rescore(source, batched(judge={"cache": True})))
    assert (run.status, money(run)[0]) == ("complete", asked(messages_api).total())
    again = asyncio.run(rescore(source, batched(judge={"cache": True})))
    assert (money(again)[0], scores(again)) == (0, scores(run))


BATCHES = "evals.judges.batches"
STAGES = {
    "before it is sent": (BATCHES, "write_atomically", 1, "after"),
    "after it was sent": (BATCHES, "write_atomically", 2, "before"),
    "while it is waited for": (f"{BATCHES}:AnthropicBatches", "_collect", 1, "before"),
    "while replies are read": (BATCHES, "read_result", 3, "before"),
    "before a verdict is written": ("evals.store.journal:Journal", "verdict", 1, "before"),
    "after a verdict was written": ("evals.store.journal:Journal", "verdict", 4, "after"),
    "in the second round": (BATCHES, "write_atomically", 4, "before"),
}


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES)
def test_a_killed_run_goes_on_where_it_was(
    stage: tuple[Any, ...], batched: Configure, messages_api: Any, tmp_path: Path
) -> None:
    """A first reply is unusable, so that there is a second round; every request is made once, and counted."""
    flawed = ({"schema_has": "claims", "times": 1, "then": {"text": "nope"}}, JUDGE)
    messages_api.script(*flawed)
    whole = run_evaluation(batched(runs_dir=tmp_path / "whole"))
    messages_api.reset()
    messages_api.batches(looks=1)
    messages_api.script(*flawed)
    done = resume(batched(), killed(batched(), *stage))
    assert set(asked(messages_api).values()) == {1}
    assert (done.status, scores(done)) == ("complete", scores(whole))
    assert money(done) == (asked(messages_api).total(), pytest.approx(money(whole)[1]), money(whole)[2])


@pytest.mark.parametrize("text", ["{", "{}", "[]", "3"])
def test_a_damaged_file_hinders_nothing(batched: Configure, text: str) -> None:
    """It is passed over, and so is what belongs to no request of the run."""
    folder = batched().runs_dir / FOLDER
    folder.mkdir(parents=True)
    (folder / "damaged.json").write_text(text)
    (folder / "old.json").write_text('{"at": "2020-01-01T00:00:00+00:00", "requests": ["a"], "id": "b"}')
    assert run_evaluation(batched()).status == "complete"
    assert sorted(left_behind(batched())) == ["damaged.json", "old.json"]
