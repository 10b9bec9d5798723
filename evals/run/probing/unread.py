"""The fields of a body that a mapping does not read."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from evals.inputs.json_body import parse_json
from evals.run.probing.walk import child

_MOST = 200
"""So many fields are looked at: each takes a reading of the body."""
Path = tuple[str | None, ...]
"""Keys from the root; None stands for every item of a list."""


def unread_fields(raw: str, read: Callable[[str], Any]) -> list[str]:
    """The fields that hold something and without which the same is read, as JMESPath.

    Args:
        raw: JSON, or a stream of lines of it.
        read: Reads such a body.
    """
    pieces = _pieces(raw)
    paths = list(dict.fromkeys(path for _, value in pieces for path in _paths(value)))[:_MOST]
    whole = read(raw)
    return [_text(path) for path in paths if read(_joined(pieces, path)) == whole]


def _pieces(raw: str) -> list[tuple[str, Any]]:
    """Each line with what stands before its JSON; a line without JSON is nothing but that. A whole body is one line."""
    try:
        return [("", parse_json(raw.encode()))]
    except ValueError:
        return [_piece(line) for line in raw.split("\n")]


def _piece(line: str) -> tuple[str, Any]:
    text = line.removeprefix("data:")
    try:
        return line.removesuffix(text), parse_json(text.encode())
    except ValueError:
        return line, None


def _joined(pieces: list[tuple[str, Any]], path: Path) -> str:
    return "\n".join(
        before if value is None else f"{before}{json.dumps(_without(value, path))}" for before, value in pieces
    )


def _paths(value: Any, at: Path = ()) -> Iterator[Path]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _paths(item, (*at, key))
    elif isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
        for item in value:
            yield from _paths(item, (*at, None))
    elif at and value not in (None, "", []):
        yield at


def _without(value: Any, path: Path) -> Any:
    if path and path[0] is None and isinstance(value, list):
        return [_without(item, path[1:]) for item in value]
    return _without_key(value, *path) if path and isinstance(value, Mapping) else value


def _without_key(value: Mapping[str | None, Any], key: str | None, *rest: str | None) -> dict[str | None, Any]:
    others = {name: item for name, item in value.items() if name != key}
    return {**value, key: _without(value[key], rest)} if rest and key in value else others


def _text(path: Path) -> str:
    text = ""
    for step in path:
        text = f"{text}[]" if step is None else child(text, step)
    return text
