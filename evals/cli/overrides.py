"""The flags given, as configuration."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.cli.flags import IngestFlags, RunFlags, flag_name, given_flags, keys_of
from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.text.yaml_files import merge, problems_of, read_layer

_CHOOSE_JUDGE = {"judge_model", "judge_base_url", "judge_effort", "judge_repeats"}


_EXCLUSIVE = (("embedded", "rag_url"), ("embedded", "profile"), ("dataset_file", "datasets"))
"""Flags of which one would silently win over the other."""


def overrides(flags: RunFlags | IngestFlags) -> dict[str, Any]:
    """The flags given, as keys of the configuration.

    Raises:
        ConfigError: A flag is empty, its value is wrong, or two flags exclude each other; the message names the flag.
    """
    given, told = given_flags(flags), keys_of(flags)
    for name, value in given.items():
        if value in ("", Path()):
            raise ConfigError(f"{flag_name(name)} is empty", "leave the flag out, or give it a value")
    for one, other in _EXCLUSIVE:
        if given.get(one) and given.get(other):
            raise ConfigError(f"{flag_name(one)} and {flag_name(other)} exclude each other")
    result: dict[str, Any] = {"judge": {"enabled": True}} if given.keys() & _CHOOSE_JUDGE else {}  # naming it wants it
    for name, value in given.items():
        key, read = told[name]
        result = merge(result, _layer(key, read(value, flag_name(name)) if read else value))
    _check_alone({name: told[name][0] for name in given}, result)
    return result


def config_layers(flags: RunFlags | IngestFlags) -> list[dict[str, Any]]:
    """What a configuration file and flags say, where they are given; later ones go before earlier ones.

    Raises:
        ConfigError: The file cannot be read, or a flag is wrong.
    """
    return [*([read_layer(flags.config, "configuration")] if flags.config else []), overrides(flags)]


def _layer(key: str, value: Any) -> dict[str, Any]:
    """A configuration of one key, whose parts have dots between them."""
    first, _, rest = key.partition(".")
    return {first: _layer(rest, value) if rest else value}


def _check_alone(keys: Mapping[str, str], result: Mapping[str, Any]) -> None:
    """Check each value by itself, for who gave it as a flag knows no key; how values go together is seen later."""
    try:
        EvalConfig.build(result)
    except ConfigError as error:
        if not isinstance(error.__cause__, ValidationError):
            return
        wrong = {problem.key: problem.what for problem in problems_of(error.__cause__, EvalConfig)}
        for name, key in keys.items():
            what = wrong.get(key)
            if what:
                raise ConfigError(f"{flag_name(name)}{' ' if what.startswith('must ') else ': '}{what}") from error
