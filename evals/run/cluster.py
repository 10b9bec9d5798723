"""A Dask cluster whose workers ask, embed and score pairs of texts; whoever imports this module needs Dask."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from secrets import token_hex
from typing import Any

from distributed import Client, LocalCluster, WorkerPlugin, get_worker, secede

from evals import __version__
from evals.client.rag_client import RAGClient
from evals.client.spec import ServerSpec
from evals.datasets.hub import settle_hub
from evals.errors import EngineError, EvalsError
from evals.metrics.embedders import (
    ModelChoice,
    RememberingEmbedder,
    RememberingScorer,
    Semantics,
    Vector,
    check_choice,
    load_semantics,
)
from evals.run.workers import PATIENCE_S, Answers, AskedText
from evals.runtime import SideLoop
from evals.schemas.run_parts import EngineConfig

_CONNECT_S = 10.0

_LOOK_S = 0.2

_SAME = "each worker needs the same rag-evals as this process, with the same extras"


@dataclass
class Cluster:
    """A cluster that was started or joined.

    Attributes:
        side: Where Dask lives.
        client: Of Dask.
        own: The cluster on this machine that ends with the run; None where it is somebody else's.
        plugin: The name of that which workers ask with.
    """

    side: SideLoop
    client: Any
    own: Any
    plugin: str = ""

    @property
    def dashboard(self) -> str:
        """The address of Dask's dashboard."""
        return str(self.client.dashboard_link)

    async def workers(self) -> list[str]:
        """The addresses of the workers that are there, in a fixed order."""
        return sorted(await self.do("nthreads"))

    async def do(self, method: str, *arguments: Any) -> Any:
        """Have Dask's client do something, on the loop where it lives."""

        async def call() -> Any:
            return await getattr(self.client, method)(*arguments)

        return await self.side.run(call())

    async def call(self, worker: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function on this worker, and nowhere else; cancelling it lets go of the result.

        Raises:
            Exception: What the function raised, or Dask where the worker is lost; where it only waits for a lost worker
                it does not return.
        """
        return await self.side.run(self._call([worker], function, *arguments))

    def wait(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function on any worker, and block this thread; the scheduler calls it again where a worker is lost.

        Raises:
            RuntimeError: Dask could not have it done.
            Exception: What the function raised.
        """
        try:
            return self.side.wait(self._call(None, function, *arguments))
        except Exception as error:
            if type(error).__module__.partition(".")[0] == "distributed":
                raise RuntimeError(f"the cluster could not do it: {type(error).__name__}: {error}") from error
            raise

    async def _call(self, workers: list[str] | None, function: Callable[..., Any], *arguments: Any) -> Any:
        future = self.client.submit(
            function, *arguments, workers=workers, allow_other_workers=False, pure=False, retries=0
        )
        try:
            return await future
        finally:
            future.release()

    async def everywhere(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """What a function returns on each worker.

        Raises:
            EngineError: A worker cannot call it, as it lacks what this process has.
        """
        found = {}
        for worker in await self.workers():
            try:
                found[worker] = await self.call(worker, function, *arguments)
            except EvalsError:
                raise
            except Exception as error:
                raise EngineError(f"worker {worker} cannot work: {type(error).__name__}: {error}", _SAME) from error
        return found

    async def equip(self, asker: "Asker") -> None:
        """Tell the workers how the server is asked, also those that come later."""
        self.plugin = asker.name
        await self.do("register_plugin", asker)

    async def ask(self, worker: str, questions: list[AskedText], width: int) -> Answers:
        """Set how many questions a worker asks at a time."""
        answers: Answers = await self.call(worker, ask_batch, self.plugin, questions, width)
        return answers

    async def let_go(self) -> None:
        """Have the workers close their connections to the server."""
        with suppress(OSError):  # the cluster is gone
            await self.do("unregister_worker_plugin", self.plugin)

    async def close(self) -> None:
        """Leave the cluster, and end it where it is this process's own."""

        async def leave() -> None:
            await self.client.close()
            if self.own is not None:
                await self.own.close()

        await self.side.run(leave())


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
            try:
                await cluster.do("wait_for_workers", 1, PATIENCE_S)
            except TimeoutError as error:
                said = f"the cluster had no worker for {PATIENCE_S:g} s"
                raise EngineError(said, "start workers with `dask worker`") from error
            for worker, there in (await cluster.everywhere(version_here)).items():
                if there != __version__:
                    raise EngineError(f"worker {worker} runs rag-evals {there}, and this process {__version__}", _SAME)
            yield cluster
        finally:
            await cluster.close()
    finally:
        side.close()


async def _open(side: SideLoop, config: EngineConfig) -> Cluster:
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
    except (OSError, ValueError, MemoryError, TypeError) as error:  # a timeout; first bytes as a size; a tls:// address
        why = "" if isinstance(error, MemoryError) else str(error)
        raise EngineError(
            f"no scheduler answers at {config.scheduler}: {why or 'what listens there is none'}",
            "start one with `dask scheduler`, or leave --scheduler out for a cluster on this machine",
        ) from error
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


def version_here() -> str:
    """The version of rag-evals of this process."""
    return __version__


# Asking on the workers: each has its `Asker` by a plugin.


class Asker(WorkerPlugin):  # type: ignore[misc]  # Dask publishes no types
    """Asks on a worker by one client of the server, which is made with the first batch.

    It has an event loop of its own: nothing that Dask does there holds up a measured time.

    Args:
        spec: How the server is asked, with ${NAME} as it is written.
        concurrency: Of the whole run: a worker that is left alone has it all.
        max_attempts: How often a question is asked before it counts as failed.
        documents: Their names, by the server's ids.
    """

    def __init__(self, spec: ServerSpec, *, concurrency: int, max_attempts: int, documents: Mapping[str, str]) -> None:
        self.name = f"evals-asker-{token_hex(4)}"
        self._spec, self._concurrency, self._max_attempts = spec, concurrency, max_attempts
        self._documents = documents

    def setup(self, worker: Any) -> None:
        """Begin on a worker; Dask calls it."""
        self._lock = threading.Lock()
        self._client: RAGClient | None = None
        self._width, self._room = 0, asyncio.Semaphore(0)

    def teardown(self, worker: Any) -> None:
        """Let go of the connections, and drop what is in flight; Dask calls it."""
        if self._client is not None:
            self._side.wait(self._client.__aexit__())
            self._side.close()

    def ask(self, questions: list[AskedText], width: int) -> Answers:
        """Ask, bounded over all batches of this worker, and block this thread until all are answered.

        Raises:
            ConfigError: A variable that the configuration names is not set on this worker.
        """
        with self._lock:
            client = self._client or self._connected()
        return self._side.wait(self._ask_all(client, questions, width))

    def _connected(self) -> RAGClient:
        client = RAGClient(self._spec, concurrency=self._concurrency, max_attempts=self._max_attempts)
        client.know_documents(self._documents)
        self._side = SideLoop("evals asking")
        self._side.wait(client.__aenter__())
        self._client = client
        return client

    async def _ask_all(self, client: RAGClient, questions: list[AskedText], width: int) -> Answers:
        if width != self._width:  # batches in hand keep the room that they were given
            self._width, self._room = width, asyncio.Semaphore(width)
        responses = await asyncio.gather(*(_ask_one(client, question, self._room) for question in questions))
        return Answers(list(responses), client.refused, client.unavailable)


async def _ask_one(client: RAGClient, question: AskedText, room: asyncio.Semaphore) -> bytes:
    async with room:
        response = await (client.ask(question) if isinstance(question, str) else client.converse(question))
    return response.model_dump_json().encode()


def ask_batch(plugin: str, questions: list[AskedText], width: int) -> Answers:
    """Ask on this worker.

    Args:
        plugin: The name of its `Asker`.
        questions: Their texts.
        width: How many this worker may ask at a time from now on.
    """
    asker = get_worker().plugins.get(plugin)
    if asker is None:
        raise EngineError(f"the worker {get_worker().address} has not got what it asks with")
    secede()  # asking is waiting: the next batch may begin
    answers: Answers = asker.ask(questions, width)
    return answers


# Embedding and BERTScore on the workers: each loads its models once, with the first texts.


_BATCHES_A_WORKER = 2
"""While one is compared, the next is on its way."""

Pairs = Sequence[tuple[str, str]]


async def cluster_semantics(cluster: Cluster, choice: ModelChoice) -> Semantics:
    """What compares texts, by models that lie on the workers; nothing is loaded here.

    Raises:
        ConfigError: A model cannot be loaded.
        EngineError: There is no worker, or the models of two differ.
    """
    check_choice(choice)
    found = await cluster.everywhere(model_names, choice)
    if not found:
        raise EngineError("the cluster has no worker", "start some with `dask worker`")
    first, names = next(iter(found.items()))
    for worker, there in found.items():
        if there != names:
            raise EngineError(
                f"worker {worker} has other models than {first}: {there}, not {names}",
                "give all workers the same packages and the same folders of models",
            )
    embedder, scorer, reason = names
    return Semantics(
        RememberingEmbedder(_RemoteModel(embedder, cluster, choice)) if embedder else None,
        RememberingScorer(_RemoteModel(scorer, cluster, choice)) if scorer else None,
        reason,
        choice.config.sentence_coverage_threshold,
        at_a_time=_BATCHES_A_WORKER * len(found),
    )


@dataclass(slots=True)
class _RemoteModel:
    """An embedder, or a scorer of pairs, whose model lies on the workers."""

    name: str
    cluster: Cluster
    choice: ModelChoice

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in their order."""
        vectors: list[Vector] = self.cluster.wait(compare_there, self.choice, "embedder", list(texts))
        return vectors

    def f1(self, pairs: Pairs) -> list[float]:
        """The F1 of each (candidate, reference), in their order."""
        scores: list[float] = self.cluster.wait(compare_there, self.choice, "scorer", list(pairs))
        return scores


_loading = threading.Lock()
"""A worker of several threads would else load a model in each."""


def _loaded(choice: ModelChoice) -> Semantics:
    """The models of this process, loaded once."""
    with _loading:
        return _load(choice)


@lru_cache(maxsize=1)
def _load(choice: ModelChoice) -> Semantics:
    return load_semantics(choice, settle_hub)


def model_names(choice: ModelChoice) -> tuple[str | None, str | None, str | None]:
    """The names of embedder and scorer on this worker, and why one is lacking; loads them."""
    there = _loaded(choice)
    embedder, scorer = there.embedder, there.scorer
    return embedder.name if embedder else None, scorer.name if scorer else None, there.reason


def compare_there(choice: ModelChoice, which: str, items: list[Any]) -> Any:
    """Embed texts ("embedder"), or score pairs of them ("scorer"), on this worker.

    Raises:
        RuntimeError: It has not got the model.
    """
    there = _loaded(choice)
    if which == "embedder" and there.embedder is not None:
        return there.embedder.embed(items)
    if which == "scorer" and there.scorer is not None:
        return there.scorer.f1(items)
    raise RuntimeError(f"this worker has no {which}: {there.reason}")
