"""Whole runs that are judged in batches, over HTTP: the same scores as call by call, for half the money."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from evals.judges.batch_api import FOLDER

from evals.config import EvalConfig
from evals.errors import JudgeError
from evals.judges import prompt
from evals.run.observer import Observer
from evals.run.resume import resumed_config
from evals.run.saved import rescore
from evals.runner import EvaluationRunner, run_evaluation
from evals.schemas import EvalRun
from evals.store.runs import RunStore

JUDGE = {"then": {"python": "judge"}}
SUITES = ["core", "answer", "claims"]
Configure = Callable[..., EvalConfig]


class Heard(Observer):
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.notes: list[str] = []

    def phase(self, message: str) -> None:
        self.phases.append(message)

    def note(self, message: str) -> None:
        self.notes.append(message)


def scores(run: EvalRun) -> dict[str, tuple[float | None, int]]:
    return {each.name: (each.value, each.sample_size) for each in run.scorecard.metrics if "latency" not in each.name}


def resume(config: EvalConfig, run: EvalRun) -> EvalRun:
    return asyncio.run(EvaluationRunner(config, resume=run.id).run())


def spent(run: EvalRun) -> tuple[int, float]:
    """Calls, and dollars as far as they are known."""
    assert run.judge is not None
    return run.judge.calls, run.judge.cost_usd or 0.0


def tokens(run: EvalRun) -> int:
    assert run.judge is not None
    return run.judge.usage.input_tokens + run.judge.usage.output_tokens


def left_behind(config: EvalConfig) -> list[str]:
    return [path.name for path in (config.runs_dir / FOLDER).iterdir()]


def test_scores_are_those_of_calls_one_by_one(config: Configure, messages_api: Any) -> None:
    """Every request is made once, none outside a batch, at half the price; nothing is left to claim."""
    direct = run_evaluation(config(suite=SUITES, judge={"batch": False}))
    single = len(messages_api.log())
    messages_api.reset()
    messages_api.script(JUDGE)
    batched = run_evaluation(config(suite=SUITES))
    assert scores(batched) == scores(direct)
    assert batched.status == "complete"
    asked = [each["custom_id"] for each in messages_api.batched()]
    assert len(asked) == len(set(asked)) == single == spent(batched)[0]
    assert not [entry for entry in messages_api.log() if entry["path"] == "/v1/messages"]
    assert spent(batched)[1] == pytest.approx(tokens(batched) / 2e6)
    assert left_behind(config()) == []


def test_what_builds_on_replies_goes_into_the_next_round(config: Configure) -> None:
    """As many rounds as were estimated, and said to whoever watches."""
    heard = Heard()
    run_evaluation(config(suite=SUITES), heard)
    rounds = [phase.partition(":")[0] for phase in heard.phases if phase.startswith("judging, round")]
    assert rounds == [f"judging, round {number} of about 3" for number in (1, 2, 3)]


def test_a_repair_goes_into_the_next_round(config: Configure, messages_api: Any) -> None:
    """Every first reply is unusable: a second round asks again, and both are paid for."""
    plain = run_evaluation(config())
    first = len(next(entry for entry in messages_api.log() if entry["method"] == "POST")["body"]["requests"])
    messages_api.reset()
    messages_api.script({"times": first, "then": {"text": "nope"}}, JUDGE)
    run = run_evaluation(config())
    assert scores(run) == scores(plain)
    assert spent(run)[0] == spent(plain)[0] + first
    assert len({entry["custom_id"] for entry in messages_api.batched()}) == spent(run)[0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [{"unasked": "expired"}, {"unasked": "canceled"}, {"status": 529}])
def test_what_a_batch_did_not_answer_is_asked_again(config: Configure, messages_api: Any, kind: dict[str, Any]) -> None:
    """In the next round, at no cost for the first."""
    direct = run_evaluation(config(judge={"batch": False}))
    messages_api.script({"times": 3, "then": kind}, JUDGE)
    run = run_evaluation(config())
    assert (run.status, scores(run)) == ("complete", scores(direct))
    asked = Counter(each["custom_id"] for each in messages_api.batched())
    assert sorted(asked.values())[-3:] == [2, 2, 2]
    assert spent(run) == (asked.total(), pytest.approx(tokens(run) / 2e6))


def test_what_no_batch_answers_is_a_failure_of_the_judge(config: Configure, messages_api: Any) -> None:
    """After three batches, and the run is partial."""
    messages_api.script({"then": {"unasked": "expired"}})
    run = run_evaluation(config())
    assert set(Counter(each["custom_id"] for each in messages_api.batched()).values()) == {3}
    assert set(run.outcomes.judge) == {"transport"}
    assert run.status == "partial"
    assert spent(run)[1] == 0.0
    assert left_behind(config()) == []


def test_requests_that_are_refused_alike_end_the_run(config: Configure, messages_api: Any) -> None:
    """As with calls one by one, with what is disliked."""
    messages_api.script({"then": {"status": 400, "message": "max_tokens: too many"}})
    with pytest.raises(JudgeError, match="max_tokens: too many"):
        run_evaluation(config(samples_per_dataset=12))


def test_an_address_without_batches_ends_the_run_with_the_way_out(
    config: Configure, messages_api: Any, any_api: Any
) -> None:
    """A gateway may serve the Messages API alone."""
    any_api.status, any_api.body = 404, {"error": {"message": "no such page"}}
    with pytest.raises(JudgeError) as raised:
        run_evaluation(config(judge={"base_url": any_api.url}))
    assert "--no-judge-batch" in str(raised.value.hint)


def test_results_that_break_off_are_read_again(config: Configure, messages_api: Any) -> None:
    """Each counts once."""
    messages_api.batches(looks=1, torn_after=2)
    run = run_evaluation(config())
    assert run.status == "complete"
    assert spent(run)[0] == len(messages_api.batched())


def test_a_batch_that_was_made_without_an_answer_is_found_and_not_sent_again(
    config: Configure, messages_api: Any
) -> None:
    """The connection is cut once it is made."""
    messages_api.batches(looks=1, unanswered=1)
    run = run_evaluation(config())
    asked = [each["custom_id"] for each in messages_api.batched()]
    assert run.status == "complete"
    assert len(asked) == len(set(asked)) == spent(run)[0]


def test_a_batch_that_is_not_taken_is_sent_again(config: Configure, messages_api: Any) -> None:
    """An overloaded vendor made none; that it is waited for is said once."""
    messages_api.batches(looks=1, refused=2)
    told: list[str] = []

    class Listening(Observer):
        def phase(self, name: str) -> None:
            told.append(name)

    run = run_evaluation(config(), Listening())
    assert len([phase for phase in told if "accepts no requests for now" in phase]) == 1
    assert run.status == "complete"
    assert spent(run)[0] == len({each["custom_id"] for each in messages_api.batched()})


def test_replies_are_kept_for_runs_of_both_kinds(config: Configure, messages_api: Any) -> None:
    """What was asked in a batch is not asked again call by call, nor the other way round."""
    keep = {"cache": True}
    first = run_evaluation(config(judge=keep))
    asked = len(messages_api.batched())
    second = run_evaluation(config(judge={**keep, "batch": False}))
    third = run_evaluation(config(judge=keep))
    assert len(messages_api.batched()) == asked
    assert not [entry for entry in messages_api.log() if entry["path"] == "/v1/messages"]
    assert scores(first) == scores(second) == scores(third)
    assert spent(third) == (0, 0.0)


@pytest.mark.parametrize("batch", [True, False])
def test_what_a_kept_reply_cost_is_what_was_paid_for_it(config: Configure, batch: bool) -> None:
    """By the way in which it was asked for, whichever way the run goes that finds it."""
    first = run_evaluation(config(judge={"cache": True, "batch": batch}))
    again = run_evaluation(config(judge={"cache": True, "batch": not batch}))
    assert again.judge is not None
    assert again.judge.saved_usd == pytest.approx(spent(first)[1])


def test_long_lists_are_asked_in_parts_and_kept_by_part(config: Configure, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run finds every part in the cache."""
    monkeypatch.setattr(prompt, "MOST_ITEMS", 2)
    keys = {"metrics": ["faithfulness", "ragas_context_precision"], "judge": {"cache": True}}
    run = run_evaluation(config(**keys))
    verdicts = [v for record in RunStore(config().runs_dir).records(run) for v in record.verdicts]
    assert any(verdict.attempts > 1 for verdict in verdicts)
    again = run_evaluation(config(**keys))
    assert spent(again) == (0, 0.0)
    assert scores(again) == scores(run)


def test_each_repeat_is_a_request_of_its_own(config: Configure, messages_api: Any) -> None:
    """Though the same is sent."""
    run = run_evaluation(config(metrics=["answer_correctness"], judge={"repeats": 3}))
    sent = messages_api.batched()
    assert len({each["custom_id"] for each in sent}) == len(sent) == spent(run)[0]
    assert len({str(each["params"]) for each in sent}) == len(sent) / 3


def test_measuring_again_in_batches_pays_for_nothing_that_is_there(config: Configure, messages_api: Any) -> None:
    """And the other way round."""
    source = run_evaluation(config(judge={"enabled": False}))
    done = asyncio.run(rescore(source, config()))
    asked = len(messages_api.batched())
    again = asyncio.run(rescore(source, config()))
    assert len(messages_api.batched()) == asked == spent(done)[0]
    assert spent(again) == (0, 0.0)


def test_a_batch_is_cut_to_what_the_budget_holds(config: Configure, messages_api: Any) -> None:
    """It learns from a small one, and stops where no more fits; with more money the rest is asked."""
    whole = run_evaluation(config(samples_per_dataset=12))
    count, cost = spent(whole)
    messages_api.reset()
    messages_api.script(JUDGE)
    part = run_evaluation(config(samples_per_dataset=12, judge={"max_cost_usd": cost / 2}))
    assert part.status == "partial"
    assert part.judge is not None
    assert part.judge.prevented > 0
    assert 0.2 * cost < spent(part)[1] <= cost / 2
    rest = resume(config(samples_per_dataset=12, judge={"max_cost_usd": 2 * cost}), part)
    assert (rest.status, scores(rest)) == ("complete", scores(whole))
    assert len({each["custom_id"] for each in messages_api.batched()}) == count == len(messages_api.batched())


def test_a_round_is_not_waited_for_longer_than_is_said(config: Configure, messages_api: Any) -> None:
    """The run is partial and says so; going on takes the replies, and sends nothing again."""
    messages_api.batches(looks=None)
    heard = Heard()
    run = run_evaluation(config(judge={"batch_timeout_s": 0.1}), heard)
    sent = len(messages_api.batched())
    assert run.status == "partial"
    assert run.judge is not None
    assert run.judge.calls == 0
    assert any("msgbatch_loopback0001" in note for note in run.notes)
    assert any("msgbatch_loopback0001" in note for note in heard.notes)
    messages_api.batches(looks=1)
    done = resume(config(), run)
    asked = [each["custom_id"] for each in messages_api.batched()]
    assert (done.status, len(set(asked[sent:]) & set(asked[:sent]))) == ("complete", 0)
    assert spent(done) == (len(asked), pytest.approx(tokens(done) / 2e6))
    assert not any("msgbatch" in note for note in done.notes)


def test_what_a_rescore_left_is_taken_by_the_next_one(config: Configure, messages_api: Any) -> None:
    """It cannot be resumed, but begun again; its batch is found by its requests."""
    source = run_evaluation(config(judge={"enabled": False}))
    messages_api.batches(looks=None)
    part = asyncio.run(rescore(source, config(judge={"batch_timeout_s": 0.1})))
    messages_api.batches(looks=1)
    done = asyncio.run(rescore(source, config()))
    asked = Counter(each["custom_id"] for each in messages_api.batched())
    assert (part.status, spent(part)[0]) == ("partial", 0)
    assert (done.status, spent(done)[0]) == ("complete", asked.total())
    assert set(asked.values()) == {1}


def test_batches_may_begin_or_end_where_a_run_goes_on(config: Configure) -> None:
    """They say how the judge is asked, not what."""
    run = run_evaluation(config(judge={"batch": False}))
    assert resumed_config(run, {"judge": {"batch": True, "batch_poll_s": 9}}).judge.batch is True


def test_only_instructions_are_marked_to_be_kept_for_an_hour(config: Configure, messages_api: Any) -> None:
    """Where the model keeps them; nothing is marked that but two requests share."""
    run_evaluation(config(suite=["claims"], judge={"repeats": 2, "model": "claude-haiku-5-5"}))
    for sent in messages_api.batched():
        blocks = [*sent["params"]["system"], *_blocks(sent["params"]["messages"])]
        marks = [block.get("cache_control") for block in blocks]
        assert marks[0] in (None, {"type": "ephemeral", "ttl": "1h"})
        assert set(map(str, marks[1:])) <= {"None"}
    assert any("cache_control" in sent["params"]["system"][0] for sent in messages_api.batched())


def _blocks(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    contents = [message["content"] for message in messages]
    return [block for content in contents if isinstance(content, list) for block in content]


def test_the_log_of_the_run_is_read_as_ever(config: Configure) -> None:
    """Nothing of batches is in it."""
    run = run_evaluation(config())
    records = RunStore(config().runs_dir).records(run)
    assert all(verdict.reply is not None for record in records for verdict in record.verdicts)
