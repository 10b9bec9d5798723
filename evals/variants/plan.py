"""The configuration of each variant."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from evals.client.profile import resolve_spec
from evals.config import DEFAULT_SUITE, EvalConfig
from evals.errors import ConfigError
from evals.inputs.yaml_layers import merge
from evals.metrics.retrieval import SetPrecision

FEWEST = 2


def variants_of(config: EvalConfig) -> list[EvalConfig]:
    """The configuration of each variant: its keys laid over `server`, its label in the name, its share of the budget.

    Raises:
        ConfigError: There are fewer than two variants, or two ask the same server in the same way.
    """
    if len(config.variants) < FEWEST:
        raise ConfigError("one variant compares with nothing", "give two values or more, or leave variants out")
    if config.engine.name == "dask":
        raise ConfigError(
            "variants are asked in turn by this process, and not by workers of a cluster", "leave engine out"
        )
    if config.load:
        raise ConfigError(
            "variants are asked in turn, and a sweep of load level by level", "sweep the load of one variant at a time"
        )
    made = [_variant(config, label) for label in config.variants]
    _refuse_alike(config, made)
    return made


def _variant(config: EvalConfig, label: str) -> EvalConfig:
    budget = config.judge.max_cost_usd
    share = None if budget is None else budget / len(config.variants)
    changed = {
        "variants": {},
        "server": merge(config.server, config.variants[label]),
        "name": f"{config.name} {label}" if config.name else label,
        "judge": config.judge.model_copy(update={"max_cost_usd": share}),
        **_measures(config),
    }
    return config.model_copy(update=changed)


def _measures(config: EvalConfig) -> dict[str, list[str]]:
    """The suites and metrics; beside those of `core`, the precision of however many chunks a variant returns."""
    if DEFAULT_SUITE not in config.suite_names:
        return {}
    return {"suite": config.suite_names, "metrics": list(dict.fromkeys([*config.metrics, SetPrecision.name]))}


def _refuse_alike(config: EvalConfig, made: list[EvalConfig]) -> None:
    """Stop at two variants that do not differ, unless both say nothing: a test of equal ones is told to be one."""
    specs = [each.server_spec().model_dump_json() for each in made]  # as text, where true is not 1
    for (one, its), (other, same) in combinations(zip(config.variants, specs, strict=True), 2):
        if its == same and (config.variants[one] or config.variants[other]):
            raise ConfigError(
                f"variants {one!r} and {other!r} ask alike",
                "a key is set to the value that it has already; for a test of equal variants write both as {}",
            )


def added_fields(config: EvalConfig) -> list[str]:
    """Fields of a JSON body that variants set and the request of their server does not have, such as `ask.json.top_k`.

    They are added to the request: a server may have fields that its profile does not know. One that it does not have
    either is ignored by most servers, so that its variants are alike.
    """
    return list(dict.fromkeys(path for over in config.variants.values() for path in _added(config, over)))


def _added(config: EvalConfig, over: Mapping[str, Any]) -> Iterator[str]:
    kind = {"profile": over["profile"]} if "profile" in over else {}
    spec = resolve_spec({**config.server, **kind})
    for name, request in (("ask", spec.ask), ("retrieve", spec.retrieve)):
        part = over.get(name)
        body = part.get("json") if isinstance(part, Mapping) else None
        if request is not None and isinstance(body, Mapping) and "{{" not in str(body):  # else it replaces the whole
            yield from _beyond(body, request.body, f"{name}.json")


def _beyond(over: Mapping[str, Any], base: Any, at: str) -> Iterator[str]:
    known = base if isinstance(base, Mapping) else {}
    for key, value in over.items():
        if key not in known:
            yield f"{at}.{key}"
        elif isinstance(value, Mapping):
            yield from _beyond(value, known[key], f"{at}.{key}")
