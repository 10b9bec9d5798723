"""Marks on the keys of the configuration: what may change of a run that has begun.

    concurrency: Annotated[int, MayChange.ON_RESUME] = 4

A key without a mark decides what is measured, so it stays as it was.
"""

from collections.abc import Iterator
from enum import Enum, auto
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel


class MayChange(Enum):
    """When the value of a key may change."""

    ON_RESUME = auto()
    """It says how questions are asked and when a run is good, not what is measured of which server."""
    ON_RESCORE = auto()
    """It says how answers are measured, not which questions are asked of which server and how."""
    ON_REMAP = auto()
    """It says how a stored body is read."""


def marked(model: type[BaseModel], mark: MayChange, prefix: str = "") -> frozenset[str]:
    """The keys of a model and of the models in it that bear a mark, as dotted paths.

    Args:
        model: Such as `EvalConfig`.
        mark: When they may change.
        prefix: What stands before each path.
    """
    return frozenset(f"{prefix}{path}" for path in _marked(model, mark))


def _marked(model: type[BaseModel], mark: MayChange) -> Iterator[str]:
    for name, field in model.model_fields.items():
        inner = _unless_null(field.annotation)
        if mark in field.metadata:
            yield name
        elif isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from (f"{name}.{path}" for path in _marked(inner, mark))


def _unless_null(annotation: Any) -> Any:
    """The type of a value where there is one: `Model | None` is a model that may be left out."""
    if get_origin(annotation) not in (Union, UnionType):
        return annotation
    parts = [part for part in get_args(annotation) if part is not type(None)]
    return parts[0] if len(parts) == 1 else annotation
