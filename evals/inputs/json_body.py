"""JSON bodies as servers really send them."""

import json
import math
import re
from itertools import islice
from typing import Any

MAX_DEPTH = 100
"""Deeper than any answer, and well below what can be written as JSON again."""


MAX_VALUES = 500_000
"""In memory, each takes a hundred bytes and more, whatever it takes in the body."""


class TooManyValuesError(ValueError):
    """A body holds more values than any answer does."""


def parse_json(body: bytes) -> Any:
    """Parse a JSON body into values that can be written as JSON again.

    NaN and infinities, which JSON does not know, become None; a lone surrogate, which no encoding can hold, becomes a
    question mark.

    Raises:
        TooManyValuesError: It holds over `MAX_VALUES`.
        ValueError: It is no JSON, or it is nested beyond reason.
    """
    _check_count(body)
    try:
        value = _DECODER.decode(body.decode(json.detect_encoding(body), "surrogatepass"))
        if body.count(b"[") + body.count(b"{") > MAX_DEPTH:
            _check_depth(value)
        return without_surrogates(value) if _may_hold_surrogates(body) else value
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def _check_count(body: bytes) -> None:
    """Count what stands before a value, within texts only where that decides."""
    if len(body) <= MAX_VALUES:
        return  # each value takes a byte, and most bodies are shorter than that
    if sum(map(body.count, (b",", b"[", b"{", b":"))) <= MAX_VALUES:
        return
    outside = (found for found in _TEXT_OR_SIGN.finditer(body) if found.lastindex)
    if next(islice(outside, MAX_VALUES, None), None) is not None:
        raise TooManyValuesError(f"the JSON holds over {MAX_VALUES:,} values")


_TEXT_OR_SIGN = re.compile(rb'"(?:[^"\\]|\\.)*+"|([,:\[{])', re.DOTALL)


def parse_stored(data: bytes) -> Any:
    """Parse JSON that evals wrote itself, which somebody may have edited since.

    Numbers are left as they are: a record says of each which it takes. Of surrogates it says what `parse_json` says.

    Raises:
        ValueError: It is no JSON, or it is nested beyond reason.
    """
    try:
        value = json.loads(data)
        return without_surrogates(value) if _may_hold_surrogates(data) else value
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


_DECODER = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_finite)
"""Made once: making one takes as long as parsing an answer."""


def _may_hold_surrogates(body: bytes) -> bool:
    """Whether a look at every text is needed; a few false alarms cost less than always looking."""
    escaped = b"\\u" in body and (b"\\ud" in body or b"\\uD" in body)
    return escaped or b"\xed" in body or b"\x00" in body


def _check_depth(value: Any) -> None:
    level, depth = [value], 0
    while level := [item for parent in level for item in _children(parent)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError("the JSON is nested too deeply")


def _children(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def without_surrogates(value: Any) -> Any:
    """A parsed JSON value with a question mark in the place of each lone surrogate, also in the names of fields."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    return value
