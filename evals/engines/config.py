"""The part of the configuration that says who does the work."""

from typing import Annotated, Literal

from pydantic import Field

from evals.schemas.base import Record
from evals.schemas.marks import MayChange

EngineName = Literal["local", "dask"]


class EngineConfig(Record):
    """Who asks, and who embeds texts: this process, or the workers of a Dask cluster (extra `dask`; docs/scale.md)."""

    name: Annotated[EngineName, MayChange.ON_RESUME] = "local"
    """local: this process. dask: the workers of a cluster."""
    scheduler: Annotated[str | None, MayChange.ON_RESUME] = Field(default=None, min_length=1)
    """Address of the cluster's scheduler, such as tcp://10.0.0.5:8786; None starts a cluster on this machine."""
    workers: Annotated[int | None, MayChange.ON_RESUME] = Field(default=None, ge=1, le=256)
    """Processes of the cluster on this machine; as many as it has cores where None."""
    jobs: Annotated[int, MayChange.ON_RESUME] = Field(default=1, ge=1, le=256)
    """Processes of this machine that score the answers once they are there; with 1 it is this one."""
