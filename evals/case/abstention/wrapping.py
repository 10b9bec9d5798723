"""The text of an answer that came as a JSON object, as some servers write it."""

import json
import re
from typing import Any

_FENCE = re.compile(r"```[a-z]*\s*(\{.*\})\s*```", re.IGNORECASE | re.DOTALL)
_KEYS = ("answer", "response", "text", "result", "output")
"""Keys under which the answer stands, the likeliest first."""


def unwrapped(answer: str) -> str:
    """What stands in an object under a key for the answer: a text, or nothing; any other answer as it is."""
    text = answer.strip()
    if not text.startswith(("{", "```")):
        return answer
    fenced = _FENCE.fullmatch(text)
    try:
        found: Any = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return answer
    key = next((key for key in _KEYS if isinstance(found, dict) and key in found), None)
    if key is None or not isinstance(found[key], str | None):
        return answer
    return found[key] or ""
