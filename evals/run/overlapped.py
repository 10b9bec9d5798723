"""Scoring of a run's records in batches: while the server takes its time, and what is left when all answers are there.

A batch is scored in another process where there is a core for it, so that scoring delays no answer and no measured
latency; else in a thread of this process while the server is silent. What batches gather is put together in the order
of the questions. What all records say together (`RunEvidence`, `RunFacts`) is known only when all are there: while
answers arrive it is taken to be what the first ones say. Where that was wrong for any record scored by it, what was
scored early is dropped, and the records are scored as if there had been none of it.
"""

import os
import pickle
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import islice, takewhile
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import IO, cast

from evals.errors import EngineError, StoreError
from evals.metrics.base import BaseMetric
from evals.run.work import PackedRecord, RecordUnpacker, RunPlan, RunRecords
from evals.runtime import short_turns
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, EvalRun
from evals.scoring.conclusion import Gathered, Scorer, Terms, gc_paused
from evals.scoring.diagnosis.stages import AnswersSeen, RunFacts
from evals.scoring.digest import RunSummaryBuilder
from evals.scoring.settings import ScoreSettings, ScoringContext
from evals.store.disk_buffer import DiskList
from evals.store.journal import record_line

RecordLine = tuple[str, bytes]
"""A record as it is saved, with the id of its question."""

BATCH = 50
"""Records that are scored at once."""

FEWEST = 400
"""For fewer records no processes are started where several were asked for: each takes a second."""

FEWEST_UNASKED = 1000
"""For fewer questions no process is started that was not asked for."""

_IN_HAND, _MOST_WAITING = 2, 4
"""Batches that wait for each process, and how many times as many are held where they are scored here too."""

_FIRST = 200
"""Answers by which the rest is judged; shorter runs are scored when all is there."""

_QUIET_S = 0.0015
"""Nothing is begun before the server has been silent for as long: answers come in bursts, and none shall wait."""

_SLOW_S = 0.05
"""Answers that take less are not scored early: scoring a record, some 1 ms, would make the next one seem slower."""

_NICER = 5
"""By how much processes that score give way."""

_ROOM = 256 << 20
"""Bytes that must be free on the disk: answers go first, and what is scored early lies there twice at the end."""


@dataclass(frozen=True, slots=True)
class ScoreConfig:
    """How the records of a run are scored; it can be sent to another process where no model compares texts.

    Attributes:
        run: As far as it is known.
        metrics: What to measure.
        settings: How records are scored, with what all of them say about matching.
        facts: What else they say together.
        terms: Prices, weights, gates and the error rate.
    """

    run: EvalRun
    metrics: Sequence[BaseMetric]
    settings: ScoreSettings
    facts: RunFacts
    terms: Terms


class BatchScorer:
    """Scores the records of a run in the order of its questions.

    Args:
        how: To score them.
        first: The number of the first record.

    Attributes:
        scorer: Gathers what follows from the records.
        summary: Gathers what views need of them.
        done: The number of the next record.
    """

    def __init__(self, how: ScoreConfig, first: int = 0) -> None:
        self.how = how
        self.cases = ScoringContext(how.settings)
        self.summary = RunSummaryBuilder(how.facts, self.cases)
        self.scorer = Scorer(how.run, how.metrics, self.cases, how.terms, self.summary, first=first)
        self.done = first

    def lines(self, records: Iterable[EvalRecord]) -> Iterator[RecordLine]:
        """Score the records that follow."""
        with gc_paused():
            for record in records:
                scored = self.scorer.score(record)
                self.done += 1
                yield scored.question.id, record_line(scored)

    def lines_by(
        self, pool: "ScoringPool", batches: Iterable[Sequence[PackedRecord]], *, also_here: bool = False
    ) -> Iterator[RecordLine]:
        """Score the records that follow by the processes of a pool.

        Args:
            pool: The processes.
            batches: The records in their order; an empty batch for none yet.
            also_here: Whether this process scores a batch while all of them have enough to do.

        Raises:
            EngineError: A process ended by itself, or could not be started.
        """
        waiting: deque[Future[_Scored]] = deque()
        given, how, most = self.done, pickle.dumps(self.how), _IN_HAND * pool.size
        held = most * _MOST_WAITING if also_here else most
        for batch in batches:
            if batch:
                is_full = also_here and _unfinished(waiting) >= most
                waiting.append(_scored_here(self.how, given, batch) if is_full else pool.submit(how, given, batch))
            given += len(batch)
            while waiting and (waiting[0].done() or len(waiting) > held):
                yield from self._take(waiting.popleft())
        while waiting:
            yield from self._take(waiting.popleft())

    def _take(self, scored: "Future[_Scored]") -> list[RecordLine]:
        lines, gathered = scored.result()
        self.scorer.extend(gathered)
        self.done += len(lines)
        return lines


_Scored = tuple[list[RecordLine], Gathered]


_unpacker = cache(RecordUnpacker)
"""Made once a process: its adapters take longer than a record."""


def score_batch(how: ScoreConfig, first: int, batch: Sequence[PackedRecord]) -> _Scored:
    """Score some records by themselves.

    Args:
        how: To score them.
        first: The number of the first.
        batch: The records.
    """
    part, unpack = BatchScorer(how, first), _unpacker().unpack
    return list(part.lines(map(unpack, batch))), part.scorer.gathered()


def _unfinished(scored: "Iterable[Future[_Scored]]") -> int:
    return sum(not one.done() for one in scored)


def _scored_here(how: ScoreConfig, first: int, batch: Sequence[PackedRecord]) -> "Future[_Scored]":
    scored: Future[_Scored] = Future()
    scored.set_result(score_batch(how, first, batch))
    return scored


class ScoringPool:
    """Processes that score batches of records. They give way to this process, and end with it.

    They are not those of `multiprocessing`, which would read the script of a caller again.

    Args:
        size: How many.

    Raises:
        EngineError: One cannot be started.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self._threads = ThreadPoolExecutor(size, "evals scoring process")
        with ExitStack() as started:
            started.callback(self._threads.shutdown)
            for _ in range(size):
                self._idle.put(started.enter_context(self._process()))
            self._ending = started.pop_all()

    @contextmanager
    def _process(self) -> Iterator["subprocess.Popen[bytes]"]:
        try:
            process = subprocess.Popen(  # noqa: S603 - this interpreter
                [sys.executable, "-P", "-c", f"from {__name__} import serve; serve()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # Ctrl-C is for this process
            )
        except OSError as error:
            raise _broken(error) from error
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def submit(self, how: bytes, first: int, records: Sequence[PackedRecord]) -> "Future[_Scored]":
        """Have records scored by the next idle process.

        Args:
            how: The pickled `ScoreConfig`.
            first: The number of the first record.
            records: The batch.
        """
        return self._threads.submit(self._exchange, (how, first, records))

    def _exchange(self, batch: tuple[bytes, int, Sequence[PackedRecord]]) -> "_Scored":
        process = self._idle.get()
        to_process, from_process = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        try:
            pickle.dump(batch, to_process)
            to_process.flush()
            scored: _Scored | BaseException = pickle.load(from_process)  # noqa: S301 - our own
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            raise _broken(f"exit {process.poll()}") from error
        finally:
            self._idle.put(process)
        if isinstance(scored, BaseException):
            raise scored
        return scored

    def close(self) -> None:
        """End the processes, whatever they are at."""
        self._ending.close()


def _broken(why: object) -> EngineError:
    return EngineError(f"a process that scores could not be started, or ended by itself: {why}", "lower engine.jobs")


def serve() -> None:
    """Score the batches that come on stdin until it ends: the main function of a process of `ScoringPool`."""
    if hasattr(os, "nice"):  # not on Windows
        os.nice(_NICER)
    to_parent = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no reply
    read_config = lru_cache(maxsize=1)(pickle.loads)
    while True:
        try:
            how, first, records = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own
        except EOFError:
            return
        reply: _Scored | BaseException
        try:
            reply = score_batch(read_config(how), first, records)
        except Exception as error:  # noqa: BLE001 - raised where the run waits for it
            reply = error
        pickle.dump(reply, to_parent)
        to_parent.flush()


def score_rest(scorer: BatchScorer, records: RunRecords, pool: ScoringPool | None) -> Iterator[RecordLine]:
    """Score the records that are left, in this process and in those of a pool."""
    left = range(scorer.done, len(records))
    if pool is None:
        yield from scorer.lines(records[place] for place in left)
        return
    packed = (records.packed(place) for place in left)
    yield from scorer.lines_by(pool, iter(lambda: list(islice(packed, BATCH)), []), also_here=True)


class OverlappedScorer:
    """Scores the answers of a run in the order of its questions, in a thread of its own, while others are waited for.

    Args:
        work: Questions, and the answers as they come.
        how: To score them, as far as it is known; without a judge, and without models that compare texts.
        seen: What is gathered of the answers as they come.
        scratch: The folder for what is done.
        processes: How many other processes score; a thread of this one where 0.

    Attributes:
        pool: Those processes, until `close`; None where there are none, or one ended by itself.
    """

    def __init__(
        self, work: RunPlan, how: ScoreConfig, seen: AnswersSeen, scratch: Path, *, processes: int = 0
    ) -> None:
        self._records, self._responses = RunRecords(work, {}), work.responses
        self._how = how
        self._seen = seen
        self._scratch = scratch
        self._processes = processes
        self.pool: ScoringPool | None = None
        self._is_right = True
        self._begun: BatchScorer | None = None
        self._lines: DiskList[RecordLine] = DiskList(None, folder=scratch, most_held=0)
        self._latest, self._waited_s, self._answers = 0.0, 0.0, 0
        self._ending = Event()
        self._thread = ThreadPoolExecutor(1, "evals scoring")
        self._work_on = self._thread.submit(self._score) if len(self._records) > _FIRST else None

    def on_answer(self, response: EvalResponse, *, is_other: bool = False) -> None:
        """Know that an answer has just come.

        Args:
            response: The answer.
            is_other: Whether its question has had another one, by which its record may be scored already.
        """
        self._latest = time.perf_counter()
        self._is_right = self._is_right and not is_other
        self._waited_s += (response.latency_ms or 0.0) / 1000
        self._answers += 1

    def end(self) -> None:
        """Begin nothing more, and wait for the batch in hand; what broke meanwhile is raised."""
        self._ending.set()
        self._thread.shutdown()
        if self._work_on is not None:
            self._work_on.result()

    def close(self) -> None:
        """End the processes that score."""
        if self.pool is not None:
            self.pool.close()
            self.pool = None

    def resume(self, how: ScoreConfig) -> tuple[BatchScorer, Iterable[RecordLine]]:
        """The scoring of all records, continued where it has begun.

        Args:
            how: To score them, now that all answers are there.

        Returns:
            What scores those that are left, and the lines of those that are done.
        """
        begun = self._begun
        if begun is not None and self._is_right and begun.how.facts == how.facts and self._has_room():
            begun.how = how
            return begun, self._lines
        self._lines.close()
        return BatchScorer(how), ()

    def _score(self) -> None:
        try:
            with ExitStack() as ending:
                self.pool = pool = ScoringPool(self._processes) if self._processes else None
                if pool is None:
                    ending.enter_context(short_turns())
                while self._begun is None and not self._ending.wait(_SLOW_S):
                    self._begin()
                if (begun := self._begun) is None:
                    return
                for line in begun.lines_by(pool, self._arriving()) if pool else begun.lines(self._one_by_one()):
                    self._lines.append(line)
        except (EngineError, StoreError):  # nothing is lost: all is scored at the end, which says what is in the way
            self._begun = None
            self._lines.close()
            self.close()

    def _begin(self) -> None:
        """Take what the first answers say for what all will say."""
        if len(self._responses) < _FIRST:
            return
        there = (self._records[place] for place in range(_FIRST))
        records = [record for record in there if record.response is not None]
        if len(records) == _FIRST:
            self._begun = BatchScorer(replace(self._how, facts=self._seen.facts(records)))

    def _arriving(self) -> Iterator[list[PackedRecord]]:
        """The records in batches as they come, each up to the first whose answer is still to come."""
        place, pause_s = 0, 0.0
        while not self._ending.wait(pause_s):
            self._check_room()
            records = (self._records.packed(number) for number in range(place, len(self._records)))
            batch = list(islice(takewhile(lambda packed: packed[1] is not None, records), BATCH))
            place, pause_s = place + len(batch), 0.0 if batch else _SLOW_S
            yield batch

    def _one_by_one(self) -> Iterator[EvalRecord]:
        """The records as they come, each when no answer is about to come as far as can be seen."""
        for place in range(len(self._records)):
            while not (self._is_quiet() and (record := self._records[place]).response is not None):
                if self._ending.wait(_SLOW_S):
                    return
            self._check_room()
            yield record
            if self._ending.wait(_QUIET_S):
                return

    def _is_quiet(self) -> bool:
        """Whether the server takes its time, and no answer is about to come as far as can be seen."""
        is_slow = self._waited_s >= _SLOW_S * self._answers
        return is_slow and time.perf_counter() - self._latest > _QUIET_S

    def _check_room(self) -> None:
        if not self._has_room():
            raise StoreError("the disk is nearly full")

    def _has_room(self) -> bool:
        """Whether there is room for more on the disk, such that no answer and no record ever lacks it."""
        try:
            return shutil.disk_usage(self._scratch).free > _ROOM
        except OSError:  # the folder is gone, which whoever writes the log tells
            return False
