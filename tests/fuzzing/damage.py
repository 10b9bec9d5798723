"""How inputs are damaged: texts and bytes anywhere, values at a place of their tree; all by a generator of numbers."""

import copy
import json
import random
from typing import Any

_DEEP, _DIGITS = "@@deep@@", "@@digits@@"
_PLACEHOLDERS = {
    f'"{_DEEP}"': "[" * 5000 + "]" * 5000,
    f'"{_DIGITS}"': "9" * 5000,
}
"""What Python cannot write as JSON, though a file may hold it."""
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**63,
    1e308,
    -1e308,
    5e-324,
    float("nan"),
    float("inf"),
    "",
    " ",
    "\x00",
    "\ud800",
    "\u202e",
    "é" * 300,
    "x" * 100_000,
    "((((",
    "${HOME}",
    "${NO_SUCH_NAME}",
    "2026-13-45",
    "!!int x",
    "[[.",
    "/dev/zero",
    "/proc/self/mem",
    [],
    {},
    [[]],
    {"": ""},
    [None],
    [1, "a", {}],
    {"a": {"b": {"c": []}}},
    _DEEP,
    _DIGITS,
)
_TEXTS = (
    *("\x00", "\ufeff", "\ud800", "\n", "\r", '"', "'", "\\", "{", "}", "[", "]", ":", ",", "- ", "&a ", "*a", "|"),
    *("!!python/object:os.system ", "!!timestamp 2026-99-99", "<<: *a", "NaN", "1e999", "-", "%", "@", "`", "\t"),
    *("\\ud800", "null", "9" * 5000, "[" * 3000, "{" * 3000, "{{question}}", "${X", "#", "---\n", "\u2028"),
)
_NO_TEXTS = (b"\xff", b"\x80", b"\xc3", b"PK\x03\x04", b"\x1f\x8b")
_TOKENS = (*(text.encode("utf-8", "surrogatepass") for text in _TEXTS), *_NO_TEXTS)


def damaged_bytes(rng: random.Random, data: bytes) -> bytes:
    """The same with one to four places changed."""
    for _ in range(rng.randint(1, 4)):
        data = _damaged_once(rng, data)
    return data


def _damaged_once(rng: random.Random, data: bytes) -> bytes:
    start = rng.randint(0, len(data))
    end = min(len(data), start + rng.choice((1, 1, 2, 8, 64, 1000)))
    part, kind = data[start:end], rng.randrange(6)
    if kind == 0:
        return data[:start] + data[end:]
    if kind == 1:
        return data[:start] + part * rng.randint(2, 40) + data[end:]
    if kind == 2:
        return data[:start]
    if kind == 3 and start < len(data):
        return data[:start] + bytes([data[start] ^ 1 << rng.randrange(8)]) + data[start + 1 :]
    if kind == 4:
        there = rng.randint(0, len(data))
        return data[:there] + part + data[there:]
    return data[:start] + rng.choice(_TOKENS) + data[end if rng.random() < 0.5 else start :]


def damaged_value(rng: random.Random, value: Any) -> Any:
    """A copy with one to three places changed."""
    value = copy.deepcopy(value)
    for _ in range(rng.randint(1, 3)):
        holders = [each for each in _holders(value) if each]
        if not holders:
            return rng.choice(ODD)
        _damage(rng, rng.choice(holders))
    return value


def _holders(value: Any) -> list[Any]:
    """All lists and mappings within a value, itself among them."""
    found, left = [], [value]
    while left:
        one = left.pop()
        if isinstance(one, dict | list):
            found.append(one)
            left.extend(one.values() if isinstance(one, dict) else one)
    return found


def _damage(rng: random.Random, holder: Any) -> None:
    key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
    kind = rng.randrange(6)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        holder[key] = [holder[key]]
    elif kind == 2 and isinstance(holder, dict):
        holder[rng.choice(["", "x", f"{key} ", str(key).upper(), "\ud800", "type"])] = holder.pop(key)
    elif kind == 3 and isinstance(holder, list):
        holder.extend(copy.deepcopy(holder[key]) for _ in range(rng.choice((1, 3, 30))))
    elif kind == 4 and isinstance(holder[key], str):
        holder[key] = damaged_text(rng, holder[key])
    else:
        holder[key] = copy.deepcopy(rng.choice(ODD))


def damaged_text(rng: random.Random, text: str) -> str:
    """The same with some places changed; it may hold half of a pair of surrogates."""
    return damaged_bytes(rng, text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogateescape")


def as_json(value: Any) -> bytes:
    """A value as the text of a file, with what Python cannot write itself."""
    text = json.dumps(value)
    for placeholder, written in _PLACEHOLDERS.items():
        text = text.replace(placeholder, written)
    return text.encode()


def damaged_json(rng: random.Random, value: Any) -> bytes:
    """A value damaged as a value or as a text."""
    if rng.random() < 0.7:
        return as_json(damaged_value(rng, value))
    return damaged_bytes(rng, as_json(value))
