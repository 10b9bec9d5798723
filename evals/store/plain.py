"""Which values are the same once they were written as JSON and read again."""

from collections.abc import Iterable
from math import isfinite
from typing import Any

_DEEPEST = 50
"""So far within each other may lists and objects stand: readers of JSON have a limit."""
_BITS = 64


def is_plain(value: Any, deepest: int = _DEEPEST) -> bool:
    """Whether JSON gives back the value as it is, types included.

    It does not for tuples, dates, numbers that are none, keys that are no texts, and texts that are not Unicode.
    """
    kind = type(value)
    if kind is dict:
        return all(map(_is_plain_text, value)) and _are_plain(value.values(), deepest)
    if kind is list:
        return _are_plain(value, deepest)
    return value is None or kind is bool or _is_plain_text(value) or _is_plain_number(value)


def _are_plain(values: Iterable[Any], deepest: int) -> bool:
    return deepest > 0 and all(is_plain(each, deepest - 1) for each in values)


def _is_plain_text(value: Any) -> bool:
    """Whether it is a text in which no half of a surrogate pair stands alone."""
    return type(value) is str and (value.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in value))


def _is_plain_number(value: Any) -> bool:
    return (type(value) is int and value.bit_length() < _BITS) or (type(value) is float and isfinite(value))
