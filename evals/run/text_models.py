"""Comparing the texts of a whole run at once, before its records are scored one by one.

Models work many times faster on a batch than on a text, and between two batches Ctrl-C can end the work. What is found
is remembered by the embedder and the scorer themselves, where the metrics find it.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TypeVar

from evals.case.case import Case
from evals.metrics.base import BaseMetric
from evals.run.observer import Observer
from evals.schemas import EvalRecord
from evals.scoring.settings import Cases
from evals.semantics.base import Semantics
from evals.text.counts import counted

T = TypeVar("T")
_TEXTS_AT_ONCE = 64
_FAILURES = (RuntimeError, ValueError, OSError, MemoryError, IndexError)
"""What models raise when they run out of memory, or meet a text that they cannot take."""


async def compare_texts(
    metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], cases: Cases, observer: Observer
) -> None:
    """Embed and score every text that the metrics will ask for; off the event loop, in batches.

    Args:
        metrics: Say what they will ask for.
        records: All records of the run.
        cases: They as metrics see them. Where a model fails, they hold the reason instead of it from here on, so that a
            run does not lose its other metrics.
        observer: Hears of the progress.
    """
    semantics = cases.settings.semantics
    if semantics is None or (semantics.embedder is None and semantics.scorer is None):
        return
    texts, pairs = _wanted(metrics, map(cases.of, filter(_is_asked, records)))
    try:
        if semantics.embedder is not None and texts:
            observer.phase(f"embedding {counted(len(texts), 'text')}")
            await _in_batches(
                semantics.embedder.embed,
                _batches(texts, lambda text: [text]),
                len(texts),
                observer,
                at_a_time=semantics.at_a_time,
            )
        if semantics.scorer is not None and pairs:
            observer.phase(f"comparing {counted(len(pairs), 'pair')} of texts")
            await _in_batches(
                semantics.scorer.f1, _batches(pairs, list), len(pairs), observer, at_a_time=semantics.at_a_time
            )
    except _FAILURES as error:
        reason = f"comparing the texts failed: {type(error).__name__}: {error}".splitlines()[0][:300]
        observer.note(reason)
        leave_out_models(cases, reason)


def _wanted(metrics: Sequence[BaseMetric], cases: Iterable[Case]) -> tuple[list[str], list[tuple[str, str]]]:
    """The texts and the pairs that the metrics will ask for, each once, those of the first metric first."""
    texts: list[dict[str, None]] = [{} for _ in metrics]
    pairs: list[dict[tuple[str, str], None]] = [{} for _ in metrics]
    for case in cases:
        for metric, its_texts, its_pairs in zip(metrics, texts, pairs, strict=True):
            its_texts.update(dict.fromkeys(metric.texts(case)))
            its_pairs.update(dict.fromkeys(metric.text_pairs(case)))
    return list(dict.fromkeys(chain.from_iterable(texts))), list(dict.fromkeys(chain.from_iterable(pairs)))


def _is_asked(record: EvalRecord) -> bool:
    return record.response is not None


def leave_out_models(cases: Cases, reason: str) -> None:
    """Score without what compares texts, which takes no time then; the metrics give the reason."""
    if cases.settings.semantics is not None:
        cases.compare_by(Semantics(reason=reason))


async def _in_batches(
    work: Callable[[Sequence[T]], object],
    batches: Iterable[Sequence[T]],
    total: int,
    observer: Observer,
    *,
    at_a_time: int,
) -> None:
    done, waiting = 0, iter(batches)
    loop = asyncio.get_running_loop()

    async def own() -> None:
        nonlocal done
        for batch in waiting:
            await loop.run_in_executor(threads, work, batch)
            done += len(batch)
            observer.progress(done, total)

    threads = ThreadPoolExecutor(at_a_time, "evals texts")
    tasks = [asyncio.create_task(own()) for _ in range(at_a_time)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        threads.shutdown(wait=False, cancel_futures=True)


def _batches(items: Iterable[T], texts_of: Callable[[T], Iterable[str]]) -> Iterator[list[T]]:
    """Cut where a batch would hold more than so many distinct texts: what takes time is texts, not pairs of them."""
    batch: list[T] = []
    held: set[str] = set()
    for item in items:
        if batch and len(held | set(texts_of(item))) > _TEXTS_AT_ONCE:
            yield batch
            batch, held = [], set()
        batch.append(item)
        held.update(texts_of(item))
    if batch:
        yield batch
