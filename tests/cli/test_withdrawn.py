"""What earlier versions had ends with exit code 2 and the sentence that says what to use instead."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.errors import WITHDRAWN_COMMANDS, WITHDRAWN_FLAGS, WITHDRAWN_FORMATS, WITHDRAWN_KEYS, ConfigError
from evals.export import known_format

Cli = Callable[..., Any]


@pytest.mark.parametrize("name", WITHDRAWN_COMMANDS)
def test_a_withdrawn_command_names_what_to_use(name: str, evals_cli: Cli) -> None:
    """Whatever follows it."""
    refused = evals_cli(name, "http://127.0.0.1:9", "--json")
    assert (refused.code, refused.out, WITHDRAWN_COMMANDS[name] in refused.err) == (2, "", True)


@pytest.mark.parametrize("form", ["{}", "{}=1"])
@pytest.mark.parametrize("flag", WITHDRAWN_FLAGS)
def test_a_withdrawn_flag_names_what_to_use(flag: str, form: str, evals_cli: Cli) -> None:
    """With a value or without."""
    refused = evals_cli("eval", form.format(flag))
    assert (refused.code, refused.out, WITHDRAWN_FLAGS[flag] in refused.err) == (2, "", True)


@pytest.mark.parametrize("path", [key for key in WITHDRAWN_KEYS if not key.startswith("server.")])
def test_a_withdrawn_key_names_what_to_use(path: str) -> None:
    """Nothing is accepted and ignored."""
    value: Any = "x"
    for key in reversed(path.split(".")):
        value = {key: value}
    with pytest.raises(ConfigError) as refused:
        EvalConfig.build(value)
    assert (refused.value.exit_code, refused.value.hint) == (2, WITHDRAWN_KEYS[path])


@pytest.mark.parametrize("form", WITHDRAWN_FORMATS)
def test_a_withdrawn_format_names_what_to_use(form: str) -> None:
    """Which of those that there are holds the same."""
    with pytest.raises(ConfigError) as refused:
        known_format(form)
    assert (refused.value.exit_code, refused.value.hint) == (2, WITHDRAWN_FORMATS[form])


def test_several_levels_of_concurrency_are_several_runs() -> None:
    """A run has one."""
    with pytest.raises(ConfigError, match="run once for each concurrency"):
        EvalConfig.build({"concurrency": [1, 4]})


def test_an_unknown_word_is_an_ordinary_error(evals_cli: Cli) -> None:
    """It was never a command."""
    refused = evals_cli("prode")
    assert refused.code == 2
    assert "any more" not in refused.err
