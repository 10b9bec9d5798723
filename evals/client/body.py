"""JSON bodies as servers really send them."""

import json
from typing import Any


def parse_json(body: bytes) -> Any:
    """Parse a JSON body into values that can be written as JSON again.

    NaN and infinities, which JSON does not know, become None; a lone surrogate, which no encoding can hold, becomes a
    question mark.

    Raises:
        ValueError: It is no JSON, or it is nested beyond reason.
    """
    try:
        value = json.loads(body, parse_constant=lambda _: None)
        return _without_surrogates(value) if b"\\ud" in body.lower() else value
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value
