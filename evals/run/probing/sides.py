"""What stands beside answer and chunks: token counts, the model, and whether a 200 says that all is well."""

from collections.abc import Mapping
from itertools import permutations
from typing import Any

from evals.run.probing.passages import selected
from evals.run.probing.walk import below, child, leaves
from evals.run.probing.words import last_name, snake

_SENT = frozenset(["prompt", "input", "in", "read", "request", "sent", "question", "prefill"])
_MADE = frozenset(
    ["completion", "output", "out", "generated", "written", "wrote", "response", "reply", "answer", "produced", "eval"]
)
_COUNTS = frozenset(["usage", "spent", "spending", "consumption", "consumed", "accounting", "billing", "cost", "costs"])
_MODELS = frozenset(["model", "model_name", "llm", "llm_model", "engine", "deployment"])
_WELL = frozenset(["ok", "success", "succeeded", "successful", "fine", "good", "completed", "complete", "done"])
_ILL = frozenset(
    ["error", "failed", "failure", "refused", "rejected", "denied", "invalid", "bad", "exception", "fault", "ko"]
)
_STATES = frozenset(["status", "state", "outcome", "result", "verdict"])
_CODES = frozenset(["code", "errcode", "err_code", "error_code", "errno", "retcode"])
_FLAGS = frozenset(["ok", "success", "succeeded", "is_ok"])
_MOST = 1_000_000
"""Tokens of one answer; more are nanoseconds or bytes."""
_ERRORS = frozenset(["error", "err", "error_msg", "error_message", "errors", "fault", "problem"])


def find_usage(body: Any, prefix: str = "") -> str | None:
    """The expression of token counts: an object with one of what was sent and one of what was made."""
    for at, value in _objects(body, ""):
        counts = {key: n for key, n in value.items() if isinstance(n, int) and not isinstance(n, bool) and n >= 0}
        pair = _pair(counts, at)
        if pair is not None:
            keys = {"prompt_tokens": child("", pair[0]), "completion_tokens": child("", pair[1])}
            place = below(prefix, at)
            return f"{place}.{selected(keys)}" if place else selected(keys)
    return None


def _objects(value: Any, at: str) -> list[tuple[str, Mapping[str, Any]]]:
    if not isinstance(value, Mapping):
        return []
    return [(at, value), *(found for key, item in value.items() for found in _objects(item, child(at, key)))]


def _pair(counts: Mapping[str, int], at: str) -> tuple[str, str] | None:
    words = {key: set(snake(key).split("_")) for key in counts}
    is_of_tokens = any("token" in snake(name) for name in (*counts, last_name(at))) or snake(last_name(at)) in _COUNTS
    sent = next((key for key in counts if words[key] & _SENT), None)
    made = next((key for key in counts if words[key] & _MADE and key != sent), None)
    if sent and made and (is_of_tokens or _has_sum(counts, sent, made)):
        return sent, made
    return None


def _has_sum(counts: Mapping[str, int], sent: str, made: str) -> bool:
    """Whether a third count is that of both."""
    return any(counts[sent] + counts[made] == counts[key] for key in counts if key not in {sent, made})


def guess_usage(body: Any, prefix: str = "") -> str | None:
    """The expression of three counts of which one is the sum of the others, whatever they are called; the greater of
    the two is taken for what was sent.
    """
    for at, value in _objects(body, ""):
        counts = {
            key: n for key, n in value.items() if isinstance(n, int) and not isinstance(n, bool) and 0 < n < _MOST
        }
        for first, second, third in permutations(counts, 3):
            if counts[first] + counts[second] == counts[third] and counts[first] > counts[second]:
                keys = {"prompt_tokens": child("", first), "completion_tokens": child("", second)}
                place = below(prefix, at)
                return f"{place}.{selected(keys)}" if place else selected(keys)
    return None


def find_model(body: Any, prefix: str = "") -> str | None:
    """The expression of the model's name."""
    for path, value in leaves(body):
        if isinstance(value, str) and snake(last_name(path)) in _MODELS:
            return below(prefix, path)
    return None


def find_ok(body: Any) -> str | None:
    """The condition under which a body is an answer, where it says so at its top."""
    if not isinstance(body, Mapping):
        return None
    for key, value in body.items():
        name = snake(key)
        if name in _FLAGS and value is True:
            return child("", key)
        if name in _STATES and isinstance(value, str) and value.lower() in _WELL:
            return f"{child('', key)} == '{value}'"
        if name in _CODES and value in {0, 200} and not isinstance(value, bool):
            return f"{child('', key)} == `{value}`"
    return next((f"!{child('', key)}" for key, v in body.items() if snake(key) in _ERRORS and not v), None)


def says_no(body: Any) -> str | None:
    """What a body of a success says went wrong; None where it says nothing of the kind."""
    if not isinstance(body, Mapping):
        return None
    for key, value in body.items():
        name = snake(key)
        wrong = (
            (name in _FLAGS and value is False)
            or (name in _STATES and isinstance(value, str) and value.lower() in _ILL)
            or (name in _CODES and isinstance(value, int) and not isinstance(value, bool) and value not in {0, 200})
            or (name in _ERRORS and isinstance(value, str | Mapping) and bool(value))
        )
        if wrong:
            return f"{key} is {value!r}"
    return None
