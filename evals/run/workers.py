"""Asking over a cluster: questions go to its workers in small batches, answers come back as they are there.

Nothing is held but the batches in hand. What a lost worker had in hand is given to the others, and counted.
"""

import asyncio
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from secrets import token_hex
from threading import Lock
from typing import Any, Protocol

from distributed import WorkerPlugin, get_worker, secede

from evals import __version__
from evals.client.connections import ASKED
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
from evals.runtime import SideLoop
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.run_parts import EngineConfig, EngineRecord
from evals.text.numbers import agree, counted

# What each worker may do of what the run may do, and how much work it is given at a time.


_SECONDS_A_BATCH = 0.5
"""What a batch should take: so much is answered again where a worker or this process is killed."""

_LARGEST = 256


@dataclass(frozen=True, slots=True)
class Share:
    """What one worker may do.

    Attributes:
        concurrency: Questions in flight.
        rps: Requests that start in a second; None for no limit.
    """

    concurrency: int
    rps: float | None = None


def shares(workers: Sequence[str], concurrency: int, rps: float | None) -> dict[str, Share]:
    """Divide what the run may do among workers: the sums are those of the run.

    Args:
        workers: Their addresses. Where they are more than questions may be in flight, the last ones have no share.
        concurrency: Of the run.
        rps: Of the run; a worker has as much of it as of the concurrency.
    """
    if not workers:
        return {}
    least, more = divmod(concurrency, len(workers))
    parts = {worker: least + (place < more) for place, worker in enumerate(workers)}
    return {
        worker: Share(part, None if rps is None else rps * part / concurrency)
        for worker, part in parts.items()
        if part > 0
    }


def next_size(questions: int, seconds: float, share: Share) -> int:
    """How many questions the next batch of a worker holds, so that it takes about half a second.

    Args:
        questions: Of the batch before.
        seconds: What that took.
        share: Of the worker: with fewer questions than it may ask at a time it would idle.
    """
    wanted = int(questions * _SECONDS_A_BATCH / max(seconds, 1e-6))
    return max(share.concurrency, min(wanted, 2 * questions, _LARGEST))


# How many may be at something at a time, where that changes meanwhile; a semaphore of asyncio keeps its size.


class Room:
    """Lets so many in, in the order of their coming."""

    def __init__(self) -> None:
        self._size = 1
        self._inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def resize(self, size: int) -> None:
        """Let so many in from now on; where more are in already, nobody else until they are fewer."""
        self._size = size
        self._let_in()

    async def __aenter__(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._let_in()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._leave()

    def _leave(self) -> None:
        self._inside -= 1
        self._let_in()

    def _let_in(self) -> None:
        while self._waiting and self._inside < self._size:
            turn = self._waiting.popleft()
            if not turn.cancelled():
                self._inside += 1
                turn.set_result(None)


# Asking on a worker: one client of the server, made once, for all batches that come.


AskedText = str | list[str]
"""The text of a question, or the turns of a conversation."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What a worker brings back of a batch.

    Attributes:
        responses: As JSON, in the order of the questions.
        refused: Requests that the server refused this worker so far.
        surplus: Answers of this worker so far that were followed by bytes which belong to none.
        at_risk: Places of the questions asked on a connection that had served another, as `Surplus` has it.
        away: What the server said last, where it is no more waited for.
    """

    responses: list[bytes]
    refused: int
    surplus: int
    at_risk: list[int]
    away: str | None


@dataclass(frozen=True, slots=True)
class AskConfig:
    """What each worker must know, once.

    Attributes:
        spec: How the server is asked, with ${NAME} as it is written.
        concurrency: Of the whole run: a worker that is left alone has it all.
        max_attempts: How often a question is asked before it counts as failed.
        documents: Their names, by the server's ids.
    """

    spec: ServerSpec
    concurrency: int
    max_attempts: int
    documents: Mapping[str, str]


class Asker:
    """Asks for one worker, on an event loop of its own: nothing that Dask does there holds up a measured time.

    Args:
        how: Of the run.

    Raises:
        ConfigError: A variable that the configuration names is not set on this worker.
    """

    def __init__(self, how: AskConfig) -> None:
        self._client = RAGClient(how.spec, concurrency=how.concurrency, max_attempts=how.max_attempts)
        self._client.know_documents(how.documents)
        self._room = Room()
        self._batches = 0
        self._side = SideLoop("evals asking")
        self._side.wait(self._client.__aenter__())

    def ask(self, questions: list[AskedText], share: Share) -> Answers:
        """Ask, and block this thread until all are answered."""
        return self._side.wait(self._ask_all(questions, share))

    async def _ask_all(self, questions: list[AskedText], share: Share) -> Answers:
        self._room.resize(share.concurrency)
        self._client.set_rps(share.rps)
        if not self._batches:
            self._client.restart_pace()  # nobody was meant to ask while there was nothing to ask
        self._batches += 1
        try:
            responses = await asyncio.gather(*map(self._ask, questions))
        finally:
            self._batches -= 1
        surplus = self._client.transport.surplus
        at_risk = [place for place, name in enumerate(map(str, questions)) if surplus.at_risk.pop(name, True) is None]
        return Answers(list(responses), self._client.refused, surplus.count, at_risk, self._client.unavailable)

    async def _ask(self, question: AskedText) -> bytes:
        ASKED.set(str(question))
        async with self._room:
            if isinstance(question, str):
                response = await self._client.ask(question)
            else:
                response = await self._client.converse(question)
        return response.model_dump_json().encode()

    def close(self) -> None:
        """Let go of the connections; what is in flight is dropped."""
        self._side.wait(self._client.__aexit__())
        self._side.close()


# A Dask cluster as the engine uses it: who is there, and one call at a time on one worker or any.


_CONNECT_S = 10.0


PATIENCE_S = 60.0
"""How long a cluster may be without any worker."""

_CLUSTER_LOOK_S = 0.2

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
            async with asyncio.timeout(_CLUSTER_LOOK_S):
                await client.close(timeout=_CLUSTER_LOOK_S)
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
        await asyncio.sleep(_CLUSTER_LOOK_S)


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


See = Callable[[EvalQuestion, EvalResponse, str | None], bool]
"""Takes an exchange, and what the server said last where it is no more waited for; says whether to go on."""

_WENT = "went to others, so that the server may have had them twice"


_IN_HAND = 2
"""Batches of a worker: while one comes back, the next is asked."""


_LOOK_S = 0.5
"""How often is looked who is there."""


_MOST_LOSSES = 3
"""A batch over which so many workers were lost is what they are lost by."""


class Workers(Protocol):
    """What this needs of a `Cluster`."""

    async def workers(self) -> list[str]: ...

    async def ask(self, worker: str, questions: list[AskedText], share: Share) -> Answers: ...


class AskingWorkers:
    """The workers of a cluster that can ask one server.

    Args:
        cluster: Theirs.
        plugin: The name of the plugin that they ask with.
    """

    def __init__(self, cluster: Cluster, plugin: str) -> None:
        self._cluster = cluster
        self._plugin = plugin

    @classmethod
    async def equipped(cls, cluster: Cluster, how: AskConfig) -> "AskingWorkers":
        """Tell the workers how the server is asked."""
        name = f"evals-asker-{token_hex(4)}"
        await cluster.equip(AskerPlugin(name, how))
        return cls(cluster, name)

    async def workers(self) -> list[str]:
        """Their addresses."""
        return await self._cluster.workers()

    async def ask(self, worker: str, questions: list[AskedText], share: Share) -> Answers:
        """Have one of them ask."""
        answers: Answers = await self._cluster.call(worker, ask_batch, self._plugin, questions, share)
        return answers

    async def let_go(self) -> None:
        """Have them close their connections."""
        with suppress(OSError):  # the cluster is gone
            await self._cluster.strip(self._plugin)


@dataclass(slots=True)
class _Batch:
    questions: list[EvalQuestion]
    losses: int = 0


@dataclass(slots=True, eq=False)
class _Given:
    """A batch in the hands of a worker."""

    batch: _Batch
    worker: str
    share: Share
    call: asyncio.Task[Answers]
    began: float

    @property
    def is_answered(self) -> bool:
        """Whether its answers are there."""
        return self.call.done() and not self.call.cancelled() and self.call.exception() is None


class ClusterAsking:
    """Asks questions by workers.

    Args:
        workers: Who asks.
        concurrency: Questions in flight, of all workers together.
        rps: Requests that start in a second, of all together.
        tell: Hears of lost workers.
        clock: Monotonic seconds; for tests.

    Attributes:
        most_workers: So many took part at a time.
        lost_workers: So many were lost while they had questions in hand.
        asked_again: So many questions they had in hand.
        at_risk: Questions asked on a connection that had served another, as `Surplus` has it.
    """

    def __init__(
        self,
        workers: Workers,
        *,
        concurrency: int,
        rps: float | None,
        tell: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workers = workers
        self._concurrency = concurrency
        self._rps = rps
        self._tell = tell
        self._clock = clock
        self._shares: dict[str, Share] = {}
        self._sizes: dict[str, int] = {}
        self._given: list[_Given] = []
        self._again: deque[_Batch] = deque()
        self._going_on = True
        self._waiting: Iterator[EvalQuestion] | None = None
        """None where no question waits that was never given."""
        self._looked = self._manned = -1e9
        self._said: dict[str, tuple[int, int]] = {}
        self.most_workers = 0
        self.lost_workers = 0
        self.asked_again = 0
        self.at_risk: list[str] = []

    @property
    def refused(self) -> int:
        """How many requests the server refused for the moment, over all workers."""
        return sum(refused for refused, _ in self._said.values())

    @property
    def surplus(self) -> int:
        """How many answers were followed by bytes that belong to none, over all workers."""
        return sum(surplus for _, surplus in self._said.values())

    def notes(self) -> list[str]:
        """What a reader must know of how questions were asked."""
        if not self.lost_workers:
            return []
        lost, again = counted(self.lost_workers, "worker"), counted(self.asked_again, "question")
        return [f"{lost} of the cluster {agree(self.lost_workers, 'was', 'were')} lost: {again} in hand {_WENT}"]

    def record(self, before: EngineRecord | None) -> EngineRecord:
        """What a run says of the cluster.

        Args:
            before: Of the run that goes on.
        """
        earlier = before or EngineRecord(name="dask", workers=0)
        return EngineRecord(
            name="dask",
            workers=max(earlier.workers, self.most_workers),
            lost_workers=earlier.lost_workers + self.lost_workers,
            asked_again=earlier.asked_again + self.asked_again,
        )

    async def ask(self, questions: Iterable[EvalQuestion], see: See) -> None:
        """Ask until all are answered, or `see` says to stop; what is in hand then is waited for.

        Raises:
            EngineError: No worker is left, or workers are lost over the same questions again and again.
        """
        self._waiting = iter(questions)
        self._going_on, self._manned = True, self._clock()
        try:
            await self._look()
            while self._give_out() or self._is_open:
                await self._wait_for_any()
                for given in [one for one in self._given if one.call.done()]:
                    await self._take_back(given, see)
                if self._clock() - self._looked >= _LOOK_S:
                    await self._look()
        finally:
            for given in self._given:
                given.call.cancel()
            await asyncio.gather(*(given.call for given in self._given), return_exceptions=True)
            self._given.clear()

    @property
    def _is_open(self) -> bool:
        """Whether there is something that nobody has in hand."""
        return self._going_on and bool(self._again or self._waiting is not None)

    async def _wait_for_any(self) -> None:
        if self._given:
            calls = [given.call for given in self._given]
            await asyncio.wait(calls, timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED)
        else:
            await asyncio.sleep(_LOOK_S)

    async def _look(self) -> None:
        """See who is there, divide anew, and take from the lost what they had in hand."""
        there = await self._workers.workers()
        now = self._looked = self._clock()
        self._shares = shares(there, self._concurrency, self._rps)
        self.most_workers = max(self.most_workers, len(self._shares))
        if there:
            self._manned = now
        elif now - self._manned > PATIENCE_S:
            raise EngineError(
                f"the cluster has been without a worker for {PATIENCE_S:g} s", "start workers with `dask worker`"
            )
        for worker in {given.worker for given in self._given}.difference(there):
            self._lose(worker)

    def _lose(self, worker: str) -> None:
        lost = [given for given in self._given if given.worker == worker and not given.is_answered]
        self._given = [given for given in self._given if given not in lost]
        if not lost:
            return
        count = sum(len(given.batch.questions) for given in lost)
        self.lost_workers += 1
        self.asked_again += count
        self._tell(f"worker {worker} is lost: {counted(count, 'question')} that it had in hand go to the others")
        for given in lost:
            given.call.cancel()
            given.batch.losses += 1
            if given.batch.losses >= _MOST_LOSSES:
                raise EngineError(
                    f"{given.batch.losses} workers were lost over the same "
                    f"{counted(len(given.batch.questions), 'question')}, {given.batch.questions[0].id} the first",
                    "see the logs of the workers; they may lack memory",
                )
            self._again.append(given.batch)

    def _give_out(self) -> bool:
        """Give each worker what it has room for; whether anything is in hand."""
        in_hand = Counter(given.worker for given in self._given)
        for place in range(_IN_HAND):
            for worker, share in self._shares.items():
                batch = self._next(worker, share) if in_hand[worker] <= place else None
                if batch is not None:
                    self._give(batch, worker, share)
        return bool(self._given)

    def _next(self, worker: str, share: Share) -> _Batch | None:
        if not self._going_on:
            return None
        if self._again:
            return self._again.popleft()
        size = self._sizes.get(worker, share.concurrency)
        questions = list(islice(self._waiting, size)) if self._waiting is not None else []
        if not questions:
            self._waiting = None
        return _Batch(questions) if questions else None

    def _give(self, batch: _Batch, worker: str, share: Share) -> None:
        texts: list[AskedText] = [question.turns or question.question for question in batch.questions]
        call = asyncio.create_task(self._workers.ask(worker, texts, share))
        self._given.append(_Given(batch, worker, share, call, self._clock()))

    async def _take_back(self, given: _Given, see: See) -> None:
        if not given.is_answered:
            await self._look()
            if given in self._given:  # its worker is there
                raise _failure(given)
            return
        answers = given.call.result()
        self._given.remove(given)
        count = len(given.batch.questions)
        self._sizes[given.worker] = next_size(count, self._clock() - given.began, given.share)
        self._said[given.worker] = (answers.refused, answers.surplus)
        self.at_risk += [given.batch.questions[place].id for place in answers.at_risk]
        for question, response in zip(given.batch.questions, answers.responses, strict=True):
            going_on = see(question, EvalResponse.model_validate_json(response), answers.away)
            self._going_on = self._going_on and going_on


def _failure(given: _Given) -> EngineError:
    """Why a worker that is there brought no answers."""
    error = None if given.call.cancelled() else given.call.exception()
    if isinstance(error, EvalsError):
        return EngineError(f"worker {given.worker}: {error.message}", error.hint)
    said = f"{type(error).__name__}: {error}" if error is not None else "Dask gave up its task"
    return EngineError(f"worker {given.worker} failed: {said}", "its log tells more")


# Embedding and BERTScore on the workers of a cluster: each loads its models once, with the first texts.


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
    workers = await cluster.workers()
    found = [await cluster.call(worker, model_names, choice) for worker in workers]
    if not found:
        raise EngineError("the cluster has no worker", "start some with `dask worker`")
    for worker, there in zip(workers, found, strict=True):
        if there != found[0]:
            raise EngineError(
                f"worker {worker} has other models than {workers[0]}: {there}, not {found[0]}",
                "give all workers the same packages and the same folders of models",
            )
    embedder, scorer, reason = found[0]
    return Semantics(
        RememberingEmbedder(_Embedder(cluster, choice, embedder)) if embedder else None,
        RememberingScorer(_Scorer(cluster, choice, scorer)) if scorer else None,
        reason,
        choice.config.sentence_coverage_threshold,
        at_a_time=_BATCHES_A_WORKER * len(workers),
    )


class _Embedder:
    """An embedder whose model lies on the workers."""

    def __init__(self, cluster: Cluster, choice: ModelChoice, name: str) -> None:
        self.name = name
        self._cluster = cluster
        self._choice = choice

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in their order."""
        vectors: list[Vector] = self._cluster.wait(embed_there, self._choice, list(texts))
        return vectors


class _Scorer:
    """A scorer of pairs whose model lies on the workers."""

    def __init__(self, cluster: Cluster, choice: ModelChoice, name: str) -> None:
        self.name = name
        self._cluster = cluster
        self._choice = choice

    def f1(self, pairs: Pairs) -> list[float]:
        """The F1 of each (candidate, reference), in their order."""
        scores: list[float] = self._cluster.wait(score_there, self._choice, list(pairs))
        return scores


_loading = Lock()
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
    return (
        there.embedder.name if there.embedder else None,
        there.scorer.name if there.scorer else None,
        there.reason,
    )


def embed_there(choice: ModelChoice, texts: list[str]) -> list[Vector]:
    """Embed on this worker.

    Raises:
        RuntimeError: It has not got the model.
    """
    embedder = _loaded(choice).embedder
    if embedder is None:
        raise RuntimeError(f"this worker has no embedder: {_loaded(choice).reason}")
    return embedder.embed(texts)


def score_there(choice: ModelChoice, pairs: list[tuple[str, str]]) -> list[float]:
    """Score pairs on this worker.

    Raises:
        RuntimeError: It has not got the model.
    """
    scorer = _loaded(choice).scorer
    if scorer is None:
        raise RuntimeError(f"this worker has no BERTScore: {_loaded(choice).reason}")
    return scorer.f1(pairs)


# What Dask calls on a worker.


class AskerPlugin(WorkerPlugin):  # type: ignore[misc]  # Dask publishes no types
    """Gives a worker its `Asker`, with the first batch; Dask calls `setup` and `teardown`.

    Args:
        name: Of the plugin; of each run another.
        how: Of the run.
    """

    def __init__(self, name: str, how: AskConfig) -> None:
        self.name = name
        self._how = how

    def setup(self, worker: Any) -> None:
        """Begin on a worker."""
        self._lock = threading.Lock()
        self._asker: Asker | None = None

    def teardown(self, worker: Any) -> None:
        """End there."""
        if self._asker is not None:
            self._asker.close()

    @property
    def asker(self) -> Asker:
        """Who asks here.

        Raises:
            ConfigError: A variable that the configuration names is not set on this worker.
        """
        with self._lock:
            if self._asker is None:
                self._asker = Asker(self._how)
            return self._asker


def ask_batch(plugin: str, questions: list[AskedText], share: Share) -> Answers:
    """Ask on this worker.

    Args:
        plugin: Its name.
        questions: Their texts.
        share: What this worker may do from now on.
    """
    there = get_worker().plugins.get(plugin)
    if there is None:
        raise EngineError(f"the worker {get_worker().address} has not got what it asks with")
    secede()  # asking is waiting: the next batch may begin
    answers: Answers = there.asker.ask(questions, share)
    return answers
