"""The base class of every record."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Finite = Annotated[float, Field(allow_inf_nan=False)]
"""A number that JSON can hold: no NaN, no infinity."""


class Record(BaseModel):
    """An immutable record that refuses unknown keys, so that a typing error is not lost in silence."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
