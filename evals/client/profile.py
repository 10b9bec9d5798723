"""From a profile's name and the user's overrides to a `ServerSpec`."""

import os
import re
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import ValidationError

from evals.client.spec import ServerSpec
from evals.errors import ConfigError, UnknownNameError

_BUILT_IN = Path(__file__).parent / "profiles"
_ENV = re.compile(r"\$\{(\w+)\}")
DEFAULT_PROFILE = "rag-server"


def list_profiles() -> list[str]:
    """The names of all profiles: the built-in ones and those of plug-ins (entry points `evals.profiles`)."""
    plugged = [point.name for point in entry_points(group="evals.profiles")]
    return sorted(_built_in() | set(plugged))


@cache
def _built_in() -> frozenset[str]:
    return frozenset(path.stem for path in _BUILT_IN.glob("*.yml"))


@cache
def _built_in_profile(name: str) -> dict[str, Any]:
    return read_yaml(_BUILT_IN / f"{name}.yml", "profile")


def load_profile(name: str) -> dict[str, Any]:
    """The keys of a profile, by its name or by the path of a YAML file.

    Raises:
        ConfigError: There is no such profile or file, or it is no YAML mapping.
    """
    if name.endswith((".yml", ".yaml")):
        return read_yaml(Path(name), "profile")
    if name in _built_in():
        return deepcopy(_built_in_profile(name))
    for point in entry_points(group="evals.profiles", name=name):
        loaded = point.load()
        return dict(loaded) if isinstance(loaded, Mapping) else read_yaml(Path(loaded), "profile")
    raise UnknownNameError("profile", name, list_profiles())


def read_yaml(path: Path, what: str) -> dict[str, Any]:
    """Read a YAML file that holds a mapping.

    Raises:
        ConfigError: It cannot be read, is no YAML or no mapping.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read the {what} {path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"the {what} {path} is not valid YAML: {' '.join(str(error).split())}") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ConfigError(f"the {what} {path} must hold keys and values, not {type(data).__name__}")
    return cast("dict[str, Any]", data)


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one mapping over another, part by part: mappings merge, everything else replaces.

    The request body is a whole: a `json` given replaces the profile's.
    """
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping) and key != "json"
        merged[key] = merge(merged[key], value) if both else value
    return merged


def resolve_spec(overrides: Mapping[str, Any]) -> ServerSpec:
    """Build the specification of a server from its profile with the user's keys laid over it.

    Raises:
        ConfigError: The profile does not exist, or a key is unknown or has a wrong value.
    """
    name = str(overrides.get("profile") or DEFAULT_PROFILE)
    try:
        return ServerSpec.model_validate({**merge(load_profile(name), overrides), "profile": name})
    except ValidationError as error:
        raise ConfigError(f"server: {first_problem(error)}", "see docs/profiles.md for the keys") from error


def first_problem(error: ValidationError) -> str:
    """The first problem that pydantic found, as `key: what is wrong`."""
    problem = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    # What pydantic puts before the words of our own checks says nothing to a user.
    what = str(problem["msg"]).removeprefix("Value error, ")
    return f"{where}: {what}" if where else what


def expand_env(value: Any, secrets: set[str], environ: Mapping[str, str] | None = None) -> Any:
    """Replace ${NAME} in all strings by the environment's value, and add each value to `secrets`.

    Raises:
        ConfigError: A variable is not set.
    """
    env = os.environ if environ is None else environ

    def substitute(found: re.Match[str]) -> str:
        name = found.group(1)
        if name not in env:
            raise ConfigError(
                f"environment variable {name} is not set", f"the configuration uses ${{{name}}}: export it"
            )
        secrets.add(env[name])
        return env[name]

    if isinstance(value, str):
        return _ENV.sub(substitute, value)
    if isinstance(value, Mapping):
        return {key: expand_env(item, secrets, env) for key, item in value.items()}
    if isinstance(value, list):
        return [expand_env(item, secrets, env) for item in value]
    return value
