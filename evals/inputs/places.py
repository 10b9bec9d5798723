"""Where a key stands in the file that it was read from."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from yaml import YAMLError

from evals.inputs.strict_yaml import find_place
from evals.inputs.yaml_layers import read_yaml, text_of


class FileLayer(dict[str, Any]):
    """The keys of a YAML file.

    Attributes:
        file: Where they were read from.
    """

    def __init__(self, file: Path, keys: Mapping[str, Any]) -> None:
        super().__init__(keys)
        self.file = file


def read_layer(path: Path, what: str) -> FileLayer:
    """Read a YAML file that holds a mapping, and remember which it was.

    Raises:
        ConfigError: As of `read_yaml`.
    """
    return FileLayer(path, read_yaml(path, what))


def holds(keys: Mapping[str, Any], path: str) -> bool:
    """Whether a path of keys and numbers, such as `info.0.path`, leads to something."""
    place: Any = keys
    for key in path.split("."):
        if isinstance(place, Mapping) and key in place:
            place = place[key]
        elif isinstance(place, list) and key.isdecimal() and int(key) < len(place):
            place = place[int(key)]
        else:
            return False
    return bool(path)


def place_in(path: Path, key: str) -> str | None:
    """Where a key of a YAML file stands: `profile.yml, line 3, column 5`; None where it does not, or no more.

    Args:
        path: A file that was read before.
        key: With all keys above it: `ask.json`.
    """
    try:
        found = find_place(text_of(path), key.split("."))
    except (OSError, UnicodeDecodeError, YAMLError):
        return None
    return f"{path}, line {found[0]}, column {found[1]}" if found else None


def place_among(layers: Iterable[Mapping[str, Any]], key: str) -> str | None:
    """Where a key stands in the last of several layers that has it; None where that is none of a file."""
    layer = next((layer for layer in reversed([*layers]) if holds(layer, key)), None)
    return place_in(layer.file, key) if isinstance(layer, FileLayer) else None
