"""Whole runs: what the judge's endpoint was asked is what the runs say, and nothing is paid for twice."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evals.cli.views.run import print_run
from evals.scoring.conclusion import measured

from evals.cli.terminal import console
from evals.config import EvalConfig
from evals.errors import JudgeError, StoreError
from evals.run import measure as measuring
from evals.run.checks import check_config
from evals.run.observer import Observer
from evals.run.resume import resumed_config
from evals.run.saved import estimate_saved, rescore, saved_run, score_answers
from evals.runner import EvaluationRunner, run_evaluation
from evals.schemas import EvalRun
from evals.store.runs import RunStore

JUDGE = {"then": {"python": "judge"}}
Configure = Callable[..., EvalConfig]


def resume(config: EvalConfig, run: EvalRun) -> EvalRun:
    return asyncio.run(EvaluationRunner(config, resume=run.id).run())


def spent(run: EvalRun) -> tuple[int, float]:
    """Calls, and dollars as far as they are known."""
    assert run.judge is not None
    return run.judge.calls, run.judge.cost_usd or 0.0


def tokens(run: EvalRun) -> int:
    assert run.judge is not None
    return run.judge.usage.input_tokens + run.judge.usage.output_tokens


def test_the_money_of_every_resume_stays_with_the_run(config: Configure, messages_api: Any) -> None:
    """Two runs of useless replies and a good one: the run says all calls, and the budget is of all of them."""
    messages_api.script({"then": {"text": "nope"}})
    run = run_evaluation(config())
    calls, cost = spent(run)
    assert calls == len(messages_api.log())
    run = resume(config(), run)
    assert spent(run) == (len(messages_api.log()), pytest.approx(2 * cost))
    asked = len(messages_api.log())
    assert spent(resume(config(judge={"max_cost_usd": 1.9 * cost}), run))[0] == asked
    messages_api.script(JUDGE)
    done = resume(config(), run)
    assert done.status == "complete"
    assert spent(done)[0] == len(messages_api.log()) > asked
    assert spent(done)[1] == pytest.approx(tokens(done) / 1e6)
    assert spent(resume(config(), done)) == spent(done)


def test_a_resume_may_do_without_the_cache(config: Configure) -> None:
    """The way out that is named where the cache cannot be written."""
    run = run_evaluation(config(judge={"cache": True}))
    assert resumed_config(run, {"judge": {"cache": False}}).judge.cache is False


def test_measuring_again_pays_for_nothing_that_the_run_holds(config: Configure, messages_api: Any) -> None:
    """Its estimate counts what is missing alone; another judge is asked everything."""
    source = run_evaluation(config())
    asked = len(messages_api.log())
    estimate = estimate_saved(saved_run(source, config()), check_config(config()), config())
    assert estimate is not None
    assert estimate.calls == 0
    again = asyncio.run(rescore(source, config()))
    assert len(messages_api.log()) == asked
    assert again.judge is not None
    assert (again.judge.calls, again.judge.cached, again.judge.saved_usd) == (0, asked, pytest.approx(spent(source)[1]))
    assert again.scorecard == source.scorecard
    more = asyncio.run(rescore(source, config(judge={"repeats": 2})))
    assert spent(more)[0] == len(messages_api.log()) - asked == asked
    other = asyncio.run(rescore(source, config(judge={"model": "claude-haiku-5-5"})))
    assert spent(other)[0] == asked
    records = RunStore(config().runs_dir).records(other)
    assert {verdict.model for record in records for verdict in record.verdicts} == {"claude-haiku-5-5"}


def killed(monkeypatch: pytest.MonkeyPatch, work: Any) -> None:
    """Do something that ends behind the judging as a killed process does: nothing more is written."""

    def die(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(measuring, "score_rest", die)
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(work)


def test_a_killed_rescore_is_a_run_whose_verdicts_serve_the_next_one(
    config: Configure, messages_api: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands know it, as a partial one without numbers of the run that it was made of."""
    source = run_evaluation(config(judge={"enabled": False}))
    killed(monkeypatch, rescore(source, config()))
    asked = len(messages_api.log())
    orphan = next(run for run in RunStore(config().runs_dir).runs() if run.rescored_from == source.id)
    assert (orphan.status, orphan.scorecard.metrics, orphan.judge) == ("partial", [], None)
    print_run(console(), measured(orphan, []), None, every=True)
    assert "partial" in capsys.readouterr().out
    done = asyncio.run(rescore(source, config()))
    assert len(messages_api.log()) == asked > 0
    assert (done.status, spent(done)) == ("complete", (0, 0.0))


def test_killed_scoring_of_saved_answers_is_not_paid_for_twice(
    config: Configure, messages_api: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The next one over the same file finds the verdicts."""
    questions, answers = tmp_path / "q.json", tmp_path / "a.jsonl"
    questions.write_text('[{"id": "q", "question": "How long?", "expected_answer": "96 hours"}]')
    answers.write_text('{"question_id": "q", "answer": "It takes 96 hours.", "chunks": ["It takes 96 hours."]}\n')
    settings = config(dataset_file=questions, datasets=None)
    killed(monkeypatch, score_answers(answers, settings))
    asked = len(messages_api.log())
    done = asyncio.run(score_answers(answers, settings))
    assert len(messages_api.log()) == asked > 0
    assert spent(done) == (0, 0.0)


def test_a_rescore_that_ended_early_goes_on_in_the_next_one(config: Configure, messages_api: Any) -> None:
    """Together they ask what one would have asked."""
    source = run_evaluation(config(judge={"enabled": False}))
    messages_api.script({"times": 2, "then": {"python": "judge"}}, {"then": {"status": 401}})
    with pytest.raises(JudgeError):
        asyncio.run(rescore(source, config(judge={"concurrency": 1})))
    messages_api.reset()
    messages_api.script(JUDGE)
    rest = asyncio.run(rescore(source, config()))
    assert rest.judge is not None
    assert (rest.judge.calls, rest.judge.cached) == (len(messages_api.log()), 2)
    assert rest.status == "complete"


def test_a_resume_that_the_judge_refuses_loses_no_verdict(
    config: Configure, messages_api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of the questions that it did not come to."""
    run = run_evaluation(config())
    calls = spent(run)[0]
    messages_api.script({"then": {"status": 401}})
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_api.url)
    moved = config(judge={"base_url": messages_api.url.replace("127.0.0.1", "localhost")})
    store = RunStore(config().runs_dir)
    store.save(run.model_copy(update={"eval_config": moved.as_written()}))
    with pytest.raises(JudgeError):
        resume(moved, run)
    ended = store.load(run.id)
    kept = [verdict for record in store.records(ended) for verdict in record.verdicts]
    assert len([verdict for verdict in kept if verdict.reply is not None]) == calls
    assert spent(ended)[0] == len(messages_api.log())


class MeanwhileAnother(Observer):
    """Has another process resume the run too, once this one knows what the run holds."""

    def __init__(self, config: EvalConfig, run: EvalRun) -> None:
        self.config, self.saved = config, run
        self.refused: list[str] = []

    def note(self, message: str) -> None:
        """The other one is another thread here: what it may write is a matter of the log's lock."""
        if message.startswith("resumed with"):
            another = threading.Thread(target=self._resume)
            another.start()
            another.join()

    def _resume(self) -> None:
        try:
            resume(self.config, self.saved)
        except StoreError as error:
            self.refused.append(error.message)


def test_of_two_resumes_at_once_one_is_refused_before_it_pays(config: Configure, messages_api: Any) -> None:
    """The log is locked before anything of it is read, so that no resume goes on from what is no longer true."""
    messages_api.script({"then": {"text": "nope"}})
    run = run_evaluation(config())
    messages_api.script(JUDGE)
    observer = MeanwhileAnother(config(), run)
    done = asyncio.run(EvaluationRunner(config(), observer, resume=run.id).run())
    assert ["another process is writing" in message for message in observer.refused] == [True]
    assert spent(done)[0] == len(messages_api.log())


def test_a_run_without_its_log_is_not_gone_on_with(config: Configure) -> None:
    """No empty log is made in its place, which would say that nothing was asked."""
    run = run_evaluation(config(judge={"enabled": False}))
    log = RunStore(config().runs_dir).records_path(run)
    log.unlink()
    with pytest.raises(StoreError, match="is missing"):
        resume(config(judge={"enabled": False}), run)
    assert not log.exists()


def test_the_estimate_counts_the_repeats_that_are_missing(config: Configure, messages_api: Any) -> None:
    """What was decided once is asked twice more for three repeats."""
    source = run_evaluation(config())
    asked = len(messages_api.log())
    thrice = config(judge={"repeats": 3})
    estimate = estimate_saved(saved_run(source, thrice), check_config(thrice), thrice)
    assert estimate is not None
    assert (estimate.calls, spent(asyncio.run(rescore(source, thrice)))[0]) == (2 * asked, 2 * asked)


def test_a_killed_rescore_holds_what_it_took_over(
    config: Configure, messages_api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It can be measured again though the run that paid is deleted, and costs nothing."""
    source = run_evaluation(config())
    killed(monkeypatch, rescore(source, config(judge={"repeats": 2})))
    asked = len(messages_api.log())
    store = RunStore(config().runs_dir)
    orphan = next(run for run in store.runs() if run.rescored_from == source.id)
    store.run_path(source).unlink()
    store.records_path(source).unlink()
    done = asyncio.run(rescore(orphan, config(judge={"repeats": 2})))
    assert len(messages_api.log()) == asked
    assert (done.status, spent(done)) == ("complete", (0, 0.0))


def test_verdicts_serve_in_every_run_of_the_same_answers(config: Configure, messages_api: Any) -> None:
    """However many rescorings lie between: here the run that paid is a sibling of the one that is measured again."""
    source = run_evaluation(config(judge={"enabled": False}))
    asyncio.run(rescore(source, config()))
    asked = len(messages_api.log())
    plain = asyncio.run(rescore(source, config(judge={"enabled": False})))
    done = asyncio.run(rescore(plain, config()))
    assert len(messages_api.log()) == asked > 0
    assert spent(done) == (0, 0.0)
