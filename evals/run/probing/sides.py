"""What stands beside answer and chunks: token counts, the model, and whether a 200 says that all is well."""

from collections.abc import Callable, Iterator, Mapping
from itertools import permutations
from typing import Any

from evals.run.probing.passages import selected
from evals.run.probing.walk import below, child, leaves
from evals.run.probing.words import last_name, names_in, snake

_SENT = names_in("prompt input in read request sent question prefill")
_MADE = names_in("completion output out generated written wrote response reply answer produced eval")
_COUNTS = names_in("usage spent spending consumption consumed accounting billing cost costs")
_MODELS = names_in("model model_name llm llm_model engine deployment")
_WELL = names_in("ok success succeeded successful fine good completed complete done")
_ILL = names_in("error failed failure refused rejected denied invalid bad exception fault ko")
_STATES = names_in("status state outcome result verdict")
_CODES = names_in("code errcode err_code error_code errno retcode")
_FLAGS = names_in("ok success succeeded is_ok")
_ERRORS = names_in("error err error_msg error_message errors fault problem")
_MOST = 1_000_000
"""Tokens of one answer; more are nanoseconds or bytes."""


def find_usage(body: Any, prefix: str = "") -> str | None:
    """The expression of token counts: an object with one of what was sent and one of what was made."""
    return _first_pair(body, prefix, _named_pair)


def guess_usage(body: Any, prefix: str = "") -> str | None:
    """The expression of three counts of which one is the sum of the others, whatever they are called.

    The greater of the two is taken for what was sent.
    """
    return _first_pair(body, prefix, _summed_pair)


def _first_pair(
    body: Any, prefix: str, pair_of: Callable[[Mapping[str, int], str], tuple[str, str] | None]
) -> str | None:
    for at, value in _objects(body, ""):
        counts = {key: number for key, number in value.items() if _is_count(number)}
        pair = pair_of(counts, at)
        if pair is not None:
            keys = {"prompt_tokens": child("", pair[0]), "completion_tokens": child("", pair[1])}
            return ".".join(filter(None, [below(prefix, at), selected(keys)]))
    return None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def _objects(value: Any, at: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        yield at, value
        for key, item in value.items():
            yield from _objects(item, child(at, key))


def _named_pair(counts: Mapping[str, int], at: str) -> tuple[str, str] | None:
    sent = _called(counts, _SENT)
    made = _called(counts, _MADE)
    if sent is None or made is None or sent == made:
        return None
    is_of_tokens = any("token" in snake(name) for name in (*counts, last_name(at)))
    is_sum = counts[sent] + counts[made] in [counts[key] for key in set(counts) - {sent, made}]
    return (sent, made) if is_of_tokens or is_sum or snake(last_name(at)) in _COUNTS else None


def _called(counts: Mapping[str, int], names: frozenset[str]) -> str | None:
    return next((key for key in counts if names & set(snake(key).split("_"))), None)


def _summed_pair(counts: Mapping[str, int], _: str) -> tuple[str, str] | None:
    for first, second, both in permutations(counts, 3):
        if counts[first] > counts[second] > 0 and counts[first] + counts[second] == counts[both]:
            return first, second
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
    conditions = (_when_well(child("", key), snake(key), value) for key, value in body.items())
    empty = (f"!{child('', key)}" for key, value in body.items() if snake(key) in _ERRORS and not value)
    rpc = ["!error"] if "jsonrpc" in body else []  # which has either a result or an error
    return next(filter(None, (*conditions, *empty, *rpc)), None)


def _when_well(key: str, name: str, value: Any) -> str | None:
    if name in _FLAGS and value is True:
        return key
    if name in _STATES and isinstance(value, str) and value.lower() in _WELL:
        return f"{key} == '{value}'"
    return f"{key} == `{value}`" if name in _CODES and _is_count(value) and value in {0, 200} else None


def says_no(body: Any) -> str | None:
    """What a body of a success says went wrong; None where it says nothing of the kind."""
    if not isinstance(body, Mapping):
        return None
    wrong = (f"{key} is {value!r}" for key, value in body.items() if _is_ill(snake(key), value))
    return next(wrong, None)


def _is_ill(name: str, value: Any) -> bool:
    if name in _FLAGS:
        return value is False
    if name in _STATES:
        return isinstance(value, str) and value.lower() in _ILL
    if name in _CODES:
        return isinstance(value, int) and not isinstance(value, bool) and value not in {0, 200}
    return name in _ERRORS and isinstance(value, str | Mapping) and bool(value)
