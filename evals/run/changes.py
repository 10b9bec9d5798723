"""The configuration with which the answers of a saved run are measured again."""

from collections.abc import Mapping
from typing import Any

from evals.client.spec import ServerSpec
from evals.config import EvalConfig
from evals.credentials.stored import without_credentials
from evals.errors import ConfigError
from evals.schemas import EvalRun
from evals.schemas.marks import MayChange, marked

EFFECTIVE = marked(EvalConfig, MayChange.ON_RESCORE)
"""Keys that say how answers are measured, not which questions are asked of which server and how."""
_READING = marked(ServerSpec, MayChange.ON_REMAP)
"""Keys of the server that say how a stored body is read."""
_MEASURING = marked(ServerSpec, MayChange.ON_RESCORE)
"""Keys of the server that say how its answers are measured."""


def rescore_config(source: EvalRun, *layers: Mapping[str, Any], remap: bool = False) -> EvalConfig:
    """The configuration of a saved run with something changed, to measure its answers again.

    Name, gates and engine are those of the layers only. Metrics named without a suite go without the run's suite.

    Args:
        source: The saved run.
        layers: What goes before its own configuration; later ones go before earlier ones. What they name beside the
            keys of `EFFECTIVE` must be as it was.
        remap: Whether the stored bodies are read again, so that keys which say how may change too.

    Raises:
        ConfigError: A key is unknown, a value wrong, or another value of a key would change nothing but what is
            written of the run.
    """
    dropped = {"name", "gate", "allow_uncalibrated", "engine"}
    named = {key for layer in layers for key in layer}
    if "metrics" in named and "suite" not in named:
        dropped.add("suite")
    base = {key: value for key, value in source.eval_config.items() if key not in dropped}
    config = EvalConfig.build(base, *layers)
    _refuse_idle(EvalConfig.build(base), config, remap=remap)
    return config


def _refuse_idle(before: EvalConfig, after: EvalConfig, *, remap: bool) -> None:
    was, now = _compared(before, embedded=before.embedded), _compared(after, embedded=before.embedded)
    idle = sorted(key for key in now if was[key] != now[key])
    unread: list[str] = []
    for key in _changed_of_server(before, after, remap=remap):
        (unread if key in _READING else idle).append(f"server.{key}")
    if idle:
        raise ConfigError(
            f"{', '.join(idle)} {_have(idle)} no effect on answers that are there already",
            "leave such keys out of the configuration; `evals eval` asks anew with them",
        )
    if unread:
        raise ConfigError(
            f"{', '.join(unread)} {_have(unread)} no effect unless the stored bodies are read again",
            "--remap reads them again",
        )


def _compared(config: EvalConfig, *, embedded: bool) -> dict[str, Any]:
    """The keys that must stay as they were; default datasets are those of a server that is embedded or not."""
    data = config.as_written()
    data["datasets"] = config.model_copy(update={"embedded": embedded}).dataset_names
    return {key: value for key, value in data.items() if key not in EFFECTIVE | {"server"}}


def _changed_of_server(before: EvalConfig, after: EvalConfig, *, remap: bool) -> list[str]:
    """The server's keys that changed though they must not: all, but those that say how answers are measured or read."""
    if before.server == after.server:
        return []
    profile = after.server_spec().profile
    if before.server.get("profile") != after.server.get("profile"):
        if not remap:
            return ["profile"]  # what else differs is mostly what the profile brings
        before = EvalConfig.build(before.model_dump(), {"server": {"profile": profile}})
    was, now = _spec(before), _spec(after)
    if not remap:
        was["citations"]["base"] = now["citations"]["base"]  # counted by when metrics are computed
    free = _MEASURING | (_READING if remap else frozenset())
    return sorted(key for key in now if was[key] != now[key] and key not in free)


def _spec(config: EvalConfig) -> dict[str, Any]:
    data: dict[str, Any] = without_credentials(config.server_spec().model_dump(mode="json", by_alias=True))
    return data


def _have(keys: list[str]) -> str:
    return "has" if len(keys) == 1 else "have"
