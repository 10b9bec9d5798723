"""Single values of a body: what they are worth as text or number, and what they are called in a message."""

import math
from typing import Any

_KINDS = {"NoneType": "null", "bool": "true or false", "int": "a number", "float": "a number", "str": "a text"}
_KINDS |= {"list": "a list", "dict": "an object"}


def text_or_none(value: Any) -> str | None:
    """The value as text: a number as its digits, anything else that is no text as None."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def number_or_none(value: Any) -> float | None:
    """The value as a finite number; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return number if math.isfinite(number) else None


def whole_or_none(value: Any) -> int | None:
    """The value as a whole number; None where it is none."""
    number = number_or_none(value)
    return int(number) if number is not None and number.is_integer() else None


def flag_or_none(value: Any) -> bool | None:
    """True or false; None for anything else, texts and numbers included."""
    return value if isinstance(value, bool) else None


def kind_of(value: Any) -> str:
    """What kind of JSON value it is, in words."""
    return _KINDS.get(type(value).__name__, type(value).__name__)
