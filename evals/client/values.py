"""Single values of a body: what they are worth as text or number, and what they are called in a message."""

from typing import Any

PLAUSIBLE = 1e12
"""Beyond it, in either direction, no number that a server gives is a score or a confidence."""
PLAUSIBLE_WHOLE = 10**9
"""The same of tokens, places in a text and numbers of chunks."""

_KINDS = {"NoneType": "null", "bool": "true or false", "int": "a number", "float": "a number", "str": "a text"}
_KINDS |= {"list": "a list", "dict": "an object"}


def text_or_none(value: Any) -> str | None:
    """The value as text: a number as its digits, anything else that is no text as None."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def number_or_none(value: Any) -> float | None:
    """The value as a number; None where it is none, or beyond what is plausible."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return number if abs(number) <= PLAUSIBLE else None  # which NaN is not either


def whole_or_none(value: Any) -> int | None:
    """The value as a whole number; None where it is none, or beyond what is plausible."""
    number = number_or_none(value)
    return int(number) if number is not None and number.is_integer() and abs(number) <= PLAUSIBLE_WHOLE else None


def is_lost(given: Any, read: float | None) -> bool:
    """Whether a number was given that is left out."""
    return read is None and isinstance(given, int | float) and not isinstance(given, bool)


def flag_or_none(value: Any) -> bool | None:
    """True or false; None for anything else, texts and numbers included."""
    return value if isinstance(value, bool) else None


def kind_of(value: Any) -> str:
    """What kind of JSON value it is, in words."""
    return _KINDS.get(type(value).__name__, type(value).__name__)
