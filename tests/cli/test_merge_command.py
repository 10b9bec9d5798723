"""`evals merge`: shards that were asked apart, from the command line."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.store.runs import RunStore

Cli = Callable[..., Any]


@pytest.fixture
def shards(ask: Cli, golden_server: str, tmp_path: Path) -> Callable[..., list[str]]:
    """Ask two shards; returns the paths of their files, copied as the artefacts of two machines are."""

    def call(*arguments: object) -> list[str]:
        paths = []
        for number in (1, 2):
            folder = tmp_path / f"job-{number}"
            asked = ask("--rag-url", golden_server, "--shard", f"{number}/2", "--runs-dir", folder, *arguments)
            assert asked.code == 0, asked.err
            copied = tmp_path / "artefacts" / f"job-{number}"
            copied.mkdir(parents=True)
            for path in folder.glob("*.*"):
                if not path.name.endswith(".index"):
                    shutil.copy(path, copied)
            paths += map(str, copied.glob("*Z.json"))
            shutil.rmtree(folder)
        return paths

    return call


@pytest.fixture
def merge(evals_cli: Cli, tmp_path: Path) -> Cli:
    """Run `merge` into a folder of its own."""
    return lambda *arguments: evals_cli("merge", *arguments, "--runs-dir", tmp_path / "merged")


def test_shards_of_other_machines_make_one_run(
    shards: Cli, ask: Cli, merge: Cli, evals_cli: Cli, golden_server: str, tmp_path: Path
) -> None:
    """The same values and notes as of one run, but those of time; `show` says what it is of."""
    whole = ask("--rag-url", golden_server, "--json").json
    result = merge(*shards(), "--json", "--name", "nightly")
    assert result.code == 0, result.err
    run = result.json
    assert (run["name"], run["question_count"], run["status"]) == ("nightly", 12, "complete")
    assert timeless(run) == timeless(whole)
    notes, those_of_one = ([note for note in each["notes"] if "users wait" not in note] for each in (run, whole))
    assert notes == those_of_one
    assert [one["shard"] for one in run["merged_from"]] == ["1/2", "2/2"]
    assert "merged from 2 shards" in evals_cli("show", run["id"], "--runs-dir", tmp_path / "merged").out


def timeless(run: dict[str, Any]) -> dict[str, Any]:
    return {one["name"]: one for one in run["scorecard"]["metrics"] if one["unit"] != "ms"}


def test_a_gate_of_the_shards_is_checked_on_the_whole(shards: Cli, merge: Cli) -> None:
    """The shards end well; the merged run ends with 1, and is saved all the same."""
    result = merge(*shards("--gate", "recall_at_10>1"))
    assert (result.code, "gate failed" in result.err) == (1, True)
    assert "saved to" in result.out


def test_a_partial_shard_ends_with_4(ask: Cli, merge: Cli, start_server: Cli, tmp_path: Path) -> None:
    """Merged all the same, where that is allowed, it says which shards to go on with."""
    url = start_server("--corpus", "golden", "--misbehave", "every:3:status:404")
    keys = ("--rag-url", url, "--max-error-rate", "0.01", "--concurrency", 1, "--warmup", 0)
    for number in (1, 2):
        ask(*keys, "--shard", f"{number}/2")
    runs = {run.eval_config["shard"]: run for run in RunStore(tmp_path / "runs").runs()}
    files = [str(run.path) for run in runs.values()]
    result = merge(*files)
    assert result.code == 4
    assert f"evals eval --resume {runs['1/2'].id} --runs-dir {tmp_path / 'runs'}" in result.err
    result = merge(*files, "--allow-partial")
    assert (result.code, f"evals eval --resume {runs['1/2'].id}" in result.err) == (4, True)
    assert "of 12 questions brought no answer" in result.err
