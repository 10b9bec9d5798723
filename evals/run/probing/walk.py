"""A body walked from its root: what stands where, as JMESPath."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DEEPEST = 6
_ROLES = frozenset({"user", "assistant", "human", "ai", "bot", "system", "agent", "tool"})
_KIND_KEYS = ("type", "kind", "role")


def child(at: str, key: str) -> str:
    """The expression of a key below another."""
    name = key if _PLAIN.fullmatch(key) else json.dumps(key, ensure_ascii=False)
    return f"{at}.{name}" if at else name


def below(at: str, path: str) -> str:
    """The expression of a relative path below another; both may be empty."""
    if not at or not path:
        return at or path
    return f"{at}{path}" if path.startswith("[") else f"{at}.{path}"


def raw(text: str) -> str:
    """A text as JMESPath writes one."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def leaves(value: Any, at: str = "", depth: int = _DEEPEST) -> Iterator[tuple[str, Any]]:
    """Everything below objects that is neither an object nor a list, with its path."""
    if isinstance(value, Mapping):
        if depth:
            for key, item in value.items():
                yield from leaves(item, child(at, key), depth - 1)
    elif not isinstance(value, list):
        yield at, value


def lists_below(value: Any, at: str = "", depth: int = _DEEPEST) -> Iterator[tuple[str, list[Any]]]:
    """Every list below objects, with its path; a list that holds nothing but one list is that one."""
    if isinstance(value, Mapping):
        if depth:
            for key, item in value.items():
                yield from lists_below(item, child(at, key), depth - 1)
    elif isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list):
            yield f"{at}[0]", value[0]
        else:
            yield at, value


def are_objects(items: Any) -> bool:
    """Whether it is a list of objects, and not empty."""
    return isinstance(items, list) and bool(items) and all(isinstance(item, Mapping) for item in items)


def are_texts(items: Any) -> bool:
    """Whether it is a list of texts, and not empty."""
    return isinstance(items, list) and bool(items) and all(isinstance(item, str) for item in items)


def columns(items: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The leaves of objects by their paths: a value for each object, None where it has none."""
    rows = [dict(leaves(item)) for item in items]
    paths = dict.fromkeys(path for row in rows for path in row)
    return {path: [row.get(path) for row in rows] for path in paths}


def kind_key(items: Sequence[Mapping[str, Any]]) -> str | None:
    """The key that says of what kind each item is; None where there is none."""
    return next((key for key in _KIND_KEYS if all(isinstance(item.get(key), str) for item in items)), None)


def within(items: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """What the lists within objects hold together, by their paths."""
    found: dict[str, list[Any]] = {}
    for path, inner in (each for item in items for each in lists_below(item)):
        found.setdefault(path, []).extend(inner)
    return found


def are_messages(items: Sequence[Mapping[str, Any]], question: str) -> bool:
    """Whether objects are those of a conversation: they say who speaks, or one of them repeats the question."""
    key = kind_key(items)
    if key is not None and {item[key].lower() for item in items} <= _ROLES:
        return True
    if any(map(_holds_message, items)):
        return True
    return len(items) > 1 and any(_repeats(item, question) for item in items)


def _holds_message(item: Mapping[str, Any]) -> bool:
    return any(isinstance(value, Mapping) and value.get("role") in _ROLES for value in item.values())


def _repeats(item: Mapping[str, Any], question: str) -> bool:
    return any(value == question for _, value in leaves(item))


def are_blocks(items: Sequence[Mapping[str, Any]]) -> bool:
    """Whether objects are typed parts of one text: a kind, a text, and nothing that says where it is from."""
    key = kind_key(items)
    if key is None:
        return False
    others = [value for item in items for name, value in item.items() if name != key]
    if any(isinstance(value, Mapping | int | float) and value != {} for value in others):
        return False
    return any(map(_is_prose, others)) and all(_text_count(item) <= 2 for item in items)


def _is_prose(value: Any) -> bool:
    return isinstance(value, str) and " " in value


def _text_count(item: Mapping[str, Any]) -> int:
    return sum(isinstance(value, str) for value in item.values())
