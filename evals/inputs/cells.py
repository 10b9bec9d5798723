"""What a cell of a table says: nothing, a text, or a list, in the many ways in which tools write each."""

import ast
import io
import json
import math
import re
import tokenize
from datetime import date, datetime, time
from typing import Any

_NOTHING = frozenset({"", "nan", "null", "n/a", "#n/a", "<na>"})
_AS_CODE = re.compile(r"\s*(?:\[\s*[\[{\"']|\{\s*[\"'])")
"""How a list or object begins that is written as JSON or as a literal of Python, and no prose with a bracket."""
_BETWEEN = frozenset({tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.ENCODING})
_EXACT = 10**15
"""Below it a float holds every whole number."""


def is_nothing(value: Any) -> bool:
    """Whether it stands for no value: None, not a number, and texts such as "", "nan", "NULL" and "N/A"."""
    if isinstance(value, str):
        return value.strip().casefold() in _NOTHING
    return value is None or (isinstance(value, float) and math.isnan(value))


def as_text(value: Any) -> Any:
    """A number, a date or a word of truth as the text that a person would write; what is no such value as it is.

    True is "Yes". A whole number has no decimals: tables keep 96 as 96.0.
    """
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    return value if isinstance(value, str | dict | list | tuple) or value is None else str(value)


def as_list(value: Any) -> list[Any]:
    """The items of a list, or of a text that is one; anything else is one item. Items that say nothing are left out.

    Raises:
        ValueError: The text begins as a list or object and is none.
    """
    found = parsed(value) if isinstance(value, str) else value
    items = list(found) if isinstance(found, list | tuple) else [found]
    return [item for item in items if not is_nothing(item)]


def parsed(text: str) -> Any:
    """What a cell holds that is written as JSON, or as Python prints lists and objects; any other text as it is.

    Raises:
        ValueError: It begins as a list or object and is none.
    """
    if not _AS_CODE.match(text):
        return [] if text.strip() == "[]" else text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        found = _strings(text) or _literal(text)
        if found is None:
            raise ValueError(f"not valid JSON ({error})") from error
        return found


def _strings(text: str) -> list[str] | None:
    """The strings of a Python list; numpy prints no commas, and Python would take neighbours for one string."""
    items = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text.strip()).readline):
            if token.type == tokenize.STRING:
                items.append(ast.literal_eval(token.string))
            elif token.type not in _BETWEEN and token.string not in {"[", "]", ","}:
                return None
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    return items


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
