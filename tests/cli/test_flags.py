"""Flags, each told once: what a command takes, and the key of the configuration that each sets."""

from inspect import signature
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

from evals.cli.flags import EvalFlags, RescoreFlags, RunFlags, ScoreFlags, keys_of, takes_flags
from evals.cli.overrides import overrides
from evals.config import EvalConfig


@pytest.mark.parametrize("flags", [EvalFlags(), RescoreFlags(), ScoreFlags()], ids=lambda flags: type(flags).__name__)
def test_every_key_that_a_flag_sets_is_one_of_the_configuration(flags: RunFlags) -> None:
    """A key that is misspelt beside its flag would be told to whoever gives the flag."""
    config = EvalConfig()
    sections: dict[str, Any] = {
        "": config,
        "server": config.server_spec(),
        "judge": config.judge,
        "engine": config.engine,
        "match": config.match,
    }
    for key, _ in keys_of(flags).values():
        section, _, last = key.rpartition(".")
        assert last in type(sections[section]).model_fields


def test_a_flag_may_stand_for_a_key_of_another_name_and_depth() -> None:
    """Each is read as it is typed, and what is not given sets nothing."""
    flags = EvalFlags(datasets="golden, msmarco", samples=0, rag_url="http://s:1", timeout=5, match="overlap")
    assert overrides(flags) == {
        "datasets": ["golden", "msmarco"],
        "samples_per_dataset": None,
        "server": {"url": "http://s:1", "timeout_s": 5},
        "match": {"rule": "overlap"},
    }
    assert overrides(EvalFlags(config=Path("c.yml"), dry_run=True, resume="abcd")) == {}


def test_a_command_takes_its_own_parameters_and_those_of_its_flags() -> None:
    """Words that it says otherwise are its own: the dataclass, and other commands, keep theirs."""
    taken: dict[str, Any] = {}

    @takes_flags(suite="Other words")
    def command(run: str, flags: RescoreFlags) -> None:
        taken.update(run=run, flags=flags)

    app = typer.Typer()
    app.command()(command)
    app(["abcd", "--suite", "core", "--no-judge"], standalone_mode=False)
    assert (taken["run"], vars(taken["flags"])) == ("abcd", vars(RescoreFlags(suite="core", judge=False)))
    helps = {name: get_args(each.annotation)[1].help for name, each in list(signature(command).parameters.items())[1:]}
    assert helps["suite"] == "Other words"
    assert get_args(RescoreFlags.__dataclass_fields__["suite"].type)[1].help == "Suites of metrics, with commas (core)"


def test_words_for_a_flag_that_is_not_there_are_refused() -> None:
    """A misspelt name would be words that nobody reads."""
    with pytest.raises(TypeError, match="RescoreFlags has no siute"):

        @takes_flags(siute="Suites")
        def command(flags: RescoreFlags) -> None: ...
