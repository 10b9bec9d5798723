"""The same questions at several levels of load, in one run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.run.setup import check_config
from evals.run.work import load_workload
from evals.schemas import EvalQuestion, EvalRun
from evals.schemas.run_parts import LoadLevel
from evals.scoring.repeats import MOST, Window, at_levels, with_load
from evals.scoring.run_columns import cluster_of
from evals.store.runs import RunStore
from evals.variants import variants_of

Cli = Callable[..., Any]


def test_several_levels_make_a_sweep() -> None:
    """As a list they set `load`, and the concurrency is the greatest; one level alone is no sweep."""
    config = EvalConfig.build({"concurrency": [1, 4, 16]})
    assert (config.load, config.concurrency) == ([1, 4, 16], 16)
    assert EvalConfig.build({"concurrency": 4}).load == []


@pytest.mark.parametrize("levels", [[4], [1, 1], [0, 4], [1, 300], ["many", 2]])
def test_levels_that_make_no_sweep_are_refused(levels: list[Any]) -> None:
    """One, one twice, or what is no concurrency."""
    with pytest.raises(ConfigError, match=r"load|concurrency"):
        EvalConfig.build({"concurrency": levels})


def test_questions_are_asked_at_each_level() -> None:
    """Level by level, the first with the ids of a run without levels; a question is one cluster."""
    questions = [EvalQuestion(id=f"q{n}", question=f"{n}?") for n in range(MOST + 50)]
    asked = list(at_levels(questions, [1, 8]))
    assert len(asked) == 2 * MOST
    assert [asked[0].id, asked[MOST].id] == ["q0", "q0@8"]
    assert [one.metadata["concurrency"] for one in (asked[0], asked[-1])] == [1, 8]
    assert len({cluster_of(one, "question") for one in asked}) == MOST


def test_repeats_and_levels_go_together(tmp_path: Path) -> None:
    """Each repeat at each level, still one cluster a question."""
    keys = {"datasets": ["golden"], "samples_per_dataset": 3, "runs_dir": str(tmp_path)}
    workload = load_workload(EvalConfig.build({**keys, "repeats": 2, "concurrency": [1, 4]}))
    assert len(workload.questions) == 12
    assert len({cluster_of(one, "question") for one in workload.questions}) == 3


@pytest.fixture
def summarised(build_run: Callable[..., Any]) -> Callable[..., EvalRun]:
    """A run with these levels, each a list of (latency, total) in milliseconds, or of a kind of failure."""

    def make(levels: dict[int, list[Any]], windows: dict[int, Window] | None = None, **keys: Any) -> EvalRun:
        rows = {f"q{n}@{level}": (level, row) for level, rows in levels.items() for n, row in enumerate(rows)}
        values = {key: row if isinstance(row, str) else {"mrr": 1.0} for key, (_, row) in rows.items()}
        told = {key: {"metadata": {"concurrency": level}} for key, (level, _) in rows.items()}
        run, records = build_run("a", values, questions=told, eval_config={"load": list(levels), **keys})
        for place, (_, row) in enumerate(rows.values()):
            if not isinstance(row, str):
                changed = {"latency_ms": row[0], "total_ms": row[1]}
                response = records[place].response.model_copy(update=changed)
                records[place] = records[place].model_copy(update={"response": response})
        return with_load(run, records, windows or {})

    return make


def test_each_level_has_times_errors_throughput_and_quality(summarised: Callable[..., EvalRun]) -> None:
    """Of its own questions alone."""
    levels = {1: [(10.0, 11.0), (20.0, 21.0)], 4: [(30.0, 90.0), "status", "timeout"]}
    one, four = summarised(levels, {1: Window(2, 0.5), 4: Window(3, 2.0)}).load
    assert (one.questions, one.answered, one.errors, one.throughput) == (2, 2, {}, 4.0)
    assert (four.questions, four.answered, four.errors, four.throughput) == (3, 1, {"status": 1, "timeout": 1}, 0.5)
    assert (one.latency_ms["p50"], one.total_ms["p95"]) == (10.0, 21.0)
    assert four.total_ms["p50"] == 90.0
    assert [(metric.name, metric.value, metric.n) for metric in four.metrics] == [("mrr", 1.0, 1)]
    assert one.time_to_first_token_ms == {}


def test_a_level_that_was_cut_has_no_throughput(summarised: Callable[..., EvalRun]) -> None:
    """The time of a process that was killed is not known; 0 answers a second would be wrong."""
    (one, _) = summarised({1: [(1.0, 1.0), (1.0, 1.0)], 2: []}, {1: Window(1, 0.5)}).load
    assert (one.seconds, one.throughput) == (None, None)


def test_a_run_at_one_level_has_none(build_run: Callable[..., Any]) -> None:
    """Unless it was asked at a rate."""
    run, records = build_run("a", {"q1": {"mrr": 1.0}})
    assert with_load(run, records, {}).load == []
    at_rate = run.model_copy(update={"eval_config": {"rps": 5.0}})
    (level,) = with_load(at_rate, records, {4: Window(1, 0.2)}).load
    assert (level.concurrency, level.rps, level.throughput) == (4, 5.0, 5.0)


def test_variants_are_not_swept() -> None:
    """They are asked in turn, question by question."""
    with pytest.raises(ConfigError, match="one variant at a time"):
        variants_of(EvalConfig.build({"variants": {"a": {}, "b": {}}, "concurrency": [1, 2]}))


@pytest.mark.parametrize("key", [{"shard": "1/2"}, {"engine": "dask"}])
def test_a_sweep_is_of_one_process(key: dict[str, str]) -> None:
    """A shard has a part of the questions, and workers their own pace."""
    with pytest.raises(ConfigError, match=r"asked by one process|Dask is not installed"):
        check_config(EvalConfig.build({"concurrency": [1, 2], "judge": False, **key}))


@pytest.fixture
def evaluate(evals_cli: Cli, start_server: Callable[..., str], tmp_path: Path) -> Callable[..., tuple[Any, EvalRun]]:
    """Evaluate the reference server, perhaps one that misbehaves; gives the result and the run."""

    def call(*arguments: object, misbehave: str | None = None) -> tuple[Any, EvalRun]:
        url = start_server("--corpus", "golden", *(("--misbehave", misbehave) if misbehave else ()))
        result = evals_cli(
            *("eval", "--no-judge", "--datasets", "golden", "--rag-url", url, "--metrics", "recall_at_5,latency_p50"),
            *("--no-preflight", "--runs-dir", tmp_path, *arguments),
        )
        (run,) = RunStore(tmp_path).runs()
        return result, run

    return call


def level_of(run: EvalRun, concurrency: int) -> LoadLevel:
    return next(level for level in run.load if level.concurrency == concurrency)


def test_a_sweep_shows_levels_side_by_side(evaluate: Callable[..., tuple[Any, EvalRun]]) -> None:
    """In one run, with the quality of each; its latency compares with no other run's."""
    result, run = evaluate("--concurrency", "1,3", "--samples", 6)
    assert result.code == 0
    assert [level.concurrency for level in run.load] == [1, 3]
    assert {level.questions for level in run.load} == {6}
    assert all(level.throughput for level in run.load)
    assert level_of(run, 1).metrics[0].name == "recall_at_5"
    assert (run.concurrency, run.concurrencies) == (3, [1, 3])
    assert "answers a second" in result.out
    assert "latency is of all these loads" in result.out


def test_a_rate_has_times_from_sending_and_from_when_it_was_meant(
    evaluate: Callable[..., tuple[Any, EvalRun]],
) -> None:
    """One at a time, at a rate that the server cannot keep: users wait longer than requests take."""
    _, run = evaluate("--concurrency", 1, "--rps", 200, "--samples", 8, misbehave="slow:0.05")
    (level,) = run.load
    assert level.rps == 200
    assert level.total_ms["p95"] > 3 * level.latency_ms["p50"]
