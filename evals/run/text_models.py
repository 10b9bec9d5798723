"""Comparing the texts of a whole run at once, before its records are scored one by one.

Models work many times faster on a batch than on a text, and between two batches Ctrl-C can end the work. What is found
is remembered by the embedder and the scorer themselves, where the metrics find it.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

from evals.case.case import Case
from evals.metrics.base import BaseMetric
from evals.run.observer import Observer
from evals.schemas import EvalRecord
from evals.scoring.settings import Cases
from evals.semantics.base import Semantics
from evals.semantics.memo import key_of_pair
from evals.semantics.places import Places
from evals.text.counts import counted

T = TypeVar("T", str, tuple[str, str])
_TEXTS_AT_ONCE = 64
_FAILURES = (RuntimeError, ValueError, OSError, MemoryError, IndexError)
"""What models raise when they run out of memory, or meet a text that they cannot take."""


async def compare_texts(
    metrics: Sequence[BaseMetric], records: Collection[EvalRecord], cases: Cases, observer: Observer
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
    if semantics is None or (semantics.embedder is None and semantics.scorer is None):
        return
    wanted = _Wanted(metrics, records, cases)
    try:
        if semantics.embedder is not None:
            await _in_batches(semantics.embedder.embed, wanted.texts, "text", "embedding {}", observer)
        if semantics.scorer is not None:
            await _in_batches(semantics.scorer.f1, wanted.pairs, "pair", "comparing {} of texts", observer)
    except _FAILURES as error:
        reason = f"comparing the texts failed: {type(error).__name__}: {error}".splitlines()[0][:300]
        observer.note(reason)
        leave_out_models(cases, reason)


class _Wanted:
    """What the metrics will ask for, each text and pair once, those of the first metric first; none is held.

    The order is that of batches, on which the last digits of what models say depend.
    """

    def __init__(self, metrics: Sequence[BaseMetric], records: Collection[EvalRecord], cases: Cases) -> None:
        self._metrics = metrics
        self._records = records
        self._cases = cases

    def texts(self) -> Iterator[str]:
        """The texts; the records are walked once for each metric that wants some."""
        seen = Places()
        for metric in self._metrics:
            if type(metric).texts is not BaseMetric.texts:
                wanted = chain.from_iterable(map(metric.texts, self._asked()))
                yield from filter(seen.add, wanted)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The pairs, likewise."""
        seen = Places()
        for metric in self._metrics:
            if type(metric).text_pairs is not BaseMetric.text_pairs:
                wanted = chain.from_iterable(map(metric.text_pairs, self._asked()))
                yield from (pair for pair in wanted if seen.add(key_of_pair(pair)))

    def _asked(self) -> Iterator[Case]:
        return (self._cases.of(record) for record in self._records if record.response is not None)


def leave_out_models(cases: Cases, reason: str) -> None:
    """Score without what compares texts, which takes no time then; the metrics give the reason."""
    if cases.settings.semantics is not None:
        cases.compare_by(Semantics(reason=reason))


async def _in_batches(
    work: Callable[[Sequence[T]], object],
    items: Callable[[], Iterator[T]],
    what: str,
    doing: str,
    observer: Observer,
) -> None:
    total, done = sum(1 for _ in items()), 0
    if total:
        observer.phase(doing.format(counted(total, what)))
    for batch in _batches(items()):
        await asyncio.to_thread(work, batch)
        done += len(batch)
        observer.progress(done, total)


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
