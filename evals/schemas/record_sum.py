"""What a run's file says of its records file, so that a copy that lost or changed something is known for one."""

from pydantic import Field

from evals.schemas.base import Record


class RecordSum(Record):
    """The records file of a run, as it was when the run was saved."""

    count: int = Field(ge=0)
    """Records in it: one a question."""
    size: int = Field(ge=0)
    """Its bytes."""
    crc32: int = Field(ge=0, le=0xFFFFFFFF)
    """CRC-32 over all its bytes (ISO 3309, as zlib computes it)."""
