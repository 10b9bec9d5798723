"""Mappings that configure something: read from YAML, laid over one another, filled in from the environment."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from evals.errors import ConfigError
from evals.inputs.files import check_file
from evals.inputs.strict_yaml import MAX_BYTES, YamlTextError, load_yaml

VARIABLE = re.compile(r"\$\{(\w+)(?::-([^{}]*))?\}")
"""${NAME}: stands for a value of the environment; ${NAME:-other} for that, or for the other where it is not set."""


def read_yaml(path: Path, what: str) -> dict[str, Any]:
    """Read a YAML file that holds a mapping.

    Raises:
        ConfigError: It cannot be read, is no YAML or no mapping, or names a key twice.
    """
    try:
        data = load_yaml(text_of(path))
    except OSError as error:
        raise ConfigError(f"cannot read the {what} {path}: {error.strerror}") from error
    except (YamlTextError, UnicodeDecodeError) as error:
        why = error if isinstance(error, YamlTextError) else "it is no UTF-8 text"
        raise ConfigError(f"the {what} {path} is not valid YAML: {why}") from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ConfigError(f"the {what} {path} must hold keys and values, not {type(data).__name__}")
    return cast("dict[str, Any]", data)


def text_of(path: Path) -> str:
    """The text of a file, read no further than beyond the limit: it may be a device that never ends."""
    check_file(path, most=None)
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1).decode("utf-8")


_QUESTIONS = ("{{question}}", "{{messages}}")


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one mapping over another, part by part: mappings merge, everything else replaces.

    A request body (`json`) that says where the question goes is whole and replaces the profile's; one that does not
    is laid over it, so that a single key can be changed.
    """
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        both = both and not (key == "json" and (not value or any(name in str(value) for name in _QUESTIONS)))
        merged[key] = merge(merged[key], value) if both else value
    return merged


def is_left_out(text: str, environ: Mapping[str, str] | None = None) -> bool:
    """Whether a text holds a ${NAME:-} that nothing stands for, so that a header of it is not sent."""
    env = os.environ if environ is None else environ
    return any(other == "" and not env.get(name) for name, other in VARIABLE.findall(text) if f"${{{name}:-}}" in text)


def expand_env(value: Any, secrets: set[str], environ: Mapping[str, str] | None = None) -> Any:
    """Replace ${NAME} in all strings by the environment's value, and add each value to `secrets`.

    Of ${NAME:-other}, the other stands where NAME is not set or empty; what has another text than none is no secret.

    Raises:
        ConfigError: A variable is not set.
    """
    env = os.environ if environ is None else environ

    def substitute(found: re.Match[str]) -> str:
        name, other = found.groups()
        if other is not None and not env.get(name):
            return str(other)
        if name not in env:
            raise ConfigError(
                f"environment variable {name} is not set", f"the configuration uses ${{{name}}}: export it"
            )
        if not other:
            secrets.add(env[name])
        return env[name]

    if isinstance(value, str):
        return VARIABLE.sub(substitute, value)
    if isinstance(value, Mapping):
        return {key: expand_env(item, secrets, env) for key, item in value.items()}
    if isinstance(value, list):
        return [expand_env(item, secrets, env) for item in value]
    return value
