"""Comparing the texts of a whole run at once, before its records are scored one by one.

Models work many times faster on a batch than on a text, and between two batches Ctrl-C can end the work. What is found
is remembered by the embedder and the scorer themselves, where the metrics find it.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import TypeVar

from evals.metrics.base import BaseMetric
from evals.metrics.embedders import Semantics, hash64, key_of_pair
from evals.metrics.sample import Sample
from evals.run.observer import Observer
from evals.schemas.results import EvalRecord
from evals.scoring.settings import ScoreSettings
from evals.text.numbers import counted

T = TypeVar("T", str, tuple[str, str])

_TEXTS_AT_ONCE = 64


_FAILURES = (RuntimeError, ValueError, OSError, MemoryError, IndexError)
"""What models raise when they run out of memory, or meet a text that they cannot take."""


async def compare_texts(
    metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], settings: ScoreSettings, observer: Observer
) -> ScoreSettings:
    """Embed and score every text that the metrics will ask for; off the event loop, in batches.

    Args:
        metrics: Say what they will ask for.
        records: All records of the run; they are walked more than once.
        settings: How they are scored.
        observer: Receives the progress.

    Returns:
        The settings; where a model fails, with the reason instead of it, so that a run does not lose its other metrics.
    """
    semantics = settings.semantics
    if semantics is None or not semantics.compares:
        return settings

    def each(wanted: Iterable[Callable[[Sample], Iterable[T]]], key: Callable[[T], int]) -> Iterator[T]:
        """What the metrics will ask for, each once, that of the first metric first; none is held."""
        known: set[int] = set()  # hashes: the texts of a run are not held
        samples = (
            (items, settings.sample_of(record)) for items in wanted for record in records if record.response is not None
        )
        for item in chain.from_iterable(items(sample) for items, sample in samples):
            if (place := key(item)) not in known:
                known.add(place)
                yield item

    texts = [metric.texts for metric in metrics if type(metric).texts is not BaseMetric.texts]
    pairs = [metric.text_pairs for metric in metrics if type(metric).text_pairs is not BaseMetric.text_pairs]
    doing = partial(_in_batches, observer=observer, at_a_time=semantics.at_a_time)
    try:
        if semantics.embedder is not None:
            await doing(semantics.embedder.embed, lambda: each(texts, hash64), "embedding {}", "text")
        if semantics.scorer is not None:
            await doing(semantics.scorer.f1, lambda: each(pairs, key_of_pair), "comparing {} of texts", "pair")
    except _FAILURES as error:
        reason = f"comparing the texts failed: {type(error).__name__}: {error}".splitlines()[0][:300]
        observer.note(reason)
        return replace(settings, semantics=Semantics(reason=reason))
    return settings


async def _in_batches(
    work: Callable[[Sequence[T]], object],
    items: Callable[[], Iterator[T]],
    said: str,
    thing: str,
    *,
    observer: Observer,
    at_a_time: int,
) -> None:
    """Do the work on all items, which are walked twice, several batches at a time where that is of use."""
    total, done = sum(1 for _ in items()), 0
    if total:
        observer.phase(said.format(counted(total, thing)))
    batches = _batches(items())
    while some := list(islice(batches, at_a_time)):
        await asyncio.gather(*(asyncio.to_thread(work, batch) for batch in some))
        done += sum(map(len, some))
        observer.progress(done, total)


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Cut where a batch would hold more than this many distinct texts: what takes time is texts, not pairs of them."""
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
