"""Asking by workers: questions go to them in small batches, answers come back as they are there.

Nothing is held but the batches in hand. What a lost worker had in hand is given to the others, and counted. Nothing
here knows what the workers are: `evals.run.cluster` has those of Dask.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
"""Takes an exchange, and what the server said last where it is no more waited for; says whether to go on."""

_WENT = "went to others, so that the server may have had them twice"


_IN_HAND = 2
"""Batches of a worker: while one comes back, the next is asked."""


_LOOK_S = 0.5
"""How often is looked who is there."""


_MOST_LOSSES = 3
"""A batch over which so many workers were lost is what they are lost by."""


class Workers(Protocol):
    """What this needs of workers."""

    async def workers(self) -> list[str]: ...

    async def ask(self, worker: str, questions: list[AskedText], share: Share) -> Answers: ...


@dataclass(slots=True)
class _Batch:
    """Questions that are asked together, and how many workers were lost over them."""

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
