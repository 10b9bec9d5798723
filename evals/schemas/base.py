"""The base class of every record."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cache
from html import escape
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    import pandas as pd


# Marks on the keys of the configuration: what may change of a run that has begun.


class MayChange(Enum):
    """When a configuration key may change; one without a mark never may."""

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


# Rows as tables: for pandas, and for notebooks.


def frame(rows: Iterable[Mapping[str, Any]], index: str) -> "pd.DataFrame":
    """A table of rows that may have different keys, indexed by one of them; what a row does not have is missing.

    Args:
        rows: Of values by column.
        index: The column that names the rows.
    """
    import pandas as pd  # noqa: PLC0415 - half a second, and only who wants a table needs it

    given = list(rows)
    columns = list(dict.fromkeys(key for row in given for key in row)) or [index]
    return pd.DataFrame(given, columns=columns).set_index(index)


def html_table(header: Sequence[str], rows: Iterable[Sequence[object]], caption: str) -> str:
    """A plain HTML table, in which nothing but text is left of what was given."""
    head = "".join(f"<th>{escape(title)}</th>" for title in header)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


Finite = Annotated[float, Field(allow_inf_nan=False)]
"""A number that JSON can hold: no NaN, no infinity."""


Text = Annotated[str, Field(min_length=0)]
"""A text that a file can hold: without half of a pair of surrogates, which a bound on the length makes pydantic see."""

_Of = TypeVar("_Of", bound="Record")

_set = object.__setattr__


class Record(BaseModel):
    """An immutable record that refuses unknown keys, so that a typing error is not lost in silence."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def is_none(value: Any) -> bool:
    """Whether a field is None: `exclude_if` of those that a file holds only where there is something to say."""
    return value is None


class Sum(Record):
    """A record of counts, which can be added up; a text in it stays that of the first."""

    def __add__(self, other: Self) -> Self:
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in type(self).model_fields}
        return type(self)(
            **{name: one if isinstance(one, str | None) else one + two for name, (one, two) in pairs.items()}
        )


def unchecked(kind: type[_Of], fields: dict[str, Any]) -> _Of:
    """A record of values that are known to be right: nothing is checked, converted or copied.

    For what is made thousands of times a second; `model_construct` takes longer than checking does.

    Args:
        kind: The record's class, one without private attributes.
        fields: All of its fields, in their order; it becomes the record's own.
    """
    record = kind.__new__(kind)
    _set(record, "__dict__", fields)
    _set(record, "__pydantic_fields_set__", _names_of(kind))
    _set(record, "__pydantic_extra__", None)
    _set(record, "__pydantic_private__", None)
    return record


@cache
def _names_of(kind: type[Record]) -> set[str]:
    """The names of a record's fields, one set for all of its kind: pydantic copies it before it changes it."""
    return set(kind.model_fields)
