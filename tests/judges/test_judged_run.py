"""A whole run with a judge, over HTTP: the reference server is asked, an imitation of the Messages API judges."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evals.cli.views.run import print_run
from evals.judges.prompt import CHARACTERS_A_TOKEN, load_prompt
from evals.scoring.conclusion import measured

from evals.cli.terminal import console
from evals.config import EvalConfig
from evals.errors import JudgeError
from evals.metrics.judge_tasks import answer_beside_reference
from evals.metrics.sample import Sample
from evals.run.saved import rescore
from evals.runner import run_evaluation
from evals.runtime import run_anywhere
from evals.schemas import EvalRun
from evals.store.runs import RunStore

GENERATION = ("faithfulness", "answer_correctness", "answer_relevancy")
JUDGE = {"then": {"python": "judge"}}


@pytest.fixture
def judged(config: Callable[..., EvalConfig]) -> Callable[..., EvalRun]:
    """Evaluate a few golden questions with a judge that keeps its replies."""

    def run(**keys: Any) -> EvalRun:
        judge = {"cache": True, **keys.pop("judge", {})}
        return run_evaluation(config(**{"samples_per_dataset": 16, "prices": {}, **keys}, judge=judge))

    return run


def value(run: EvalRun, name: str) -> float | None:
    summary = run.scorecard.get(name)
    assert summary is not None
    return summary.value


def test_a_judged_run_has_all_groups_and_a_full_weighted_score(judged: Callable[..., EvalRun]) -> None:
    """The three generation metrics have values, and every objective is fed."""
    run = judged()
    assert run.status == "complete"
    assert all(value(run, name) is not None for name in GENERATION)
    assert set(run.weighted_score.objectives) == {
        "accuracy",
        "faithfulness",
        "citation",
        "retrieval",
        "cost",
        "latency",
    }
    assert run.judge is not None
    assert run.judge.calls > 0
    assert run.judge.usage.input_tokens > 0
    assert run.judge.cost_usd is not None
    assert run.judge.cost_usd > 0
    assert set(run.judge.prompt_hashes) == {*GENERATION, "abstention"}


def test_what_is_too_long_is_lost_by_its_length_and_said_to_be(judged: Callable[..., EvalRun]) -> None:
    """The longest answer costs nothing, is counted, and is said to be no loss at random; its bounds hold the value."""
    keys = {"metrics": ["answer_correctness"]}
    plain = judged(**keys)
    tokens = sorted(_tokens(record) for record in records(plain) if _is_judged(record))
    run = judged(**keys, judge={"max_input_tokens": tokens[-1] - 1, "cache": False})
    lost = sum(each == tokens[-1] for each in tokens)
    assert run.outcomes.judge == {"too_long": lost}
    summary, clean = run.scorecard.get("answer_correctness"), value(plain, "answer_correctness")
    assert summary is not None
    assert summary.bounds is not None
    assert summary.counts.judge == lost
    assert summary.bounds[0] <= (clean or 0.0) <= summary.bounds[1]
    (of_length,) = (loss for loss in run.outcomes.judge_losses if loss.by == "length")
    assert (of_length.request, of_length.too_long, of_length.at_random) == ("answer_correctness", lost, False)
    assert any("too long to be asked" in note for note in run.notes)
    assert any("judge.max_input_tokens" in note for note in run.notes)


def _is_judged(record: Any) -> bool:
    return any(verdict.request == "answer_correctness" for verdict in record.verdicts)


def _tokens(record: Any) -> int:
    """What a request sends, as the limit counts it."""
    data = answer_beside_reference(Sample(record.question, record.response))
    sent = len(load_prompt("answer_correctness").system) + len(json.dumps(data, ensure_ascii=False))
    return sent // CHARACTERS_A_TOKEN


def test_a_judge_that_dies_half_way_leaves_the_value_of_the_first_half(
    judged: Callable[..., EvalRun], messages_api: Any, tmp_path: Path
) -> None:
    """The run is partial, and what nobody was asked about is lost: bounds hold what the whole run says."""
    keys = {"metrics": ["answer_relevancy"], "judge": {"cache": False, "concurrency": 1}}
    clean = value(judged(**keys), "answer_relevancy")
    messages_api.script({**JUDGE, "times": 8}, {"then": {"status": 401}})
    with pytest.raises(JudgeError, match="cannot be used"):
        judged(**keys)
    (run,) = (run for run in RunStore(tmp_path / "runs").runs() if run.status == "partial")
    summary = run.scorecard.get("answer_relevancy")
    assert summary is not None
    assert summary.counts.judge > 0
    assert summary.bounds is not None
    assert summary.bounds[0] <= (clean or 0.0) <= summary.bounds[1]
    assert summary.value is not None
    assert summary.strata is not None
    assert 0 < summary.strata.obtained < summary.strata.judged


def records(run: EvalRun) -> Any:
    return RunStore(run.eval_config["runs_dir"]).records(run)


def test_a_judge_that_refuses_the_key_ends_the_run_and_loses_no_answer(
    judged: Callable[..., EvalRun], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One clear error; what was answered is saved."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-denied")
    with pytest.raises(JudgeError, match="cannot be used"):
        judged()
    (run,) = RunStore(tmp_path / "runs").runs()
    assert run.status == "partial"
    assert run.outcomes.answered > 0


def test_a_quotation_that_is_not_found_fails_its_claim_and_every_call_is_counted(
    judged: Callable[..., EvalRun], messages_api: Any
) -> None:
    """The second call is made once and paid for; the other claims of the reply count."""
    said = {"claim": "c", "justification": "so", "quote": "words that no passage holds at all", "verdict": "supported"}
    other = {**said, "quote": "", "verdict": "cannot_tell"}
    reply = {"claims": [said, other], "injection_suspected": False}
    messages_api.script({"schema_has": "claims", "then": {"json": reply}}, JUDGE)
    run = judged()
    assert run.judge is not None
    assert run.judge.calls == len(messages_api.log())
    found = [verdict for one in records(run) for verdict in one.verdicts if verdict.request == "faithfulness"]
    assert found
    assert {verdict.attempts for verdict in found} == {2}
    assert {claim["verdict"] for verdict in found for claim in (verdict.reply or {})["claims"]} == {"cannot_tell"}
    items = 2 * len(found)
    assert any(f"quotation was not found for {len(found)} of {items} items" in note for note in run.notes)


def test_a_saved_run_can_be_judged_afterwards(judged: Callable[..., EvalRun], messages_api: Any) -> None:
    """Rescoring asks the judge and not the server, and gives what judging at once gives."""
    at_once = judged()
    plain = judged(judge={"enabled": False})
    config = EvalConfig.build(plain.eval_config, {"judge": {"enabled": True, "base_url": messages_api.url}})
    rescored = run_anywhere(rescore(plain, config))
    assert rescored.rescored_from == plain.id
    assert [value(rescored, name) for name in GENERATION] == [value(at_once, name) for name in GENERATION]


def test_repeats_are_recorded_with_their_disagreement(judged: Callable[..., EvalRun]) -> None:
    """A judge that always says the same has a flip rate of 0, at twice the calls."""
    run = judged(judge={"repeats": 2}, samples_per_dataset=6)
    assert run.judge is not None
    assert (run.judge.repeats, run.judge.flip_rate) == (2, 0.0)
    assert set(run.judge.flip_rates) <= {*GENERATION, "abstention"}
    assert run.judge.score_flip_rates == dict.fromkeys(run.judge.score_flip_rates, 0.0)
    assert "answer_correctness" in run.judge.score_flip_rates


def test_each_repeat_finds_its_own_claims_and_is_paid_once(judged: Callable[..., EvalRun], messages_api: Any) -> None:
    """Twice the calls of one repeat; measured again, all verdicts are those of the run, without a cache too."""
    keys = {"suite": ["claims"], "samples_per_dataset": 3}
    once = judged(judge={"cache": False}, **keys)
    twice = judged(judge={"repeats": 2, "cache": False}, **keys)
    assert once.judge is not None
    assert twice.judge is not None
    assert twice.judge.calls == 2 * once.judge.calls > 0
    found = [verdict for record in twice.records() for verdict in record.verdicts]
    assert {verdict.repeat for verdict in found if verdict.request == "answer_claims"} == {0, 1}
    assert {verdict.repeat for verdict in found if verdict.request == "claims_compared"} == {0, 1}
    messages_api.reset()
    again = run_anywhere(rescore(twice, EvalConfig.build(twice.eval_config)))
    assert messages_api.log() == []
    assert value(again, "claim_f1") == value(twice, "claim_f1") is not None


def test_whether_length_pays_is_recorded_and_shown(
    judged: Callable[..., EvalRun], capsys: pytest.CaptureFixture[str]
) -> None:
    """Spearman's correlation of each judged score with the number of words, with its interval."""
    run = judged(samples_per_dataset=24)
    assert run.judge is not None
    assert set(run.judge.length_correlations) == set(GENERATION)
    found = run.judge.length_correlations["answer_relevancy"]
    assert found.value is not None
    assert found.ci is not None
    assert -1 <= found.ci[0] < found.value < found.ci[1] <= 1
    print_run(console(), measured(run, run.records()), None, every=True)
    assert "correlation of score and length of the answer (Spearman): " in capsys.readouterr().out


def test_a_judge_of_the_servers_own_family_is_said(judged: Callable[..., EvalRun], messages_api: Any) -> None:
    """Where the server's configuration names its model."""
    run = judged(samples_per_dataset=4)
    assert not [note for note in run.notes if "family" in note]
    same = run.model_copy(update={"config": {**run.config, "llm_model": "claude-haiku-5-5"}})
    rescored = run_anywhere(rescore(same, EvalConfig.build(run.eval_config)))
    (note,) = (note for note in rescored.notes if "family" in note)
    assert note.startswith("the judge's family is that of the server's own model (Claude: claude-haiku-5-5)")


def test_the_judge_and_its_cost_are_shown(judged: Callable[..., EvalRun], capsys: pytest.CaptureFixture[str]) -> None:
    """Calls, tokens, money and failures of the judge stand apart from the server's."""
    run = judged(samples_per_dataset=6)
    print_run(console(), measured(run, run.records()), None, every=True)
    out = capsys.readouterr().out
    assert run.judge is not None
    assert f"judge {run.judge.model}: {run.judge.calls} calls" in out
    assert f"${run.judge.cost_usd:.4f}" in out
