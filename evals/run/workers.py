"""Asking by the workers of a cluster: questions go to them in small batches, and answers come back as they are there.

Nothing is held but the batches in hand. What a lost worker had in hand is given to the others, and counted.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from evals.errors import EngineError, EvalsError
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.run_parts import EngineRecord
from evals.text.numbers import agree, counted

AskedText = str | list[str]
"""The text of a question, or the turns of a conversation."""

See = Callable[[EvalQuestion, EvalResponse, str | None], bool]
"""Takes an exchange, and the last error of a server that is given up; returns whether to continue."""

PATIENCE_S = 60.0
"""How long there may be no worker at all."""

_SECONDS_A_BATCH = 0.5
"""What a batch should take: so much is answered again where a worker or this process is killed."""

_LARGEST = 256

_IN_HAND = 2
"""Batches of a worker: while one comes back, the next is asked."""

_LOOK_S = 0.5
"""How often the list of workers is read."""

_MOST_LOSSES = 3
"""A batch that loses this many workers is taken for the cause."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What a worker brings back of a batch.

    Attributes:
        responses: As JSON, in the order of the questions.
        refused: Requests that the server refused this worker so far.
        away: What the server said last, where it is no more waited for.
    """

    responses: list[bytes]
    refused: int
    away: str | None


class Workers(Protocol):
    """The workers of a cluster, or of a test."""

    async def workers(self) -> list[str]: ...

    async def ask(self, worker: str, questions: list[AskedText], width: int) -> Answers: ...


@dataclass(slots=True)
class _Batch:
    """Questions that are asked together by a worker, and how many workers were lost over them."""

    questions: list[EvalQuestion]
    worker: str = ""
    began: float = 0.0
    losses: int = 0


class ClusterAsking:
    """Asks questions by workers.

    Args:
        workers: Who asks.
        concurrency: Questions in flight, of all workers together.
        tell: Hears of lost workers.

    Attributes:
        most_workers: The greatest number of workers at a time.
        lost_workers: Those that were lost while they had questions in hand.
        asked_again: The questions that they had in hand.
    """

    def __init__(self, workers: Workers, *, concurrency: int, tell: Callable[[str], None]) -> None:
        self._workers = workers
        self._concurrency = concurrency
        self._tell = tell
        self._sizes: dict[str, int] = {}
        self._in_hand: dict[asyncio.Task[Answers], _Batch] = {}
        self._again: deque[_Batch] = deque()
        self._is_open = True
        """Whether a batch is, or may be, without a worker."""
        self._refused: dict[str, int] = {}
        self.most_workers = 0
        self.lost_workers = 0
        self.asked_again = 0

    @property
    def refused(self) -> int:
        """How many requests the server refused for the moment, over all workers."""
        return sum(self._refused.values())

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
        waiting, seen_at = iter(questions), time.monotonic()
        self._is_open = True
        try:
            while self._in_hand or self._is_open:
                there = await self._workers.workers()
                self._take(there, see)
                self._give(there, waiting)
                if there:
                    seen_at = time.monotonic()
                elif time.monotonic() - seen_at > PATIENCE_S:
                    raise EngineError(
                        f"the cluster has been without a worker for {PATIENCE_S:g} s",
                        "start workers with `dask worker`",
                    )
                if self._in_hand:
                    await asyncio.wait(self._in_hand, timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED)
                elif self._is_open:
                    await asyncio.sleep(_LOOK_S)
        finally:
            for task in self._in_hand:
                task.cancel()
            await asyncio.gather(*self._in_hand, return_exceptions=True)
            self._in_hand.clear()

    def _take(self, there: Sequence[str], see: See) -> None:
        """Take the answers that are there, and from lost workers what they had in hand.

        Raises:
            EngineError: A worker that is there brought no answers, or too many workers were lost over a batch.
        """
        lost: dict[str, list[_Batch]] = {}
        for task, batch in list(self._in_hand.items()):
            is_answered = task.done() and not task.cancelled() and task.exception() is None
            if not is_answered and batch.worker in there:
                if task.done():
                    raise _failure(batch.worker, task)
                continue
            del self._in_hand[task]
            if is_answered:
                self._bring_back(batch, task.result(), see)
            else:
                task.cancel()
                lost.setdefault(batch.worker, []).append(batch)
        for worker, batches in lost.items():
            self._lose(worker, batches)

    def _bring_back(self, batch: _Batch, answers: Answers, see: See) -> None:
        took, count = time.monotonic() - batch.began, len(batch.questions)
        self._sizes[batch.worker] = min(int(count * _SECONDS_A_BATCH / max(took, 1e-6)), 2 * count, _LARGEST)
        self._refused[batch.worker] = answers.refused
        for question, response in zip(batch.questions, answers.responses, strict=True):
            going_on = see(question, EvalResponse.model_validate_json(response), answers.away)
            self._is_open = self._is_open and going_on

    def _lose(self, worker: str, batches: Sequence[_Batch]) -> None:
        count = sum(len(batch.questions) for batch in batches)
        self.lost_workers += 1
        self.asked_again += count
        self._tell(f"worker {worker} is lost: {counted(count, 'question')} that it had in hand go to the others")
        for batch in batches:
            batch.losses += 1
            if batch.losses >= _MOST_LOSSES:
                raise EngineError(
                    f"{batch.losses} workers were lost over the same "
                    f"{counted(len(batch.questions), 'question')}, {batch.questions[0].id} the first",
                    "see the logs of the workers; they may lack memory",
                )
            self._again.append(batch)

    def _give(self, there: Sequence[str], waiting: Iterator[EvalQuestion]) -> None:
        """Give each worker that has room a batch; no more workers than may have a question in flight take part."""
        asking = there[: self._concurrency]
        self.most_workers = max(self.most_workers, len(asking))
        has = Counter(batch.worker for batch in self._in_hand.values())
        for place in range(_IN_HAND):
            for number, worker in enumerate(asking):
                # the widths of all workers add up to the concurrency of the run
                width = (self._concurrency + number) // len(asking)
                if has[worker] <= place and (batch := self._next(max(width, self._sizes.get(worker, 0)), waiting)):
                    has[worker] += 1
                    batch.worker, batch.began = worker, time.monotonic()
                    texts: list[AskedText] = [one.turns or one.question for one in batch.questions]
                    self._in_hand[asyncio.create_task(self._workers.ask(worker, texts, width))] = batch

    def _next(self, size: int, waiting: Iterator[EvalQuestion]) -> _Batch | None:
        if not self._is_open:
            return None
        if self._again:
            return self._again.popleft()
        questions = list(islice(waiting, size))
        self._is_open = bool(questions) or bool(self._in_hand)  # a batch in hand may come back unanswered
        return _Batch(questions) if questions else None


def _failure(worker: str, task: "asyncio.Task[Answers]") -> EngineError:
    """Why a worker that is there brought no answers."""
    error = None if task.cancelled() else task.exception()
    if isinstance(error, EvalsError):
        return EngineError(f"worker {worker}: {error.message}", error.hint)
    said = f"{type(error).__name__}: {error}" if error is not None else "Dask gave up its task"
    return EngineError(f"worker {worker} failed: {said}", "its log tells more")
