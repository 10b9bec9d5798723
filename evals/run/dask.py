"""`--dask`: questions are asked by the workers of a Dask cluster; responses are journalled by this process.

A task asks one question. Its thread is given back while it waits for the server, so a worker has as many questions in
flight as are in hand; Dask runs the tasks of a lost worker again elsewhere.
"""

import asyncio
import logging
import os
import threading
from secrets import token_hex
from typing import Any, Self

from distributed import Client, LocalCluster, WorkerPlugin, get_worker, secede
from distributed.client import FutureCancelledError
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker

from evals import __version__
from evals.client.rag_client import RAGClient
from evals.config import EvalConfig
from evals.errors import EngineError
from evals.run.observer import Observer
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import EngineRecord

_CONNECT_S = 10.0
_WORKERS_S = 60.0
_HINT = "start a scheduler with `dask scheduler` and workers with `dask worker`, or use --dask local"


class ClusterAsker:
    """Asks on a cluster; use as `async with ClusterAsker(...) as cluster`, then `await cluster.ask(question)`.

    Args:
        config: Its `dask` is "local", or the address of a scheduler.
        client: Of the server, whose specification the workers get with ${NAME} as written.
        observer: Receives the address of the dashboard.

    Raises:
        EngineError: No scheduler answers, no worker comes, or one has another version of rag-evals.
    """

    def __init__(self, config: EvalConfig, client: RAGClient, observer: Observer) -> None:
        self._address = config.dask or "local"
        self._worker = _AskingWorker(client, config)
        self._pause_s = 1 / config.rps if config.rps else 0.0
        self._next_start = 0.0
        self._observer = observer
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # it logs tracebacks of what is an error of ours

    async def __aenter__(self) -> Self:
        self._own = None
        try:
            if self._address == "local":
                self._own = await LocalCluster(
                    n_workers=os.cpu_count(),
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                    asynchronous=True,
                    silence_logs=logging.CRITICAL,
                )
            self._dask = Client(self._own or self._address, asynchronous=True, timeout=_CONNECT_S)
            async with asyncio.timeout(2 * _CONNECT_S):
                await self._dask
            await self._dask.wait_for_workers(1, _WORKERS_S)
            self._known = set(await self._dask.nthreads())
            await self._check_versions()
            await self._dask.register_plugin(self._worker)
        except (OSError, ValueError, TypeError, MemoryError) as error:  # a timeout; first bytes that are no scheduler's
            await self._close()
            raise EngineError(f"the Dask cluster {self._address} cannot be used: {error}", _HINT) from error
        except EngineError:
            await self._close()
            raise
        self._observer.note(f"the dashboard of the cluster: {self._dask.dashboard_link}")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    async def ask(self, question: EvalQuestion) -> EvalResponse:
        """Ask on one of the workers.

        Raises:
            EngineError: The scheduler is lost, or workers are killed by this question again and again.
        """
        await self._pace()
        name, data = self._worker.name, question.model_dump_json().encode()
        future = self._dask.submit(_ask_here, name, data, pure=False, key=f"ask-{token_hex(8)}")
        try:
            return EvalResponse.model_validate_json(await future)
        except KilledWorker as error:
            raise EngineError(f"the workers of the cluster die: {error}", _HINT) from error
        except (OSError, CommClosedError, FutureCancelledError) as error:
            raise self._lost() from error
        except asyncio.CancelledError as error:
            if self._dask.status == "running" and not future.cancelled():
                raise
            raise self._lost() from error

    async def record(self) -> EngineRecord:
        """The cluster, as the run says of it: workers that were there at the beginning or are at the end."""
        left = set(await self._dask.nthreads())
        known = self._known | left
        return EngineRecord(name="dask", workers=len(known), lost_workers=len(known - left))

    def _lost(self) -> EngineError:
        return EngineError(f"the Dask scheduler {self._address} is lost", "start it again, or continue without --dask")

    async def _pace(self) -> None:
        """Wait for the next start, where `rps` limits how many questions start in a second."""
        if self._pause_s:
            now = asyncio.get_running_loop().time()
            self._next_start = max(now, self._next_start + self._pause_s)
            await asyncio.sleep(self._next_start - now)

    async def _check_versions(self) -> None:
        for worker, version in (await self._dask.run(lambda: __version__)).items():
            if version != __version__:
                raise EngineError(f"worker {worker} runs rag-evals {version}, this process {__version__}", _HINT)

    async def _close(self) -> None:
        if getattr(self, "_dask", None) is not None:
            await self._dask.close(timeout=_CONNECT_S)
        if self._own is not None:
            await self._own.close(timeout=_CONNECT_S)


class _AskingWorker(WorkerPlugin):  # type: ignore[misc]  # Dask publishes no types
    """A client of the server on each worker, with an event loop in a thread of its own."""

    def __init__(self, client: RAGClient, config: EvalConfig) -> None:
        self.name = f"evals-{token_hex(4)}"
        self._spec, self._names = client.template, dict(client.reader.document_names)
        self._concurrency, self._attempts = config.concurrency, config.max_attempts
        self._run_id = client.run_id

    def setup(self, worker: Any) -> None:
        """Begin on a worker; Dask calls it."""
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="evals asking", daemon=True).start()
        self._client: RAGClient | None = None
        self._opening = threading.Lock()

    def teardown(self, worker: Any) -> None:
        """Close the connections; Dask calls it."""
        if self._client is not None:
            self._run(self._client.__aexit__())
        self._loop.call_soon_threadsafe(self._loop.stop)

    def ask(self, data: bytes) -> bytes:
        """Ask a question, and block this thread until it is answered."""
        with self._opening:
            if self._client is None:
                client = RAGClient(self._spec, concurrency=self._concurrency, max_attempts=self._attempts)
                client.reader.document_names = self._names
                client.run_id = self._run_id
                self._client = self._run(client.__aenter__())
        response: EvalResponse = self._run(self._client.ask(EvalQuestion.model_validate_json(data)))
        return response.model_dump_json().encode()

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def _ask_here(plugin: str, data: bytes) -> bytes:
    """Ask on this worker; its next task may begin meanwhile."""
    asker = get_worker().plugins[plugin]
    secede()
    answer: bytes = asker.ask(data)
    return answer
