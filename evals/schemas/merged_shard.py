"""What a merged run says of each run that it was made of."""

from typing import Literal

from evals.schemas.base import Finite, Record

RunStatus = Literal["complete", "partial", "failed"]


class MergedShard(Record):
    """A run that asked a part of the questions of another run."""

    id: str
    shard: str
    """Which part it asked, such as 2/7."""
    status: RunStatus
    duration_s: Finite
