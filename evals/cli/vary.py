"""`--vary ask.json.top_k=3,5,10`: which keys of the server take which values."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import product
from math import prod
from typing import Any

from evals.errors import ConfigError
from evals.inputs.strict_yaml import YamlTextError, load_yaml
from evals.inputs.yaml_layers import merge

_HINT = "write it as --vary ask.json.top_k=3,5,10: a key of server, and its values with commas"
MOST = 64
"""More variants than these are a mistake: each asks every question."""


def vary(given: Sequence[str], variants: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, dict[str, Any]]:
    """The variants that these axes make: one for each combination of their values, and of what there is already.

    Args:
        given: Each a key below `server`, with dots between its parts, and its values; these are read as YAML is.
        variants: Those of the configuration, each of which is combined with all values.

    Returns:
        By label, the keys laid over `server`.

    Raises:
        ConfigError: One has no key or no value, a key or a value is named twice, or there are too many.
    """
    axes = [_axis(text) for text in given]
    _refuse_twice([key for key, _ in axes], "--vary names")
    there = list((variants or {"": {}}).items())
    if len(there) * prod(len(values) for _, values in axes) > MOST:
        raise ConfigError(f"these are more than {MOST} variants", "each asks every question: vary less at a time")
    return dict(_together(chosen) for chosen in product(there, *(values for _, values in axes)))


def _together(chosen: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[str, dict[str, Any]]:
    """One label, and one layer, of several."""
    labels, layers = zip(*chosen, strict=True)
    return " ".join(filter(None, labels)), reduce(merge, layers, {})


def _axis(text: str) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """The key, and for each of its values a label with the layer that sets it."""
    key, equals, values = text.partition("=")
    parts = key.strip().removeprefix("server.").split(".")
    if not equals or not all(parts):
        raise ConfigError(f"--vary {text!r} has no key or no values", _HINT)
    read = _values(values, text)
    _refuse_twice([_said(value) for value in read], f"--vary {key.strip()} has the value")
    return ".".join(parts), [(f"{parts[-1]}={_said(value)}", _layer(parts, value)) for value in read]


def _values(values: str, text: str) -> list[Any]:
    try:
        read = load_yaml(f"[{values}]")
    except YamlTextError as error:
        raise ConfigError(f"the values of --vary {text!r} cannot be read: {error}", _HINT) from None
    if not read:
        raise ConfigError(f"--vary {text!r} has no values", _HINT)
    return list(read)


def _said(value: Any) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _layer(parts: Sequence[str], value: Any) -> dict[str, Any]:
    first, *rest = parts
    return {first: _layer(rest, value) if rest else value}


def _refuse_twice(names: Sequence[str], what: str) -> None:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ConfigError(f"{what} {name} twice", "each variant is asked once; --repeats asks it more often")
