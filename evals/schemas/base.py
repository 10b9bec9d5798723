"""The base class of every record."""

from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Finite = Annotated[float, Field(allow_inf_nan=False)]
"""A number that JSON can hold: no NaN, no infinity."""
Text = Annotated[str, Field(min_length=0)]
"""A text that a file can hold: without half of a pair of surrogates, which a bound on the length makes pydantic see."""
_Of = TypeVar("_Of", bound="Record")
_set = object.__setattr__


class Record(BaseModel):
    """An immutable record that refuses unknown keys, so that a typing error is not lost in silence."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


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
