"""`eval` with variants: one run each, asked in turn, and their comparison at the end."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.run.observer import Observer
from evals.runner import run_evaluation
from evals.schemas import EvalRun
from evals.store.runs import RunStore
from evals.variants import VariantsRunner

Cli = Callable[..., Any]
Saved = Callable[[], dict[str, EvalRun]]


def value(run: EvalRun, metric: str) -> float:
    found = run.scorecard.get(metric).value
    assert found is not None
    return found


def test_more_chunks_raise_recall_and_lower_precision(evaluate: Cli, saved_runs: Saved) -> None:
    """Of the reference server's top_k, over the same questions; the comparison says so, with the front."""
    result = evaluate("--vary", "ask.json.top_k=1,3,10")
    assert result.code == 0
    few, some, many = (saved_runs()[f"top_k={k}"] for k in (1, 3, 10))
    assert value(few, "recall_at_10") < value(some, "recall_at_10") < value(many, "recall_at_10")
    assert value(few, "set_precision") > value(some, "set_precision") > value(many, "set_precision")
    assert "over 40 common" in result.out
    assert "Pareto" in result.out
    assert f"show {many.id}" in result.out


def test_the_runs_bear_the_mark_that_lets_latency_compare(evaluate: Cli, saved_runs: Saved) -> None:
    """Each names all of them, in their order, and latency gets a verdict or none by its test."""
    result = evaluate("--vary", "ask.json.top_k=3,10", "--json", samples=12)
    runs = saved_runs()
    ids = [runs["top_k=3"].id, runs["top_k=10"].id]
    assert [runs[name].interleaved_with for name in ("top_k=3", "top_k=10")] == [ids, ids]
    assert [run["id"] for run in result.json["runs"]] == ids
    pairs = {pair["name"]: pair for pair in result.json["comparison"]["against"][0]["pairs"]}
    assert pairs["latency_p50"]["p"] is not None


def test_runs_that_are_killed_while_they_are_asked_name_each_other(
    golden_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a resume of the one continues all of them."""

    async def killed(self: VariantsRunner, prepared: Any) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr(VariantsRunner, "_ask", killed)
    base = {"datasets": "golden", "samples_per_dataset": 4, "judge": False, "runs_dir": tmp_path / "runs"}
    configs = [
        EvalConfig.build(base, {"name": name, "server": {"url": golden_server, "ask": {"json": {"top_k": k}}}})
        for k, name in enumerate(("one", "two"), start=1)
    ]
    with pytest.raises(RuntimeError, match="killed"):
        asyncio.run(VariantsRunner(configs, Observer()).evaluate())
    runs = RunStore(tmp_path / "runs").runs()
    assert len(runs) == 2
    assert all(sorted(run.interleaved_with) == sorted(each.id for each in runs) for run in runs)


def test_variants_of_the_configuration_may_be_other_servers(
    evaluate: Cli, start_server: Callable[..., str], saved_runs: Saved, tmp_path: Path
) -> None:
    """Each a mapping laid over `server:`."""
    config = tmp_path / "config.json"
    other = start_server("--corpus", "golden", "--top-k", "3")
    config.write_text(json.dumps({"variants": {"ten": {}, "three": {"url": other}}}))
    assert evaluate("--config", config, samples=4).code == 0
    runs = saved_runs()
    assert runs["three"].server.url == other != runs["ten"].server.url
    assert "variants" not in runs["three"].eval_config or runs["three"].eval_config["variants"] == {}


def test_one_variant_that_fails_leaves_the_other_whole(
    evaluate: Cli, start_server: Callable[..., str], saved_runs: Saved, tmp_path: Path
) -> None:
    """The other's run is complete; the command ends with 4 and says how to go on with both."""
    broken = start_server("--corpus", "golden", "--misbehave", "every:2:status:404")
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"variants": {"good": {}, "bad": {"url": broken}}, "warmup": 0}))
    result = evaluate("--config", config, samples=10)
    runs = saved_runs()
    assert (result.code, runs["good"].status, runs["bad"].status) == (4, "complete", "partial")
    assert f"continue with all variants: evals eval --resume {runs['bad'].id}" in result.err


def test_runs_that_were_cut_off_go_on_together(
    evaluate: Cli, evals_cli: Cli, saved_runs: Saved, runs_dir: Path
) -> None:
    """By the id of any of them; nothing that is answered is asked again, and they stay comparable in latency."""
    evaluate("--vary", "ask.json.top_k=3,10", samples=12)
    runs = saved_runs()
    before = {name: cut_off(runs_dir, run, keep=5) for name, run in runs.items()}
    result = evals_cli("eval", "--resume", runs["top_k=10"].id, "--runs-dir", runs_dir)
    assert result.code == 0
    assert "Pareto" in result.out
    for name, run in saved_runs().items():
        assert (run.status, len(run.interleaved_with)) == ("complete", 2)
        latencies = {record.question.id: record.response.latency_ms for record in run.records() if record.response}
        assert before[name].items() <= latencies.items()
        assert len(latencies) == 12


def cut_off(runs_dir: Path, run: EvalRun, *, keep: int) -> dict[str, float]:
    """Leave a run as a kill does that came after some answers; returns their latencies by question."""
    store = RunStore(runs_dir)
    records = store.records(run)
    store.records_path(run).unlink()
    with store.journal(run) as journal:
        journal.plan(record.question for record in records)
        for record in records[:keep]:
            assert record.response is not None
            journal.answer(record.question.id, record.response)
    store.save(run.model_copy(update={"status": "partial", "record_sum": None}))
    return {r.question.id: r.response.latency_ms for r in records[:keep] if r.response and r.response.latency_ms}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--vary", "ask.json.top_k=3"], "one variant compares with nothing"),
        (["--alone"], "there is no flag --alone any more"),
        (["--resume", "abc", "--vary", "ask.json.top_k=3,5"], "takes the variants of the saved run"),
    ],
)
def test_flags_that_make_no_sense_are_refused(evaluate: Cli, arguments: list[str], said: str) -> None:
    """Nothing is asked then."""
    result = evaluate(*arguments)
    assert (result.code, said in result.err) == (2, True)


def test_a_dry_run_tells_of_each_variant(evaluate: Cli, runs_dir: Path) -> None:
    """And asks nothing."""
    result = evaluate("--vary", "ask.json.top_k=3,10", "--dry-run")
    assert result.code == 0
    assert "variant top_k=3" in result.out
    assert "variant top_k=10" in result.out
    assert not runs_dir.exists()


def test_one_run_is_not_made_of_several_variants() -> None:
    """The Python API says what makes them."""
    config = EvalConfig.build({"variants": {"a": {}, "b": {}}})
    with pytest.raises(ConfigError, match="2 variants"):
        run_evaluation(config)
