"""What a run says of the cluster that asked its questions."""

from evals.schemas.base import Record


class EngineRecord(Record):
    """The cluster that asked the questions of a run."""

    name: str
    """Such as dask."""
    workers: int
    """So many took part at a time."""
    lost_workers: int = 0
    """So many were lost while they had questions in hand."""
    asked_again: int = 0
    """So many questions they had in hand, which others asked again; the server may have had them twice."""
