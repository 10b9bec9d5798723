"""Scoring of a run's records in batches: while the server takes its time, and what is left when all answers are there.

A batch is scored in this process or in one of a pool, and what it gathers is put together in the order of the
questions. What all records say together (`RunEvidence`, `RunFacts`) is known only when all are there: while answers
arrive it is taken to be what the first ones say. Where that was wrong for any record scored by it, what was scored
early is dropped, and the records are scored as if there had been none of it.
"""

import os
import shutil
import signal
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from itertools import chain, islice, takewhile
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Event, Thread

from evals.errors import EngineError, StoreError
from evals.metrics.base import BaseMetric
from evals.run.work import RunPlan, RunRecords
from evals.runtime import short_turns
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, EvalRun
from evals.scoring.conclusion import Gathered, Scorer, Terms, gc_paused
from evals.scoring.diagnosis.stages import AnswersSeen, RunFacts
from evals.scoring.digest import RunSummaryBuilder
from evals.scoring.settings import ScoreSettings, ScoringContext
from evals.store.disk_buffer import DiskList
from evals.store.journal import record_line
from evals.text.matching.corpus import evidence_of

RecordLine = tuple[str, bytes]
"""A record as it is saved, with the id of its question."""

BATCH = 50
"""Records that are scored at once."""

FEWEST = 400
"""For fewer records no process is started, which takes a second."""

_IN_HAND = 2
"""Batches that wait for each process."""

_FIRST = 200
"""Answers by which the rest is judged; shorter runs are scored when all is there."""

_QUIET_S = 0.0015
"""Nothing is begun before the server has been silent for as long: answers come in bursts, and none shall wait."""

_SLOW_S = 0.05
"""Answers that take less are not scored early: scoring a record, some 1 ms, would make the next one seem slower."""

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

    def missed(self) -> set[int]:
        """The hashes of documents' names that were looked for in vain, where that is noted."""
        noted = self.settings.evidence.names.missed if self.settings.evidence else None
        return set() if noted is None else noted


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

    def lines(self, batches: Iterable[Sequence[EvalRecord]], jobs: int = 1) -> Iterator[RecordLine]:
        """Score the records that follow, in this process or in this many others.

        Raises:
            EngineError: A process ended by itself, or could not be started.
        """
        if jobs > 1:
            yield from self._by_processes(batches, jobs)
            return
        with gc_paused():
            for record in chain.from_iterable(batches):
                scored = self.scorer.score(record)
                self.done += 1
                yield scored.question.id, record_line(scored)

    def _by_processes(self, batches: Iterable[Sequence[EvalRecord]], jobs: int) -> Iterator[RecordLine]:
        waiting: deque[Future[_Scored]] = deque()
        given = self.done
        try:
            with ProcessPoolExecutor(jobs, get_context("spawn"), _prepare, (self.how,)) as pool:
                for batch in batches:
                    waiting.append(pool.submit(_score, given, batch))
                    given += len(batch)
                    if len(waiting) > _IN_HAND * jobs:
                        yield from self._take(waiting.popleft())
                while waiting:
                    yield from self._take(waiting.popleft())
        except (BrokenProcessPool, OSError) as error:
            raise EngineError(
                f"a process that scores could not be started, or ended by itself: {error}",
                'lower engine.jobs; a script of your own needs `if __name__ == "__main__":`, as processes are spawned',
            ) from error

    def _take(self, scored: "Future[_Scored]") -> list[RecordLine]:
        lines, gathered, missed = scored.result()
        self.scorer.extend(gathered)
        self.how.missed().update(missed)
        self.done += len(lines)
        return lines


_Scored = tuple[list[RecordLine], Gathered, set[int]]

_told: list[ScoreConfig] = []
"""In a process that scores: what it was told when it was started."""


def _prepare(how: ScoreConfig) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # a group hears them; they are for who waits for this one
        signal.signal(number, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    _told[:] = [how]


def _end_with_parent() -> None:
    """End this process where the one that waits for it is killed: it would not end otherwise."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _score(first: int, records: Sequence[EvalRecord]) -> _Scored:
    part = BatchScorer(_told[0], first)
    return list(part.lines([records])), part.scorer.gathered(), part.how.missed()


def in_batches(records: Sequence[EvalRecord], first: int) -> Iterator[list[EvalRecord]]:
    """The records from this number on."""
    rest = (records[place] for place in range(first, len(records)))
    while batch := list(islice(rest, BATCH)):
        yield batch


class OverlappedScorer:
    """Scores the answers of a run in the order of its questions, in a thread of its own, while others are waited for.

    Args:
        work: Questions, and the answers as they come.
        how: To score them, as far as it is known; without a judge, and without models that compare texts.
        seen: What is gathered of the answers as they come.
        scratch: The folder for what is done.
        jobs: How many processes score, where it is more than this one.
    """

    def __init__(
        self,
        work: RunPlan,
        how: ScoreConfig,
        seen: AnswersSeen,
        scratch: Path,
        *,
        jobs: int = 1,
        is_wanted: bool = True,
    ) -> None:
        self._records = RunRecords(work, {})
        self._how = how
        self._seen = seen
        self._scratch = scratch
        self._jobs = jobs
        self._is_right = True
        self._begun: BatchScorer | None = None
        self._lines: DiskList[RecordLine] = DiskList(None, folder=scratch, most_held=0)
        self._latest, self._waited_s, self._answers = 0.0, 0.0, 0
        self._ending = Event()
        self._pool = ThreadPoolExecutor(1, "evals scoring")
        self._work_on = self._pool.submit(self._score) if len(self._records) > _FIRST else None

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
        self._pool.shutdown()
        if self._work_on is not None:
            self._work_on.result()

    def resume(self, how: ScoreConfig) -> tuple[BatchScorer, Iterable[RecordLine]]:
        """The scoring of all records, continued where it has begun.

        Args:
            how: To score them, now that all answers are there.

        Returns:
            What scores those that are left, and the lines of those that are done.
        """
        begun, evidence = self._begun, how.settings.evidence
        if begun is not None and evidence is not None:
            assumed = begun.how.settings.evidence
            is_so = self._is_right and assumed is not None and evidence.bears_out(assumed)
            if is_so and begun.how.facts == how.facts and self._has_room():
                begun.how = how
                begun.cases.match_with(evidence)
                return begun, self._lines
        self._lines.close()
        return BatchScorer(how), ()

    def _score(self) -> None:
        try:
            with short_turns():
                while self._begun is None and not self._ending.wait(_SLOW_S):
                    self._begin()
                if self._begun is not None:
                    for line in self._begun.lines(self._arriving(), self._jobs):
                        self._lines.append(line)
        except StoreError:  # nothing is lost: all is scored at the end, and what is in the way then is told
            self._begun = None
            self._lines.close()

    def _begin(self) -> None:
        """Take what the first answers say for what all will say."""
        records = list(islice(self._there(0), _FIRST))
        if len(records) == _FIRST:
            evidence = evidence_of(records, self._how.settings.match).watched()
            settings, facts = replace(self._how.settings, evidence=evidence), self._seen.facts(records)
            self._begun = BatchScorer(replace(self._how, settings=settings, facts=facts))

    def _there(self, place: int) -> Iterator[EvalRecord]:
        """The records from this number on, up to the first whose answer is still to come."""
        records = (self._records[number] for number in range(place, len(self._records)))
        return takewhile(lambda record: record.response is not None, records)

    def _arriving(self) -> Iterator[list[EvalRecord]]:
        """The records as they come, in batches, each when no answer is about to come as far as can be seen."""
        place, pause_s = 0, _QUIET_S
        while not self._ending.wait(pause_s):
            if not self._has_room():
                raise StoreError("the disk is nearly full")
            is_slow = self._waited_s >= _SLOW_S * self._answers
            is_quiet = is_slow and time.perf_counter() - self._latest > _QUIET_S
            batch = list(islice(self._there(place), BATCH)) if is_quiet else []
            place, pause_s = place + len(batch), _QUIET_S if batch else _SLOW_S
            if batch:
                yield batch

    def _has_room(self) -> bool:
        """Whether there is room for more on the disk, such that no answer and no record ever lacks it."""
        try:
            return shutil.disk_usage(self._scratch).free > _ROOM
        except OSError:  # the folder is gone, which whoever writes the log tells
            return False
