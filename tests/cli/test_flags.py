"""Flags, each told once: what a command takes, and the key of the configuration that each sets."""

from importlib import import_module
from inspect import Parameter
from pathlib import Path
from typing import Any, get_args

import pytest

from evals.cli import COMMANDS
from evals.cli.flags import EvalFlags, RescoreFlags, ScoreFlags
from evals.cli.measuring import overrides
from evals.cli.parameters import Flags, keys_of, parameters
from evals.config import EvalConfig


@pytest.mark.parametrize("flags", [EvalFlags(), RescoreFlags(), ScoreFlags()], ids=lambda flags: type(flags).__name__)
def test_every_key_that_a_flag_sets_is_one_of_the_configuration(flags: Flags) -> None:
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


def test_a_command_may_say_of_a_flag_what_others_do_not() -> None:
    """Words that it says otherwise are its own: the flags of others keep theirs."""
    helps = {name: get_args(each.annotation)[1].help for name, each in by_name(RescoreFlags).items()}
    assert helps["suite"] == "Suites of metrics, with commas"
    helps = {name: get_args(each.annotation)[1].help for name, each in by_name(EvalFlags).items()}
    assert helps["suite"] == "Suites of metrics, with commas (core)"


def by_name(kind: type[Flags]) -> dict[str, Parameter]:
    return {each.name: each for each in parameters(kind)}


@pytest.mark.parametrize("kind", [kind for kind, _ in COMMANDS.values()], ids=lambda kind: kind.__name__)
def test_words_are_of_flags_that_are_there(kind: type[Flags]) -> None:
    """A misspelt name would be words that nobody reads."""
    assert set(kind.words) <= set(by_name(kind))


@pytest.mark.parametrize("place", [place for _, place in COMMANDS.values()])
def test_every_command_has_its_function(place: str) -> None:
    """It is imported by its name, and only when it runs."""
    module, _, function = place.partition(".")
    assert callable(getattr(import_module(f"evals.cli.commands.{module}"), function))


def test_a_flag_that_is_not_there_is_refused() -> None:
    """As a parameter would be."""
    with pytest.raises(TypeError, match="RescoreFlags has no siute"):
        RescoreFlags(siute="core")
