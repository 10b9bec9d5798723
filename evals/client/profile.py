"""Build a `ServerSpec` from a profile and the user's overrides."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.client.spec import RequestSpec, ServerSpec
from evals.client.spec_check import SpecError, check_spec
from evals.errors import ConfigError, UnknownNameError, broken_plugin, load_plugin
from evals.secrets import Masker, in_clear, is_credential, looks_random, looks_secret, secrets_in_url
from evals.text.yaml_files import first_problem, holds, merge, read_yaml

# No credential reaches a record or a message.


_TOKENS = 8

MAX_RAW_CHARS = 256 * 1024


_CUT_BEFORE = re.compile(r"… \[cut: [\d,]+ characters\]\Z")
"""How a body that was cut ended before `raw_cut` said so."""


def was_cut(raw: str, *, raw_cut: bool) -> bool:
    """Whether a stored body is only the beginning of what was received; earlier runs say it in the body."""
    return raw_cut or (len(raw) > MAX_RAW_CHARS and _CUT_BEFORE.search(raw, MAX_RAW_CHARS) is not None)


class Redactor(Masker):
    """Masks the values that came from the environment, credentials written in clear and the URL's password.

    Args:
        secrets: Values to mask.
        spec: The server, with the environment's values filled in.
    """

    def __init__(self, secrets: Iterable[str], spec: ServerSpec) -> None:
        found = set(secrets)
        headers = [spec.headers, *(request.headers for request in _requests(spec))]
        for name, value in (item for each in headers for item in each.items()):
            if is_credential(name) or looks_random(value):
                found.update((value, value.rpartition(" ")[2]))
        if spec.login is not None:
            found.update((spec.login.oauth2.client_secret, spec.login.oauth2.basic))
        # The credentials in the body and the parameters of a question; a word such as `sort_key: title` is none.
        sent = (request.model_dump(include={"query", "body", "form"}) for request in _requests(spec))
        found.update(filter(looks_secret, (str(value) for each in sent for value in in_clear(each).values())))
        self._lasting = {*found, *secrets_in_url(spec.url)}
        self._passing: tuple[str, ...] = ()
        super().__init__(self._lasting)

    def learn(self, token: str) -> None:
        """Mask a token too, as long as it is one of the last few: an expired one opens nothing."""
        self._passing = (*self._passing[1 - _TOKENS :], token)
        super().__init__({*self._lasting, *self._passing})

    def body(self, body: bytes | bytearray) -> str:
        """A received body as text, with every secret masked."""
        return self.text(body.decode("utf-8", "replace"))


def _requests(spec: ServerSpec) -> list[RequestSpec]:
    return [spec.ask, *([spec.retrieve] if spec.retrieve is not None else [])]


_BUILT_IN = Path(__file__).parent / "profiles"


_OF_THE_PROFILE = frozenset({"about", "extends"})
"""Keys of a profile that are none of a server: what it is for, and on which other one it is laid."""

_FILE_NAMES = (".yml", ".yaml")

DEFAULT_PROFILE = "rag-server"


NO_PROFILE = "none"
"""Stands for no profile at all: the keys of `server:` are the whole specification."""


@dataclass(frozen=True, slots=True)
class _Layer:
    """One profile, without those that it extends: its keys, and its file where it is one."""

    keys: dict[str, Any]
    file: Path | None


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
    """The keys of a profile, by its name or by the path of a YAML file, laid over those of the profile it extends.

    Raises:
        ConfigError: There is no such profile or file, it is no YAML mapping, its plug-in cannot be loaded, or it
            extends itself.
    """
    whole: dict[str, Any] = {}
    for layer in reversed(_layers(name)):
        whole = merge(whole, {key: value for key, value in layer.keys.items() if key not in _OF_THE_PROFILE})
    return whole


def about_profile(name: str) -> str:
    """The `about` of a profile; empty without one.

    Raises:
        ConfigError: As of `load_profile`.
    """
    return str(_layer(name).keys.get("about") or "")


def profile_text(name: str) -> str:
    """The text of a profile's file.

    Raises:
        ConfigError: There is no such profile or file, or the profile of a plug-in is in no file.
    """
    file = _layer(name).file
    if file is None:
        raise ConfigError(f"profile {name!r} of a plug-in is in no file")
    return file.read_text(encoding="utf-8")


def _layers(name: str) -> list[_Layer]:
    """A profile, the one that it extends, the one that this extends, and so on."""
    seen: list[str] = []
    layers: list[_Layer] = []
    above: str | None = name
    while above is not None:
        if above in seen:
            raise ConfigError(
                f"the profile {name} extends itself: {' → '.join([*seen, above])}", "leave out one of the `extends`"
            )
        seen.append(above)
        layers.append(_layer(above))
        above = _extended(layers[-1], above)
    return layers


def _extended(layer: _Layer, name: str) -> str | None:
    """What a profile extends: a name, or a file's path, which is looked for next to the profile's own file."""
    extended = layer.keys.get("extends")
    if extended is None:
        return None
    if not isinstance(extended, str):
        raise ConfigError(f"the profile {name}: extends must be the name of a profile or the path of a file")
    if layer.file is None or not extended.endswith(_FILE_NAMES):
        return extended
    return os.path.normpath(layer.file.parent / extended)


def _layer(name: str) -> _Layer:
    if name == NO_PROFILE:
        return _Layer({}, None)
    if name.endswith(_FILE_NAMES):
        keys = read_yaml(Path(name), "profile")
        if "server" in keys:
            raise ConfigError(
                f"{name} is a configuration, and no profile: it has the key server", f"use --config {name}"
            )
        return _Layer(keys, Path(name))
    if name in _built_in():
        return _Layer(deepcopy(_built_in_profile(name)), _BUILT_IN / f"{name}.yml")
    for point in entry_points(group="evals.profiles", name=name):
        loaded = load_plugin(point)
        if isinstance(loaded, Mapping):
            return _Layer(dict(loaded), None)
        if isinstance(loaded, str | os.PathLike):
            return _Layer(read_yaml(Path(loaded), "profile"), Path(loaded))
        raise broken_plugin(point, f"is no profile: {loaded!r} is neither a mapping nor the path of a file")
    raise UnknownNameError("profile", name, list_profiles())


def resolve_spec(overrides: Mapping[str, Any]) -> ServerSpec:
    """Build the specification of a server from its profile with the user's keys laid over it.

    Raises:
        ConfigError: The profile does not exist, or a key is unknown or has a wrong value; it names the line and column
            of a key that stands in the profile.
    """
    name = str(overrides.get("profile") or DEFAULT_PROFILE)
    whole = merge(load_profile(name), overrides)
    try:
        spec = ServerSpec.model_validate({**whole, "profile": name})
    except ValidationError as error:
        problem = first_problem(error, ServerSpec)
        message = f"server: {problem}{_place(problem.key, name, overrides)}"
        raise SpecError(problem.key, message, problem.hint or "see docs/profiles.md for the keys") from error
    try:
        check_spec(spec, before_environment=True)
    except SpecError as error:
        key = error.key.removeprefix("server.")
        raise SpecError(key, f"{error.message}{_place(key, name, overrides)}", error.hint) from error
    return spec


def _place(key: str, profile: str, overrides: Mapping[str, Any]) -> str:
    """Where a key stands, in brackets, or where the key above it stands; nothing where neither is in a profile."""
    while key and not holds(overrides, key):
        found = next(_places(key, profile), None)
        if found is not None:
            return f" ({found})"
        key = key.rpartition(".")[0]
    return ""


def _places(key: str, profile: str) -> Iterator[str]:
    for layer in _layers(profile):
        if layer.file is not None and holds(layer.keys, key):
            yield str(layer.file)
