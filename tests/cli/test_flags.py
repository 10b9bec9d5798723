"""Flags, each told once: what a command takes, the key of the configuration that each sets, and wrong values."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.cli.flags import EvalFlags, Flags, RescoreFlags, ScoreFlags
from evals.cli.measuring import overrides
from evals.config import EvalConfig
from evals.errors import ConfigError

Cli = Callable[..., Any]


@pytest.mark.parametrize("flags", [EvalFlags(), RescoreFlags(), ScoreFlags()], ids=lambda flags: type(flags).__name__)
def test_every_key_that_a_flag_sets_is_one_of_the_configuration(flags: Flags) -> None:
    """A key that is misspelt beside its flag would be told to whoever gives the flag."""
    config = EvalConfig()
    sections: dict[str, Any] = {"": config, "server": config.server_spec(), "judge": config.judge}
    sections["match"] = config.match
    for key in flags.keys().values():
        section, _, last = key.rpartition(".")
        assert last in type(sections[section]).model_fields


def test_an_unused_configuration_is_named(evals_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is read only where --config names it."""
    monkeypatch.chdir(tmp_path)
    said = "! eval_config.yml is in this folder, but not used: add --config eval_config.yml"
    command = ("eval", "--datasets", "golden", "--no-judge", "--dry-run")
    assert said not in evals_cli(*command).err
    Path("eval_config.yml").write_text("name: mine\n", encoding="utf-8")
    assert said in evals_cli(*command).err
    assert said not in evals_cli(*command, "--config", "eval_config.yml").err


def test_a_flag_may_stand_for_a_key_of_another_name_and_depth() -> None:
    """Each is read as it is typed, and what is not given sets nothing."""
    flags = EvalFlags(datasets="golden, msmarco", samples=0, rag_url="http://s:1", match="overlap", concurrency="2")
    config = EvalConfig.build(overrides(flags))
    assert (config.datasets, config.samples_per_dataset) == (["golden", "msmarco"], None)
    assert (config.server, config.match.rule) == ({"url": "http://s:1"}, "overlap")
    assert config.concurrency == 2
    assert overrides(EvalFlags(config=Path("c.yml"), dry_run=True, resume="abcd")) == {}
    # a model's name may need the provider that the file names: that is seen when both are laid together
    assert overrides(EvalFlags(judge_model="openai:"))["judge"]["model"] == "openai:"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"match": "fuzzy"}, "--match must be 'auto', .* or 'document', not 'fuzzy'"),
        ({"concurrency": 0}, "--concurrency must be at least 1, not 0"),
        ({"suite": " ,"}, "--suite must be one name or more"),
        ({"rps": 1e-9}, "--rps must be at least 0.001"),
        ({"warmup": 101}, "--warmup must be at most 100, not 101"),
        ({"on_error": "ignore"}, "--on-error must be 'exclude' or 'worst', not 'ignore'"),
        ({"max_cost": float("nan")}, "--max-cost must be a finite number, not nan"),
        ({"judge_base_url": "nowhere"}, "--judge-base-url must begin with http"),
        ({"seed": 1, "concurrency": 0, "judge": False}, "--concurrency must be"),
        ({"judge_model": ""}, "--judge-model is empty"),
    ],
    ids=str,
)
def test_a_wrong_value_is_told_by_its_flag(flags: dict[str, Any], message: str) -> None:
    """Who wrote no configuration file is not told of a key of one."""
    with pytest.raises(ConfigError, match=f"^{message}"):
        overrides(EvalFlags(**flags))


def test_the_folder_of_runs_may_be_the_current_one() -> None:
    """So may that of datasets."""
    given = overrides(EvalFlags(runs_dir=Path(), data_dir=Path()))
    assert given == {"runs_dir": Path(), "data_dir": Path()}


def test_a_key_of_a_file_is_still_told_by_its_key(evals_cli: Cli, tmp_path: Path) -> None:
    """The file is wrong then, and not the flag beside it."""
    (tmp_path / "o.yml").write_text("match: {rule: fuzzy}\n")
    done = evals_cli("eval", "--no-judge", "--seed", 1, "--config", tmp_path / "o.yml", "--runs-dir", tmp_path)
    assert (done.code, "configuration: match.rule: must be" in done.err) == (2, True)


def test_resume_tells_the_flag_as_it_was_written(evals_cli: Cli, tmp_path: Path) -> None:
    """--no-judge is not --judge."""
    done = evals_cli("eval", "--resume", "x", "--no-judge", "--no-judge-cache", "--samples", 3, "--runs-dir", tmp_path)
    assert (done.code, "so not --no-judge, --samples\n" in done.err) == (2, True)
