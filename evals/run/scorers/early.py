"""Scoring while the server takes its time, so that a run ends soon after its last answer.

What all records of a run say together (`RunEvidence`, `RunFacts`) is known only when all are there. Here it is taken to
be what the first answers say. That is held against the whole at the end: where it was wrong for any record that was
scored by it, all of this is dropped, and the records are scored as if there had been none of it.
"""

import shutil
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

from evals.case.matching import RunEvidence, evidence_of
from evals.errors import StoreError
from evals.run.scorers.how import HowToScore, Scoring
from evals.run.work import RunRecords, Work
from evals.runtime import short_turns
from evals.schemas import EvalRecord, EvalResponse
from evals.scoring.conclusion import Conclusion
from evals.scoring.diagnosis.facts import AnswersSeen, RunFacts
from evals.store.journal import record_line
from evals.store.spill import SpilledList

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


class EarlyScoring:
    """Scores the answers of a run in the order of its questions, in a thread of its own, while others are waited for.

    Args:
        work: Questions, and the answers as they come.
        how: To score them, as far as it is known; without a judge, and without models that compare texts.
        seen: What is gathered of the answers as they come.
        scratch: The folder for what is done.
        is_wanted: Whether anything is to be scored early.
    """

    def __init__(
        self, work: Work, how: HowToScore, seen: AnswersSeen, scratch: Path, *, is_wanted: bool = True
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
        self._lines: SpilledList[tuple[str, bytes]] | None = None
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
        while self._is_quiet() and not self._ending.is_set():
            done = self._scoring or self._begun()
            started = time.thread_time()
            if done is None or not self._score_next(done.conclusion):
                break
            took_s = min(time.thread_time() - started, 2 * self._each_s)  # one long text says little of the others
            self._each_s += (took_s - self._each_s) / _REMEMBERED
            has_scored = True
        return has_scored

    def _is_quiet(self) -> bool:
        """Whether no answer is about to come, as far as can be seen, and one that comes would hardly have to wait."""
        time.sleep(0)  # one that waits to be read goes first
        is_slow = self._each_s * self._answers <= _SHARE * self._waited_s
        return is_slow and time.perf_counter() - self._latest > _QUIET_S

    def _score_next(self, conclusion: Conclusion) -> bool:
        """Score the next record, if it is there; returns whether it was."""
        if self._lines is None or (record := self._next(len(self._lines))) is None:
            return False
        scored = conclusion.score(record)
        line = record_line(scored)
        self._lines.append((scored.question.id, line))
        self._written += len(line)
        return True

    def _next(self, place: int) -> EvalRecord | None:
        """The record with this number; None where it is not there yet, and behind the last."""
        record = self._records[place] if place < len(self._records) else None
        return None if record is None or record.response is None else record

    def _begun(self) -> Scoring | None:
        """What is to be gone on with, as soon as the first answers are there."""
        while len(self._first) < _FIRST:
            record = self._next(len(self._first))
            if record is None:
                return None
            self._first.append(record)
        first, self._first = self._first, []
        settings = self._how.settings
        self._assumed = evidence_of(first, settings.match).watched()
        how = replace(self._how, settings=replace(settings, evidence=self._assumed), facts=self._seen.facts(first))
        self._lines = SpilledList(None, folder=self._scratch, most_held=0)
        self._scoring = how.scoring(lines=self._lines)
        return self._scoring
