"""Scoring by several processes of this machine: each takes a batch of records, and what it gathers is put together.

What all records of a run say together is known before they are scored, so that each record is scored as one process
would score it, and batches are put together in the order of the questions.
"""

import signal
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from evals.errors import EngineError
from evals.run.scorers.how import HowToScore
from evals.schemas import EvalRecord
from evals.scoring.conclusion import Conclusion, Gathered
from evals.store.journal import record_line

BATCH = 200
"""Records that a process takes at once. For fewer than two batches none is started, which takes a second."""
_IN_HAND = 2
"""Batches that wait for each process."""

_Scored = tuple[list[tuple[str, bytes]], Gathered]


def lines_of(
    how: HowToScore, records: Sequence[EvalRecord], first: int, jobs: int, conclusion: Conclusion
) -> Iterator[tuple[str, bytes]]:
    """The lines of records that other processes score, each with the id of its question.

    Args:
        how: To score them.
        records: All of the run.
        first: The number of the first one to score.
        jobs: How many processes there are at most.
        conclusion: Gathers what they gather.

    Raises:
        EngineError: A process ended by itself.
    """
    jobs = min(jobs, -(-(len(records) - first) // BATCH))
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _prepare, (how,))
    waiting: deque[Future[_Scored]] = deque()
    try:
        for start in range(first, len(records), BATCH):
            batch = [records[place] for place in range(start, min(start + BATCH, len(records)))]
            waiting.append(pool.submit(_score, start, batch))
            if len(waiting) > _IN_HAND * jobs:
                yield from _taken(waiting.popleft(), conclusion)
        while waiting:
            yield from _taken(waiting.popleft(), conclusion)
    except BrokenProcessPool as error:
        raise EngineError(
            "a process that scored answers ended by itself: the machine may be short of memory",
            'lower engine.jobs; a script of your own needs `if __name__ == "__main__":`, as processes are spawned',
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _taken(future: "Future[_Scored]", conclusion: Conclusion) -> list[tuple[str, bytes]]:
    lines, gathered = future.result()
    conclusion.extend(gathered)
    return lines


_told: list[HowToScore] = []
"""In a process that scores: what it was told when it was started."""


def _prepare(how: HowToScore) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits for this one
    _told[:] = [how]


def _score(first: int, records: Sequence[EvalRecord]) -> _Scored:
    conclusion = _told[0].scoring(first).conclusion
    lines = [(one.question.id, record_line(one)) for one in conclusion.scored(records)]
    return lines, conclusion.gathered()
