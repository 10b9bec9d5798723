"""Scoring by several processes of this machine: each takes a batch of records, and what it gathers is put together.

What all records of a run say together is known before they are scored, so that each record is scored as one process
would score it, and batches are put together in the order of the questions.
"""

import os
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import takewhile
from multiprocessing import get_context, parent_process
from multiprocessing.synchronize import Event
from threading import Thread

from evals.errors import EngineError
from evals.run.scorers.how import HowToScore
from evals.schemas import EvalRecord, EvalResponse
from evals.scoring.conclusion import Conclusion, Gathered
from evals.store.journal import record_line

BATCH = 200
"""Records that a process takes at once. For fewer than two batches none is started, which takes a second."""
_LARGEST = 4 << 20
"""Characters of a batch, about: of long records it holds fewer."""
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
    try:
        for start, batch in _batches(records, first):
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


def _taken(future: "Future[_Scored]", conclusion: Conclusion) -> list[tuple[str, bytes]]:
    lines, gathered = future.result()
    conclusion.extend(gathered)
    return lines


_told: list[tuple[HowToScore, Event]] = []
"""In a process that scores: what it was told when it was started, and whether nobody waits for it any more."""


def _prepare(how: HowToScore, ending: Event) -> None:
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
