"""Scoring while the server takes its time, so that a run ends soon after its last answer.

What all records of a run say together (`RunEvidence`, `RunFacts`) is known only when all are there. Here it is taken to
be what the first answers say. That is held against the whole at the end: where it was wrong for any record that was
scored by it, all of this is dropped, and the records are scored as if there had been none of it.
"""

import os
import shutil
import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from multiprocessing import get_context, parent_process
from multiprocessing.synchronize import Event as ProcessEvent
from pathlib import Path
from threading import Event, Thread

from evals.errors import EngineError, StoreError
from evals.metrics.base import BaseMetric
from evals.run.work import RunPlan, RunRecords
from evals.runtime import short_turns
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, EvalRun
from evals.scoring.conclusion import Gathered, Scorer, Terms
from evals.scoring.diagnosis.stages import AnswersSeen, RunFacts
from evals.scoring.digest import RunSummaryBuilder
from evals.scoring.settings import ScoreSettings, ScoringContext
from evals.store.disk_buffer import DiskList
from evals.store.journal import record_line
from evals.text.matching.corpus import evidence_of
from evals.text.matching.documents import RunEvidence

# What whoever scores records must know beside them, and the scoring that follows from it.


@dataclass(frozen=True, slots=True)
class Scoring:
    """The scoring of a run, of which the first records may be done.

    Attributes:
        conclusion: Takes the records that are left.
        digest: Made of the same records.
        lines: Of the records that are done, each with the id of its question.
    """

    conclusion: Scorer
    digest: RunSummaryBuilder
    lines: Sequence[tuple[str, bytes]] = ()


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

    def scoring(self, first: int = 0, lines: Sequence[tuple[str, bytes]] = ()) -> Scoring:
        """One that begins with the record of this number.

        Args:
            first: The number.
            lines: Where the lines of those that are done are going to be.
        """
        cases = ScoringContext(self.settings)
        digest = RunSummaryBuilder(self.facts, cases)
        return Scoring(Scorer(self.run, self.metrics, cases, self.terms, digest, first=first), digest, lines)


_FIRST = 200
"""Answers by which the rest is judged; shorter runs are scored when all is there."""


_QUIET_S = 0.0015
"""Nothing is begun before the server has been silent for as long: answers come in bursts, and none shall wait."""


_LONGEST_S = 0.05
"""Where it is never silent, it is listened to at least so often."""


_SHARE = 0.02
"""An answer that comes while a record is scored waits for that: it may be made to seem slower by so much."""


_ROOM = 256 << 20
"""Bytes that must be free on the disk: answers go first, and what is scored early lies there twice at the end."""


_REMEMBERED = 20
"""What scoring takes is told from about so many records."""


_USUAL_S = 0.001
"""Seconds that a record is taken to need as long as none was scored."""


class OverlappedScorer:
    """Scores the answers of a run in the order of its questions, in a thread of its own, while others are waited for.

    Args:
        work: Questions, and the answers as they come.
        how: To score them, as far as it is known; without a judge, and without models that compare texts.
        seen: What is gathered of the answers as they come.
        scratch: The folder for what is done.
        is_wanted: Whether anything is to be scored early.
    """

    def __init__(
        self, work: RunPlan, how: ScoreConfig, seen: AnswersSeen, scratch: Path, *, is_wanted: bool = True
    ) -> None:
        self._work = work
        self._records = RunRecords(work, {})
        self._how = how
        self._seen = seen
        self._is_wanted = is_wanted and len(self._records) > _FIRST
        self._scratch = scratch
        self._is_right = True
        self._first: list[EvalRecord] = []
        self._assumed: RunEvidence | None = None
        self._scoring: Scoring | None = None
        self._lines: DiskList[tuple[str, bytes]] | None = None
        self._written = 0
        """Bytes of the lines."""
        self._latest = 0.0
        self._waited_s, self._answers = 0.0, 0
        self._each_s = _USUAL_S
        """What scoring a record takes, the latest most."""
        self._pool = ThreadPoolExecutor(1, "evals scoring")
        self._ending = Event()
        self._work_on: Future[None] | None = None

    def arrived(self, response: EvalResponse, *, is_other: bool = False) -> None:
        """Know that an answer has just come.

        Args:
            response: The answer.
            is_other: Whether its question has had another one, by which its record may be scored already.
        """
        self._latest = time.perf_counter()
        self._is_right = self._is_right and not is_other
        if response.latency_ms is not None:
            self._waited_s += response.latency_ms / 1000
            self._answers += 1
        if self._work_on is None and self._is_wanted:
            self._work_on = self._pool.submit(self._score)

    def end(self) -> None:
        """Begin nothing more, and wait for the record in hand; what broke meanwhile is raised."""
        self._ending.set()
        self._pool.shutdown()
        if self._work_on is not None:
            self._work_on.result()

    def scoring(self, evidence: RunEvidence, facts: RunFacts) -> Scoring | None:
        """What is done, to be gone on with; it is dropped where it cannot be.

        Args:
            evidence: What all records say about matching.
            facts: What else they say together.

        Returns:
            None where nothing is done, or was done by what is not so.
        """
        begun, assumed = self._scoring if self._is_right else None, self._assumed
        is_so = assumed is not None and evidence.bears_out(assumed)
        if begun is not None and begun.digest.facts == facts and is_so and self._has_room():
            begun.digest.cases.match_with(evidence)
            return begun
        self._drop()
        return None

    def _score(self) -> None:
        pause = _QUIET_S
        try:
            with short_turns():
                while not self._ending.wait(pause):
                    if not self._has_room():
                        self._drop()
                        break
                    pause = _QUIET_S if self._score_some() else min(2 * pause, _LONGEST_S)
        except StoreError:  # nothing is lost: all is scored at the end, and what is in the way then is told
            self._drop()

    def _has_room(self) -> bool:
        """Whether there is room for more on the disk, such that no answer and no record ever lacks it."""
        try:
            return shutil.disk_usage(self._scratch).free > _ROOM + self._written
        except OSError:  # the folder is gone, which whoever writes the log tells
            return False

    def _drop(self) -> None:
        """Give up what is done, and the room that it takes."""
        self._scoring, lines, self._lines = None, self._lines, None
        if lines is not None:
            lines.close()

    def _score_some(self) -> bool:
        """Score what is there until the next answer comes; returns whether anything was."""
        has_scored = False
        while self._is_quiet() and not self._ending.is_set() and (record := self._next()) is not None:
            if self._scoring is None:
                self._begin_with(record)
            else:
                self._score_record(record, self._scoring.conclusion)
            has_scored = True
        return has_scored

    def _is_quiet(self) -> bool:
        """Whether no answer is about to come, as far as can be seen, and one that comes would hardly have to wait."""
        time.sleep(0)  # one that waits to be read goes first
        is_slow = self._each_s * self._answers <= _SHARE * self._waited_s
        return is_slow and time.perf_counter() - self._latest > _QUIET_S

    def _next(self) -> EvalRecord | None:
        """The record that follows; None where it is not there yet, and behind the last."""
        place = len(self._first if self._lines is None else self._lines)
        record = self._records[place] if place < len(self._records) else None
        return None if record is None or record.response is None else record

    def _begin_with(self, record: EvalRecord) -> None:
        """Take one of the first records; with the last of them it is known by what the others are scored, and these."""
        self._first.append(record)
        if len(self._first) < _FIRST:
            return
        settings = self._how.settings
        self._assumed = evidence_of(self._first, settings.match).watched()
        facts = self._seen.facts(self._first)
        how = replace(self._how, settings=replace(settings, evidence=self._assumed), facts=facts)
        self._lines = DiskList(None, folder=self._scratch, most_held=0)
        self._scoring, self._first = how.scoring(lines=self._lines), []

    def _score_record(self, record: EvalRecord, conclusion: Scorer) -> None:
        started = time.thread_time()
        scored = conclusion.score(record)
        line = record_line(scored)
        if self._lines is not None:
            self._lines.append((scored.question.id, line))
        self._written += len(line)
        took_s = min(time.thread_time() - started, 2 * self._each_s)  # one long text says little of the others
        self._each_s += (took_s - self._each_s) / _REMEMBERED


# Scoring by several processes of this machine: each takes a batch of records, and what it gathers is put together.


BATCH = 200
"""Records that a process takes at once. For fewer than two batches none is started, which takes a second."""


_LARGEST = 4 << 20
"""Characters of a batch, about: of long records it holds fewer."""


_IN_HAND = 2
"""Batches that wait for each process."""

_Scored = tuple[list[tuple[str, bytes]], Gathered]


def lines_of(
    how: ScoreConfig, records: Sequence[EvalRecord], first: int, jobs: int, conclusion: Scorer
) -> Iterator[tuple[str, bytes]]:
    """The lines of records that other processes score, each with the id of its question.

    Args:
        how: To score them.
        records: All of the run.
        first: The number of the first one to score.
        jobs: How many processes there are at most.
        conclusion: Gathers what they gather.

    Raises:
        EngineError: A process ended by itself, or could not be started.
    """
    jobs = min(jobs, -(-(len(records) - first) // BATCH))
    context = get_context("spawn")
    try:
        ending = context.Event()
        pool = ProcessPoolExecutor(jobs, context, _prepare, (how, ending))
    except OSError as error:
        raise _not_started(error) from error
    waiting: deque[Future[_Scored]] = deque()
    batches = _batches(records, first)
    try:
        while True:
            waiting.extend(pool.submit(_score, *one) for one in islice(batches, _IN_HAND * jobs + 1 - len(waiting)))
            if not waiting:
                break
            lines, gathered = waiting.popleft().result()
            conclusion.extend(gathered)
            yield from lines
    except BrokenProcessPool as error:
        raise EngineError(
            "a process that scored answers ended by itself: the machine may be short of memory",
            'lower engine.jobs; a script of your own needs `if __name__ == "__main__":`, as processes are spawned',
        ) from error
    except OSError as error:
        raise _not_started(error) from error
    finally:
        ending.set()  # where all is done, nobody hears it
        pool.shutdown(cancel_futures=True)


def _not_started(error: OSError) -> EngineError:
    """There are too many processes or open files."""
    return EngineError(f"cannot start processes that score: {error.strerror or error}", "lower engine.jobs")


def _batches(records: Sequence[EvalRecord], first: int) -> Iterator[tuple[int, list[EvalRecord]]]:
    """The records from this number on, in batches, each with the number of its first."""
    batch: list[EvalRecord] = []
    size = 0
    for place in range(first, len(records)):
        batch.append(records[place])
        size += _characters(batch[-1].response)
        if len(batch) == BATCH or size >= _LARGEST:
            yield place + 1 - len(batch), batch
            batch, size = [], 0
    if batch:
        yield len(records) - len(batch), batch


def _characters(response: EvalResponse | None) -> int:
    """How long the texts of a response are."""
    if response is None:
        return 0
    return len(response.answer or "") + sum(len(chunk.text or "") for chunk in response.chunks or ())


_told: list[tuple[ScoreConfig, ProcessEvent]] = []
"""In a process that scores: what it was told when it was started, and whether nobody waits for it any more."""


def _prepare(how: ScoreConfig, ending: ProcessEvent) -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"):  # a group hears them; they are for who waits for this one
        number = getattr(signal, name, None)  # not every system has them all
        if number is not None:
            signal.signal(number, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    _told[:] = [(how, ending)]


def _end_with_parent() -> None:
    """End this process where the one that waits for it is killed: nobody else would end it."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _score(first: int, records: Sequence[EvalRecord]) -> _Scored:
    how, ending = _told[0]
    conclusion = how.scoring(first).conclusion
    wanted = takewhile(lambda _: not ending.is_set(), records)
    lines = [(one.question.id, record_line(one)) for one in conclusion.scored(wanted)]
    return lines, conclusion.gathered()


# The lines of a run's records, as they are saved, by whoever scores them.


def scoring_of(early: OverlappedScorer, how: ScoreConfig) -> Scoring:
    """The scoring of a run, gone on with where it has begun.

    Args:
        early: What was scored while others were waited for.
        how: To score records, now that all are there.
    """
    evidence = how.settings.evidence
    begun = None if evidence is None else early.scoring(evidence, how.facts)
    return begun or how.scoring()


def scored_lines(
    scoring: Scoring, records: Sequence[EvalRecord], how: ScoreConfig, jobs: int
) -> Iterator[tuple[str, bytes]]:
    """The lines of all records, each with its question's id: of those that are scored already, then of the others.

    Texts that models compare are remembered by this process, so that it scores them itself.

    Args:
        scoring: Gathers what follows from the records.
        records: All of the run, in the order of their questions.
        how: To score them.
        jobs: How many processes score.

    Raises:
        EngineError: A process ended by itself.
    """
    yield from scoring.lines
    done, conclusion, semantics = len(scoring.lines), scoring.conclusion, how.settings.semantics
    by_models = semantics is not None and semantics.compares
    if jobs > 1 and len(records) - done >= 2 * BATCH and not by_models:
        yield from lines_of(how, records, done, jobs, conclusion)
        return
    rest = conclusion.scored(records[place] for place in range(done, len(records)))
    yield from ((record.question.id, record_line(record)) for record in rest)
