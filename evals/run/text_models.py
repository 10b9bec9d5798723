"""Comparing the texts of a whole run at once, before its records are scored one by one.

Models work many times faster on a batch than on a text, and between two batches Ctrl-C can end the work. What is found
is remembered by the embedder and the scorer themselves, where the metrics find it.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

from evals.metrics.base import BaseMetric
from evals.metrics.embedders import Semantics, key_of_pair
from evals.metrics.sample import Sample
from evals.run.notebook import Observer
from evals.schemas.results import EvalRecord
from evals.scoring.settings import ScoringContext
from evals.text.folding import hash64
from evals.text.numbers import counted

T = TypeVar("T", str, tuple[str, str])

_TEXTS_AT_ONCE = 64


_FAILURES = (RuntimeError, ValueError, OSError, MemoryError, IndexError)
"""What models raise when they run out of memory, or meet a text that they cannot take."""


async def compare_texts(
    metrics: Sequence[BaseMetric], records: Collection[EvalRecord], cases: ScoringContext, observer: Observer
) -> None:
    """Embed and score every text that the metrics will ask for; off the event loop, in batches.

    Args:
        metrics: Say what they will ask for.
        records: All records of the run; they are walked more than once.
        cases: They as metrics see them. Where a model fails, they hold the reason instead of it from here on, so that a
            run does not lose its other metrics.
        observer: Hears of the progress.
    """
    semantics = cases.settings.semantics
    if semantics is None or not semantics.compares:
        return
    wanted = _Wanted(metrics, records, cases)
    try:
        if semantics.embedder is not None:
            embedding = _Doing(wanted.texts, "text", "embedding {}", semantics.at_a_time)
            await _in_batches(semantics.embedder.embed, embedding, observer)
        if semantics.scorer is not None:
            comparing = _Doing(wanted.pairs, "pair", "comparing {} of texts", semantics.at_a_time)
            await _in_batches(semantics.scorer.f1, comparing, observer)
    except _FAILURES as error:
        reason = f"comparing the texts failed: {type(error).__name__}: {error}".splitlines()[0][:300]
        observer.note(reason)
        leave_out_models(cases, reason)


class _Wanted:
    """What the metrics will ask for, each text and pair once, those of the first metric first; none is held.

    The order is that of batches, on which the last digits of what models say depend.
    """

    def __init__(self, metrics: Sequence[BaseMetric], records: Collection[EvalRecord], cases: ScoringContext) -> None:
        self._metrics = metrics
        self._records = records
        self._cases = cases

    def texts(self) -> Iterator[str]:
        """The texts; the records are walked once for each metric that wants some."""
        wanting = [metric for metric in self._metrics if type(metric).texts is not BaseMetric.texts]
        wanted = (text for metric in wanting for case in self._asked() for text in metric.texts(case))
        return _distinct(wanted, hash64)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The pairs, likewise."""
        wanting = [metric for metric in self._metrics if type(metric).text_pairs is not BaseMetric.text_pairs]
        wanted = (pair for metric in wanting for case in self._asked() for pair in metric.text_pairs(case))
        return _distinct(wanted, key_of_pair)

    def _asked(self) -> Iterator[Sample]:
        return (self._cases.of(record) for record in self._records if record.response is not None)


def _distinct(wanted: Iterable[T], key_of: Callable[[T], int]) -> Iterator[T]:
    """Each of them once, told apart by hashes: the texts of a run are not held."""
    seen: set[int] = set()
    for each in wanted:
        key = key_of(each)
        if key not in seen:
            seen.add(key)
            yield each


def leave_out_models(cases: ScoringContext, reason: str) -> None:
    """Score without what compares texts, which takes no time then; the metrics give the reason."""
    semantics = cases.settings.semantics
    if semantics is not None and (semantics.compares or semantics.reason is None):  # else it says why there is none
        cases.compare_by(Semantics(reason=reason))


@dataclass(frozen=True, slots=True)
class _Doing(Generic[T]):
    """What a model is given.

    Attributes:
        items: Walks over all of it; more than once.
        what: An item is called.
        said: How the work is told, with a place for the count.
        at_a_time: So many batches.
    """

    items: Callable[[], Iterator[T]]
    what: str
    said: str
    at_a_time: int


async def _in_batches(work: Callable[[Sequence[T]], object], doing: _Doing[T], observer: Observer) -> None:
    """Do the work on all items, several batches at a time where that is of use."""
    total, done = sum(1 for _ in doing.items()), 0
    if total:
        observer.phase(doing.said.format(counted(total, doing.what)))
    waiting, loop = _batches(doing.items()), asyncio.get_running_loop()
    threads = ThreadPoolExecutor(doing.at_a_time, "evals texts")

    async def own() -> None:
        nonlocal done
        for batch in waiting:
            await loop.run_in_executor(threads, work, batch)
            done += len(batch)
            observer.progress(done, total)

    tasks = [asyncio.create_task(own()) for _ in range(doing.at_a_time)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.to_thread(threads.shutdown, cancel_futures=True)  # the batches at work end first


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Cut where a batch would hold more than so many distinct texts: what takes time is texts, not pairs of them."""
    batch: list[T] = []
    held: set[str] = set()
    for item in items:
        texts = {item} if isinstance(item, str) else set(item)
        if batch and len(held | texts) > _TEXTS_AT_ONCE:
            yield batch
            batch, held = [], set()
        batch.append(item)
        held |= texts
    if batch:
        yield batch
