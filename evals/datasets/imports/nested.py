"""Rows whose columns stand within objects: the exports of LangSmith, Phoenix and MLflow, and their CSV forms."""

from collections.abc import Mapping
from typing import Any

from evals.datasets.imports.columns import plain_name
from evals.inputs.cells import is_nothing, parsed

_ASKED = frozenset({"input", "inputs", "expectations"})
"""Objects whose keys are columns."""
_SAID = frozenset({"output", "outputs", "reference_outputs"})
"""Objects that hold an answer, and what went with it."""
_ANSWERS = (
    "expected_answer",
    "expected_response",
    "reference",
    "ground_truth",
    "answer",
    "output",
    "response",
    "result",
    "text",
)


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the keys of its objects as columns; a column that is there already goes before them.

    Raises:
        ValueError: A cell begins as an object and is none.
    """
    result: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for title, cell in row.items():
        name = plain_name(str(title))
        value = parsed(cell) if name in _ASKED | _SAID and isinstance(cell, str) else cell
        if name in _ASKED and isinstance(value, Mapping):
            inner |= value
        elif name in _SAID and isinstance(value, Mapping):
            result[title] = _answer_of(value)
        elif name == "inputs":
            result["input"] = value
        elif name != "expectations":
            result[title] = value
    return {**inner, **result}


def _answer_of(said: Mapping[str, Any]) -> Any:
    """The answer among what stands beside it; the whole where none of its keys is one."""
    named = {plain_name(str(key)): value for key, value in said.items() if not is_nothing(value)}
    if len(named) == 1:
        return next(iter(named.values()))
    return next((named[name] for name in _ANSWERS if name in named), dict(said) if named else None)
