"""What happens where the address of a scheduler is that of something else."""

import asyncio
import socket

import pytest

from evals.engines import cluster
from evals.engines.config import EngineConfig
from evals.errors import EngineError

pytest.importorskip("distributed")


async def _join(address: str) -> None:
    async with cluster.open_cluster(EngineConfig(name="dask", scheduler=address)):
        pass


def test_what_listens_and_is_no_scheduler_ends_the_joining(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that takes connections and says nothing is named in one message, in a bounded time."""
    monkeypatch.setattr(cluster, "_CONNECT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(EngineError, match="no scheduler answers"):
        asyncio.run(asyncio.wait_for(_join(f"tcp://127.0.0.1:{silent.getsockname()[1]}"), 10))
