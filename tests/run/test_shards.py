"""Which questions a shard asks, and what it leaves to the merged run."""

from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.errors import ConfigError, DatasetError
from evals.run.checks import check_config
from evals.run.merge import merge, put_together
from evals.run.observer import Observer
from evals.run.workload import load_workload
from evals.runner import run_evaluation
from evals.runtime import run_anywhere
from evals.schemas import EvalRun

Cli = Callable[..., Any]


def ids(**keys: object) -> list[str]:
    """The ids of the questions of a golden run of twelve."""
    config = EvalConfig.build({"datasets": ["golden"], "samples_per_dataset": 12, **keys})
    return [question.id for question in load_workload(config).questions]


@pytest.mark.parametrize("count", [1, 2, 7, 12])
def test_every_question_is_in_one_shard(count: int) -> None:
    """The shards are the whole, each question once, and as even as can be."""
    shards = [ids(shard=f"{number}/{count}") for number in range(1, count + 1)]
    assert sorted(chain.from_iterable(shards)) == sorted(ids())
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


def test_the_questions_of_a_shard_do_not_depend_on_the_others() -> None:
    """The second of two has every second question, in the order of the whole."""
    assert ids(shard="2/2") == ids()[1::2]


def test_more_shards_than_questions_are_refused() -> None:
    """The message counts both."""
    with pytest.raises(DatasetError, match="shard 13/13 holds no question: the datasets have 12 questions"):
        ids(shard="13/13")


@pytest.mark.parametrize("shard", ["0/2", "3/2", "2", "a/b", "1/0", "-1/2", "1/2/3", 0.5, "1/99999999999"])
def test_what_is_no_part_is_refused(shard: object) -> None:
    """One message that names the key, whatever is written there."""
    with pytest.raises(ConfigError, match="shard: must be a part such as 2/7"):
        EvalConfig.build({"shard": shard})


def test_a_shard_has_its_share_of_the_budget() -> None:
    """What is written of the run is the whole budget, what its judge may spend a seventh."""
    config = EvalConfig.build({"shard": "2/7", "judge": {"max_cost_usd": 7.0}})
    assert (config.budget_usd, config.as_written()["judge"]["max_cost_usd"]) == (1.0, 7.0)
    assert EvalConfig.build({"shard": "2/7"}).budget_usd is None


def test_shards_do_not_upload() -> None:
    """Each would upload all documents."""
    with pytest.raises(ConfigError, match="each would upload all documents"):
        check_config(EvalConfig.build({"shard": "1/2", "ingest": True, "judge": False}))


def test_gates_are_left_to_the_merged_run(evals_cli: Cli, golden_server: str, tmp_path: Path) -> None:
    """A part that would fail a gate ends well, and says what it is."""
    result = evals_cli(
        "eval", "--no-judge", "--datasets", "golden", "--samples", 12, "--shard", "2/2", "--gate", "mrr>=1.0",
        "--rag-url", golden_server, "--runs-dir", tmp_path, "--json",
    )  # fmt: skip
    assert result.code == 0, result.err
    assert (result.json["question_count"], result.json["gates"]) == (6, [])
    assert "this is shard 2/2 of the questions: `evals merge` makes one run of all shards" in result.json["notes"]


def test_repeats_of_a_question_in_two_shards_are_merged(golden_server: str, tmp_path: Path) -> None:
    """How stable answers are is said of all of them."""
    keys = {"datasets": ["golden"], "samples_per_dataset": 5, "repeats": 3, "judge": False, "warmup": 0}

    def asked(name: str, **own: Any) -> EvalRun:
        config = {**keys, **own, "rag_server_url": golden_server, "runs_dir": tmp_path / name}
        return run_evaluation(EvalConfig.build(config))

    whole, shards = asked("whole"), [asked(f"part{n}", shard=f"{n}/2") for n in (1, 2)]
    merged = run_anywhere(merge(put_together(shards, {"runs_dir": tmp_path / "merged"}), Observer())).run
    assert [record.question.id for record in merged.records()] == [record.question.id for record in whole.records()]
    assert whole.repeats is not None
    assert merged.repeats is not None
    assert merged.repeats.questions == whole.repeats.questions == 5
    assert merged.scorecard.get("mrr") == whole.scorecard.get("mrr")
