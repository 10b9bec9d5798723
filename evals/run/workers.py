"""Asking by workers: questions go to them in small batches, answers come back as they are there.

Nothing is held but the batches in hand. What a lost worker had in hand is given to the others, and counted. Nothing
here knows what the workers are: `evals.run.cluster` has those of Dask.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from evals.client.connections import ASKED
from evals.client.rag_client import RAGClient
from evals.client.spec import ServerSpec
from evals.errors import EngineError, EvalsError
from evals.runtime import SideLoop
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.run_parts import EngineRecord
from evals.text.numbers import agree, counted

# What each worker may do of what the run may do, and how much work it is given at a time.


PATIENCE_S = 60.0
"""How long there may be no worker at all."""


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
        self._share, self._room = Share(1), asyncio.Semaphore(1)
        self._batches = 0
        self._side = SideLoop("evals asking")
        self._side.wait(self._client.__aenter__())

    def ask(self, questions: list[AskedText], share: Share) -> Answers:
        """Ask, and block this thread until all are answered."""
        return self._side.wait(self._ask_all(questions, share))

    async def _ask_all(self, questions: list[AskedText], share: Share) -> Answers:
        if share != self._share:  # batches in hand keep the room that they were given
            self._share, self._room = share, asyncio.Semaphore(share.concurrency)
            self._client.set_rps(share.rps)
        if not self._batches:
            self._client.restart_pace()  # nobody was meant to ask while there was nothing to ask
        self._batches += 1
        try:
            responses = await asyncio.gather(*(self._ask(question, self._room) for question in questions))
        finally:
            self._batches -= 1
        surplus = self._client.transport.surplus
        at_risk = [place for place, name in enumerate(map(str, questions)) if surplus.at_risk.pop(name, True) is None]
        return Answers(list(responses), self._client.refused, surplus.count, at_risk, self._client.unavailable)

    async def _ask(self, question: AskedText, room: asyncio.Semaphore) -> bytes:
        ASKED.set(str(question))
        async with room:
            if isinstance(question, str):
                response = await self._client.ask(question)
            else:
                response = await self._client.converse(question)
        return response.model_dump_json().encode()

    def close(self) -> None:
        """Let go of the connections; what is in flight is dropped."""
        self._side.wait(self._client.__aexit__())
        self._side.close()


See = Callable[[EvalQuestion, EvalResponse, str | None], bool]
"""Takes an exchange, and what the server said last where it is no more waited for; says whether to continue."""

_IN_HAND = 2
"""Batches of a worker: while one comes back, the next is asked."""

_LOOK_S = 0.5
"""How often is looked who is there."""

_MOST_LOSSES = 3
"""A batch over which this many workers were lost is what they are lost by."""


class Workers(Protocol):
    """What this needs of workers."""

    async def workers(self) -> list[str]: ...

    async def ask(self, worker: str, questions: list[AskedText], share: Share) -> Answers: ...


@dataclass(slots=True)
class _Batch:
    """Questions that are asked together, and how many workers were lost over them."""

    questions: list[EvalQuestion]
    losses: int = 0

    def lost(self) -> "_Batch":
        """The batch, after one more worker was lost over it."""
        self.losses += 1
        if self.losses >= _MOST_LOSSES:
            raise EngineError(
                f"{self.losses} workers were lost over the same "
                f"{counted(len(self.questions), 'question')}, {self.questions[0].id} the first",
                "see the logs of the workers; they may lack memory",
            )
        return self


@dataclass(slots=True, eq=False)
class _Lane:
    """One batch after the other in the hands of a worker; the one that it has is there until its answers are."""

    worker: str
    batch: _Batch | None = None
    task: asyncio.Task[None] = field(init=False)


class ClusterAsking:
    """Asks questions by workers.

    Args:
        workers: Who asks.
        concurrency: Questions in flight, of all workers together.
        rps: Requests that start in a second, of all together.
        tell: Hears of lost workers.

    Attributes:
        most_workers: The greatest number of workers at a time.
        lost_workers: Those that were lost while they had questions in hand.
        asked_again: The questions that they had in hand.
        at_risk: Questions asked on a connection that had served another, as `Surplus` has it.
    """

    def __init__(self, workers: Workers, *, concurrency: int, rps: float | None, tell: Callable[[str], None]) -> None:
        self._workers = workers
        self._concurrency = concurrency
        self._rps = rps
        self._tell = tell
        self._shares: dict[str, Share] = {}
        self._sizes: dict[str, int] = {}
        self._lanes: list[_Lane] = []
        self._again: deque[_Batch] = deque()
        self._going_on = True
        self._waiting: Iterator[EvalQuestion] | None = None
        """None where no question waits that was never given."""
        self._manned_s = 0.0
        """When a worker was seen last."""
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
        went = f"{again} in hand went to others, so that the server may have had them twice"
        return [f"{lost} of the cluster {agree(self.lost_workers, 'was', 'were')} lost: {went}"]

    def record(self, before: EngineRecord | None) -> EngineRecord:
        """What a run says of the cluster.

        Args:
            before: Of the resumed run.
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
        self._going_on, self._manned_s = True, time.monotonic()
        try:
            await self._look(see)
            while self._lanes or self._is_open:
                if self._lanes:
                    tasks = [lane.task for lane in self._lanes]
                    await asyncio.wait(tasks, timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED)
                else:
                    await asyncio.sleep(_LOOK_S)
                await self._look(see)
        finally:
            for lane in self._lanes:
                lane.task.cancel()
            await asyncio.gather(*(lane.task for lane in self._lanes), return_exceptions=True)
            self._lanes.clear()

    @property
    def _is_open(self) -> bool:
        """Whether a question is in no worker's hands."""
        return self._going_on and bool(self._again or self._waiting is not None)

    async def _look(self, see: See) -> None:
        """See who is there, divide anew, take from the lost what they had in hand, and give to whom has room."""
        there = await self._workers.workers()
        self._shares = shares(there, self._concurrency, self._rps)
        self.most_workers = max(self.most_workers, len(self._shares))
        if there:
            self._manned_s = time.monotonic()
        elif time.monotonic() - self._manned_s > PATIENCE_S:
            raise EngineError(
                f"the cluster has been without a worker for {PATIENCE_S:g} s", "start workers with `dask worker`"
            )
        self._reap(there)
        self._give(see)

    def _reap(self, there: Sequence[str]) -> None:
        """Let go of the lost, and of what has come to its end.

        Raises:
            EngineError: A worker that is there brought no answers.
        """
        for worker in {lane.worker for lane in self._lanes}.difference(there):
            self._lose([lane for lane in self._lanes if lane.worker == worker and lane.batch is not None])
        for lane in [lane for lane in self._lanes if lane.task.done()]:
            if lane.batch is not None:  # its worker is there
                raise _failure(lane)
            self._lanes.remove(lane)
            lane.task.result()

    def _give(self, see: See) -> None:
        """Have each worker that has room take of what is open."""
        has = Counter(lane.worker for lane in self._lanes)
        for place in range(_IN_HAND if self._is_open else 0):
            for worker in self._shares:
                if has[worker] <= place:
                    lane = _Lane(worker)
                    lane.task = asyncio.create_task(self._drive(lane, see))
                    self._lanes.append(lane)

    def _lose(self, lanes: Sequence[_Lane]) -> None:
        """Take from a worker that is lost what it had in hand."""
        if not lanes:
            return
        count = sum(len(lane.batch.questions) for lane in lanes if lane.batch)
        self.lost_workers += 1
        self.asked_again += count
        self._tell(
            f"worker {lanes[0].worker} is lost: {counted(count, 'question')} that it had in hand go to the others"
        )
        for lane in lanes:
            lane.task.cancel()
            self._lanes.remove(lane)
            if lane.batch is not None:
                self._again.append(lane.batch.lost())

    async def _drive(self, lane: _Lane, see: See) -> None:
        """Have a worker ask one batch after the other."""
        worker = lane.worker
        while (share := self._shares.get(worker)) and (batch := self._next(worker, share)):
            lane.batch, began = batch, time.monotonic()
            texts: list[AskedText] = [question.turns or question.question for question in batch.questions]
            answers = await self._workers.ask(worker, texts, share)
            lane.batch = None
            self._sizes[worker] = next_size(len(texts), time.monotonic() - began, share)
            self._said[worker] = (answers.refused, answers.surplus)
            self.at_risk += [batch.questions[place].id for place in answers.at_risk]
            for question, response in zip(batch.questions, answers.responses, strict=True):
                going_on = see(question, EvalResponse.model_validate_json(response), answers.away)
                self._going_on = self._going_on and going_on

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


def _failure(lane: _Lane) -> EngineError:
    """Why a worker that is there brought no answers."""
    error = None if lane.task.cancelled() else lane.task.exception()
    if isinstance(error, EvalsError):
        return EngineError(f"worker {lane.worker}: {error.message}", error.hint)
    said = f"{type(error).__name__}: {error}" if error is not None else "Dask gave up its task"
    return EngineError(f"worker {lane.worker} failed: {said}", "its log tells more")
