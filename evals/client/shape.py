"""What a body holds, in words for somebody who maps it: its keys, and those right below them."""

from typing import Any

from evals.client.values import kind_of

_KEYS, _KEYS_BELOW = 12, 5
"""So many keys are named; a body may have thousands."""
_KEY_CHARS = 40
_CHARS = 300


def shape_of(body: Any) -> str:
    """What the body is: `it has the keys id, choices[] (index, message), usage (total_tokens)`."""
    is_list = isinstance(body, list) and body
    shape = f"it is a list whose first item {_is(body[0])}" if is_list else f"it {_is(body)}"
    return shape if len(shape) <= _CHARS else f"{shape[:_CHARS]}…"


def _is(value: Any) -> str:
    if isinstance(value, dict) and value:
        return f"has the keys {_listed([f'{_short(key)}{_below(item)}' for key, item in value.items()], _KEYS)}"
    return f"is {kind_of(value)}" if value or not isinstance(value, dict | list) else f"is {kind_of(value)}, and empty"


def _below(item: Any) -> str:
    """What a key says of its value: [] that it is a list, and the keys of an object or of the first in the list."""
    brackets = "[]" if isinstance(item, list) else ""
    inner = item[0] if isinstance(item, list) and item else item
    keys = _listed(list(map(_short, inner)), _KEYS_BELOW) if isinstance(inner, dict) else ""
    return f"{brackets} ({keys})" if keys else brackets


def _listed(names: list[str], most: int) -> str:
    return ", ".join([*names[:most], *(["…"] if len(names) > most else [])])


def _short(key: str) -> str:
    return key if len(key) <= _KEY_CHARS else f"{key[:_KEY_CHARS]}…"
