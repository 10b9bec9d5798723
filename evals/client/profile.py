"""From a profile's name and the user's overrides to a `ServerSpec`."""

import os
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals import plugins
from evals.client.spec import ServerSpec
from evals.errors import ConfigError, UnknownNameError
from evals.inputs.problems import first_problem
from evals.inputs.yaml_layers import merge, read_yaml

_BUILT_IN = Path(__file__).parent / "profiles"
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
        ConfigError: There is no such profile or file, it is no YAML mapping, or its plug-in cannot be loaded.
    """
    if name.endswith((".yml", ".yaml")):
        return read_yaml(Path(name), "profile")
    if name in _built_in():
        return deepcopy(_built_in_profile(name))
    for point in entry_points(group="evals.profiles", name=name):
        loaded = plugins.load(point)
        if isinstance(loaded, Mapping):
            return dict(loaded)
        if isinstance(loaded, str | os.PathLike):
            return read_yaml(Path(loaded), "profile")
        raise plugins.broken(point, f"is no profile: {loaded!r} is neither a mapping nor the path of a file")
    raise UnknownNameError("profile", name, list_profiles())


def resolve_spec(overrides: Mapping[str, Any]) -> ServerSpec:
    """Build the specification of a server from its profile with the user's keys laid over it.

    Raises:
        ConfigError: The profile does not exist, or a key is unknown or has a wrong value.
    """
    name = str(overrides.get("profile") or DEFAULT_PROFILE)
    try:
        return ServerSpec.model_validate({**merge(load_profile(name), overrides), "profile": name})
    except ValidationError as error:
        problem = first_problem(error, ServerSpec)
        raise ConfigError(f"server: {problem}", problem.hint or "see docs/profiles.md for the keys") from error
