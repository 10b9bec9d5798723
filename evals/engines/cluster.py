"""A Dask cluster as the engine uses it: who is there, and one call at a time on one worker or any.

Dask lives on an event loop in a thread of its own, so that its heartbeats go on while this process scores.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from evals.engines.config import EngineConfig
from evals.errors import EngineError
from evals.runtime import SideLoop
from evals.version import __version__

_CONNECT_S = 10.0
PATIENCE_S = 60.0
"""How long a cluster may be without any worker."""
_LOOK_S = 0.2
_SAME = "each worker needs the same rag-evals as this process, with the same extras"


class Cluster:
    """A cluster that was started or joined.

    Args:
        side: Where Dask lives.
        client: Of Dask.
        own: The cluster on this machine that ends with the run; None where it is somebody else's.
    """

    def __init__(self, side: SideLoop, client: Any, own: Any) -> None:
        self._side = side
        self._client = client
        self._own = own

    @property
    def dashboard(self) -> str:
        """The address of Dask's dashboard."""
        return str(self._client.dashboard_link)

    async def workers(self) -> list[str]:
        """The addresses of the workers that are there, in a fixed order."""

        async def ask() -> list[str]:
            return sorted(await self._client.nthreads())

        return await self._side.run(ask())

    async def call(self, worker: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function on this worker, and nowhere else; cancelling it lets go of the result.

        Raises:
            Exception: What the function raised, or Dask where the worker is lost; where it only waits for a lost worker
                it does not return.
        """
        return await self._side.run(self._call([worker], function, *arguments))

    def wait(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function on any worker, and block this thread; the scheduler calls it again where a worker is lost.

        Raises:
            RuntimeError: Dask could not have it done.
            Exception: What the function raised.
        """
        try:
            return self._side.wait(self._call(None, function, *arguments))
        except Exception as error:
            if type(error).__module__.partition(".")[0] == "distributed":
                raise RuntimeError(f"the cluster could not do it: {type(error).__name__}: {error}") from error
            raise

    async def _call(self, workers: list[str] | None, function: Callable[..., Any], *arguments: Any) -> Any:
        future = self._client.submit(
            function, *arguments, workers=workers, allow_other_workers=False, pure=False, retries=0
        )
        try:
            return await future
        finally:
            future.release()

    async def equip(self, plugin: Any) -> None:
        """Give every worker a plugin, also those that come later."""

        async def register() -> None:
            await self._client.register_plugin(plugin)

        await self._side.run(register())

    async def strip(self, name: str) -> None:
        """Take the plugin of this name away."""

        async def unregister() -> None:
            await self._client.unregister_worker_plugin(name)

        await self._side.run(unregister())

    async def close(self) -> None:
        """Leave the cluster, and end it where it is this process's own."""

        async def leave() -> None:
            await self._client.close()
            if self._own is not None:
                await self._own.close()

        await self._side.run(leave())


@asynccontextmanager
async def open_cluster(config: EngineConfig) -> AsyncIterator[Cluster]:
    """Start a cluster on this machine, or join the one of a scheduler; every worker runs this version.

    Raises:
        EngineError: No scheduler answers, or a worker lacks rag-evals or has another version.
    """
    side = SideLoop("evals dask")
    try:
        cluster = await side.run(_open(side, config))
        try:
            await _wait_for_one(cluster)
            await _check_versions(cluster)
            yield cluster
        finally:
            await cluster.close()
    finally:
        side.close()


async def _open(side: SideLoop, config: EngineConfig) -> Cluster:
    from distributed import Client, LocalCluster  # noqa: PLC0415 - half a second, and an extra

    if config.scheduler is None:
        own = await LocalCluster(
            n_workers=config.workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            asynchronous=True,
            silence_logs=logging.CRITICAL,
        )
        return Cluster(side, await Client(own, asynchronous=True), own)
    try:
        client = Client(config.scheduler, asynchronous=True, timeout=_CONNECT_S)
        async with _closed_unless_there(client), asyncio.timeout(2 * _CONNECT_S):  # Dask's own bounds the first step
            await client
    except (OSError, ValueError) as error:  # a timeout is an OSError
        raise _no_scheduler(config, str(error) or "what listens there is none") from error
    except MemoryError as error:  # the first bytes are read as a size
        raise _no_scheduler(config, "what listens there is none") from error
    except TypeError as error:  # of a tls:// address
        raise _no_scheduler(config, f"Dask's own configuration does not fit it: {error}") from error
    return Cluster(side, client, None)


@asynccontextmanager
async def _closed_unless_there(client: Any) -> AsyncIterator[None]:
    """Close a client that never came to its scheduler; left alone it would complain when it is forgotten."""
    try:
        yield
    except BaseException:
        with suppress(Exception):
            async with asyncio.timeout(_LOOK_S):
                await client.close(timeout=_LOOK_S)
        raise


def _no_scheduler(config: EngineConfig, why: str) -> EngineError:
    return EngineError(
        f"no scheduler answers at {config.scheduler}: {why}",
        "start one with `dask scheduler`, or leave --scheduler out for a cluster on this machine",
    )


async def _wait_for_one(cluster: Cluster) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not await cluster.workers():
        if time.monotonic() > deadline:
            raise EngineError(f"the cluster had no worker for {PATIENCE_S:g} s", "start workers with `dask worker`")
        await asyncio.sleep(_LOOK_S)


async def _check_versions(cluster: Cluster) -> None:
    for worker in await cluster.workers():
        try:
            there = await cluster.call(worker, version_here)
        except Exception as error:
            raise EngineError(f"worker {worker} cannot work: {type(error).__name__}: {error}", _SAME) from error
        if there != __version__:
            raise EngineError(f"worker {worker} runs rag-evals {there}, and this process {__version__}", _SAME)


def version_here() -> str:
    """The version of rag-evals of this process."""
    return __version__
